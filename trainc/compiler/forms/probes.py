"""Numbers to put in the place of those that may vary, so that a rule which tells two of them apart is found out.

A rule can compare a number with a limit, with another number of the job, or with one that it knows. The probes of a
class are therefore its extremes, by value, by length and as a text; all alike, all different, rising and falling.
"""

from __future__ import annotations

from trainc.compiler.forms.text import LONGEST, PLAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    Classes = Mapping[int, str]  # of the numbers that may vary, by their index
    Clashes = Mapping[int, Collection[str]]

_FIRST, _STEP = 102_938, 1_009  # many different digits; far apart


def different(classes: Classes, taken: Collection[str]) -> dict[int, str] | None:
    """Numbers of different digits, rising, none of them twice or taken; None where a class has too few."""
    # What is taken is so for every place: each looks on where the one before it stopped.
    numbers = {name: _of_different_digits(name) for name in set(classes.values())}
    return _chosen(classes, taken, numbers.__getitem__, {})


def smallest(classes: Classes, clashes: Clashes) -> dict[int, str] | None:
    """The smallest and shortest numbers, the same for all of one class."""
    chosen: dict[str, str] = {}
    for name in set(classes.values()):
        banned = {run for index, of in classes.items() if of == name for run in clashes.get(index, ())}
        run_text = next((run for at in range(1_000) if (run := _spelled(name, at + (name == PLAIN))) not in banned), "")
        if not run_text:
            return None
        chosen[name] = run_text
    return {index: chosen[name] for index, name in classes.items()}


def largest(classes: Classes, clashes: Clashes) -> dict[int, str] | None:
    """The largest and longest numbers, all different, falling."""
    return _chosen(classes, (), _falling, clashes)


def _chosen(
    classes: Classes, taken: Collection[str], order: Callable[[str], Iterable[int]], clashes: Clashes
) -> dict[int, str] | None:
    used = set(taken)
    chosen: dict[int, str] = {}
    for index in sorted(classes):
        name = classes[index]
        banned = clashes.get(index, ())
        run = next((run for at in order(name) if (run := _spelled(name, at)) not in used and run not in banned), "")
        if not run:
            return None
        used.add(run)
        chosen[index] = run
    return chosen


def _room(name: str) -> int:
    """How many numbers a class has, or one behind the largest of them."""
    room: int = 10 ** (LONGEST if name == PLAIN else int(name[1:]) - 1)
    return room


def _of_different_digits(name: str) -> Iterator[int]:
    room = _room(name)
    # Behind a zero no number below 12345, or as many digits of it, has different ones.
    for number in range(_FIRST, room, _STEP) if room > _FIRST else range(room * 12_345 // 100_000, room):
        digits = _spelled(name, number)
        if len(set(digits)) == len(digits):
            yield number


def _falling(name: str) -> Iterable[int]:
    return range(_room(name) - 1, 0, -1)


def _spelled(name: str, number: int) -> str:
    return str(number) if name == PLAIN else f"{number:0{int(name[1:])}}"
