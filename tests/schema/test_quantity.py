"""Quantities, respelled as Kubernetes stores them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainc.schema.quantity import MALFORMED, UNKNOWN_SUFFIX, QuantityError, canonical, parse

NUMBERS = st.from_regex(r"[+-]?([0-9]{1,12}(\.[0-9]{0,6})?|\.[0-9]{1,6})", fullmatch=True)
SUFFIXES = st.sampled_from(["", *"numkMGTPE", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-3", "e+2"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1024Mi", "1Gi"), ("1025Mi", "1025Mi"), ("0.5Gi", "512Mi"), ("1.5Gi", "1536Mi"), ("0.1Gi", "107374182400m"),
        ("0.5Ki", "512"), ("0.0001", "100u"), ("100000000000000000000", "100E"), ("0.5", "500m"), ("1.5", "1500m"),
        ("1000", "1k"), ("1000m", "1"), ("1e4", "10e3"), ("1000k", "1M"), ("0", "0"), ("0Gi", "0"), ("-1000", "-1k"),
        ("1.500", "1.500"), ("05", "05"), ("+5", "+5"), ("5.", "5."), ("1e3", "1e3"), ("007", "007"), ("1.25", "1250m"),
    ],
)  # fmt: skip
def test_canonical(text: str, expected: str) -> None:
    assert canonical(text) == expected


@given(NUMBERS, SUFFIXES)
def test_the_value_stays(number: str, suffix: str) -> None:
    text = canonical(number + suffix)
    assert parse(text).value == parse(number + suffix).value
    assert canonical(text) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", MALFORMED), ("lots", MALFORMED), ("16GB", MALFORMED), ("12 Gi", MALFORMED), ("1..2", MALFORMED),
        (".", MALFORMED), ("1KI", MALFORMED), ("1ki", UNKNOWN_SUFFIX), ("1e", UNKNOWN_SUFFIX), ("1ee3", UNKNOWN_SUFFIX),
    ],
)  # fmt: skip
def test_malformed(text: str, reason: str) -> None:
    with pytest.raises(QuantityError) as caught:
        parse(text)
    assert str(caught.value) == reason


def test_amounts_below_a_billionth_round_up() -> None:
    assert parse("0.1n").value == Fraction(1, 10**9)
    assert parse("-0.1n").value == Fraction(-1, 10**9)


@pytest.mark.parametrize("text", ["9" * 100_000, "1e999999999", "1e-999999999", "0." + "1" * 100_000])
def test_huge_texts_cost_little(text: str) -> None:
    assert canonical(text)
