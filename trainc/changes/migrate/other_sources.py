"""Where the pods of another operator's job stand in its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.changes.migrate.source_text import apart, at, composed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trainc.changes.migrate.source_text import SourceEntry, SourceNode

_Roles = dict[str, "SourceEntry"]


def roles_of_other(root: SourceNode, plain: dict[str, Any]) -> _Roles:
    """The entries that hold a `template`, by the names of their roles; none where the text holds no pod templates."""
    find = _KINDS.get(str(plain.get("kind", "")), _none)
    return find(root) if plain.get("apiVersion") != _VOLCANO else _volcano(root)


def _none(_: SourceNode) -> _Roles:
    return {}


def _holding(template: SourceEntry | None) -> SourceEntry | None:
    return apart(composed(template=template)) if template is not None else None


def _present(**roles: SourceEntry | None) -> _Roles:
    return {name: entry for name, entry in roles.items() if entry is not None}


def _job(root: SourceNode) -> _Roles:
    return _present(node=_holding(at(root, "spec", "template")))


def _set(root: SourceNode) -> _Roles:
    path = ("spec", "leaderWorkerTemplate")
    leader, worker = (_holding(at(root, *path, name)) for name in ("leaderTemplate", "workerTemplate"))
    return _present(leader=leader or worker, worker=worker, node=worker)


def _ray(root: SourceNode) -> _Roles:
    cluster = ("spec", "rayClusterSpec")
    head, driver = at(root, *cluster, "headGroupSpec"), _holding(at(root, "spec", "submitterPodTemplate"))
    return _present(head=head, driver=driver) | _listed(at(root, *cluster, "workerGroupSpecs"), "groupName")


def _volcano(root: SourceNode) -> _Roles:
    return _listed(at(root, "spec", "tasks"), "name")


def _listed(entry: SourceEntry | None, name: str) -> _Roles:
    """The entries of a list by what they are called."""
    items = entry.node.children if entry is not None else None
    nodes = [(one.node.value, one) for one in (items if isinstance(items, list) else ())]
    return {str(value[name]): one for value, one in nodes if isinstance(value, dict) and name in value}


_VOLCANO = "batch.volcano.sh/v1alpha1"
_KINDS: Mapping[str, Callable[[SourceNode], _Roles]] = {"Job": _job, "LeaderWorkerSet": _set, "RayJob": _ray}
