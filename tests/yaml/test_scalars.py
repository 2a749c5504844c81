"""The scalar table; what kubectl 1.32 makes of the same texts was recorded by hand."""

import pytest

from trainc.yaml.scalars import OddError, ambiguous, as_json, resolve, resolve_key, resolve_tagged

VALUES = {
    "on": True,
    "Off": False,
    "Y": True,
    "~": None,
    "": None,
    "tRue": "tRue",
    "0755": 493,
    "0o17": 15,
    "0O17": 15,
    "0x1F": 31,
    "0X1f": 31,
    "0x_1F": 31,
    "0B11": 3,
    "-0b11": -3,
    "+0b1": 1,
    "0b_1": 1,
    "0b+1": 1,
    "0b-1": -1,
    "-0b-1": "-0b-1",
    "-0b+1": "-0b+1",
    "0o-7": "0o-7",
    "0x-1": "0x-1",
    "0x": "0x",
    "08": 8,
    "1_000": 1000,
    "_1": "_1",
    "1e3": 1000,
    "1e-7": 1e-07,
    "1e20": 100000000000000000000.0,
    "1e21": 1e21,
    "1e-400": 0,
    "1e400": "1e400",
    "-0.0": 0,
    "2.0": 2,
    "2.5": 2.5,
    ".5_0": 0.5,
    ".5e3": 500,
    "._5": "._5",
    ".5__0": ".5__0",
    ".5_": ".5_",
    ".0x1": ".0x1",
    ".": ".",
    "-": "-",
    "+": "+",
    "12:30": "12:30",
    "2024-01-02": "2024-01-02",
    "9007199254740993.0": 9007199254740992,
    "4611686018427387904.0": 4611686018427388000,
    "9223372036854775807": 9223372036854775807,
    "9223372036854775808": 9223372036854775808.0,
    "-9223372036854775808": -9223372036854775808,
    "0x8000000000000000": 9223372036854775808.0,
    "+0x8000000000000000": "+0x8000000000000000",
    "-0x8000000000000001": "-0x8000000000000001",
    "0xFFFFFFFFFFFFFFFFFF": "0xFFFFFFFFFFFFFFFFFF",
    "07777777777777777777777777": 7.777777777777778e24,
    "0o7777777777777777777777777": "0o7777777777777777777777777",
    "1٣": "1٣",
    "<<": "<<",
    "=": "=",
}


@pytest.mark.parametrize("text", VALUES)
def test_value(text: str) -> None:
    value = resolve(text)
    assert value == VALUES[text]
    assert type(value) is type(VALUES[text])


@pytest.mark.parametrize("text", [".inf", "-.INF", "+.Inf", ".NaN"])
def test_no_json_number(text: str) -> None:
    with pytest.raises(OddError):
        resolve(text)


KEYS = {
    "y": "true",
    "Off": "false",
    "1": "1",
    "0x10": "16",
    "1.0": "1",
    "1.10": "1.1",
    "0.1": "0.1",
    "1.5": "1.5",
    "1e3": "1000",
    "1e6": "1e+06",
    "1234567.0": "1.234567e+06",
    "0.00001": "1e-05",
    "0.0001": "0.0001",
    "-1.25e-3": "-0.00125",
    "1.23456789": "1.2345679",
    "16777217.0": "1.6777216e+07",
    "123456.5": "123456.5",
    "1234567.5": "1.2345675e+06",
    "999999.0": "999999",
    "3e38": "3e+38",
    "1e39": ".inf",
    "-1e39": "-.inf",
    "-0.0": "-0",
    "1e400": "1e400",
    "+.INF": ".inf",
    ".NaN": ".nan",
    "2024-01-02": "2024-01-02",
    "~": None,
    "": None,
    "9223372036854775808": None,
}


@pytest.mark.parametrize("text", KEYS)
def test_key(text: str) -> None:
    assert resolve_key(text) == KEYS[text]


@pytest.mark.parametrize(
    ("tag", "text", "value"),
    [
        ("str", "on", "on"),
        ("bool", "on", True),
        ("int", "0x10", 16),
        ("float", "1_0", 10),
        ("float", "1.5", 1.5),
        ("null", "", None),
    ],
)
def test_tagged(tag: str, text: str, value: object) -> None:
    assert resolve_tagged(tag, text) == value


@pytest.mark.parametrize(
    ("tag", "text"), [("null", "x"), ("int", "x"), ("int", "1.0"), ("bool", "1"), ("float", "x"), ("int", "on")]
)
def test_wrong_tag(tag: str, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        resolve_tagged(tag, text)


@pytest.mark.parametrize(
    "text", ["y", "NO", "on", "Off", "0755", "08", "-0755", "0o17", "0b101", "1_000", "12:30", "190:20:30", "2024-1-2"]
)
def test_ambiguous(text: str) -> None:
    assert ambiguous(text)


@pytest.mark.parametrize(
    "text", ["true", "False", "null", "~", "", "0", "00x", "1", "1e3", "0x1F", "1.10", "-0", "8080:80", "v1"]
)
def test_clear(text: str) -> None:
    assert ambiguous(text) is None


def test_numbers_on_their_way_through_json() -> None:
    assert [as_json(n) for n in (1.0, 1.5, 2**63, -(2**63), 1e300)] == [1, 1.5, float(2**63), -(2**63), 1e300]
