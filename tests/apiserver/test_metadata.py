"""Metadata: decoding, unknown fields and validation."""

from typing import Any

import pytest

from trainc.apiserver import metadata
from trainc.apiserver import metadata_decoding as metadata_decode
from trainc.model.tree import stamp

CASES: list[tuple[dict[str, Any], str]] = [
    ({"name": "a"}, ""),
    ({"name": "a.b-c"}, ""),
    ({"generateName": "a-"}, ""),
    ({}, "metadata.name: Required value: name or generateName is required"),
    ({"name": "A"}, 'metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain'),
    ({"name": "a", "generateName": "b."}, 'metadata.generateName: Invalid value: "b.": a lowercase'),
    ({"name": "a", "namespace": "a.b"}, 'metadata.namespace: Invalid value: "a.b": must not contain dots'),
    ({"name": "a", "labels": {"x": "no spaces"}}, 'metadata.labels: Invalid value: "no spaces": a valid label must'),
    ({"name": "a", "labels": {"a/b/c": "x"}}, 'metadata.labels: Invalid value: "a/b/c": a valid label key'),
    ({"name": "a", "annotations": {"my note": "x"}}, 'metadata.annotations: Invalid value: "my note": name part'),
    ({"name": "a", "annotations": {"Upper.io/x": "free text\n"}}, ""),
    ({"name": "a", "annotations": {"x": "y" * 2**18}}, "metadata.annotations: Too long: may not be more than 262144"),
    ({"name": "a", "finalizers": ["x y"]}, 'metadata.finalizers: Invalid value: "x y"'),
    ({"name": "a", "labels": {"x": None}}, ""),
]


@pytest.mark.parametrize(("held", "start"), CASES)
def test_validation(held: dict[str, Any], start: str) -> None:
    found = [fault.message for fault in metadata.validate(stamp(held, "test"))]
    assert len(found) == bool(start)
    assert all(message.startswith(start) for message in found)


@pytest.mark.parametrize(("held", "start"), CASES)
def test_sound_means_nothing_to_say(held: dict[str, Any], start: str) -> None:
    for _ in range(2):  # what passed is remembered
        if metadata.is_sound(stamp(held, "test")):
            assert not start
    assert metadata.is_sound(stamp({"name": "a", "namespace": "b", "labels": {"x": "y"}}, "test"))


@pytest.mark.parametrize(
    ("held", "text"),
    [
        ({"labels": {"x": 1}}, "number into Go struct field ObjectMeta.labels of type string"),
        ({"annotations": {"x": True}}, "bool into Go struct field ObjectMeta.annotations of type string"),
        ({"labels": ["x"]}, "array into Go struct field ObjectMeta.labels of type map[string]string"),
        ({"name": 1}, "number into Go struct field ObjectMeta.name of type string"),
        ({"finalizers": "x"}, "string into Go struct field ObjectMeta.finalizers of type []string"),
        ({"finalizers": ["a/b", 1]}, "number into Go struct field ObjectMeta.finalizers of type string"),
        ({"generation": "${N}"}, "string into Go struct field ObjectMeta.generation of type int64"),
        ({"generation": "1"}, "string into Go struct field ObjectMeta.generation of type int64"),
        ({"name": {}, "labels": {"x": 1}}, "number into Go struct field ObjectMeta.labels of type string"),
    ],
)
def test_decoding(held: dict[str, Any], text: str) -> None:
    found = metadata_decode.decode(stamp(held, "test"))
    assert [fault.message for fault in found] == [f"json: cannot unmarshal {text}"]


def test_decodable() -> None:
    held: dict[str, Any] = {
        "name": "a",
        "creationTimestamp": None,
        "labels": {"x": None},
        "ownerReferences": [],
        "x": 1,
    }
    assert metadata_decode.decode(stamp(held, "test")) == []
    assert [fault.message for fault in metadata_decode.unknown_fields(held)] == ['unknown field "metadata.x"']
    assert metadata_decode.decode(stamp(None, "test")) == []
    assert metadata_decode.decode(stamp("x", "test"))[0].kind == "decode"
