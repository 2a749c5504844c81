"""Places as editors count them, for every text and each of the three encodings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from trainc.integrations.lsp.cursor import UTF8, UTF16, UTF32, Positions, outline
from trainc.model.sourced import Span

TEXTS = st.text(st.sampled_from("ab:\n\r \U0001d6fc\u00e9\u2028\x85\ufeff"), max_size=40)
ENCODINGS = st.sampled_from([UTF8, UTF16, UTF32])


@given(TEXTS, ENCODINGS, st.data())
def test_every_character_has_one_position(text: str, encoding: str, data: st.DataObject) -> None:
    positions = Positions(text, encoding)
    offset = data.draw(st.integers(0, len(text)))
    if text[offset - 1 : offset + 1] != "\r\n" and text[offset : offset + 1] != "\n":
        assert positions.offset(positions.position(offset)) == offset


@pytest.mark.slow
@given(TEXTS, ENCODINGS, st.integers(1, 60), st.integers(1, 60), st.integers(0, 60), st.integers(0, 60))
def test_no_place_leads_out_of_the_text(text: str, encoding: str, line: int, column: int, row: int, unit: int) -> None:
    positions = Positions(text, encoding)
    found = positions.range(Span("a", line, column, line, column))
    assert 0 <= positions.offset(found.start) <= positions.offset(found.end) <= len(text)
    assert positions.offset(types.Position(row, unit)) <= len(text)
    assert min(positions.place(types.Position(row, unit))) >= 1
    lines = positions.lines
    outline(lines, min(row, len(lines) - 1), lines[min(row, len(lines) - 1)][:unit])


@pytest.mark.parametrize(
    ("text", "span", "start", "end"),
    [
        ("a: \U0001d6fc b", (1, 6, 1, 7), (0, 6), (0, 7)),
        ("\ufeffa: b", (1, 4, 1, 5), (0, 4), (0, 5)),
        ("a: 1\u2028b: 2\nc: 3", (2, 4, 2, 5), (0, 8), (0, 9)),
        ("a: 1\r\nb: 2\r\n", (2, 4, 2, 5), (1, 3), (1, 4)),
        ("a: 1\n", (9, 1, 9, 2), (1, 0), (1, 0)),
        ("a: 1\nb", (1, 90, 1, 99), (0, 4), (0, 4)),
    ],
)
def test_spans_as_ranges(
    text: str, span: tuple[int, int, int, int], start: tuple[int, int], end: tuple[int, int]
) -> None:
    assert Positions(text).range(Span("a", *span)) == types.Range(types.Position(*start), types.Position(*end))
