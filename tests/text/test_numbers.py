"""Numbers are read in one way, whatever looks like a digit somewhere."""

import pytest

from trainc.text.numbers import brief, index_below, parsed_int, whole_number


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


@pytest.mark.parametrize(
    ("text", "number"),
    [("+5", 5), ("-5", -5), ("-0", 0), ("0" * 5000 + "7", 7), (str(2**63 - 1), 2**63 - 1), (str(-(2**63)), -(2**63))],
)
def test_go_integers(text: str, number: int) -> None:
    assert parsed_int(text) == number


@pytest.mark.parametrize(
    "text", ["", "+", "-", "+-5", "--5", "²", "1_0", " 1", "9" * 5000, str(2**63), str(-(2**63) - 1), None, 5]
)
def test_no_go_integers(text: object) -> None:
    assert parsed_int(text) is None


def test_go_integers_of_32_bits() -> None:
    assert parsed_int(str(2**31 - 1), 32) == 2**31 - 1
    assert parsed_int(str(2**31), 32) is None


@pytest.mark.parametrize(
    ("text", "size", "index"),
    [("0", 2, 0), ("1", 2, 1), ("2", 2, None), ("01", 2, None), ("²", 9, None), ("", 2, None), ("9" * 5000, 2, None)],
)
def test_an_index_is_written_as_kubernetes_writes_it(text: str, size: int, index: int | None) -> None:
    assert index_below(text, size) == index
