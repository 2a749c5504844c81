"""How much of a resource a queue may use: cohorts, borrowing and lending (Kueue's pkg/cache/scheduler)."""

from __future__ import annotations

from trainc.cluster.capacity.amounts import minus, plus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainc.cluster.capacity.queues import Cell, ClusterQueue, Cohort, Quota


class Pool:
    """A queue or cohort in its tree, with what the tree below it has and uses of each flavor and resource."""

    __slots__ = ("_mosts", "_subtrees", "children", "holder", "name", "parent", "used")

    def __init__(self, name: str, holder: Cohort | None, used: Mapping[Cell, int] | None = None) -> None:
        self.name = name
        self.holder = holder  # None for a cohort that queues name and nobody wrote
        self.parent: Pool | None = None
        self.children: list[Pool] = []
        self.used = dict(used or {})
        # What follows from quotas alone, by flavor and resource, once the tree stands.
        self._subtrees: dict[Cell, int] = {}
        self._mosts: dict[Cell, int] = {}

    @property
    def quotas(self) -> Mapping[Cell, Quota]:
        return self.holder.quotas if self.holder else {}

    def ancestors(self) -> Iterator[Pool]:
        """The cohorts above, from the nearest to the root."""
        pool = self.parent
        while pool is not None:
            yield pool
            pool = pool.parent

    def subtree(self, cell: Cell) -> int:
        """The quota of this pool and of all below it, but for what they do not lend."""
        total = self._subtrees.get(cell)
        if total is None:
            quota = self.quotas.get(cell)
            total = quota.nominal if quota else 0
            for child in self.children:
                total = plus(total, minus(child.subtree(cell), child.kept(cell)))
            self._subtrees[cell] = total
        return total

    def kept(self, cell: Cell) -> int:
        """The part of the quota that is not lent to others."""
        quota = self.quotas.get(cell)
        return max(0, minus(self.subtree(cell), quota.lending)) if quota and quota.lending is not None else 0

    def usage(self, cell: Cell) -> int:
        """What is in use: of a queue all of it, of a cohort what its children cannot keep to themselves."""
        total = self.used.get(cell, 0)
        for child in self.children:
            total = plus(total, max(0, minus(child.usage(cell), child.kept(cell))))
        return total

    def kept_free(self, cell: Cell) -> int:
        """What is free of the part that is not lent."""
        return max(0, minus(self.kept(cell), self.usage(cell)))

    def most(self, cell: Cell) -> int:
        """The largest amount that can ever be used here, with nothing else running."""
        total = self._mosts.get(cell)
        if total is None:
            total = self._mosts[cell] = self._most(cell)
        return total

    def _most(self, cell: Cell) -> int:
        if self.parent is None:
            return self.subtree(cell)
        total = plus(self.kept(cell), self.parent.most(cell))
        quota = self.quotas.get(cell)
        if quota and quota.borrowing is not None:
            total = min(total, plus(self.subtree(cell), quota.borrowing))
        return total

    def free(self, cell: Cell) -> int:
        """The amount that can be used now, beside what is in use."""
        if self.parent is None:
            return minus(self.subtree(cell), self.usage(cell))
        above = self.parent.free(cell)
        quota = self.quotas.get(cell)
        if quota and quota.borrowing is not None:
            kept = self.kept(cell)
            stored = minus(self.subtree(cell), kept)
            lent = max(0, minus(self.usage(cell), kept))
            above = min(above, plus(minus(stored, lent), quota.borrowing))
        return plus(self.kept_free(cell), above)

    def borrows_for(self, cell: Cell, amount: int) -> bool:
        """Whether an amount exceeds what this subtree has free."""
        return self.subtree(cell) < plus(self.usage(cell), amount)

    def height(self) -> int:
        """The longest way down to a queue."""
        below = [child.height() + 1 for child in self.children if child.children or not _is_queue(child)]
        return max([min(len(self.children), 1), *below])

    def borrowing_height(self, cell: Cell, amount: int) -> int:
        """How far up the amount is borrowed: 0 for none, else the height of the nearest cohort that holds it."""
        if self.parent is None or not self.borrows_for(cell, amount):
            return 0
        rest = minus(amount, self.kept_free(cell))
        root = self.parent
        for pool in self.ancestors():
            if not pool.borrows_for(cell, rest):
                return pool.height()
            rest = minus(rest, pool.kept_free(cell))
            root = pool
        return root.height()


def borrowed(pool: Pool, cell: Cell, amount: int) -> tuple[int, str]:
    """How much of an amount a queue borrows, and from which cohort: the nearest that holds it, else the root."""
    more = minus(plus(pool.usage(cell), amount), pool.subtree(cell))
    if more <= 0:
        return 0, ""
    rest, lender = minus(amount, pool.kept_free(cell)), ""
    for above in pool.ancestors():
        lender = above.name
        if not above.borrows_for(cell, rest):
            break
        rest = minus(rest, above.kept_free(cell))
    return more, lender


def _is_queue(pool: Pool) -> bool:
    return pool.holder is not None and hasattr(pool.holder, "checks")


class Pools:
    """All queues and cohorts of a cluster in their trees; queues under a cycle of cohorts are in `cyclic`."""

    def __init__(
        self,
        queues: Mapping[str, ClusterQueue],
        cohorts: Mapping[str, Cohort],
        used: Mapping[str, Mapping[Cell, int]],
    ) -> None:
        names = {*cohorts, *(q.parent for q in queues.values()), *(c.parent for c in cohorts.values())} - {""}
        self.cohorts = {name: Pool(name, cohorts.get(name)) for name in sorted(names)}
        self.queues = {name: Pool(name, queue, used.get(name)) for name, queue in queues.items()}
        cycles = {name for name in names if _returns(name, cohorts)}
        self.cyclic = {name for name, queue in queues.items() if queue.parent in cycles}
        for name, queue in queues.items():
            if name not in self.cyclic:
                self._join(self.queues[name], queue.parent)
        for name, cohort in cohorts.items():
            if name not in cycles:
                self._join(self.cohorts[name], cohort.parent)

    def _join(self, pool: Pool, parent: str) -> None:
        if parent:
            pool.parent = self.cohorts[parent]
            self.cohorts[parent].children.append(pool)


def _returns(name: str, cohorts: Mapping[str, Cohort]) -> bool:
    """Whether the way up from a cohort runs into a cycle."""
    seen: set[str] = set()
    while name:
        if name in seen:
            return True
        seen.add(name)
        name = cohorts[name].parent if name in cohorts else ""
    return False
