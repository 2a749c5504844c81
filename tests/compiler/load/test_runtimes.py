"""Which texts may hold runtimes: a job that says the kind of its runtime does not."""

import json

import pytest

from tests.repository import RUNTIME, job
from trainc.compiler.load.runtimes import may_hold_runtimes

JOB = job("bert")
PLAIN = JOB.replace(
    "  runtimeRef:\n", "  runtimeRef:\n    apiGroup: trainer.kubeflow.org\n    kind: ClusterTrainingRuntime\n"
)
TREE = {"kind": "TrainJob", "spec": {"runtimeRef": {"name": "a", "kind": "TrainingRuntime"}, "trainer": {}}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (JOB, False),
        (PLAIN, False),
        (PLAIN.replace("\n", "\r\n"), False),
        ("spec:\n  runtimeRef: {name: a, kind: TrainingRuntime}\n", False),
        ("spec:\n  runtimeRef:\n    # remark\n\n    kind: TrainingRuntime\n", False),
        (json.dumps(TREE), False),
        (json.dumps(TREE, indent=2), False),
        (json.dumps({"kind": "List", "items": [TREE, TREE]}), False),
        (json.dumps({"kind": "List", "items": [TREE, {"kind": "ClusterTrainingRuntime"}]}), True),
        (json.dumps({"kind": "List", "items": [TREE, {"kind": "ClusterTrainingRuntime"}]}, indent=2), True),
        (f"{PLAIN}---\n{PLAIN}", False),
        (RUNTIME, True),
        (f"{PLAIN}---\n{RUNTIME}", True),
        (f"{RUNTIME}---\n{PLAIN}", True),
        ("kind: TrainingRuntime\n", True),
        ("kind: List\nitems:\n- kind: TrainingRuntime\n", True),
        ("kind: List\nitems:\n  - apiVersion: a\n    kind: TrainingRuntime\n", True),
        ('{"kind": "ClusterTrainingRuntime"}', True),
        ("apiVersion: trainc.dev/v1alpha1\nkind: Runtime\n", True),
        ("runtimeRef:\nkind: TrainingRuntime\n", True),
        ("runtimeRef:\n" + "  a: b\n" * 9 + "  kind: TrainingRuntime\n", True),
        ("", False),
    ],
)
def test_by_its_text(text: str, expected: bool) -> None:
    assert may_hold_runtimes(text.encode()) is expected
