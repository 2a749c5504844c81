"""Reading line by line and reading through libyaml give the same documents, places and findings."""

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.compiling import ROOT
from tests.sampling import sampled
from trainc.model.document import Document
from trainc.model.report import Report
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree
from trainc.yaml import plain
from trainc.yaml.reader import read

FILES = sorted(
    path
    for folder in ("examples", "runtimes", "tests/cases", "tests/lint", "schemas")
    for path in (ROOT / folder).rglob("*.yaml")
    if path.stat().st_size < 60_000
)
COMMON = [path for path in FILES if "tests/cases/yaml" not in str(path)]  # the rest is there for its odd spelling
MUTANTS = int(os.environ.get("TRAINC_LINES", "2000"))
LINES = (
    "key:",
    "key: value",
    "key: 1",
    "key: 'it'",
    'key: "a b"',
    "key: [a, b]",
    "key: {a: 1, b: two}",
    "key: []",
    "key: value # remark",
    "key: # remark",
    "- item",
    "- key: value",
    "-   key:",
    "- 1e3",
    "-",
    "---",
    "# remark",
    "",
    "other: a: b",
    "other:value",
    "other: --flag",
    "- --flag=1",
    "- -",
    "- - a",
    "on: yes",
    "other: 0755",
    "other: |",
    "other: |-",
    "- |",
    "other: | # a",
    "other: |+",
    "other: |2",
    "    ",
    "      text",
    "other: \u00e9t\u00e9 \u2014 \u00fc # \u4f8b",
    "# \u2014 remark",
    "- '\u6f22\u5b57'",
    "\u043a\u043b\u044e\u0447: a",
    "other: a\u00a0b",
    "other: a\x85b",
    "other: a\u2028b",
    "other: \ufeffb",
    "other: a\tb",
    "other: a\x07b",
    "      \x1btext",
    "# a\x7fb",
    "other: a\u200bb",
    "other: a\r",
    "text",
    "other: ${A}",
    "other: a#b",
    "other: 'a' b",
    "? a",
    "other: [a, [b]]",
    "other: {a, b}",
    "other: [a: b]",
    "other: {a:b}",
    "other: [a,b , 'c']",
    "...",
    "other: &a b",
    "other: >",
    "other: ''",
    'other: ""',
    "- ''",
    "other: -",
    "other: - a",
    "other: :a",
    "other: a:",
    "1: a",
    "true: a",
    "null: a",
    "~: a",
    "other: ~",
    "other: null",
    "'other': a",
    "other : a",
    "other:  a  ",
    "other: a  # b",
    "other: %a",
    "other: @a",
    "other: ,a",
    "other: a, b",
    "other: ]",
    "other: a]",
    "other: 12:30",
    "other: .5",
    "other: {a: 'b', c: d}",
    "other: {a: b,}",
    "other: [a,]",
    "other: [,]",
    "other: [-]",
    "other: [- a]",
    "other: [--a]",
    "other: {a: }",
    "other: {a: 1, a: 2}",
    "other: {a: {b: c}, d: [e, {f: 1}]}",
    "other: [{a: b}, [c, d], []]",
    "other: [\"a, b\", 'c]', d] # e",
    "other: [a]# b",
    "other: [{a: b} c]",
    "other: {a: [b}}",
    "other: {a: {b: 1, b: 2}}",
    'other: ["a"b]',
    "other: ['it''s', a]",
    'other: ["a: b", "a": b]',
    "other: [[a] , {b: c }  ]  ",
    "- [a, {b: c}]",
    "- {a: {b: c}}",
    "- [[a]: b]",
    "other: {a: {}, b: [ ]}",
    "other: [a}]",
    "other: {a: b]}",
    "other: [[[[a]]]",
    "other: {a}",
    "other: {a: {b}}",
    "other: {",
    "other: [{a: b,",
)


def nodes(tree: Tree, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Tree]]:
    """Every node with its path."""
    yield path, tree
    if type(tree) is Sourced:
        return
    for key, node in tree.items() if type(tree) is dict else enumerate(tree):
        yield from nodes(node, (*path, key))


def seen(document: Document) -> Any:
    """All that anyone can ask a document."""
    found = [
        (path, type(node), node.value if type(node) is Sourced else len(node), type(getattr(node, "value", None)))
        for path, node in nodes(document.tree)
    ]
    places = [(document.span(path), document.span(path, key=True)) for path, _ in nodes(document.tree)]
    origins = [node.origin for _, node in nodes(document.tree) if type(node) is Sourced]
    return found, places, origins, document.start, document.file


def both(text: str | bytes) -> tuple[Any, Any]:
    """What the two ways of reading make of a text: documents and findings."""
    with pytest.MonkeyPatch.context() as patch:
        lines = known(text)
        patch.setattr(plain, "LIMIT", 0)  # no text is small enough to be split
        return lines, known(text)


def known(text: str | bytes) -> Any:
    """Documents and findings of a text."""
    report = Report()
    found = [seen(document) for document in read(text, "f.yaml", report)]
    return found, [(finding.rule.name, finding.message, finding.span) for finding in report.findings]


def room(path: Path) -> str:
    """The folder that a file is tested with: one below tests/cases, or one at the top."""
    parts = path.relative_to(ROOT).parts
    return "/".join(parts[: 3 if parts[0] == "tests" else 1])


@pytest.mark.parametrize(
    "folder", sampled(sorted(set(map(room, FILES))), quick=("tests/cases/yaml", "tests/cases/torch"))
)
def test_files(folder: str) -> None:
    for path in FILES:
        if room(path) == folder:
            lines, events = both(path.read_bytes())
            assert lines == events, path


@pytest.mark.slow
def test_most_files_need_no_parser() -> None:
    left = [path for path in COMMON if rest_of(path.read_bytes())]
    assert len(left) < len(COMMON) / 8  # cases of Volcano and Ray write whole tasks on one line


def rest_of(data: bytes) -> bytes:
    """What reading line by line leaves of a text."""
    documents = plain.documents(data, "f.yaml")
    while True:
        try:
            next(documents)
        except StopIteration as stop:
            rest: bytes = stop.value
            return rest


@pytest.mark.slow
def test_mutants() -> None:
    chance = random.Random(7)  # noqa: S311
    texts = [data.decode().splitlines() for data in map(Path.read_bytes, COMMON) if rest_of(data) == b""]
    taken = 0
    for _ in range(MUTANTS):
        lines = mutant(chance, list(chance.choice(texts)[:60]))
        text = "\n".join(lines) + "\n"
        ours, theirs = both(text)
        assert ours == theirs, text
        taken += not rest_of(text.encode())
    assert taken > MUTANTS / 20


def mutant(chance: random.Random, lines: list[str]) -> list[str]:
    """Some lines moved, indented otherwise, replaced, cut off."""
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(lines) + 1)
        old = lines[at] if at < len(lines) else ""
        indent = " " * max(0, len(old) - len(old.lstrip(" ")) + chance.choice((-4, -2, -1, 0, 0, 0, 1, 2, 4)))
        step = chance.randrange(4)
        if step == 0:
            lines.insert(at, indent + chance.choice(LINES))
        elif step == 1:
            lines[at : at + 1] = [indent + old.lstrip(" ")]
        elif step == 2:
            lines[at : at + 1] = [indent + chance.choice(LINES)]
        else:
            lines[at : at + 1] = [old[: chance.randrange(len(old) + 1)]]
    return lines


@pytest.mark.slow
def test_short_documents() -> None:
    chance = random.Random(11)  # noqa: S311
    for _ in range(MUTANTS * 4):
        count = chance.randint(1, 6)
        text = "".join(" " * chance.choice((0, 0, 2, 2, 4)) + chance.choice(LINES) + "\n" for _ in range(count))
        ours, theirs = both(text)
        assert ours == theirs, text


@pytest.mark.parametrize("length", [1023, 1024, 1025, 5000])
@pytest.mark.parametrize(
    "form", ["{}: a", "a:\n  {}: b", "- {}: a", "a: {{{}: b}}", "a: {{b: c, {}: d}}", "{}:\n  a: b", "{}: # a"]
)
def test_long_keys(form: str, length: int) -> None:
    ours, theirs = both(form.format("k" * length) + "\n")
    assert ours == theirs
