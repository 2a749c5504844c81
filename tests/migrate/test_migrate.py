"""Every older job that compiles becomes a TrainJob that compiles to the same, but for differences with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainc.migrate import migrate
from trainc.migrate.chunks import comments, load, split
from trainc.migrate.compared import UNEXPLAINED
from trainc.migrate.compiled import compiled

ROOT = Path(__file__).parent.parent.parent
CASES = sorted(path.parent.parent for path in ROOT.glob("tests/cases/older/*/input/job.yaml"))
COMPILING = [case for case in CASES if "error[" not in (case / "expected/findings.txt").read_text("utf-8")]

FILES = [case / "input/job.yaml" for case in COMPILING]
FILES += [
    ROOT / f"examples/{name}"
    for name in (
        "jaxjob/jobs/jaxjob.yaml",
        "pytorchjob/jobs/pytorchjob.yaml",
        "tfjob/jobs/tfjob.yaml",
        "mpijob/jobs/mpijob.yaml",
        "tfjob-mlkube/jobs/tfjob.yaml",
    )
]


def shown(text: str) -> list[str]:
    return sorted(comment for piece in split(text) for comment in comments(load(piece)))


@pytest.mark.parametrize("file", FILES, ids=[file.parent.parent.name for file in FILES])
def test_an_older_job_becomes_a_trainjob(file: Path) -> None:
    text = file.read_text("utf-8")
    done = migrate(text)
    assert done.problems == ()
    assert "kind: TrainJob" in done.text
    assert [str(d) for d in done.differences if d.reason == UNEXPLAINED] == []
    assert shown(done.text) == shown(text)
    again = migrate(done.text)
    assert (again.text, again.changes) == (done.text, ())
    objects, _ = compiled(done.text)
    assert any(tree["kind"] == "JobSet" for tree in objects)
