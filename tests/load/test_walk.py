"""Which files of a folder are read: a job that cannot be read must not be passed over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.compiling import compile_in
from tests.repository import job
from trainc.load.walk import ours

if TYPE_CHECKING:
    from pathlib import Path


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
