"""A text as its skeleton and its numbers: two texts of one skeleton differ in runs of digits alone."""

from __future__ import annotations

import re

from trainc.text.memo import Memo, TextMemo

TYPE_CHECKING = False
if TYPE_CHECKING:
    Shape = tuple[str, list[slice]]  # a skeleton, and where its numbers stand

PLAIN = "n"  # the class of numbers without leading zeros
MAX_SHAPES = 500  # texts of some KiB
LONGEST = 6  # digits of a number that may vary
_SPLIT = re.compile("([0-9]+)").split
_ZEROS = bytes.maketrans(b"123456789", b"000000000")


def split(text: str) -> tuple[str, list[str]]:
    """The text with `0` for each run of digits, and the runs in order."""
    parts = _SPLIT(text)
    return "0".join(parts[::2]), parts[1::2]


class Splitter:
    """Splits the ASCII texts of many files; similar ones have their numbers in few different places."""

    __slots__ = ("_shapes",)

    def __init__(self) -> None:
        self._shapes: Memo[bytes, Shape] = Memo(_shape, most=MAX_SHAPES)

    def split(self, data: bytes) -> tuple[str, list[str]]:
        """What `split` says of the text."""
        skeleton, places = self._shapes[data.translate(_ZEROS)]
        return skeleton, [data[place].decode() for place in places]


def _shape(zeros: bytes) -> Shape:
    """The skeleton of all texts that are these zeros where they have digits, and the places of their numbers."""
    text = zeros.decode("ascii")
    skeleton, runs = split(text)
    return skeleton, [slice(at, at + len(run)) for at, run in zip(starts_of(text), runs, strict=True)]


def class_of(run: str) -> str:
    """The class of a run of digits: two runs of one class get the same answer to every question a rule may ask.

    A number without leading zeros is of the class `n`, whatever its length up to `LONGEST`; one with them is of the
    class of its length, such as `z5`. Zero itself and longer numbers are each a class of their own, named as they are.
    """
    if run[0] != "0":
        return PLAIN if len(run) <= LONGEST else run
    return f"z{len(run)}" if 1 < len(run) <= LONGEST else run


CLASSES = TextMemo(class_of, longest=LONGEST, most=2_000)


def starts_of(text: str) -> list[int]:
    """Where each run of digits of a text begins."""
    parts = _SPLIT(text)
    at, starts = 0, []
    for index, part in enumerate(parts):
        if index % 2:
            starts.append(at)
        at += len(part)
    return starts


_BEFORE = re.compile("([A-Za-z_.-]*)[0-9]+").findall


def contexts(text: str) -> list[str]:
    """What stands before each run of digits of a text in the same word, such as `bert-` in `bert-12-node-0`."""
    words_before: list[str] = _BEFORE(text)
    return words_before


def is_comparable(context: str, other: str) -> bool:
    """Whether numbers in two contexts may be compared as parts of words: `my-bert-12` ends as `bert-12` does."""
    if context and other:
        return context.endswith(other) or other.endswith(context)
    return context == other


def joined(skeleton: str, runs: list[str]) -> str:
    """The text of a skeleton with these runs of digits."""
    first, *pieces = skeleton.split("0")
    return first + "".join([run + piece for run, piece in zip(runs, pieces, strict=True)])
