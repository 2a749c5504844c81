"""A flavor's nodes as a tree of topology domains, and how many pods fit below each (Kueue's tas_flavor_snapshot.go)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from trainc.cluster.capacity.amounts import (
    Units,
    added,
    in_labels,
    matches_terms,
    pods_in,
    preference,
    subtracted,
    taint_text,
    untolerated,
)
from trainc.cluster.capacity.nodes import HOSTNAME, Node
from trainc.cluster.capacity.pods import PodSet

Values = tuple[str, ...]


class Domain:
    """A domain and the counts of one search: pods and slices that fit, and those beside a leader.

    After the search, `pods` are the pods that it gets and `leaders` whether it gets the leader.
    """

    __slots__ = ("children", "leaders", "pods", "pods_beside", "score", "slices", "slices_beside", "values")

    def __init__(self, values: Values) -> None:
        self.values = values
        self.children: list[Domain] = []
        self.reset()

    def reset(self) -> None:
        self.pods = self.slices = self.pods_beside = self.slices_beside = self.leaders = self.score = 0

    def copied(self) -> "Domain":
        """A copy of the subtree with counts of its own."""
        clone = copy(self)
        clone.children = [child.copied() for child in self.children]
        return clone


class Leaf(Domain):
    """A domain of the lowest level: what its nodes can hold, and its node where that level is the host name."""

    __slots__ = ("capacity", "key", "node")

    def __init__(self, values: Values, key: Values, node: Node | None) -> None:
        super().__init__(values)
        self.key = key
        self.node = node
        self.capacity: Units = {}


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
        key = self.key_of(node)
        if (leaf := self.leaves.get(key)) is None:
            leaf = Leaf(self._values(node), key, node if self.by_host else None)
            self.leaves[key] = self.domains[-1][key] = leaf
            self._hang(leaf)
        leaf.capacity = added(leaf.capacity, capacity)

    def _hang(self, domain: Domain) -> None:
        """Put a new domain below that of the level above, which is made where it is the first one there."""
        if not (values := domain.values[:-1]):
            return
        level = self.domains[len(values) - 1]
        if values not in level:
            level[values] = Domain(values)
            self._hang(level[values])
        level[values].children.append(domain)

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

    def fill(self, search: "Search") -> str:
        """Count what fits below every domain, from the leaves up; why nodes hold nothing, as a message of Kueue ends."""
        excluded: Counter[str] = Counter()
        for level in self.domains:
            for domain in level.values():
                domain.reset()
        for leaf in self.leaves.values():
            if reason := search.refusal(leaf.node) or search.count_pods(leaf):
                excluded[reason] += 1
        for root in self.domains[0].values():
            roll_up(root, 0, search, search.inner)
        if not excluded:
            return ""
        listed = ", ".join(sorted(f"{reason}: {count}" for reason, count in excluded.items()))
        return f". Total nodes: {len(self.leaves)}; excluded: {listed}"


@dataclass(eq=False)
class Search:
    """What is asked of a topology: a number of equal pods, with a leader or without, in slices or one by one.

    Levels are counted from the top.
    """

    workers: PodSet
    leader: PodSet | None
    used: Mapping[Values, Units]
    tolerations: Sequence[Any]
    size: int  # pods of a slice
    level: int
    slice_level: int
    ascending: bool  # the fullest domains first
    scores: bool  # preferred node affinity comes before everything else
    balanced: bool  # spread over domains evenly where that is possible
    inner: dict[int, int] = field(default_factory=dict)  # the sizes that pods are grouped by below a slice, by level

    @property
    def leaders(self) -> int:
        return 0 if self.leader is None else 1

    @property
    def slices(self) -> int:
        """How many slices the workers are."""
        return self.workers.count // self.size

    def refusal(self, node: Node | None) -> str:
        """Why a node is out of the question, empty where it is not; only nodes with a domain of their own are asked."""
        if node is None:
            return ""
        if (taint := untolerated(node.taints, self.tolerations)) is not None:
            return f'taint "{taint_text(taint)}"'
        if not in_labels(self.workers.spec.get("nodeSelector"), node.labels):
            return "nodeSelector"
        terms = self.workers.terms
        return "affinity" if terms is not None and not matches_terms(terms, node.labels, node.name) else ""

    def count_pods(self, leaf: Leaf) -> str:
        """Fill in how many pods a leaf holds, alone and beside a leader; what it lacks where that is none."""
        used = self.used.get(leaf.key)
        capacity = subtracted(leaf.capacity, used) if used else leaf.capacity
        leaf.pods, limit = pods_in(capacity, self.workers.placed)
        if self.scores and leaf.node is not None:
            leaf.score = preference(self.workers.spec, leaf.node.labels, leaf.node.name)
        leaf.pods_beside = leaf.pods
        if self.leader is not None and pods_in(capacity, self.leader.placed)[0] > 0:
            leaf.leaders = 1
            leaf.pods_beside = pods_in(subtracted(capacity, self.leader.placed), self.workers.placed)[0]
        return f'resource "{limit}"' if limit and not leaf.pods else ""


def roll_up(domain: Domain, level: int, search: Search, inner: Mapping[int, int]) -> None:
    """Sum up the counts of a domain's children; slices are counted at their own level and summed above it."""
    if domain.children:
        size = inner.get(level + 1, 1)
        lost_pods, lost_slices = [], []  # to a leader, by the child that has it
        domain.pods = domain.slices = domain.leaders = domain.score = 0
        for child in domain.children:
            roll_up(child, level + 1, search, inner)
            pods = child.pods // size * size
            domain.pods += pods
            domain.slices += child.slices
            domain.leaders = max(domain.leaders, child.leaders)
            domain.score += child.score
            if search.leader is None or child.leaders:
                lost_pods.append(pods - child.pods_beside // size * size)
                lost_slices.append(child.slices - child.slices_beside)
        domain.pods_beside = domain.pods - min(lost_pods) if lost_pods else 0
        domain.slices_beside = domain.slices - min(lost_slices) if lost_slices else 0
    if level == search.slice_level:
        domain.slices, domain.slices_beside = domain.pods // search.size, domain.pods_beside // search.size


def descendants(domains: Iterable[Domain]) -> Iterator[Domain]:
    for domain in domains:
        yield from domain.children


def in_order(
    domains: Iterable[Domain], *, beside: bool = False, ascending: bool = False, scores: bool = False
) -> list[Domain]:
    """By slices (most first, with `ascending` least first), then by fewest pods, then by name.

    With `beside` by the counts beside a leader, and those that can hold the leader first.
    """
    sign = 1 if ascending else -1
    if beside:
        return sorted(
            domains,
            key=lambda d: (-d.leaders, -d.score if scores else 0, sign * d.slices_beside, d.pods_beside, d.values),
        )
    return sorted(domains, key=lambda d: (-d.score if scores else 0, sign * d.slices, d.pods, d.values))
