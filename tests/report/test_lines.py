"""What leaves for people holds nothing that a terminal, a log or a workflow runner obeys."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainc.report.dumps import dumps
from trainc.report.lines import line_text, text_of, visible

HOSTILE = {
    "colour": ("\x1b[31mred", r"\x1b[31mred"),
    "title of the window": ("\x1b]0;owned\x07", r"\x1b]0;owned\x07"),
    "C1 control": ("\x9b2J", r"\x9b2J"),
    "line ends": ("a\r\nb", r"a\r\nb"),
    "line ends of Unicode": ("a\x85b\u2028c", r"a\x85b\u2028c"),
    "turned direction": ("a\u202eb", r"a\u202eb"),
    "isolated direction": ("a\u2066b", r"a\u2066b"),
    "invisible": ("a\u200bb\xad", r"a\u200bb\xad"),
    "tag": ("\U000e0041", r"\U000e0041"),
    "byte that is not UTF-8": ("\udcff", r"\udcff"),
    "workflow command": ("::error::x", r"\x3a:error::x"),
    "workflow command after blanks": ("  ::error::x", r"  \x3a:error::x"),
    "workflow command of old": ("x ##[error]y", r"x \x23#[error]y"),
    "command of a pipeline": ("##vso[task.setvariable]x", r"\x23#vso[task.setvariable]x"),
    "tab": ("a\tb", "a\tb"),
    "letters": ("Ünïcode ✓ 漢字", "Ünïcode ✓ 漢字"),
    "another place of a finding": ("  ::: a.yaml:1:1", "  ::: a.yaml:1:1"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_shown(case: str) -> None:
    text, shown = HOSTILE[case]
    assert line_text(text) == shown


@pytest.mark.slow
@given(st.lists(st.text() | st.lists(st.text()).map(lambda parts: tuple(("\x1b[1m", part) for part in parts))))
def test_each_line_is_one_line_of_printable_text(lines: list[str | tuple[tuple[str, str], ...]]) -> None:
    written = text_of(lines)
    assert written.count("\n") == len(lines)
    assert all(char in "\n\t" or unicodedata.category(char)[0] != "C" for char in written)
    for line in written.split("\n"):
        assert not line.lstrip().startswith("::") or line.lstrip().startswith("::: ")
    written.encode("utf-8")


def test_colours_are_those_of_the_report() -> None:
    line = (("\x1b[1m", "bold\x1b[0m"), ("", " plain"))
    assert line_text(line, colour=True) == "\x1b[1mbold\\x1b[0m\x1b[0m plain"
    assert line_text(line) == "bold\\x1b[0m plain"


@pytest.mark.slow
@given(st.text())
def test_json_is_ascii_and_read_back(text: str) -> None:
    written = dumps({text: [text]})
    assert written.isascii()
    assert written.replace("\n", "").isprintable()
    assert "##[" not in written
    assert json.loads(written) == {text: [text]}


def test_visible_text_stays_what_it_is() -> None:
    assert visible("a `b` -> c: 1 # 2") == "a `b` -> c: 1 # 2"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text("ab\n\x1b\u202e"),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abc"), inner),
)


@pytest.mark.slow
@given(JSON, st.booleans())
def test_json_is_laid_out_as_by_json_itself(content: object, sort_keys: bool) -> None:
    assert dumps(content, sort_keys=sort_keys) == json.dumps(content, indent=2, sort_keys=sort_keys) + "\n"
