"""Laying patches on a template: upserts by key, each element replaced whole where it stands."""

from __future__ import annotations

from trainc.model.patch import METADATA, POD
from trainc.model.sourced import Sourced
from trainc.model.tree import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from trainc.model.patch import Patch, PatchField
    from trainc.model.tree import Tree


_FIELDS = ("containers", "initContainers")


class Draft:
    """A replicatedJob while it is written: the way down to its pods is copied once, all else is left as it is."""

    __slots__ = ("_env", "_names", "_own", "_pods", "_spec", "job", "pod")

    def __init__(self, job: Tree) -> None:
        self.job = dict(job)
        template = self.job["template"] = dict(job.get("template") or {})
        spec = self._spec = template["spec"] = dict(template.get("spec") or {})
        pods = self._pods = spec["template"] = dict(spec.get("template") or {})
        self.pod = pods["spec"] = dict(pods.get("spec") or {})
        self._own: dict[str, Tree] = {}  # containers that have been copied
        self._env: list[Tree] | None = None  # the variables that were last written, and where the first of each stands
        self._names: dict[object, int] = {}

    def lay(self, patch: Patch) -> None:
        """Lay one patch on."""
        for field, content in patch.contents():
            if field.owner == METADATA:
                metadata = self._pods["metadata"] = dict(self._pods.get("metadata") or {})
                self._change(metadata, field, content)
            elif field.owner == POD:
                if field.target == "initContainers" or "containers" in content or "initContainers" in content:
                    self._own.clear()  # other containers may stand there now
                self._change(self.pod, field, content)
            else:
                container = self._own.get(patch.container) or self._copied(patch.container)
                if container is not None:
                    self._change(container, field, content)

    def _copied(self, name: str) -> Tree | None:
        """The container of that name, copied so that it may be changed."""
        for field in _FIELDS:
            containers = self.pod.get(field) or ()
            for at, container in enumerate(containers):
                leaf = container.get("name") if type(container) is dict else None
                if type(leaf) is Sourced and leaf.value == name:
                    own = self._own[name] = dict(container)
                    self.pod[field] = [*containers[:at], own, *containers[at + 1 :]]
                    return own
        return None

    def _change(self, node: Tree, field: PatchField, content: Any) -> None:
        """Apply one field of a patch to the container, the pod or the metadata that it belongs to."""
        if field.target and not field.list_key:
            node[field.target] = {**(node.get(field.target) or {}), **content}
        elif not field.list_key:
            for key, inner in content.items():
                put(node, key, inner)
        elif field.target == "env":
            node["env"] = self._variables(node.get("env") or [], content)
        elif field.target == "ports":
            node["ports"] = upsert_ports(node.get("ports") or (), content)
        else:
            node[field.target] = upsert(node.get(field.target) or (), content, field.list_key)

    def _variables(self, old: list[Tree], new: Iterable[Tree]) -> list[Tree]:
        """The variables with new ones laid on: what this draft has written itself grows, all else is copied."""
        if self._env is None or old is not self._env:
            self._env = list(old)
            self._names = _places(old, "name")
        place(self._env, new, "name", self._names)
        return self._env

    def fold_ports(self) -> list[tuple[Tree, Tree]]:
        """Write ports back as the controller does, each upserted into its own list: the containers before and after.

        Unnamed ports overwrite one another (Trainer v2.3.0); later releases compare number and protocol.
        """
        folded = []
        for field in _FIELDS:
            for at, container in enumerate(self.pod.get(field) or ()):
                ports = container.get("ports")
                if ports and len(ports) > 1:
                    own = {**container, "ports": upsert_ports(ports, ports)}
                    self.pod[field] = [*self.pod[field][:at], own, *self.pod[field][at + 1 :]]
                    folded.append((container, own))
        if folded:
            self._own.clear()
        return folded

    def count(self, count: Sourced[int], replicas: Sourced[int] | None) -> None:
        """Write the number of pods, and that of child Jobs where it is not the job's own."""
        self._spec["completions"] = self._spec["parallelism"] = count
        if replicas is not None:
            self.job["replicas"] = replicas


def put(node: Tree, key: str, content: Tree) -> None:
    """Set a field, or take it away for None and for an empty list, which the API's types do not write."""
    if content is None or (type(content) is list and not content):
        node.pop(key, None)
    else:
        node[key] = content


def _places(items: Iterable[Tree], key: str) -> dict[object, int]:
    places: dict[object, int] = {}
    for at, item in enumerate(items):
        places.setdefault(item[key].value, at)
    return places


def upsert(items: Iterable[Tree], new: Iterable[Tree], key: str) -> list[Tree]:
    """The list with each new item in the place of the first one with the same `key`, else at the end."""
    out = list(items)
    place(out, new, key, _places(out, key))
    return out


def place(items: list[Tree], new: Iterable[Tree], key: str, places: dict[object, int]) -> None:
    """Put each new item where the first one with the same `key` stands (`places`), else at the end."""
    end = len(items)
    for item in new:
        at = places.setdefault(item[key].value, end)
        if at == end:
            items.append(item)
            end += 1
        else:
            items[at] = item


def upsert_ports(items: Iterable[Tree], new: Iterable[Tree]) -> list[Tree]:
    """The ports with each new one in the place of the first one that the controller takes for the same."""
    out = list(items)
    for item in new:
        for at, old in enumerate(out):
            if same_port(old, item):
                out[at] = item
                break
        else:
            out.append(item)
    return out


def same_port(a: Tree, b: Tree) -> bool:
    """Whether the controller takes two ports for one: equal numbers or equal names, two absent names included."""
    return bool(value(a, "containerPort") == value(b, "containerPort") or value(a, "name") == value(b, "name"))
