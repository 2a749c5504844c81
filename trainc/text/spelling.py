"""The name somebody probably meant."""

from collections.abc import Iterable


def nearest(name: str, names: Iterable[str], *, cutoff: float = 0.6) -> str:
    """The most similar of `names`, empty where none is similar."""
    from trainc.text.similar import closest  # noqa: PLC0415 (needed only once something is wrong)

    return closest(name, tuple(names), cutoff)


def meant(name: str, names: Iterable[str], otherwise: str = "") -> str:
    """The help for a name that nobody knows: the one that was probably meant, else `otherwise`."""
    near = nearest(name, names)
    return f"did you mean `{near}`?" if near else otherwise


def intended(name: str, names: Iterable[str]) -> list[str]:
    """The names that a misspelt one can stand for without much doubt; one alone is the name that was meant.

    These are the names with the same letters whatever their case, without `_` and `-`; else those a slip away: a letter
    more, less, wrong or swapped with the next, in long names two of these.
    """
    known = tuple(names)
    letters = _letters(name)
    if same := [other for other in known if _letters(other) == letters]:
        return same
    slips = 0 if len(name) < _SHORT else 1 if len(name) < _LONG else 2
    distances = {other: _slips(name, other, slips) for other in known if abs(len(other) - len(name)) <= slips}
    return [other for other, distance in distances.items() if 0 < distance <= slips]


_SHORT, _LONG = 4, 8  # letters of names in which one slip, and two, leave no doubt


def _letters(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _slips(one: str, other: str, most: int) -> int:
    """How many slips turn one text into another (the restricted Damerau-Levenshtein distance), `most + 1` for more."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        previous, row = row, [i]
        for j, wanted in enumerate(other, 1):
            cost = min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before = previous
    return row[-1]
