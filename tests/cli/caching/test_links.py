"""Folders of runtimes, dumps and policies behind symbolic links, whose targets no listing of names shows."""

from pathlib import Path

import pytest

from tests.cli.caching.test_stale import agrees, is_answered
from tests.repository import Repository

SETTINGS = "  clusters: {eu: {folder: clusters/eu}}\n  policies: [policies]\n"
POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: nodes}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [jobset.x-k8s.io], apiVersions: ["*"], operations: [CREATE], resources: [jobsets]}]
  validations: [{expression: "object.metadata.name != 'NAME'", message: no such name}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: nodes}
spec: {policyName: nodes, validationActions: [Deny]}
"""
QUEUE = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: NAME, namespace: research}\nspec: {clusterQueue: all}\n"
EDITS = {
    "runtimes": (".hidden/runtimes/torch.yaml", "numNodes: 1", "numNodes: [1"),
    "clusters": (".hidden/clusters/eu/queues.yaml", "NAME", "${NAME"),
    "clusters/eu": (".hidden/eu/queues.yaml", "kind: LocalQueue", "kind: [LocalQueue"),
    "policies": (".hidden/policies/names.yaml", "'NAME'", "'bert'"),
}


@pytest.mark.parametrize("name", EDITS)
@pytest.mark.parametrize("command", [("validate",), ("build", "--check")], ids=" ".join)
def test_an_edit_behind_a_link_is_seen(
    name: str, command: tuple[str, ...], tmp_path: Path, cache: Path, settled: None
) -> None:
    del cache, settled
    repository = Repository(tmp_path / "repository", "bert", "t5")
    repository.write("trainc.yaml", repository.read("trainc.yaml") + SETTINGS)
    repository.write("clusters/eu/queues.yaml", QUEUE)
    repository.write("policies/names.yaml", POLICY)
    folder = repository.folder / name
    hidden = repository.folder / ".hidden" / (name if "/" not in name else folder.name)
    hidden.parent.mkdir()
    folder.rename(hidden)
    folder.symlink_to(hidden)
    assert repository.run("build", "-w").code == 0
    assert agrees(repository, *command).code == 0
    assert is_answered(repository, *command)
    repository.change(*EDITS[name])
    assert agrees(repository, *command).code == 1
