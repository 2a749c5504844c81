"""Kueue's objects as its scheduler uses them: flavors, queues, cohorts; both of its API versions."""

from __future__ import annotations

from trainc.apiserver.pods.requests import quantity_of
from trainc.cluster.capacity.amounts import quota_units
from trainc.model.tree import get, plain, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainc.model.tree import Tree

Cell = tuple[str, str]  # flavor and resource


class Flavor:
    """A ResourceFlavor: kinds of nodes under one name."""

    __slots__ = ("labels", "name", "taints", "tolerations", "topology")

    def __init__(self, name: str, spec: dict[str, Any]) -> None:
        self.name = name
        self.labels: dict[str, str] = _map(spec, "nodeLabels")
        self.taints: list[dict[str, Any]] = maps(spec.get("nodeTaints"))
        self.tolerations: list[dict[str, Any]] = maps(spec.get("tolerations"))
        self.topology: str = spec.get("topologyName") or ""


class Quota:
    """What one queue or cohort has of one resource in one flavor; a limit that is None is not set."""

    __slots__ = ("borrowing", "lending", "nominal")

    def __init__(self, nominal: int, borrowing: int | None, lending: int | None) -> None:
        self.nominal = nominal
        self.borrowing = borrowing
        self.lending = lending


class ResourceGroup:
    """Resources that share one list of flavors."""

    __slots__ = ("flavors", "resources")

    def __init__(self, resources: list[str], flavors: list[str]) -> None:
        self.resources = resources
        self.flavors = flavors


class Cohort:
    """A cohort: its own quota and its parent; a queue is the leaf of such a tree."""

    __slots__ = ("groups", "name", "parent", "quotas")

    def __init__(self, name: str, parent: str, spec: Tree) -> None:
        self.name = name
        self.parent = parent
        self.groups, self.quotas = _groups(spec)

    def group_of(self, resource: str) -> ResourceGroup | None:
        """The group that covers a resource."""
        return next((group for group in self.groups if resource in group.resources), None)


class ClusterQueue(Cohort):
    """A ClusterQueue; `checks` maps an admission check to its flavors, empty for all of them."""

    __slots__ = ("checks", "is_stopped", "selector", "tries_next_on_borrowing")

    def __init__(self, name: str, spec: Tree) -> None:
        super().__init__(name, value(spec, "cohortName") or value(spec, "cohort") or "", spec)
        selector = plain(get(spec, "namespaceSelector"))
        self.selector: dict[str, Any] | None = selector if type(selector) is dict else None
        self.is_stopped = (value(spec, "stopPolicy") or "None") != "None"
        self.tries_next_on_borrowing = value(spec, "flavorFungibility", "whenCanBorrow") == "TryNextFlavor"
        self.checks = _checks(spec)


def flavor_of(name: str, tree: Tree) -> Flavor:
    """The ResourceFlavor that a manifest describes."""
    return Flavor(name, _spec(tree))


def cohort_of(name: str, tree: Tree) -> Cohort:
    """The Cohort that a manifest describes."""
    spec = get(tree, "spec")
    return Cohort(name, value(spec, "parentName") or value(spec, "parent") or "", spec)


def cluster_queue_of(name: str, tree: Tree) -> ClusterQueue:
    """The ClusterQueue that a manifest describes."""
    return ClusterQueue(name, get(tree, "spec"))


def _groups(spec: Tree) -> tuple[list[ResourceGroup], dict[Cell, Quota]]:
    groups, quotas = [], {}
    for tree in _list(get(spec, "resourceGroups")):
        names = []
        for flavor in _list(get(tree, "flavors")):
            name = value(flavor, "name")
            if type(name) is not str:
                continue
            names.append(name)
            for resource in _list(get(flavor, "resources")):
                kind = value(resource, "name")
                if type(kind) is str:
                    quotas[name, kind] = _quota(kind, resource)
        covered = plain(get(tree, "coveredResources"))
        groups.append(
            ResourceGroup([one for one in covered if type(one) is str] if type(covered) is list else [], names)
        )
    return groups, quotas


def _quota(resource: str, tree: Tree) -> Quota:
    nominal, borrowing, lending = (_amount(resource, get(tree, f)) for f in ("nominalQuota", *_LIMITS))
    return Quota(nominal or 0, borrowing, lending)


_LIMITS = ("borrowingLimit", "lendingLimit")


def _amount(resource: str, leaf: Tree) -> int | None:
    quantity = quantity_of(leaf)
    return None if quantity is None else quota_units(resource, quantity)


def _checks(spec: Tree) -> dict[str, frozenset[str]]:
    checks: dict[str, frozenset[str]] = {}
    for leaf in _list(get(spec, "admissionChecks")):
        if type(value(leaf)) is str:
            checks[value(leaf)] = frozenset()
    for one in _list(get(spec, "admissionChecksStrategy", "admissionChecks")):
        name, flavors = value(one, "name"), plain(get(one, "onFlavors"))
        if type(name) is str:
            checks[name] = frozenset(flavors if type(flavors) is list else ())
    return checks


def _spec(tree: Tree) -> dict[str, Any]:
    spec = plain(get(tree, "spec"))
    return spec if type(spec) is dict else {}


def _map(spec: dict[str, Any], key: str) -> dict[str, str]:
    field = spec.get(key)
    return field if type(field) is dict else {}


def maps(field: Any) -> list[dict[str, Any]]:
    """The maps of a plain list; what is anything else is left out."""
    return [one for one in field if type(one) is dict] if type(field) is list else []


def _list(node: Tree) -> list[Tree]:
    return node if type(node) is list else []
