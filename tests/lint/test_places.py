"""Places of characters inside scalars of every style."""

import pytest

from trainc.lint.facts.places import character_places, folds
from trainc.model.report import Report
from trainc.model.sourced import Sourced, Span
from trainc.yaml.reader import read


def placed(text: str) -> tuple[str, list[tuple[int, int]] | None, list[str]]:
    (document,) = read(text, "f.yaml", Report())
    leaf = document.tree["a"]
    assert isinstance(leaf, Sourced)
    assert leaf.origin.at is not None
    lines = text.splitlines()
    return leaf.value, character_places(lines, leaf.origin.at, leaf.value), lines


@pytest.mark.parametrize(
    "text",
    [
        "a: |\n  set -e\n  run --lr 1\nb: 1\n",
        "a: |2-  # why\n    set -e\n   run\n\n  end\nb: 1\n",
        "a: >\n  set -e\n  run --lr 1\n\n  more\nb: 1\n",
        "a: >-\n  set\n    indented\n  run\nb: 1\n",
        'a: "set -e\\nrun \\"x\\" \\u00e9 \\x41\n  folded \\\n  joined"\nb: 1\n',
        "a: 'it''s\n  folded'\nb: 1\n",
        "a: plain words\n  folded\nb: 1\n",
        "a: &x |\n  anchored\nb: 1\n",
        "a: short\nb: 1\n",
    ],
)
def test_each_character_is_at_its_place(text: str) -> None:
    value, places, lines = placed(text)
    assert places is not None
    for char, (line, column) in zip(value, places, strict=True):
        assert char.isspace() or lines[line - 1][column - 1] in (char, "\\")


def test_a_text_that_is_not_the_scalar_has_no_places() -> None:
    text = "a: |\n  set -e\n"
    assert character_places(text.splitlines(), Span("f.yaml", 1, 4, 3, 1), "set -x\n") is None


def test_lines_that_are_joined() -> None:
    value, places, _ = placed("a: >\n  set -e\n  run\n\n  more\n")
    assert places is not None
    assert [value[at:].split()[0] for at in folds(places, value)] == ["run"]
    value, places, _ = placed("a: |\n  set -e\n  run\n")
    assert places is not None
    assert folds(places, value) == []
