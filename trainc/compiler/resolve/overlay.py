"""A patch in the shape of the JobSet that it changes."""

from __future__ import annotations

from trainc.model.patch import CONTAINER, METADATA, POD
from trainc.model.sourced import Origin, Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.model.patch import Patch
    from trainc.model.plan import Role
    from trainc.model.tree import Tree

_POINTER = Origin(by="name of the patched container")


def overlay(roles: Sequence[Role], patch: Patch) -> Tree:
    """`{spec: {replicatedJobs: [...]}}` with what the patch sets and nothing else."""
    role = roles[patch.role]
    owners: dict[str, dict[str, Tree]] = {METADATA: {}, POD: {}, CONTAINER: {}}
    for field, content in patch.contents():
        node = list(content) if field.list_key else dict(content)
        owners[field.owner] |= {field.target: node} if field.target else node
    metadata, pod, container = owners.values()
    if patch.container:
        field_name = "containers" if role.container(patch.container) is not None else "initContainers"
        patch_item = {"name": Sourced(patch.container, _POINTER), **container}
        pod[field_name] = [*pod.get(field_name, []), patch_item]
    return {"spec": {"replicatedJobs": [_job(role.name, metadata, pod)]}}


def _job(name: Sourced[str], metadata: Tree, pod: Tree) -> Tree:
    return {"name": name, "template": {"spec": {"template": {"metadata": metadata, "spec": pod}}}}
