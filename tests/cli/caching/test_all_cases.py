"""Whatever an earlier run left behind, a run says and writes what it would say and write without it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.compiling import compile_in
from tests.sampling import sampled
from tests.test_cases import CASES, EXAMPLES, names

if TYPE_CHECKING:
    from pathlib import Path

FOLDERS = [*CASES, *EXAMPLES]
ENDING_IN_TEXT = [
    case for case in CASES if case.match("verify/unpinned-download/fails")
]  # a comment there is a line of it
VALIDATE, BUILD = ("validate", "input"), ("build", "input", "-o", "out")


@pytest.mark.usefixtures("cache", "settled")
@pytest.mark.parametrize(
    "case",
    sampled(
        FOLDERS,
        [*names(CASES, "tests/cases"), *names(EXAMPLES, "examples")],
        quick=("torch/gpu-nodes", "mpi/two-nodes"),
    ),
)
def test_the_same_with_and_without_a_cache(case: Path, tmp_path: Path) -> None:
    source = case / "input" if case in CASES else case
    for place in ("with", "without"):
        shutil.copytree(source, tmp_path / place / "input", ignore=shutil.ignore_patterns("output"), symlinks=True)
    heeding, alone = tmp_path / "with", tmp_path / "without"
    before = told(alone, *VALIDATE, "--no-cache")
    assert told(heeding, *VALIDATE) == before
    assert told(heeding, *VALIDATE) == before
    assert told(heeding, *BUILD) == told(alone, *BUILD, "--no-cache")
    edit(heeding)
    edit(alone)
    after = told(alone, *VALIDATE, "--no-cache") if case in ENDING_IN_TEXT else before
    assert told(heeding, *VALIDATE) == after
    assert told(heeding, *BUILD) == told(alone, *BUILD, "--no-cache")
    assert contents(heeding) == contents(alone)


def told(folder: Path, *words: str) -> tuple[int, str, str]:
    run = compile_in(folder, *words)
    return run.code, run.out, run.err


def edit(folder: Path) -> None:
    """A comment at the end of the last file: the texts of findings stay where they are."""
    last = max(path for path in (folder / "input").rglob("*.y*ml") if path.is_file() and "output" not in path.parts)
    with last.open("ab") as stream:
        stream.write(b"\n# edited\n")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.usefixtures("cache", "settled")
def test_most_cases_are_answered_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison above would hold just as well if nothing were ever kept."""
    answered = 0
    for number, case in enumerate(CASES[::40]):
        place = tmp_path / str(number)
        shutil.copytree(case / "input", place / "input", symlinks=True)
        before = compile_in(place, "validate", "input")
        with monkeypatch.context() as patch:
            patch.setattr("trainc.cli.build.validate", lambda *_: pytest.fail("compiled again"))
            try:
                after = compile_in(place, "validate", "input")
            except pytest.fail.Exception:
                continue
        assert (after.code, after.out, after.err) == (before.code, before.out, before.err)
        answered += 1
    assert answered > 0.9 * len(CASES[::40])
