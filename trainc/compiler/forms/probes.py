"""Other values for the holes of a job, of the same classes and related as its own are."""

from __future__ import annotations

import re

from trainc.compiler.forms.places import DECIMAL, LONGEST, NUMBER, POWER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.compiler.forms.layout import Values

STYLES = DIFFERENT, SHORTEST, LONG = ("different", "shortest", "longest")
_RUNS = re.compile("(\1[0-9]+\1|[0-9]+|[A-Za-z][A-Za-z0-9]*)").split
_LETTERS = "bcdfghjkmpqrtvwxz"  # no two words of three of them, behind a letter that is none, hold one another
_FIRST, _STEP = 102_938, 1_009  # of numbers with many different digits, far apart


def probe(values: Values, classes: Sequence[str], style: str) -> Values:
    """A value for each hole: the same where values are the same, one within another where they are so."""
    made: dict[str, str] = {}
    for serial, text in enumerate(sorted(dict.fromkeys(values), key=len)):
        inner = [known for known in made if known[0] > "9" and known in text]
        name = classes[values.index(text)]
        if inner:
            made[text] = _around(text, sorted(inner, key=len, reverse=True), made, style, serial)
        elif name in _NUMBERS:
            made[text] = _NUMBERS[name](style, serial)
        else:
            is_alone = not any(text in other for other in values if other != text)
            made[text] = _word(style, serial, LONGEST if is_alone else LONGEST // 3)
    return tuple([made[text] for text in values])


def _word(style: str, serial: int, most: int) -> str:
    word = "a" + _LETTERS[serial // len(_LETTERS) % len(_LETTERS)] + _LETTERS[serial % len(_LETTERS)]
    if style == DIFFERENT:
        return f"{word}-{_FIRST + _STEP * (serial + 100)}"
    return word if style == SHORTEST else word + f"-9{word[1:]}" * ((most - len(word)) // 4)


def _around(text: str, inner: list[str], made: dict[str, str], style: str, serial: int) -> str:
    """A text with other words and numbers around those inside that are made already."""
    for index, known in enumerate(inner):
        text = text.replace(known, f"\1{index}\1")
    parts = _RUNS(text)
    for at in range(1, len(parts), 2):
        run = parts[at]
        if run[0] == "\1":
            parts[at] = made[inner[int(run[1:-1])]]
        elif run[0] > "9":
            parts[at] = _word(SHORTEST, serial + at * 20, 3)
        elif run[0] != "0":
            parts[at] = _number(style, serial + at * 20)
        elif len(run) > 1:
            parts[at] = (
                "0" * len(run) if style == SHORTEST else _number(LONG, serial)[: len(run) - 1].rjust(len(run), "0")
            )
    return "".join(parts)


def _number(style: str, serial: int) -> str:
    if style == DIFFERENT:
        return str(_FIRST + _STEP * serial)
    return str(1 + serial if style == SHORTEST else 999_999 - serial)


def _decimal(style: str, serial: int) -> str:
    return f"0.{_number(style, serial)}" if style != LONG else f"999.{_number(style, serial)}"


def _power(style: str, serial: int) -> str:
    if style == DIFFERENT:
        return f"{2 + serial % 8}.{500 + serial}e-7"
    return f"{1 + serial % 9}e-{1 + serial // 9 % 9}" if style == SHORTEST else f"9.{999 - serial}e-9"


_NUMBERS = {NUMBER: _number, DECIMAL: _decimal, POWER: _power}
