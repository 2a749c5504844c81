"""A patch in the shape of the JobSet that it changes."""

from __future__ import annotations

from trainc.model.sourced import Origin, Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.model.patches import Patch
    from trainc.model.plan import Role
    from trainc.model.tree import Tree

_POINTER = Origin(by="name of the patched container")


def overlay(roles: Sequence[Role], patch: Patch) -> Tree:
    """`{spec: {replicatedJobs: [...]}}` with what the patch sets and nothing else."""
    role = roles[patch.role]
    pod: dict[str, Tree] = dict(patch.pod)
    if patch.volumes:
        pod["volumes"] = list(patch.volumes)
    if patch.init_containers:
        pod["initContainers"] = list(patch.init_containers)
    if patch.container:
        lists = {"env": patch.env, "ports": patch.ports, "volumeMounts": patch.mounts}
        name = Sourced(patch.container, _POINTER)
        content = {"name": name, **patch.sets, **{field: list(items) for field, items in lists.items() if items}}
        field = "containers" if role.container(patch.container) is not None else "initContainers"
        pod[field] = [*pod.get(field, []), content]
    metadata = {key: dict(part) for key, part in (("labels", patch.labels), ("annotations", patch.annotations)) if part}
    return {"spec": {"replicatedJobs": [_job(role.name, metadata, pod)]}}


def _job(name: Sourced[str], metadata: Tree, pod: Tree) -> Tree:
    return {"name": name, "template": {"spec": {"template": {"metadata": metadata, "spec": pod}}}}
