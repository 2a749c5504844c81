"""Reading `metadata` as a typed object: what cannot be decoded, what is unknown, and what is left.

Source: k8s.io/apimachinery ObjectMeta and sigs.k8s.io/json, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Mapping

from trainc.apiserver.fault import JSON_TYPES, Fault, number
from trainc.apiserver.golang.time import time_fault
from trainc.model.sourced import Sourced
from trainc.model.tree import Path, Tree, dotted

_TEXT, _NUMBER, _BOOL, _TIME, _ANY = "string", "int64", "bool", "v1.Time", ""
# The Go types behind the fields; a tuple is a list of them, a mapping a struct.
_OWNER = {
    "apiVersion": _TEXT, "blockOwnerDeletion": _BOOL, "controller": _BOOL, "kind": _TEXT, "name": _TEXT,
    "uid": "types.UID",
}  # fmt: skip
_ENTRY = {
    "apiVersion": _TEXT, "fieldsType": _TEXT, "fieldsV1": _ANY, "manager": _TEXT,
    "operation": "v1.ManagedFieldsOperationType", "subresource": _TEXT, "time": _TIME,
}  # fmt: skip
_FIELDS = {
    "annotations": "map[string]string", "creationTimestamp": _TIME, "deletionGracePeriodSeconds": _NUMBER,
    "deletionTimestamp": _TIME, "finalizers": "[]string", "generateName": _TEXT, "generation": _NUMBER,
    "labels": "map[string]string", "managedFields": "[]v1.ManagedFieldsEntry", "name": _TEXT, "namespace": _TEXT,
    "ownerReferences": "[]v1.OwnerReference", "resourceVersion": _TEXT, "selfLink": _TEXT, "uid": "types.UID",
}  # fmt: skip
_STRUCTS: Mapping[str, Mapping[str, str]] = {"v1.ManagedFieldsEntry": _ENTRY, "v1.OwnerReference": _OWNER}
_TIMES = frozenset({"creationTimestamp", "deletionTimestamp", "time"})
_FITTING = {_NUMBER: "number", _BOOL: "bool"}


def decode(metadata: Tree) -> list[Fault]:
    """Why `metadata` cannot be read as ObjectMeta; the server names the first fault only."""
    if type(metadata) is not dict:
        got = _word(metadata)
        return [_undecodable(("metadata",), f"{got} into Go value of type v1.ObjectMeta")] if got else []
    faults = _struct(_FIELDS, "ObjectMeta", "", metadata, ("metadata",))
    # A type that reads itself ends decoding at once; of other faults the first one is told at the end.
    return ([fault for fault in faults if fault.path[-1] in _TIMES] or faults)[:1]


def _struct(fields: Mapping[str, str], name: str, at: str, tree: dict[str, Tree], path: Path) -> list[Fault]:
    return [
        fault
        for field in sorted(tree)
        if field in fields
        for fault in _value(fields[field], f"{name}.{at}{field}", tree[field], (*path, field))
    ]


def _value(wanted: str, field: str, tree: Tree, path: Path) -> list[Fault]:
    if not (got := _word(tree)) or wanted == _ANY:
        return []
    if wanted == _TIME:
        if got != "string":
            return [_undecodable(path, f"{got} into Go struct field {field} of type string")]
        text = time_fault(tree.value)
        return [Fault(path, "decode", text)] if text else []
    for prefix, word in (("[]", "array"), ("map[string]", "object")):
        if wanted.startswith(prefix) and got == word:
            return _items(wanted.removeprefix(prefix), field, tree, path)
    if wanted in _STRUCTS and got == "object":
        return _struct(_STRUCTS[wanted], wanted.partition(".")[2], f"{field.partition('.')[2]}.", tree, path)
    container = wanted[0] == "[" or wanted.startswith("map[") or wanted in _STRUCTS
    if got == "number" and wanted == _NUMBER and not (tree.value == int(tree.value) and abs(tree.value) < 2**63):
        got = f"number {number(tree.value)}"
    if container or got != _FITTING.get(wanted, "string"):
        return [_undecodable(path, f"{got} into Go struct field {field} of type {wanted}")]
    return []


def _items(wanted: str, field: str, tree: Tree, path: Path) -> list[Fault]:
    steps = sorted(tree) if type(tree) is dict else range(len(tree))
    return [fault for step in steps for fault in _value(wanted, field, tree[step], (*path, step))]


def _word(value: Tree) -> str:
    """JSON's word for a value in Go's errors, empty for null."""
    return JSON_TYPES.get(type(value.value if type(value) is Sourced else value), "")


def _undecodable(path: Path, text: str) -> Fault:
    return Fault(path, "decode", f"json: cannot unmarshal {text}")


def unknown_fields(metadata: Tree) -> list[Fault]:
    """The fields of `metadata` that ObjectMeta and the structs in it do not have."""
    return _unknown(_FIELDS, metadata, ("metadata",))


def _unknown(fields: Mapping[str, str], tree: Tree, path: Path) -> list[Fault]:
    faults: list[Fault] = []
    for key, value in tree.items() if type(tree) is dict else ():
        if key not in fields:
            text = f'unknown field "{dotted((*path, key))}"'
            faults.append(Fault((*path, key), "unknown", text, candidates=tuple(fields)))
        elif type(value) is list and fields[key].removeprefix("[]") in _STRUCTS:
            inner = _STRUCTS[fields[key].removeprefix("[]")]
            for index, item in enumerate(value):
                faults += _unknown(inner, item, (*path, key, index))
    return faults


def read(metadata: Tree) -> Tree:
    """Decodable metadata as the server holds it: without unknown fields, nulls and empty texts; null labels are empty."""
    if type(metadata) is not dict:
        return metadata
    out = {}
    for name, value in metadata.items():
        if name in _FIELDS and _word(value) and not (value.__class__ is Sourced and value.value == ""):
            out[name] = value
            if _FIELDS[name].startswith("map["):
                out[name] = {key: leaf if _word(leaf) else Sourced("", leaf.origin) for key, leaf in value.items()}
    return out
