"""Quantities, respelled as a Kubernetes server stores them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainc.text.quantity import MALFORMED, UNKNOWN_SUFFIX, Quantity, QuantityError, stored

NUMBERS = st.from_regex(r"[+-]?([0-9]{1,12}(\.[0-9]{0,6})?|\.[0-9]{1,6})", fullmatch=True)
SUFFIXES = st.sampled_from(["", *"numkMGTPE", "Ki", "Mi", "Gi", "e3", "E-3", "e+2"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1024Mi", "1Gi"), ("1025Mi", "1025Mi"), ("0.5Gi", "512Mi"), ("0.1Gi", "107374182400m"), ("0.5Ki", "512"),
        ("0.0001", "100u"), ("0.5", "500m"), ("1000", "1k"), ("1e4", "10e3"), ("0Gi", "0"), ("-1000", "-1k"),
        ("1.500", "1.500"), ("05", "05"), ("+5", "+5"), ("5.", "5."), ("1e3", "1e3"), ("007", "007"), ("1.25", "1250m"),
    ],
)  # fmt: skip
def test_what_is_nearly_canonical_stays(text: str, expected: str) -> None:
    assert stored(text) == expected


@pytest.mark.slow
@given(NUMBERS, SUFFIXES)
def test_the_value_stays(number: str, suffix: str) -> None:
    text = stored(number + suffix)
    assert Quantity.parse(text) == Quantity.parse(number + suffix)
    assert stored(text) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", MALFORMED), ("lots", MALFORMED), ("16GB", MALFORMED), ("12 Gi", MALFORMED), ("1..2", MALFORMED),
        ("1KI", MALFORMED), ("1ki", UNKNOWN_SUFFIX), ("1e", UNKNOWN_SUFFIX), ("1ee3", UNKNOWN_SUFFIX),
    ],
)  # fmt: skip
def test_malformed(text: str, reason: str) -> None:
    with pytest.raises(QuantityError) as caught:
        Quantity.parse(text)
    assert str(caught.value) == reason
