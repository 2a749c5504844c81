"""Manifests as people write them, each with the findings that it must give, decided before trainc saw it.

A `.txtar` file holds the manifests of one kind. A member begins with `-- NAME --`, or with `-- NAME < OTHER --` when it
is another one with edits. Its text is, in this order:

* `! LEVEL RULE: FRAGMENT` for each finding that must come, on the first line that holds the fragment; in a list of
  mistakes, ` | WORDS` may follow: what the message or the help must say
* the manifest, or `OLD => NEW` for each edit of the other one: every `OLD` becomes `NEW`, indented alike; `\\n` is a line
  break, and nothing after the arrow removes the text
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
HEADER = re.compile(r"^-- (\S+)(?: < (\S+))? --\n", re.MULTILINE)


@dataclass(frozen=True)
class Expected:
    """One finding that must come: its level, its rule, a part of its line, and words that it must say."""

    level: str
    rule: str
    fragment: str
    words: str = ""


@dataclass(frozen=True)
class Manifest:
    """One file of a user, and what must be said of it."""

    group: str
    name: str
    text: str
    expected: tuple[Expected, ...]

    @property
    def healthy(self) -> bool:
        """Whether nothing about it is an error."""
        return all(finding.level != "error" for finding in self.expected)

    def line(self, fragment: str) -> int:
        """The number of the first line that holds the fragment, from 1.

        Raises:
            AssertionError: no line holds it.
        """
        for number, line in enumerate(self.text.splitlines(), 1):
            if fragment in line:
                return number
        raise AssertionError(f"{self.group}/{self.name} has no line with {fragment!r}")


@cache
def manifests(group: str) -> tuple[Manifest, ...]:
    """Every manifest of a group, in the order of its file.

    Raises:
        AssertionError: an edit does not apply, or an expectation cannot be read.
    """
    _, *parts = HEADER.split((FOLDER / f"{group}.txtar").read_text("utf-8"))
    texts: dict[str, str] = {}
    read = []
    for name, other, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        lines = body.splitlines(keepends=True)
        expected = tuple(_expected(line) for line in lines if line.startswith("! "))
        text = "".join(line for line in lines if not line.startswith("! "))
        assert name not in texts, f"{group} has two manifests called {name}"
        texts[name] = edited(texts[other], text, f"{group}/{name}") if other else text
        read.append(Manifest(group, name, texts[name], expected))
    return tuple(read)


def _expected(line: str) -> Expected:
    told, _, words = line[2:].rstrip("\n").partition(" | ")
    head, colon, fragment = told.partition(": ")
    level, _, rule = head.partition(" ")
    assert colon, line
    assert level in ("error", "warning", "note"), line
    return Expected(level, rule, fragment, words)


def edited(text: str, edits: str, place: str) -> str:
    """The text with edits, a line `OLD => NEW` each; `place` names it where one does not apply."""
    for line in edits.splitlines():
        old, arrow, new = line.partition(" =>")
        assert arrow, f"{place}: {line!r} is not an edit"
        old, new = old.replace("\\n", "\n"), new.removeprefix(" ").replace("\\n", "\n")
        assert old in text, f"{place}: nothing to edit at {old!r}"
        indent = old[: len(old) - len(old.lstrip(" "))] if new else ""
        text = text.replace(old, indent + new)
    return text
