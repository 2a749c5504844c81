"""Patches and contributions of which every leaf knows its origin already: there is nothing left to stamp."""

from __future__ import annotations

from trainc.model.patches import Contribution, Patch
from trainc.model.plan import NODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from trainc.model.plan import Role
    from trainc.model.tree import Tree

_NONE: dict[Any, Any] = {}  # what all that are empty share; nobody writes into a patch
_new = object.__new__


def on_container(
    role: int, name: str, env: tuple[Tree, ...] = (), ports: tuple[Tree, ...] = (), sets: Mapping[str, Tree] = _NONE
) -> Patch:
    """A patch on one container alone."""
    patch = _new(Patch)
    patch.role, patch.container, patch.env, patch.ports, patch.sets = role, name, env, ports, sets
    patch.mounts = patch.volumes = patch.init_containers = ()
    patch.pod = patch.labels = patch.annotations = _NONE
    return patch


def contributed(
    patches: tuple[Patch, ...] = (), objects: tuple[Tree, ...] = (), labels: Mapping[str, Tree] = _NONE
) -> Contribution:
    """A contribution that says so of itself."""
    made = _new(Contribution)
    made.patches, made.objects, made.labels = patches, objects, labels
    made.annotations = made.counts = _NONE
    made.empty, made.sourced = not (patches or objects or labels), True
    return made


def equipped(role: Role | None, env: tuple[Tree, ...], ports: tuple[Tree, ...]) -> Contribution:
    """Variables and ports on the node container, nothing where it is missing."""
    if role is None or role.container() is None:
        return _ADDS_NONE
    return contributed((on_container(role.index, NODE, env, ports),))


_ADDS_NONE = contributed()
