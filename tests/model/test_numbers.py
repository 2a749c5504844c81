"""Numbers are read in one way, whatever looks like a digit somewhere."""

from __future__ import annotations

import pytest

from trainc.model.numbers import brief, whole_number


@pytest.mark.parametrize(
    "text", ["²", "٣", "१", "", "-1", "+1", "1.0", "1e3", " 1", "1_0", "0x1", "9" * 19, "9" * 5000, None, 1, b"1"]
)
def test_no_number(text: object) -> None:
    assert whole_number(text) is None


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("7", 7), ("007", 7), ("9" * 18, 10**18 - 1)])
def test_numbers(text: str, number: int) -> None:
    assert whole_number(text) == number


def test_bounds() -> None:
    assert whole_number("0", least=1) is None
    assert whole_number("257", most=256) is None
    assert whole_number("256", most=256) == 256


def test_brief() -> None:
    assert brief("12") == "12"
    assert brief("9" * 5000) == f"{'9' * 40}..."
