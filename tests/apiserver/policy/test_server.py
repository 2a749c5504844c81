"""CEL decides as the API server's own code did, whose answers `python -m tests.programs.cel --record` wrote down."""

import shutil
from collections import Counter

import pytest

from tests.programs.cel.compare import MINORS, Server, compared, ours, recorded
from tests.programs.cel.draw import Drawer


def test_drawn_expressions_are_worth_what_the_server_said() -> None:
    counts: Counter[str] = Counter()
    for minor, text, theirs in recorded():
        answer = ours(text, minor)
        if "panics" in theirs or answer.outcome == "unknown":
            counts["not compared"] += 1
            continue
        counts[theirs.outcome] += 1
        assert theirs.agrees(answer), f"Kubernetes 1.{minor}: {text}\n{theirs}\n{answer}"
    assert counts["not compared"] < 5
    assert min(counts["value"], counts["error"], counts["refused"]) > 50


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("go") is None, reason="the server's code is a Go program; its recorded answers are above"
)
def test_fresh_expressions_are_worth_what_the_server_says() -> None:
    with Server() as server:
        for minor in MINORS:
            drawer = Drawer(minor)
            for text, theirs, answer in compared(server, [drawer.expression() for _ in range(200)], minor):
                if theirs.outcome != "panics" and answer.outcome != "unknown":
                    assert theirs.agrees(answer), f"Kubernetes 1.{minor}: {text}\n{theirs}\n{answer}"
