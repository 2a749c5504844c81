"""Quantities: what kubectl 1.32 prints for them, and the laws of their arithmetic."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainc.text.quantity import MALFORMED, NANO, UNKNOWN_SUFFIX, Quantity, QuantityError, stored

CANONICAL = {
    "0": "0",
    "0Gi": "0",
    "0e3": "0",
    "1024Mi": "1Gi",
    "1025Mi": "1025Mi",
    "0.5Gi": "512Mi",
    "1.5Gi": "1536Mi",
    "0.1Gi": "107374182400m",
    "0.5Ki": "512",
    "0.3Ki": "307200m",
    "-0.5Ki": "-512",
    "0.0001Ki": "102400u",
    "8Ei": "9223372036854775807",
    "9Ei": "9223372036854775807",
    "-8Ei": "-9223372036854775807",
    "0.5": "500m",
    ".5": "500m",
    "1.5": "1500m",
    "-1.5": "-1500m",
    "1000": "1k",
    "1000m": "1",
    "0.5m": "500u",
    "0.0001": "100u",
    "1n": "1n",
    "0.1n": "1n",
    "1.0000000001": "1000000001n",
    "100000000000000000000": "100E",
    "1E": "1E",
    "1e4": "10e3",
    "1e-9": "1e-9",
    "1e-12": "1e-9",
    "1e-99999999": "1e-9",
    "2e-1": "200e-3",
    "12e1": "120",
    "1E2": "100",
    "1e30": "1e30",
    "1.500": "1500m",
    "05": "5",
    "+5": "5",
    "5.": "5",
}


@pytest.mark.parametrize("text", CANONICAL)
def test_canonical(text: str) -> None:
    assert str(Quantity.parse(text)) == CANONICAL[text]


@pytest.mark.parametrize(
    ("source", "text"), [(8, "8"), (0, "0"), (-3, "-3"), (2000, "2k"), (0.5, "500m"), (1e-7, "100e-9")]
)
def test_numbers_of_yaml(source: object, text: str) -> None:
    assert str(Quantity.parse(source)) == text


@pytest.mark.parametrize("text", ["1.500", "05", "+5", "5.", "1e3", "007Mi", "39.Gi"])
def test_nearly_canonical_texts_are_stored_as_they_are(text: str) -> None:
    assert stored(text) == text
    assert Quantity.parse(text) == Quantity.parse(str(Quantity.parse(text)))


@pytest.mark.parametrize(
    ("text", "spelled"),
    [(".", "0"), ("T", "0"), ("+", "0"), ("0.50e20", "50e18"), ("00.5", "500m"), ("1024Mi", "1Gi"), ("1.0Ki", "1Ki")],
)
def test_odd_texts_are_respelled(text: str, spelled: str) -> None:
    assert stored(text) == spelled


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1i", UNKNOWN_SUFFIX),
        ("1e", UNKNOWN_SUFFIX),
        ("1e-", UNKNOWN_SUFFIX),
        ("0.1mi", UNKNOWN_SUFFIX),
        ("1KiM", UNKNOWN_SUFFIX),
        ("", MALFORMED),
        ("aoeu", MALFORMED),
        ("1e+-3", MALFORMED),
        ("1.1.M", MALFORMED),
        ("1+1.0M", MALFORMED),
        ("1KiB", MALFORMED),
        (" 1", MALFORMED),
        ("1 ", MALFORMED),
        ("--1", UNKNOWN_SUFFIX),
        ("1_0", MALFORMED),
        ("\uff11", MALFORMED),
        ("1e999999999999", "unable to parse numeric part of quantity"),
        (True, MALFORMED),
        (None, MALFORMED),
    ],
)
def test_refused(text: object, message: str) -> None:
    with pytest.raises(QuantityError) as error:
        Quantity.parse(text)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("first", "second", "count", "text"),
    [
        ("1Gi", "1G", 3, "4073741824"),
        ("0", "1Gi", 3, "3Gi"),
        ("1Gi", "1Gi", 1, "2Gi"),
        ("512Mi", "0", 5, "512Mi"),
        ("500m", "1", 2, "2500m"),
        ("1Ki", "0.5", 1, "1024500m"),
    ],
)
def test_sums(first: str, second: str, count: int, text: str) -> None:
    assert str(Quantity.parse(first).plus(Quantity.parse(second).times(count))) == text


@pytest.mark.parametrize(
    ("text", "whole"), [("2500m", 3), ("0.7", 1), ("4", 4), ("0", 0), ("1n", 1), ("0.1Gi", 107374183), ("-2500m", -3)]
)
def test_rounded_up(text: str, whole: int) -> None:
    assert Quantity.parse(text).ceil() == whole


SUFFIXES = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "e3", "E-3", "e+6"]
NUMBERS = st.from_regex(r"[+-]?([0-9]{1,6}(\.[0-9]{0,4})?|\.[0-9]{1,4})", fullmatch=True)
TEXTS = st.builds(str.__add__, NUMBERS.filter(str.isascii), st.sampled_from(SUFFIXES))
SCALE = {**dict(zip(SUFFIXES[:10], (0, -9, -6, -3, 3, 6, 9, 12, 15, 18), strict=True)), "e3": 3, "E-3": -3, "e+6": 6}


@pytest.mark.slow
@given(TEXTS)
def test_exact(text: str) -> None:
    number = text.rstrip("numkKMGTPEie")
    number, suffix = next(
        (text[: len(text) - len(s)], s) for s in sorted(SUFFIXES, key=len, reverse=True) if text.endswith(s)
    )
    factor = Fraction(10) ** SCALE[suffix] if suffix in SCALE else 1024 ** (1 + "KMGT".index(suffix[0]))
    exact = Fraction(number + "0" if number.endswith(".") else number) * factor * NANO
    assert abs(exact) <= abs(Quantity.parse(text).nanos) < abs(exact) + 1


@pytest.mark.slow
@given(TEXTS)
def test_the_canonical_text_is_canonical_and_equal(text: str) -> None:
    quantity = Quantity.parse(text)
    again = Quantity.parse(str(quantity))
    assert again == quantity
    assert str(again) == str(quantity)
    assert Quantity.parse(stored(text)) == quantity


@pytest.mark.slow
@given(TEXTS, TEXTS, st.integers(0, 1000))
def test_arithmetic(first: str, second: str, count: int) -> None:
    a, b = Quantity.parse(first), Quantity.parse(second)
    assert a.plus(b) == b.plus(a)
    assert a.plus(b).times(count) == a.times(count).plus(b.times(count))
    assert (a < b) == (a.nanos < b.nanos)
    assert (a <= b) == (not b < a)
    assert a.ceil() * NANO >= a.nanos or a.nanos < 0
