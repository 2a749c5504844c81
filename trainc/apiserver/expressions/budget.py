"""What costly expressions of one run may cost together: what exceeds that is not judged."""

from trainc.apiserver.fault import NotJudgedError

CHEAP = 100_000  # the cost of an evaluation that is not counted
MOST = 5_000_000  # of all costs beyond that in one run


class _Run:
    """What the present run has spent."""

    spent = 0


def begin_run() -> None:
    """Give the run that begins a budget of its own, where the program evaluated in an earlier one."""
    _Run.spent = 0


def check_budget() -> None:
    """NotJudgedError where the run has spent its budget."""
    if _Run.spent > MOST:
        raise NotJudgedError("expressions of CEL take too much time in this run")


def charge(cost: int) -> None:
    """Count the cost of an evaluation."""
    _Run.spent += max(0, cost - CHEAP)
