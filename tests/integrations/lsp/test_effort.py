"""What a keystroke costs: the edited file is judged, not its project; compared in one process, so that no machine is too slow."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.compiling import ROOT
from tests.effort import below, cpu
from trainc.integrations.lsp.findings import Judgement

pytestmark = pytest.mark.slow

JOB, RUNTIME = "jobs/llm/base-7b.yaml", "runtimes/llm.yaml"


def least(work: Callable[[], None], times: int = 3) -> float:
    """Seconds of the processor that work takes when nothing disturbs it."""
    return min(cpu(work) for _ in range(times))


@pytest.mark.parametrize("file", [JOB, RUNTIME, "trainc.yaml"])
def test_a_keystroke_costs_less_than_the_project(file: str, tmp_path: Path) -> None:
    root = Path(shutil.copytree(ROOT / "examples/platform", tmp_path / "platform"))
    unsaved = {file: (root / file).read_bytes() + b"# typed\n"}
    judgement = Judgement(str(root), None)
    judgement.judge(unsaved)
    whole, one = partial(judgement.judge, unsaved), partial(judgement.judge_file, file, unsaved)
    below(0.6, lambda: least(one) / least(whole))


def test_a_job_costs_the_same_however_many_there_are(tmp_path: Path) -> None:
    def work(copies: int) -> Callable[[], None]:
        root = Path(shutil.copytree(ROOT / "examples/platform", tmp_path / str(copies)))
        text = (root / JOB).read_text("utf-8")
        for number in range(copies):
            (root / f"jobs/llm/copy-{number}.yaml").write_text(text.replace("base-7b", f"copy-{number}"), "utf-8")
        unsaved = {JOB: text.encode()}
        judgement = Judgement(str(root), None)
        judgement.judge(unsaved)
        return partial(judgement.judge_file, JOB, unsaved)

    one, many = work(1), work(200)
    below(4, lambda: least(many) / least(one))


def test_what_is_found_at_once_is_what_the_whole_project_says(tmp_path: Path) -> None:
    root = Path(shutil.copytree(ROOT / "examples/platform", tmp_path / "platform"))
    text = (root / JOB).read_text("utf-8")
    quick, whole = Judgement(str(root), None), Judgement(str(root), None)
    quick.judge({})
    changes = ("numNodes: [", 'numNodes: "8"', "numNodes: 8\n    nodes: 1", "numNodes: 8\n    image: busybox", "")
    comment = "numNodes: 8 # trainc: allow[reserved-env] of no use"
    for change in (*changes, comment, "numNodes: 8\n    env: [{name: PET_NNODES, value: x}]"):
        unsaved = {JOB: text.replace("numNodes: 8", change).encode()}
        quick.judge_file(JOB, unsaved)
        whole.judge(unsaved)
        expected = [str(finding) for finding in whole.by_file.get(JOB, [])]
        assert [str(finding) for finding in quick.by_file[JOB]] == expected, change
