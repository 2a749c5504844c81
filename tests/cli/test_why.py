"""`trainc why`: from the output to who wrote it, and from what somebody wrote to where it lands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.compare.history import RUNTIME, job, run, write

if TYPE_CHECKING:
    from pathlib import Path

JOBSET = "JobSet/bert spec.replicatedJobs[node].template.spec"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write(tmp_path, {"trainc.yaml": PROJECT, "runtimes/llm.yaml": RUNTIME, "jobs/bert.yaml": job("bert")})
    return tmp_path


PROJECT = "apiVersion: trainc.dev/v1alpha1\nkind: Project\nmetadata:\n  name: llm\n"


def test_field_of_the_output(place: Path) -> None:
    code, out, _ = run(place, "why", "jobs/bert.yaml", "parallelism")
    assert (code, out.splitlines()[:2]) == (
        0,
        [
            f"{JOBSET}.parallelism: 2",
            "  set by overrides (spec.trainer, spec.initializer) at jobs/bert.yaml:10:15",
        ],
    )


@pytest.mark.parametrize("argument", [["jobs/bert.yaml:10"], ["jobs/bert.yaml", "numNodes"]])
def test_line_or_field_of_the_job(place: Path, argument: list[str]) -> None:
    code, out, _ = run(place, "why", *argument)
    first, *rest = out.splitlines()
    assert (code, first) == (0, "jobs/bert.yaml:10:15 spec.trainer.numNodes: 2")
    assert f"  lands in {JOBSET}.parallelism" in rest


def test_line_of_a_rendered_file(place: Path) -> None:
    run(place, "build", "-w")
    rendered = place / "rendered" / "llm" / "bert.yaml"
    lines = rendered.read_text("utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        if line.strip() not in ("---", "") and not line.endswith(":") and not line.startswith("#"):
            code, out, err = run(place, "why", f"rendered/llm/bert.yaml:{number}")
            name = line.strip("- ").split(":")[0]
            assert (code, name in out) == (0, True), (number, line, out, err)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["jobs/bert.yaml", "numNode"], "neither the output nor jobs/bert.yaml has a field numNode"),
        (["jobs/bert.yaml:99"], "no value stands on line 99 of jobs/bert.yaml"),
        (["jobs/none.yaml"], "jobs/none.yaml: No such file or directory"),
        ([], "usage: trainc why FILE[:LINE] [FIELD]"),
    ],
)
def test_no_answer(place: Path, argv: list[str], words: str) -> None:
    code, out, err = run(place, "why", *argv)
    assert (code, out) == (2, "")
    assert words in err
