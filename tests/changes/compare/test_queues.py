"""`scheduler: kueue` means that Kueue's webhooks judge an edit: of an admitted job they refuse another queue."""

from pathlib import Path

import pytest

from tests.working_tree import WorkingTree

WORKLOAD = """\
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
metadata:
  name: jobset-bert-1
  namespace: research
  ownerReferences: [{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: bert, uid: x, controller: true}]
spec: {queueName: a, podSets: [{name: node, count: 2, template: {spec: {containers: [{name: c, image: x}]}}}]}
status: {conditions: [{type: QuotaReserved, status: "STATUS", reason: R, message: m}]}
"""


@pytest.mark.parametrize(
    ("label", "dump", "code"),
    [
        ("queue-name: b", "", 1),
        ("priority-class: high", "", 1),
        ("queue-name: b", "True", 1),
        ("queue-name: b", "False", 0),
        ("priority-class: high", "False", 0),
    ],
)
def test_a_queue_changes_for_a_waiting_job_alone(label: str, dump: str, code: int, tmp_path: Path) -> None:
    tree = WorkingTree(tmp_path, "bert")
    project = tree.read("trainc.yaml")
    tree.write(
        "trainc.yaml", f"{project}  clusters:\n    main: {{scheduler: kueue, queue: a, folder: clusters/main}}\n"
    )
    tree.write("clusters/main/dump.yaml", WORKLOAD.replace("STATUS", dump) if dump else "")
    assert tree.run("build", "-w").code == 0
    assert tree.commit().returncode == 0
    tree.change("jobs/bert.yaml", "  namespace:", f"  labels: {{kueue.x-k8s.io/{label}}}\n  namespace:")
    for words in (("build", "-w"), ("build", "--check"), ("validate", "--against", "HEAD"), ("validate",)):
        done = tree.run(*words)
        assert (done.code, "error[immutable-change]" in done.err) == (code, bool(code)), (words, done.err)
