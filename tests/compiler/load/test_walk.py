"""Which files of a folder are read: a job that cannot be read must not be passed over."""

from pathlib import Path

import pytest

from tests.compiling import compile_in
from tests.repository import job, write
from trainc.compiler.load.walk import contents, files, ours

JOB = job("bert")
NAMELESS = JOB.partition("\n")[2]  # without its apiVersion


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (JOB.encode(), True),
        (JOB.encode("utf-16"), True),
        (JOB.encode("utf-16-le"), True),
        (JOB.encode("utf-16-be"), True),
        (NAMELESS.encode(), True),
        (b"", False),
        ("name: chart\n".encode("utf-16"), False),
        (b"kind: Deployment\napiVersion: apps/v1\n", False),
        (b"abcd" + JOB.encode("utf-16-le"), False),
        (b"apiVersion: batch/v1\nkind: Job\nspec: {completionMode: Indexed}\n", True),
        (b"apiVersion: batch/v1\nkind: Job\n", False),
        (b"completionMode: Indexed\n", False),
    ],
)
def test_ours(data: bytes, expected: bool) -> None:
    assert ours(data) is expected


@pytest.mark.parametrize(
    ("data", "rule", "said"),
    [
        (JOB.encode("utf-16"), "not-utf8", "the byte 0xff is not UTF-8 here"),
        (NAMELESS.encode(), "unknown-kind", "this TrainJob has no `apiVersion`"),
    ],
)
def test_what_a_folder_does_not_pass_over(data: bytes, rule: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "bert.yaml").write_bytes(data)
    run = compile_in(tmp_path, "build", "jobs")
    assert (run.code, run.out) == (1, "")
    assert [(finding.rule.name, finding.message) for finding in run.findings] == [(rule, said)]


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 200_000])
def test_files_of_any_size_are_read_whole(size: int, tmp_path: Path) -> None:
    data = bytes(number % 251 for number in range(size))
    (tmp_path / "jobs.yaml").write_bytes(data)
    assert contents(str(tmp_path), "jobs.yaml") == data


@pytest.mark.parametrize(("folder", "mark"), [("venv", "pyvenv.cfg"), ("node_modules", "package.json")])
def test_what_was_installed_is_no_input(folder: str, mark: str, tmp_path: Path) -> None:
    write(tmp_path, {"jobs/bert.yaml": JOB, f"{folder}/{mark}": "", f"{folder}/lib/bert.yaml": JOB})
    assert files(str(tmp_path), (".",)) == ["jobs/bert.yaml"]
    assert files(str(tmp_path), (f"{folder}/lib",)) == [f"{folder}/lib/bert.yaml"]


@pytest.mark.parametrize(
    "api", ["scheduling.volcano.sh/v1beta1\nkind: Queue", "scheduling.x-k8s.io/v1alpha1\nkind: ElasticQuota"]
)
def test_what_administrators_keep_beside_jobs_is_passed_over(api: str, tmp_path: Path) -> None:
    write(tmp_path, {"jobs/queue.yaml": f"apiVersion: {api}\nmetadata:\n  name: research\n"})
    assert compile_in(tmp_path, "validate", "jobs").findings == []
