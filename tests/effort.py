"""Bounds on effort that hold on any machine: seconds of CPU, by what a fixed piece of work takes there at that moment.

A machine that is busy, or another one, needs several times the seconds of CPU for the same work. A bound is asked
about as it stands; where it is exceeded, the work is measured again, beside the fixed piece. What is too slow by
itself is too slow each time.
"""

import time
from collections.abc import Callable

import pytest

PATIENCE = (
    180  # seconds until a program must have answered, whatever else runs; nothing waits that long where all is well
)
TRIES = 3
_FIXED = 0.06  # seconds of CPU for the fixed piece on the quiet machine for which bounds are written


def cpu(work: Callable[[], object]) -> float:
    """Seconds of CPU that work takes in this process."""
    start = time.process_time()
    work()
    return time.process_time() - start


def within(bound: float, measure: Callable[[], float]) -> None:
    """Fail where what is measured, in seconds of CPU, exceeds a bound each time."""
    seconds = measure()
    if seconds < bound:
        return
    found = [seconds / slowness()]
    while found[-1] >= bound and len(found) < TRIES:
        before = slowness()
        seconds = measure()
        found.append(seconds / max(before, slowness()))
    if found[-1] >= bound:
        pytest.fail(f"{min(found):.2f} s of CPU on a quiet machine, where {bound} are the bound")


def below(bound: float, measure: Callable[[], float]) -> None:
    """Fail where a ratio of two measures exceeds a bound each time: these need no yardstick, but a quiet moment."""
    found = [measure()]
    while found[-1] >= bound and len(found) < TRIES:
        found.append(measure())
    if found[-1] >= bound:
        pytest.fail(f"{min(found):.2f} times, where {bound} are the bound")


def slowness() -> float:
    """How many times longer this machine takes now, at least one."""
    return max(1.0, cpu(_fixed_piece) / _FIXED)


def _fixed_piece() -> int:
    """Texts, maps, lists, calls: what compiling consists of."""
    words = [f"name-{number}" for number in range(20_000)]
    table = {word: {"value": number, "words": [word, word[::-1]]} for number, word in enumerate(words)}
    found = sorted(table.items(), key=lambda pair: pair[0][::-1])
    return sum(len(key) + len(one) for key, one in found)
