"""Lines that stand for each other: every diff applied gives the text it was made for, and long texts take no long time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import cpu, within
from trainc.text.line_diff import LineMatcher, unified

LINES = st.lists(st.sampled_from(["a", "b", "c", "d", "e: 1", "e: 2", "x", "y", "z"]), max_size=24)


@given(LINES, LINES)
def test_matched_lines_are_equal_and_in_order(before: list[str], after: list[str]) -> None:
    *blocks, last = LineMatcher(before, after).get_matching_blocks()
    assert last == (len(before), len(after), 0)
    line = other = 0
    for block in blocks:
        assert block.size > 0
        assert block.a >= line
        assert block.b >= other
        assert before[block.a : block.a + block.size] == after[block.b : block.b + block.size]
        line, other = block.a + block.size, block.b + block.size


@given(LINES, LINES)
def test_a_diff_leads_from_one_text_to_the_other(before: list[str], after: list[str]) -> None:
    out = []
    for kind, start, end, first, last in LineMatcher(before, after).get_opcodes():
        out += before[start:end] if kind == "equal" else after[first:last]
    assert out == after


def test_a_unified_diff_names_the_lines_that_it_shows() -> None:
    before = [f"line {number}" for number in range(40)]
    after = [*before[:5], "new", *before[6:30], *before[31:]]
    lines = list(unified(before, after, ("a.yaml", "b.yaml"), end="", context=1))
    assert lines == [
        "--- a.yaml",
        "+++ b.yaml",
        "@@ -5,3 +5,3 @@",
        " line 4",
        "-line 5",
        "+new",
        " line 6",
        "@@ -30,3 +30,2 @@",
        " line 29",
        "-line 30",
        " line 31",
    ]
    assert list(unified(["a"], [], ("a", "b"), end="", context=3)) == ["--- a", "+++ b", "@@ -1 +0,0 @@", "-a"]
    assert list(unified(before, before, ("a", "b"), end="", context=3)) == []


@pytest.mark.parametrize("spelling", ["name: {}", "name: same"])
def test_the_time_grows_with_the_texts(spelling: str) -> None:
    # Twelve thousand lines with a change in each third took half a minute.
    before = [line for number in range(4000) for line in (spelling.format(number), f"  a: {number % 7}", "  b: 1")]
    after = [f"{line}0" if number % 3 == 1 else line for number, line in enumerate(before)]
    within(5, lambda: cpu(LineMatcher(before, after).get_opcodes))
