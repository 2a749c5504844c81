"""A flavor's nodes as a tree of topology domains, and how many pods fit below each (Kueue's tas_flavor_snapshot.go)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainc.cluster.capacity.amounts import (
    Units,
    in_labels,
    matches_terms,
    pods_in,
    preference,
    subtracted,
    taint_text,
    untolerated,
)
from trainc.cluster.capacity.nodes import HOSTNAME, Node

Values = tuple[str, ...]


class Domain:
    """A domain and the counts of one search: pods and slices that fit, and those beside a leader.

    After the search, `pods` are the pods that it gets and `leaders` whether it gets the leader.
    """

    __slots__ = ("children", "leaders", "parent", "pods", "pods_beside", "score", "slices", "slices_beside", "values")

    def __init__(self, values: Values, parent: Domain | None) -> None:
        self.values = values
        self.parent = parent
        self.children: list[Domain] = []
        self.reset()

    def reset(self) -> None:
        self.pods = self.slices = self.pods_beside = self.slices_beside = self.leaders = self.score = 0

    def copy(self, parent: Domain | None = None) -> Domain:
        """A copy of the subtree with counts of its own."""
        clone = Domain(self.values, parent)
        for count in ("pods", "slices", "pods_beside", "slices_beside", "leaders", "score"):
            setattr(clone, count, getattr(self, count))
        clone.children = [child.copy(clone) for child in self.children]
        return clone


class Leaf(Domain):
    """A domain of the lowest level: what its nodes can hold, and its node where that level is the host name."""

    __slots__ = ("capacity", "key", "node")

    def __init__(self, values: Values, parent: Domain | None, key: Values, node: Node | None) -> None:
        super().__init__(values, parent)
        self.key = key
        self.node = node
        self.capacity: Units = {}


class Exclusions:
    """Why nodes hold not a single pod, counted as Kueue words it."""

    def __init__(self) -> None:
        self.total = 0
        self.reasons: dict[str, int] = {}

    def add(self, reason: str) -> None:
        self.reasons[reason] = self.reasons.get(reason, 0) + 1

    def __str__(self) -> str:
        """The end of a message, empty where no node is excluded."""
        if not self.reasons:
            return ""
        listed = ", ".join(sorted(f"{reason}: {count}" for reason, count in self.reasons.items()))
        return f". Total nodes: {self.total}; excluded: {listed}"


class Topology:
    """The tree of domains of one flavor."""

    def __init__(
        self,
        name: str,
        levels: Sequence[str],
        nodes: Iterable[Node],
        tolerations: Sequence[Any],
        *,
        is_idle: bool = True,
    ) -> None:
        self.name = name
        self.levels = list(levels)
        self.tolerations = list(tolerations)
        self.by_host = bool(levels) and levels[-1] == HOSTNAME
        self.domains: list[dict[Values, Domain]] = [{} for _ in levels]
        self.leaves: dict[Values, Leaf] = {}
        for node in nodes:
            self._add(node, node.free(is_idle=is_idle))

    def _add(self, node: Node, capacity: Units) -> None:
        values, key = self._values(node), self.key_of(node)
        leaf = self.leaves.get(key)
        if leaf is None:
            parent = self._domain(values[:-1])
            leaf = Leaf(values, parent, key, node if self.by_host else None)
            self.leaves[key] = self.domains[-1][key] = leaf
            if parent is not None:
                parent.children.append(leaf)
        for name, amount in capacity.items():
            leaf.capacity[name] = leaf.capacity.get(name, 0) + amount

    def _values(self, node: Node) -> Values:
        return tuple([node.labels.get(level, "") for level in self.levels])

    def key_of(self, node: Node) -> Values:
        """The name of the leaf that a node belongs to, whether the topology has it or not."""
        values = self._values(node)
        return values[-1:] if self.by_host else values

    def take(self, key: Values, amounts: Units) -> None:
        """Lessen what a leaf holds, where this topology has it."""
        if (leaf := self.leaves.get(key)) is not None:
            leaf.capacity = subtracted(leaf.capacity, amounts)

    def _domain(self, values: Values) -> Domain | None:
        if not values:
            return None
        level = self.domains[len(values) - 1]
        domain = level.get(values)
        if domain is None:
            parent = self._domain(values[:-1])
            domain = level[values] = Domain(values, parent)
            if parent is not None:
                parent.children.append(domain)
        return domain

    def fill(self, query: PlacementQuery) -> Exclusions:
        """Count what fits below every domain, from the leaves up; the reasons of nodes that hold nothing."""
        excluded = Exclusions()
        for level in self.domains:
            for domain in level.values():
                domain.reset()
        excluded.total = len(self.leaves)
        for leaf in self.leaves.values():
            if reason := query.refusal(leaf.node):
                excluded.add(reason)
            else:
                query.count(leaf, excluded)
        for root in self.domains[0].values():
            roll_up(root, 0, query)
        return excluded


@dataclass(eq=False)
class PlacementQuery:
    """What is asked of a topology: one kind of pods, with a leader or without, in slices or one by one."""

    pod: Mapping[str, Any]
    one: Units
    leader: Units | None
    used: Mapping[Values, Units]
    size: int
    slice_level: int
    tolerations: Sequence[Any] = ()
    terms: Sequence[Mapping[str, Any]] | None = None
    scores: bool = False
    inner: dict[int, int] = field(default_factory=dict)

    def without_layers(self) -> PlacementQuery:
        """The same query for one layer of slices."""
        return PlacementQuery(self.pod, self.one, self.leader, self.used, self.size, self.slice_level)

    def refusal(self, node: Node | None) -> str:
        """Why a node is out of the question, empty where it is not; only nodes with a domain of their own are asked."""
        if node is None:
            return ""
        if (taint := untolerated(node.taints, self.tolerations)) is not None:
            return f'taint "{taint_text(taint)}"'
        if not in_labels(self.pod.get("nodeSelector"), node.labels):
            return "nodeSelector"
        if self.terms is not None and not matches_terms(self.terms, node.labels, node.name):
            return "affinity"
        return ""

    def count(self, leaf: Leaf, excluded: Exclusions) -> None:
        """Fill in how many pods a leaf holds, alone and beside a leader."""
        used = self.used.get(leaf.key)
        capacity = subtracted(leaf.capacity, used) if used else leaf.capacity
        leaf.pods, limit = pods_in(capacity, self.one)
        if not leaf.pods and limit:
            excluded.add(f'resource "{limit}"')
        if self.scores and leaf.node is not None:
            leaf.score = preference(self.pod, leaf.node.labels, leaf.node.name)
        leaf.pods_beside = leaf.pods
        if self.leader is not None and pods_in(capacity, self.leader)[0] > 0:
            leaf.leaders = 1
            leaf.pods_beside = pods_in(subtracted(capacity, self.leader), self.one)[0]


def roll_up(domain: Domain, level: int, query: PlacementQuery) -> None:
    """Sum up the counts of a domain's children; slices are counted at their own level and summed above it."""
    size = query.size
    if not domain.children:
        if level == query.slice_level:
            domain.slices, domain.slices_beside = domain.pods // size, domain.pods_beside // size
        return
    inner = query.inner.get(level + 1, 1)
    least_pods = least_slices = -1
    domain.pods = domain.slices = domain.leaders = domain.score = 0
    for child in domain.children:
        roll_up(child, level + 1, query)
        pods, beside = child.pods // inner * inner, child.pods_beside // inner * inner
        domain.pods += pods
        domain.slices += child.slices
        domain.leaders = max(domain.leaders, child.leaders)
        domain.score += child.score
        if query.leader is None or child.leaders:
            least_pods = min(pods - beside, least_pods) if least_pods >= 0 else pods - beside
            lost = child.slices - child.slices_beside
            least_slices = min(lost, least_slices) if least_slices >= 0 else lost
    domain.pods_beside = domain.pods - least_pods if least_pods >= 0 else 0
    domain.slices_beside = domain.slices - least_slices if least_slices >= 0 else 0
    if level == query.slice_level:
        domain.slices, domain.slices_beside = domain.pods // size, domain.pods_beside // size


def descendants(domains: Iterable[Domain]) -> Iterator[Domain]:
    for domain in domains:
        yield from domain.children


def sorted_domains(domains: Iterable[Domain], *, ascending: bool, scores: bool) -> list[Domain]:
    """By slices (most first, with `ascending` least first), then by fewest pods, then by name."""
    sign = 1 if ascending else -1
    return sorted(domains, key=lambda d: (-d.score if scores else 0, sign * d.slices, d.pods, d.values))


def sorted_with_leader(domains: Iterable[Domain], *, ascending: bool, scores: bool) -> list[Domain]:
    """As `sorted_domains`, by the counts beside a leader, and those that can hold the leader first."""
    sign = 1 if ascending else -1
    return sorted(
        domains, key=lambda d: (-d.leaders, -d.score if scores else 0, sign * d.slices_beside, d.pods_beside, d.values)
    )
