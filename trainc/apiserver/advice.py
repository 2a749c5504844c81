"""What to write instead of what a server refuses, told by the schema itself."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import takewhile

from trainc.apiserver import repairs
from trainc.apiserver.fault import NO_MAP, Fault, NotJudgedError, gate_help
from trainc.apiserver.history import REFERENCES, reference_field, replacement
from trainc.apiserver.jobset.name_length import is_too_long, shorter
from trainc.apiserver.repairs import ENTRY, alike, amount, is_of_quantity, number_and_unit, words
from trainc.apiserver.schema.node import SchemaNode, Table
from trainc.apiserver.schema.patterns import matches
from trainc.model.document import Document
from trainc.model.finding import Edit
from trainc.model.sourced import Sourced
from trainc.model.tree import Path, get, plain, value
from trainc.text.object_keys import TRAINC_PREFIX
from trainc.text.placeholders import is_left_open
from trainc.text.spelling import intended, meant, nearest

_RUNTIME = "trainer.kubeflow.org/v1alpha1/ClusterTrainingRuntime"
_SERVERS = frozenset(
    {"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "status", "uid"}
)
_EVERYWHERE = frozenset({"apiVersion", "kind", "metadata", "name", "spec"})
_TWICE = ": Duplicate value: "
_NO_ROLE = "does not appear in .spec.ReplicatedJobs"
_IMAGE_PARTS = {"repository", "tag"}  # as charts write an image
_DEEPEST = 14  # steps down to a field of a container in a runtime patch
_MOST = 160  # characters of a server's text that a person is shown
_LONG = 60  # characters of a value after which a reason is hard to find
# What the webhook's program reads, by the types of its language, and what stands there instead.
_TYPES = {
    "string": "a string", "bool": "`true` or `false`", "int": "a whole number", "int32": "a whole number",
    "int64": "a whole number", "map[string]string": "a map", "v1.ObjectMeta": "a map",
}  # fmt: skip
_WRITTEN = {
    "string": "a string", "bool": "`true` or `false`", "number": "a number", "object": "a map", "array": "a list",
}  # fmt: skip
_LABEL = 63  # characters of a DNS label
_GO_TYPES = {"int": "integer", "int32": "integer", "int64": "integer", "bool": "boolean"}
_DIVISIBLE = ("cpu", "memory", "ephemeral-storage", "storage")
_UNITS = {"k": "k", "m": "M", "g": "G", "t": "T", "p": "P"}


def for_unknown(document: Document, fault: Fault, table: Table) -> str:
    """Where the field belongs, what it is called now, or what was probably meant; empty where nobody can say."""
    if hint := replacement(document.api_version, document.kind, fault.path):
        return hint
    root = _root(document, table)
    if (above := _node(root, fault.path[:-1])) is not None and above.kind == "array":
        return _listed(fault.path[:-1], str(fault.path[-1]), get(document.tree, *fault.path), above.item())
    if above is not None and above.kind == "string":
        return _text(document, fault.path)
    name = str(fault.path[-1])
    if name in _SERVERS:
        return "remove it: only a server writes it"
    if field := reference_field(fault.path, fault.candidates):
        return f"the name of the object is `{field}` here"
    close = intended(name, fault.candidates) or [one for one in (nearest(name, fault.candidates),) if one]
    if close:
        return f"did you mean {' or '.join(f'`{one}`' for one in close)}?"
    return _elsewhere(document, fault.path, root, table) or _below(above, get(document.tree, *fault.path))


def is_for_fields(document: Document, path: Path, table: Table) -> bool:
    """Whether a map belongs at a path, and not a list or a text; also where nobody can say."""
    node = _node(_root(document, table), path)
    return node is None or node.kind not in ("array", "string")


def for_field(document: Document, fault: Fault, table: Table) -> list[Edit]:
    """The edit that gives an unknown field its right name, or makes the list of which it is to be an item."""
    if (above := _node(_root(document, table), fault.path[:-1])) is not None and above.kind == "array":
        return repairs.listed(document, fault.path[:-1], above.item())
    return repairs.renamed(document, fault)


def _text(document: Document, path: Path) -> str:
    """How a map is written as text: a word of a command (`[--lr: 0.1]`), or the one value of a field (`{name: x}`)."""
    content = plain(get(document.tree, *path))
    if isinstance(path[-2], int):
        written = f"{path[-1]}: {content}"
        if written.startswith("-"):
            return f"write one word: `{written.replace(': ', '=', 1)}`"
        return f"quote it to make it text: `{json.dumps(written)}`"
    parts = plain(get(document.tree, *path[:-1]))
    if isinstance(parts, dict) and set(parts) == _IMAGE_PARTS and all(isinstance(part, str) for part in parts.values()):
        content = f"{parts['repository']}:{parts['tag']}"
    elif not isinstance(content, str) or (isinstance(parts, dict) and len(parts) > 1):
        return f"`{path[-2]}` is text: write `{path[-2]}: TEXT`"
    return f"`{path[-2]}` is text: write `{path[-2]}: {content}`"


def _elsewhere(document: Document, path: Path, root: SchemaNode | None, table: Table) -> str:
    """The place of a field of this name in the kind, or for a job in its runtime."""
    if place := _nearest_place(root, path):
        return f"write it as `{place}`"
    if document.kind == "TrainJob":
        in_runtime = replacement("", "ClusterTrainingRuntime", path)
        place = _nearest_place(table.root(_RUNTIME), path)
        if in_runtime or place:
            return f"it belongs in the runtime: there {in_runtime or f'it is `{place}`'}"
    return ""


def _nearest_place(root: SchemaNode | None, path: Path) -> str:
    """The path of the field with this name that shares most with `path` and lies highest; empty where there is none."""
    name = str(path[-1])
    if root is None or name in _EVERYWHERE:
        return ""
    here = [step for step in path[:-1] if isinstance(step, str)]
    places = sorted(_places(root).get(name, ()), key=lambda place: (-_shared(place, here), len(place), place))
    return ".".join(places[0]).replace(".[]", "[]") if places else ""


def _shared(place: tuple[str, ...], here: list[str]) -> int:
    steps = zip((step for step in place if step != "[]"), here, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], steps))


@lru_cache(maxsize=8)
def _places(root: SchemaNode) -> Mapping[str, list[tuple[str, ...]]]:
    """Every path at which a schema has a field, by the field's name, outside what only a server writes."""
    by_field: dict[str, list[tuple[str, ...]]] = {}
    level: list[tuple[tuple[str, ...], SchemaNode]] = [((), root)]
    for _ in range(_DEEPEST):
        for path, node in level:
            for name in node.props.names:
                by_field.setdefault(name, []).append((*path, name))
        level = [child for path, node in level for child in _children(path, node)]
    return by_field


def _children(path: tuple[str, ...], node: SchemaNode) -> Iterator[tuple[tuple[str, ...], SchemaNode]]:
    if (item := node.item()) is not None:
        yield (*path, "[]"), item
    for step in node.props.names:
        if (child := node.prop(step)) is not None and step not in ("status", "metadata"):
            yield (*path, step), child


def _below(above: SchemaNode | None, unknown: object) -> str:
    """The maps beside an unknown scalar that take any name."""
    if above is None or isinstance(unknown, dict | list):
        return ""
    maps = [name for name in above.props.names if (child := above.prop(name)) is not None and child.only is not None]
    return f"write it below {' or '.join(f'`{name}`' for name in maps)}" if maps else ""


def for_value(document: Document, fault: Fault, table: Table) -> str:
    """How a value is written in the right type, how short a name has to be, or which gate is needed; else nothing."""
    if is_too_long(fault):
        return shorter(document.tree, fault)
    if _NO_ROLE in fault.message:
        # The replicatedJob that was probably meant, or all that there are.
        roles = get(document.tree, "spec", "replicatedJobs")
        names = [str(value(role, "name")) for role in roles if type(role) is dict] if type(roles) is list else []
        written = fault.message.partition("'")[2].partition("'")[0]
        return meant(written, names, f"the replicatedJobs are {', '.join(names)}")
    if type(value(document.tree, *fault.path)) is float and "must be of type int32" in fault.message:
        return "write a whole number"
    if _TWICE in fault.message:
        return "remove one of the two"
    return gate_help(fault) or rewritten(document, fault, _node(_root(document, table), fault.path))


def first_alike(document: Document, fault: Fault) -> Path | None:
    """Where the item stands of which one with the same key is refused; None for other faults."""
    _, twice, key = fault.message.partition(_TWICE)
    items = get(document.tree, *fault.path[:-1]) if twice else None
    if type(items) is not list or not key.startswith("{"):
        return None
    wanted = json.loads(key)
    for index, item in enumerate(items):
        if type(item) is dict and {name: plain(item[name]) for name in wanted if name in item} == wanted:
            return (*fault.path[:-1], index)
    return None


def _root(document: Document, table: Table) -> SchemaNode | None:
    return table.root(f"{document.api_version}/{document.kind}")


def _node(root: SchemaNode | None, path: Path) -> SchemaNode | None:
    """The schema at a path; None where it says nothing about it."""
    for step in path:
        if root is None:
            return None
        root = root.prop(step) if isinstance(step, str) else root.item()
    return root


def shortened(text: str) -> str:
    """A text with its middle left out where it is long: it begins with the field and ends with the reason."""
    if len(text) <= _MOST:
        return text
    half = _MOST // 2 - 3
    return f"{text[:half]} ... {text[-half:]}"


def reason_first(fault: Fault) -> tuple[str, str]:
    """The reason without a long value before it, and what to do; both empty where the server's words will do."""
    _, _, rest = fault.message.partition("have a matching volumeMount: ")
    claim = rest.partition(" from VolumeClaimPolicies")[0] if " from VolumeClaimPolicies" in rest else ""
    if claim:
        mount = f"`volumeMounts: [{{name: {claim}, mountPath: /data}}]`"
        return f"no container mounts the claim `{claim}`", f"mount it in a container, as in {mount}"
    if "DependsOn can't be set for the first ReplicatedJob" in fault.message:
        return "the first replicatedJob cannot depend on another one", "list it behind those it depends on"
    written, is_unreadable, wanted = fault.message.removeprefix("json: cannot unmarshal ").partition(" into Go ")
    if is_unreadable:
        kind = wanted.rpartition(" of type ")[2]
        needed = _TYPES.get(kind, f"a Go value of type {kind}")
        return f"{needed} is needed here, not {_WRITTEN.get(written, written)}", ""
    value, reason = _parts(fault.message)
    return (reason, "") if len(value) > _LONG else ("", "")


def _parts(message: str) -> tuple[str, str]:
    """The value and the reason of an `Invalid value: VALUE: REASON`; the value is JSON, and may hold colons itself."""
    _, _, rest = message.partition(": Invalid value: ")
    if not rest:
        return "", ""
    try:
        _, end = json.JSONDecoder(parse_int=str).raw_decode(rest)
    except ValueError:
        return "", ""
    return rest[:end], rest[end:].removeprefix(": ")


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
        if is_left_open(written):
            return "replace it with a name of lower-case letters, digits and `-`"
        # A name that is a DNS label, made of what was written.
        kept = "".join(c if c.isascii() and c.isalnum() else "-" for c in written.lower()).strip("-")
        if not kept or not kept[0].isalpha():
            return "lower-case letters, digits and `-` make a name, and a letter begins it"
        return f"write `{kept[:_LABEL].rstrip('-')}`: lower-case letters, digits and `-`"
    if fault.path[-2:] == ("metadata", "name") and len(written) > _LABEL:
        return f"shorten it from {len(written)} to at most {_LABEL} characters"
    if fault.path[-2:-1] == ("labels",):
        # What a label's value may be, for one that is refused; nothing where its key is.
        if fault.value != written:
            return "use letters, digits, `-`, `_` and `.` for a key, below a domain and `/` if you like"
        if len(written) > _LABEL:
            return f"shorten it from {len(written)} to at most {_LABEL} characters, or make it an annotation"
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
    with suppress(NotJudgedError):
        if pattern and not matches(pattern, json.dumps(leaf.value)):
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


def _listed(above: Path, name: str, unknown: object, item: SchemaNode | None) -> str:
    """How a key of what should be a list is written as an item of it."""
    names = item.props.names if item is not None else ()
    if all(one in names for one in ENTRY) and isinstance(unknown, Sourced):
        text = unknown.value if isinstance(unknown.value, str) else json.dumps(unknown.value)
        return f"`{above[-1]}` is a list: write `- {{name: {name}, value: {json.dumps(text)}}}`"
    return f"`{above[-1]}` is a list: begin each item with `- `"
