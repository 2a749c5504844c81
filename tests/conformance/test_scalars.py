"""Every recorded plain value, read as kubectl 1.32 read it, or a difference that stands here with its reason."""

import json
from typing import Any

import pytest

from tests.conformance.archives import RECORDED
from tests.yaml.reading import values

RECORD = RECORDED / "yaml" / "scalars.json"
ROWS: dict[str, Any] = {row["text"]: row["kubernetes"] for row in json.loads(RECORD.read_text("utf-8"))["rows"]}

DIFFERENT = {  # what trainc refuses, or reads where kubectl refuses
    "!foo bar": "yaml-tag",  # kubectl drops the tag silently, PyYAML and others refuse it
    "!!binary aGk=": "yaml-tag",  # text to kubectl, bytes or text still encoded to others
    "!!set {a, b}": "yaml-tag",  # a map to kubectl, a set to others
    "!!timestamp '2024-01-02'": "yaml-tag",  # text to kubectl, a time to others
    '"\\u00e9\\x41\\/"': "",  # libyaml takes the escape of the slash, which JSON has too
}


def read(text: str) -> tuple[list[Any], list[str]]:
    return values(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n  k: {text}\n")


def same(ours: Any, theirs: Any) -> bool:
    """Equal in value and type; beyond 64 bits Kubernetes holds floats and prints them without a point."""
    if type(theirs) is int and not -(2**63) <= theirs < 2**63:
        return type(ours) is float and ours == float(theirs)
    if type(theirs) is list:
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if type(theirs) is dict:
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in theirs)
    return type(ours) is type(theirs) and bool(ours == theirs)


def test_the_record_is_there() -> None:
    assert len(ROWS) == 112
    assert set(DIFFERENT) <= set(ROWS)


@pytest.mark.parametrize("text", [text for text in ROWS if text not in DIFFERENT])
def test_as_recorded(text: str) -> None:
    found, findings = read(text)
    errors = [finding for finding in findings if not finding.startswith("ambiguous-scalar")]
    if "error" in ROWS[text]:
        assert found == []
        assert errors
    else:
        assert errors == []
        assert same(found[0]["data"]["k"], json.loads(ROWS[text]["json"]))


@pytest.mark.parametrize("text", [text for text in DIFFERENT if text in ROWS])
def test_as_decided(text: str) -> None:
    found, findings = read(text)
    if DIFFERENT[text]:
        assert [finding.split()[0] for finding in findings] == [DIFFERENT[text]]
        assert "json" in ROWS[text]
    else:
        assert found[0]["data"]["k"] == "éA/"
        assert "error" in ROWS[text]
