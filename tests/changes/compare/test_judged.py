"""What a run keeps is judged, too: by policies, locks and servers that are younger than its rendering."""

from pathlib import Path

import pytest

from tests.working_tree import WorkingTree

RUNTIME, RENDERED = "runtimes/torch.yaml", "rendered/research/bert.yaml"
POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: small-restarts}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{apiGroups: [jobset.x-k8s.io], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [jobsets]}]
  validations: [{expression: object.spec.failurePolicy.maxRestarts > 4, message: too few restarts}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: small-restarts}
spec: {policyName: small-restarts, validationActions: [Deny]}
"""
LOCKED = "  locks:\n    - {path: template.spec.failurePolicy.maxRestarts, reason: the platform decides}\n"


@pytest.fixture
def tree(tmp_path: Path) -> WorkingTree:
    """A run with 3 restarts; the runtime has 5 since, which no run can take."""
    tree = WorkingTree(tmp_path, "bert")
    assert tree.run("build", "-w").code == 0
    assert tree.commit("job").returncode == 0
    tree.change(RUNTIME, "maxRestarts: 3", "maxRestarts: 5")
    return tree


def test_a_policy_is_asked_of_what_is_kept(tree: WorkingTree) -> None:
    tree.setting("policies: [policies]")
    tree.write("policies/restarts.yaml", POLICY)
    for words in (("build", "-w"), ("build", "--check")):
        done = tree.run(*words)
        assert done.code == 0, done.err
        assert "warning[policy-denied]: policy `small-restarts` denies JobSet `bert`" in done.err, done.err
        assert f"--> {RENDERED}:" in done.err
        assert f"{RUNTIME}:" in done.err


def test_a_lock_is_asked_of_what_is_kept(tree: WorkingTree) -> None:
    tree.write(RUNTIME, tree.read(RUNTIME).replace("spec:\n  mlPolicy", f"spec:\n{LOCKED}  mlPolicy", 1))
    tree.write(
        RUNTIME,
        tree.read(RUNTIME).replace(
            "trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime", "trainc.dev/v1alpha1\nkind: Runtime"
        ),
    )
    done = tree.run("build", "-w")
    assert done.code == 0, done.err
    assert "warning[locked-field]: the rendering of run `bert` changes" in done.err
    assert f"--> {RENDERED}:" in done.err


def test_what_is_right_is_not_mentioned(tree: WorkingTree) -> None:
    assert "warning" not in tree.run("build", "-w").err
