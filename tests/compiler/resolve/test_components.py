"""Components that a job switches on stand each at its own place in the annotation."""

from __future__ import annotations

import pytest

from trainc.compiler.resolve.components import of_job
from trainc.model.report import Report
from trainc.yaml.reader import read

HEAD = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata:\n  name: a\n  annotations:\n"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("spot", ["spot"]),
        ("spot-a, spot ,a", ["spot-a", "spot", "a"]),
        ('"shm,spot"', ["shm", "spot"]),
        ("'shm, spot,'", ["shm", "spot"]),
        (r'"sh\x6d,spot"', [r'"sh\x6d,spot"'] * 2),
        (">-\n      shm,\n      spot", [">-", ">-"]),
    ],
)
def test_places(written: str, shown: list[str]) -> None:
    text = f"{HEAD}    trainc.dev/components: {written}\n"
    [document] = read(text, "job.yaml", Report())
    lines = text.splitlines()
    spans = [use.span for use in of_job(document)]
    assert [
        lines[s.line - 1][s.column - 1 : s.end_column - 1 if s.end_line == s.line else None] for s in spans
    ] == shown
