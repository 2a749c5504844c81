"""A long file of TrainJobs is read a part at a time, and becomes what it becomes when it is read whole."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compiling import compile_in
from tests.repository import Repository, job
from trainc.compiler import load
from trainc.compiler.load import pieces
from trainc.model.document import Document
from trainc.model.report import Report
from trainc.yaml import plain
from trainc.yaml.reader import read

JOBS = [job(f"bert-{number}") for number in range(250)]
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: board}\nspec: {clusterIP: None}\n"


def _sizes(text: str) -> list[int]:
    def documents(report: Report) -> Iterator[Document]:
        return read(text, "jobs.yaml", report)

    return [len(piece) for piece in pieces(documents, Report())]


def test_trainjobs_come_some_at_a_time() -> None:
    assert _sizes("---\n".join(JOBS)) == [100, 100, 50]


@pytest.mark.parametrize("other", [SERVICE, JOBS[0].replace("TrainJob", "JobSet")])
def test_a_file_with_anything_else_comes_whole(other: str) -> None:
    assert _sizes("---\n".join([*JOBS, other])) == [251]


def test_a_file_with_a_fault_comes_whole() -> None:
    twice = JOBS[0] + JOBS[0].partition("\n")[2]
    assert len(_sizes("---\n".join([*JOBS, twice]))) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [[], [JOBS[7]], [JOBS[3].replace("spec:", "spec:\n  unknown: 1", 1)], [SERVICE]],
    ids=["fine", "a name twice", "a refused job", "a Service"],
)
def test_parts_give_what_the_whole_file_gives(more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes, findings, counts and exit codes are the same."""
    repository = Repository(tmp_path)
    repository.write("jobs/all.yaml", "---\n".join([*JOBS[:120], *more]))
    whole = compile_in(tmp_path, "build", "jobs")
    monkeypatch.setattr(load, "SHARED", 100)
    monkeypatch.setattr(plain, "_PIECE", 100)
    parts = compile_in(tmp_path, "build", "jobs")
    assert (parts.code, parts.out, parts.err) == (whole.code, whole.out, whole.err)
    assert parts.code in {0, 1}
    assert "120" in parts.err or parts.code
