"""Whether nodes hold a whole gang at once: exact for equal pods, a bounded search for mixed ones."""

from __future__ import annotations

from trainc.cluster.capacity.filters import static_refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trainc.cluster.capacity.nodes import Node, NodeClass
    from trainc.cluster.capacity.pods import PendingPod

MOST_STEPS = 20_000  # of the search for a packing of mixed pods; beyond it there is no answer
Counts = tuple[int, ...]


class NodeKind:
    """Nodes that are alike for the pods in question: what is free on each, and which pods it takes."""

    __slots__ = ("free", "nodes", "room", "takes")

    def __init__(self, free: dict[str, int], room: int, takes: tuple[bool, ...]) -> None:
        self.free = free
        self.room = room
        self.takes = takes
        self.nodes: list[str] = []

    def holds(self, pods: Sequence[PendingPod], counts: Counts) -> bool:
        """Whether one node holds so many of each kind of pods at once."""
        if sum(counts) > self.room:
            return False
        total: dict[str, int] = {}
        for pod, count in zip(pods, counts, strict=True):
            for name, amount in pod.requests.items():
                total[name] = total.get(name, 0) + amount * count
        return all(amount <= self.free.get(name, 0) for name, amount in total.items() if amount > 0)

    def most(self, pod: PendingPod) -> int:
        """How many pods of one kind a node takes alone."""
        shares = [self.free.get(name, 0) // amount for name, amount in pod.requests.items() if amount > 0]
        return max(0, min([self.room, *shares]))


def kinds_of(pods: Sequence[PendingPod], classes: Iterable[NodeClass]) -> list[NodeKind]:
    """The nodes that take any of the pods, alike ones together."""
    by_key: dict[object, NodeKind] = {}
    knows_names = any(pod.knows_names for pod in pods)
    for alike in classes:
        apart: list[tuple[Node, Iterable[str]]] = [(alike.model, alike.names)]
        for node, names in [(node, [node.name]) for node in alike.nodes()] if knows_names else apart:
            takes = tuple([not static_refusal(pod, node) and _is_named(pod, node.name) for pod in pods])
            if not any(takes):
                continue
            key = (tuple(sorted(alike.free.items())), alike.room, takes)
            if key not in by_key:
                by_key[key] = NodeKind(alike.free, alike.room, takes)
            by_key[key].nodes.extend(names)
    return list(by_key.values())


def _is_named(pod: PendingPod, node: str) -> bool:
    return pod.spec.get("nodeName") in (None, "", node)


def rooms(pods: Sequence[PendingPod], kinds: Iterable[NodeKind]) -> list[int]:
    """How many pods of each kind fit where nothing else of the job runs."""
    totals = [0] * len(pods)
    for kind in kinds:
        for index, pod in enumerate(pods):
            if kind.takes[index]:
                totals[index] += kind.most(pod) * len(kind.nodes)
    return totals


def fits_at_once(pods: Sequence[PendingPod], counts: Sequence[int], kinds: Sequence[NodeKind]) -> bool | None:
    """Whether all pods have a place at the same time; None where the search gave up.

    Rules between pods (affinity, spreading, ports) are not looked at: then True means "as far as resources go".
    """
    wanted = [index for index, count in enumerate(counts) if count > 0]
    pods, left = [pods[index] for index in wanted], tuple([counts[index] for index in wanted])
    narrowed = [_narrowed(kind, wanted) for kind in kinds]
    if any(room < count for room, count in zip(rooms(pods, narrowed), left, strict=True)):
        return False
    if len(pods) < 2:
        return True
    return _Search(pods, narrowed).run(left)


def _narrowed(kind: NodeKind, wanted: Sequence[int]) -> NodeKind:
    other = NodeKind(kind.free, kind.room, tuple([kind.takes[index] for index in wanted]))
    other.nodes = kind.nodes
    return other


class _Search:
    """A search over what each node gets; nodes of one kind get less and less, and every node is filled up."""

    def __init__(self, pods: Sequence[PendingPod], kinds: Sequence[NodeKind]) -> None:
        self.pods = pods
        self.nodes = [kind for kind in kinds for _ in kind.nodes]
        self.steps = 0
        self.failed: set[tuple[int, Counts, Counts | None]] = set()

    def run(self, left: Counts) -> bool | None:
        """Whether the pods fit; None after too many steps."""
        if len(self.nodes) > MOST_STEPS:
            return None
        todo: list[tuple[int, Counts, Counts | None]] = [(0, left, None)]
        while todo:
            at, left, before = todo.pop()
            if not any(left):
                return True
            state = (at, left, before)
            if at == len(self.nodes) or state in self.failed:
                continue
            self.failed.add(state)
            self.steps += 1
            if self.steps > MOST_STEPS:
                return None
            kind = self.nodes[at]
            same = at + 1 < len(self.nodes) and self.nodes[at + 1] is kind
            for share in self._shares(kind, left):
                if before is None or share <= before:
                    rest = tuple([have - given for have, given in zip(left, share, strict=True)])
                    todo.append((at + 1, rest, share if same else None))
        return False

    def _shares(self, kind: NodeKind, left: Counts) -> list[Counts]:
        """What one node may get: every combination to which no further pod can be added; the largest last."""
        shares: list[Counts] = []

        def extend(share: list[int], index: int) -> None:
            self.steps += 1
            if self.steps > MOST_STEPS:
                return
            if index == len(self.pods):
                if self._is_full(kind, tuple(share), left):
                    shares.append(tuple(share))
                return
            most = min(left[index], kind.most(self.pods[index])) if kind.takes[index] else 0
            for count in range(most + 1):
                share[index] = count
                if not kind.holds(self.pods, tuple(share)):
                    break
                extend(share, index + 1)
            share[index] = 0

        extend([0] * len(self.pods), 0)
        return shares

    def _is_full(self, kind: NodeKind, share: Counts, left: Counts) -> bool:
        for index, taken in enumerate(share):
            if kind.takes[index] and taken < left[index]:
                more = (*share[:index], taken + 1, *share[index + 1 :])
                if kind.holds(self.pods, more):
                    return False
        return True
