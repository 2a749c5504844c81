"""Every exit code of `build` and `validate`, and what stands on which stream."""

import json
from pathlib import Path

import pytest

from tests.compiling import compile_in
from tests.repository import PROJECT, RUNTIME, job, write

WARNED = job("warned", image="registry.example.com/llm:latest")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write(
        tmp_path,
        {
            "trainc.yaml": PROJECT,
            "runtimes/torch.yaml": RUNTIME,
            "good/job.yaml": job("good"),
            "bad/job.yaml": job("Bad"),
            "warned/job.yaml": WARNED,
            "empty/notes.txt": "nothing\n",
        },
    )
    return tmp_path


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["validate", "good"], 0),
        (["build", "good"], 0),
        (["validate", "bad"], 1),
        (["build", "bad"], 1),
        (["build", "good", "bad"], 1),
        (["validate", "warned"], 0),
        (["validate", "warned", "--fail-on", "warning"], 1),
        (["validate", "empty"], 0),
        (["build", "empty"], 1),
        (["build", "empty", "-o", "out"], 1),
        (["build", "missing"], 2),
        (["build", "good", "-w", "--staged"], 2),
        (["build", "good", "-o", "out", "--staged"], 2),
        (["validate", "missing"], 2),
        (["build", "good", "--no-such-option"], 2),
        (["validate", "good", "--set", "gates=RestartJob,SomethingElse"], 0),
        (["validate", "good", "--set", "gates=RestartJobs"], 2),
        (["validate", "good", "--set", "kubernets=1.36"], 2),
        (["validate", "good", "--set", "kubernetes=new"], 2),
        (["no-such-command"], 2),
    ],
    ids=str,
)
def test_exit_code(argv: list[str], expected: int, place: Path) -> None:
    done = compile_in(place, *argv)
    assert done.code == expected, done.err
    assert (done.out != "") is (argv == ["build", "good"])
    assert not (place / "out").exists()


def test_json_is_one_list(place: Path) -> None:
    whole = json.loads(compile_in(place, "build", "good", "--format", "json").out)
    assert (whole["apiVersion"], whole["kind"]) == ("v1", "List")
    assert [item["kind"] for item in whole["items"]] == ["Service", "JobSet"]


def test_one_job_too_many_keeps_all_from_being_written(place: Path) -> None:
    compile_in(place, "build", "good", "-o", "out")
    before = (place / "out/research/good.yaml").read_bytes()
    (place / "good/job.yaml").write_text(job("good", nodes=5), "utf-8")
    assert compile_in(place, "build", "good", "bad", "-o", "out").code == 1
    assert (place / "out/research/good.yaml").read_bytes() == before


def test_a_folder_without_jobs_is_named(tmp_path: Path) -> None:
    """A mistyped folder said `no errors`, as a checked one does."""
    (tmp_path / "jobs").mkdir()
    done = compile_in(tmp_path, "validate", "jobs")
    assert (done.code, done.err) == (0, "warning: no training job under `jobs`\n0 jobs, no errors\n")
    assert compile_in(tmp_path, "build", "jobs").code == 1
    (tmp_path / "jobs/bert.yaml").write_text(job("bert"), "utf-8")
    assert "warning: no training job" not in compile_in(tmp_path, "validate", "jobs").err
