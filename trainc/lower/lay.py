"""Laying patches on a template: upserts by key, each element replaced whole where it stands."""

from __future__ import annotations

from trainc.model.tree import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainc.model.patches import Patch
    from trainc.model.tree import Tree


def lay(job: Tree, patch: Patch) -> Tree:
    """A replicatedJob with the patch laid on; the original is untouched and unchanged parts are shared."""
    job = dict(job)
    template = job["template"] = dict(job.get("template") or {})
    job_spec = template["spec"] = dict(template.get("spec") or {})
    pod_template = job_spec["template"] = dict(job_spec.get("template") or {})
    if patch.labels or patch.annotations:
        pod_template["metadata"] = _metadata(pod_template.get("metadata") or {}, patch)
    pod_template["spec"] = _pod(dict(pod_template.get("spec") or {}), patch)
    return job


def _metadata(metadata: Tree, patch: Patch) -> Tree:
    metadata = dict(metadata)
    if patch.labels:
        metadata["labels"] = {**(metadata.get("labels") or {}), **patch.labels}
    if patch.annotations:
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **patch.annotations}
    return metadata


def _pod(spec: Tree, patch: Patch) -> Tree:
    for key, node in patch.pod.items():
        put(spec, key, node)
    if patch.volumes:
        spec["volumes"] = upsert(spec.get("volumes") or [], patch.volumes, _by("name"))
    if patch.init_containers:
        spec["initContainers"] = upsert(spec.get("initContainers") or [], patch.init_containers, _by("name"))
    if patch.container:
        for field in ("containers", "initContainers"):
            containers = spec.get(field) or []
            at = next((i for i, c in enumerate(containers) if value(c, "name") == patch.container), None)
            if at is not None:
                spec[field] = [*containers[:at], _container(dict(containers[at]), patch), *containers[at + 1 :]]
                break
    return spec


def _container(container: Tree, patch: Patch) -> Tree:
    for key, node in patch.sets.items():
        put(container, key, node)
    if patch.env:
        container["env"] = upsert(container.get("env") or [], patch.env, _by("name"))
    if patch.ports:
        container["ports"] = upsert(container.get("ports") or [], patch.ports, same_port)
    if patch.mounts:
        container["volumeMounts"] = upsert(container.get("volumeMounts") or [], patch.mounts, _by("mountPath"))
    return container


def put(node: Tree, key: str, content: Tree) -> None:
    """Set a field, or take it away for None and for an empty list, which the API's types do not write."""
    if content is None or content == []:
        node.pop(key, None)
    else:
        node[key] = content


def upsert(items: list[Tree], new: Iterable[Tree], same: Callable[[Tree, Tree], bool]) -> list[Tree]:
    """The list with each new item in the place of the first one that is the same, else at the end."""
    out = list(items)
    for item in new:
        at = next((i for i, old in enumerate(out) if same(old, item)), None)
        if at is None:
            out.append(item)
        else:
            out[at] = item
    return out


def _by(key: str) -> Callable[[Tree, Tree], bool]:
    return lambda a, b: bool(a[key].value == b[key].value)


def same_port(a: Tree, b: Tree) -> bool:
    """Whether the controller takes two ports for one: equal numbers or equal names, two absent names included."""
    return bool(value(a, "containerPort") == value(b, "containerPort") or value(a, "name") == value(b, "name"))


def fold_ports(job: Tree) -> Tree:
    """The job as the controller writes ports back: every port upserted into the list that it came from.

    Unnamed ports overwrite one another (Trainer v2.3.0); later releases compare number and protocol.
    """
    pod = job.get("template", {}).get("spec", {}).get("template", {}).get("spec") or {}
    fields = [
        f for f in ("containers", "initContainers") if any(len(c.get("ports") or ()) > 1 for c in pod.get(f) or ())
    ]
    if not fields:
        return job
    spec = dict(pod)
    for field in fields:
        spec[field] = [_fold(container) for container in pod[field]]
    template = job["template"]
    inner = {**template["spec"], "template": {**template["spec"]["template"], "spec": spec}}
    return {**job, "template": {**template, "spec": inner}}


def _fold(container: Tree) -> Tree:
    ports = container.get("ports") or []
    if len(ports) < 2:
        return container
    return {**container, "ports": upsert(ports, ports, same_port)}
