"""How a value that a server refuses is written instead."""

from __future__ import annotations

import json

from trainc.apiserver.fault import NO_MAP, Fault
from trainc.apiserver.history import REFERENCES
from trainc.apiserver.repairs import ENTRY, alike, amount, is_of_quantity, number_and_unit, words
from trainc.apiserver.schema.engine import engine
from trainc.apiserver.schema.node import SchemaNode
from trainc.model.document import Document
from trainc.model.sourced import Sourced
from trainc.model.tree import Path, get, value
from trainc.text.object_keys import TRAINC_PREFIX

LABEL = 63  # characters of a DNS label
_GO_TYPES = {"int": "integer", "int32": "integer", "int64": "integer", "bool": "boolean"}
_DIVISIBLE = ("cpu", "memory", "ephemeral-storage", "storage")
_UNITS = {"k": "k", "m": "M", "g": "G", "t": "T", "p": "P"}


def rewritten(document: Document, fault: Fault, node: SchemaNode | None) -> str:
    """What to write in the place of a value of the wrong type or shape, empty where nobody can say."""
    written = value(document.written, *fault.path)
    if (" of type string" in fault.message and isinstance(written, bool | int | float)) or (
        " of type integer,string" in fault.message and isinstance(written, float)
    ):
        return _whole_device(fault) or _quoted(get(document.written, *fault.path), node)
    if not isinstance(written, str):
        is_missing = fault.path == ("spec", "runtimeRef") and fault.message.endswith("Required value")
        return _runtime(document) if is_missing else ""
    if is_of_quantity(fault):
        return (not amount(written) and _whole_device(fault)) or _quantity(written)
    if "RFC 1035" in fault.message or "RFC 1123" in fault.message:
        # A name that is a DNS label, made of what was written.
        kept = "".join(c if c.isascii() and c.isalnum() else "-" for c in written.lower()).strip("-")
        if not kept or not kept[0].isalpha():
            return "lower-case letters, digits and `-` make a name, and a letter begins it"
        return f"write `{kept[:LABEL].rstrip('-')}`: lower-case letters, digits and `-`"
    if fault.path[-2:] == ("metadata", "name") and len(written) > LABEL:
        return f"shorten it from {len(written)} to at most {LABEL} characters"
    if fault.path[-2:-1] == ("labels",):
        # What a label's value may be, for one that is refused; nothing where its key is.
        if fault.value != written:
            return "use letters, digits, `-`, `_` and `.` for a key, below a domain and `/` if you like"
        if len(written) > LABEL:
            return f"shorten it from {len(written)} to at most {LABEL} characters, or make it an annotation"
        return "use letters, digits, `-`, `_` and `.`, with a letter or digit at both ends, or make it an annotation"
    wanted = fault.message.partition(" must be of type ")[2].partition(":")[0]
    wanted = wanted or _GO_TYPES.get(fault.message.rpartition(" of type ")[2], "")
    return _of_type(written, "object" if NO_MAP in fault.message else wanted, node)


def _whole_device(fault: Fault) -> str:
    """How the amount of a device is written, empty for other resources and fields."""
    resource = str(fault.path[-1])
    if fault.path[-2:-1] not in (("limits",), ("requests",)) or resource in _DIVISIBLE or resource.startswith("hugep"):
        return ""
    if "/" in resource:
        return "devices are whole: write a whole number such as `1`"
    return "devices are whole, and named with their vendor: write `nvidia.com/gpu: 1`"


def _of_type(written: str, wanted: str, node: SchemaNode | None) -> str:
    """A text as a value of another type."""
    if wanted == "array":
        if not (parts := words(written)):
            return f"write a list for a shell: `[sh, -c, {json.dumps(written)}]`" if written.strip() else "write a list"
        return f"write a list: `[{', '.join(map(json.dumps, parts))}]`"
    if wanted == "object":
        # A text as a map: of a variable's name and value where it looks like one, else of a name.
        names = node.props.names if node is not None else ()
        name, equals, rest = written.partition("=")
        if equals and all(one in names for one in ENTRY):
            return f"write a map: `{{name: {name}, value: {json.dumps(rest)}}}`"
        field, _, content = written.partition(":")
        if field in names and content:
            return f"write `{field}: {content.strip()}`, with a space after the colon"
        if "name" in names and "key" in names:  # a reference to one key of a Secret or a ConfigMap
            owner, _, key = written.replace(":", "/").partition("/")
            return f"name the object and its key: `{{name: {owner or 'NAME'}, key: {key or 'KEY'}}}`"
        field = next((one for one in (*REFERENCES, "path") if one in names), "")
        return f"write a map: `{{{field}: {written}}}`" if field else "write a map"
    if wanted in ("integer", "number"):
        if written == "auto":
            return "remove it: the number of processes follows from the resources"
        return f"write {written}, without quotes" if written.isascii() and written.isdigit() else "write a number"
    if wanted == "boolean":
        return f"write {written}, without quotes" if written in ("true", "false") else "write `true` or `false`"
    return ""


def _quoted(leaf: Sourced[object], node: SchemaNode | None) -> str:
    """A scalar in quotes; only that quotes are missing where the file spells it in another way, as `no` or `0x1F`."""
    pattern = node.raw.get("pattern") if node is not None else None
    if pattern and not engine().matches(pattern, json.dumps(leaf.value)):
        return f"write a text that matches `{pattern}`"
    return f"put it in quotes: `{json.dumps(json.dumps(leaf.value))}`" if alike(leaf) else "put it in quotes"


def _quantity(written: str) -> str:
    """A quantity for one that has a byte's B, a blank or a small letter as people write them."""
    if certain := amount(written):
        return f"write `{certain}`"
    number, unit = number_and_unit(written)
    if (one := _UNITS.get(unit.removesuffix("i"))) is not None:
        return f"write `{number}{one.upper()}i` (powers of 1024) or `{number}{one}` (powers of 1000)"
    return "write a quantity such as `500m`, `4` or `64Gi`"


def _runtime(document: Document) -> str:
    """What to write for a missing runtime: a TrainJob with the differences of a cluster alone is of another kind."""
    help_ = "name a runtime: `{name: NAME}`; `trainc runtimes` lists those that trainc ships"
    trainer = get(document.tree, "spec", "trainer")
    is_partial = all(get(trainer, field) is None for field in ("image", "command", "args"))
    if is_partial or value(document.tree, "metadata", "annotations", f"{TRAINC_PREFIX}cluster") is not None:
        return f"{help_}. To change a TrainJob on some clusters, write `apiVersion: trainc.dev/v1alpha1` and `kind: TrainJobPatch`"
    return help_


def listed(above: Path, name: str, unknown: object, item: SchemaNode | None) -> str:
    """How a key of what should be a list is written as an item of it."""
    names = item.props.names if item is not None else ()
    if all(one in names for one in ENTRY) and isinstance(unknown, Sourced):
        text = unknown.value if isinstance(unknown.value, str) else json.dumps(unknown.value)
        return f"`{above[-1]}` is a list: write `- {{name: {name}, value: {json.dumps(text)}}}`"
    return f"`{above[-1]}` is a list: begin each item with `- `"
