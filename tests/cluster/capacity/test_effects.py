"""What an edit does to the jobs of a cluster, those beside the edited ones as well."""

import json
import shutil
from pathlib import Path
from typing import Any

from tests.cluster.capacity.clusters import facts, job, node, queue
from tests.compiling import ROOT, compile_in
from trainc.cluster.capacity.answers import Key, effects
from trainc.model.tree import stamp

OBJECTS = facts(*queue(12), node("n1"), node("n2")).objects


def jobs(**pods: int) -> dict[Key, Any]:
    return {("", "lab", name): stamp(job(name, pods=count, queued=True), "job") for name, count in pods.items()}


def turned(before: dict[str, int], after: dict[str, int]) -> list[tuple[str, str, str]]:
    return [(one.key[2], one.old, one.new) for one in effects(OBJECTS, jobs(**before), jobs(**after))]


def test_a_job_that_grows_makes_the_one_beside_it_wait() -> None:
    assert turned({"a": 1, "b": 1}, {"a": 2, "b": 1}) == []
    assert turned({"a": 1, "b": 1}, {"a": 3, "b": 1}) == [("b", "fits", "waits")]
    assert turned({"a": 3, "b": 1}, {"a": 1, "b": 1}) == [("b", "waits", "fits")]


def test_a_new_job_is_told_of_where_it_does_not_fit() -> None:
    assert turned({"a": 3}, {"a": 3, "b": 1}) == [("b", "", "waits")]
    assert turned({"a": 1}, {"a": 1, "b": 1}) == []
    assert turned({}, {"b": 4}) == [("b", "", "never")]


def test_jobs_that_are_gone_make_room() -> None:
    assert turned({"a": 3, "b": 1}, {"b": 1}) == [("b", "waits", "fits")]


def test_an_amount_that_is_not_one_decides_nothing() -> None:
    broken = {**OBJECTS, "Queue": {"q": stamp({"spec": {"capability": {"cpu": "ten"}}}, "dump")}}
    assert effects(broken, jobs(a=1, b=1), jobs(a=3, b=1)) == []


def test_diff_says_so(tmp_path: Path) -> None:
    for name in ("old", "new"):
        shutil.copytree(ROOT / "examples/fit-kueue", tmp_path / name)
    path = tmp_path / "new/jobs/chat-7b.yaml"
    path.write_text(path.read_text("utf-8").replace("numNodes: 4", "numNodes: 12"), "utf-8")
    told = compile_in(tmp_path, "diff", "old", "new").out
    assert "eu/llm/chat-7b, with all jobs at once: fits -> needs nodes: couldn't assign flavors" in told
    (answer,) = json.loads(compile_in(tmp_path, "diff", "old", "new", "--report", "json").out)["answers"]
    assert (answer["name"], answer["old"], answer["new"]) == ("chat-7b", "fits", "needs nodes")
