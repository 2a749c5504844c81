"""What one evaluation of an expression sees, and what it has cost so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.apiserver.policy.cel.values import OutOfBudgetError

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.apiserver.policy.cel.values import Paths

    Valued = tuple[Any, Paths]
    Run = Callable[["Scope"], Valued]

PER_EXPRESSION = 1_000_000  # PerCallLimit of k8s.io/apiserver/pkg/apis/cel


class Scope:
    """The names that one evaluation sees, and what it has cost so far; `lazy` gives the value of a name when first asked."""

    __slots__ = ("cost", "lazy", "names")

    def __init__(self, names: dict[str, Valued], lazy: Callable[[str], Valued]) -> None:
        self.names = names
        self.lazy = lazy
        self.cost = 0

    def pay(self, cost: int) -> None:
        """Count a cost.

        Raises:
            OutOfBudgetError: where the expression costs more than one may.
        """
        self.cost += cost
        if self.cost > PER_EXPRESSION:
            raise OutOfBudgetError
