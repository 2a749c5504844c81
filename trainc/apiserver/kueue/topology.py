"""Kueue's rules for topology annotations on the pod templates of a JobSet (its main branch, August 2026)."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from trainc.apiserver.cel.operators import bare
from trainc.apiserver.fault import Fault, invalid, of_webhook, quoted
from trainc.apiserver.names import qualified
from trainc.model.tree import Path, Tree, dotted
from trainc.text.numbers import has_int_syntax, parsed_int

_DOMAIN = "kueue.x-k8s.io/"
REQUIRED = f"{_DOMAIN}podset-required-topology"
PREFERRED = f"{_DOMAIN}podset-preferred-topology"
UNCONSTRAINED = f"{_DOMAIN}podset-unconstrained-topology"
SLICE = f"{_DOMAIN}podset-slice-required-topology"
SLICE_SIZE = f"{_DOMAIN}podset-slice-size"
LAYERS = f"{_DOMAIN}podset-slice-required-topology-constraints"
GROUP = f"{_DOMAIN}podset-group-name"
# What Go's strconv.ParseBool takes.
_BOOLEANS = frozenset(["1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"])
_MOST_LAYERS = 3
_STRUCT = "PodsetSliceRequiredTopologyConstraint"


class AnnotatedPodSet:
    """One replicatedJob as Kueue counts it: its annotations, where they stand, and its number of pods."""

    def __init__(self, index: int, job: Tree) -> None:
        self.path: Path = ("spec", "replicatedJobs", index, "template", "spec", "template", "metadata", "annotations")
        # An update may lack what a webhook fills in on create.
        spec = job.get("template", {}).get("spec", {})
        metadata = spec.get("template", {}).get("metadata", {})
        self.annotations = {key: bare(leaf) for key, leaf in metadata.get("annotations", {}).items()}
        parallelism = _count(spec, "parallelism", 1)
        self.count = _count(job, "replicas", 1) * min(parallelism, _count(spec, "completions", parallelism))

    def fault(self, key: str, value: object, reason: str) -> Fault:
        return of_webhook(invalid(self.place(key), value, reason), (*self.path, key), value)

    def place(self, key: str) -> str:
        return f"{dotted(self.path)}[{key}]"

    def other(self, key: str, text: str) -> Fault:
        return of_webhook(f"{self.place(key)}: {text}", (*self.path, key))

    def clash(self, key: str, other: str) -> Fault:
        return self.other(key, f"Forbidden: may not be set when '{other}' is specified")


def _count(holder: Tree, name: str, default: int) -> int:
    value = bare(holder.get(name))
    return value if type(value) is int else default


def _podsets(tree: Tree) -> list[AnnotatedPodSet]:
    jobs = tree["spec"].get("replicatedJobs", ()) if type(tree.get("spec")) is dict else ()
    return [AnnotatedPodSet(index, job) for index, job in enumerate(jobs)]


def topology_faults(tree: Tree) -> list[Fault]:
    """What Kueue has against the topology annotations; of several complaints the same one comes once."""
    sets = _podsets(tree)
    if not any(key.startswith(_DOMAIN) for podset in sets for key in podset.annotations):
        return []
    return [*(fault for podset in sets for fault in _podset(podset)), *_groups(sets)]


def unreadable(tree: Tree) -> Fault | None:
    """The first annotation that Kueue cannot make a topology of; it then says nothing else of the JobSet."""
    return next(filter(None, map(_unreadable, _podsets(tree))), None)


def _unreadable(podset: AnnotatedPodSet) -> Fault | None:
    held = podset.annotations
    unconstrained = held.get(UNCONSTRAINED)
    if unconstrained is not None and not (REQUIRED in held or PREFERRED in held or unconstrained in _BOOLEANS):
        text = f"strconv.ParseBool: parsing {quoted(unconstrained)}: invalid syntax"
        return of_webhook(text, (*podset.path, UNCONSTRAINED), unconstrained)
    if (layers := held.get(LAYERS)) is not None:
        where = (*podset.path, LAYERS)
        try:
            count = len(layers_of(layers))
        except LayersError as error:
            return of_webhook(f"failed to parse multi-layer topology constraints annotation: {error}", where, layers)
        if 1 <= count <= _MOST_LAYERS:
            return None
        return of_webhook(f"topology constraints must contain between 1 and 3 entries: got {count}", where, layers)
    if (size := held.get(SLICE_SIZE)) is None or SLICE not in held or parsed_int(size, 32) is not None:
        return None
    fault = "value out of range" if has_int_syntax(size) else "invalid syntax"
    return of_webhook(f"strconv.ParseInt: parsing {quoted(size)}: {fault}", (*podset.path, SLICE_SIZE), size)


def _podset(podset: AnnotatedPodSet) -> list[Fault]:
    held = podset.annotations
    faults: list[Fault] = []
    kinds = (REQUIRED, PREFERRED, UNCONSTRAINED)
    if sum(key in held for key in kinds) > 1:
        text = f"must not contain more than one topology annotation: [{', '.join(map(quoted, kinds))}]"
        faults.append(of_webhook(f"{dotted(podset.path)}: Invalid value: {text}", podset.path))
    for key in (REQUIRED, PREFERRED, SLICE):
        if key in held:
            faults += [podset.fault(key, held[key], reason) for reason in qualified(held[key])]
    if (name := held.get(GROUP)) is not None:
        if name.isascii() and name.isdigit() and len(name.lstrip("0")) <= 20 and int(name.lstrip("0") or "0") < 2**64:
            faults.append(podset.fault(GROUP, name, "must not be a number"))
        faults += [podset.clash(GROUP, key) for key in (SLICE_SIZE, SLICE) if key in held]
        if REQUIRED not in held and PREFERRED not in held:
            text = f"Forbidden: may not be set when neither '{PREFERRED}' nor '{REQUIRED}' is specified"
            faults.append(podset.other(GROUP, text))
    if UNCONSTRAINED in held and held[UNCONSTRAINED] not in _BOOLEANS:
        faults.append(podset.fault(UNCONSTRAINED, held[UNCONSTRAINED], "must be a boolean value"))
    size = held.get(SLICE_SIZE)
    number = None if size is None else parsed_int(size, 32)
    if size is None:
        if SLICE in held:
            faults.append(podset.other(SLICE_SIZE, f"Required value: must be set when '{SLICE}' is specified"))
    else:
        if number is None:
            faults.append(podset.fault(SLICE_SIZE, size, "must be a numeric value"))
        elif number < 1:
            faults.append(podset.fault(SLICE_SIZE, size, "must be greater than or equal to 1"))
        if SLICE not in held:
            faults.append(podset.other(SLICE_SIZE, f"Forbidden: may not be set when '{SLICE}' is not specified"))
    layers = layers_of(held[LAYERS]) if LAYERS in held else []
    if layers:
        faults += [podset.clash(LAYERS, key) for key in (SLICE, SLICE_SIZE) if key in held]
        faults += [podset.clash(GROUP, LAYERS)] if GROUP in held else []
        faults += _entries(podset, layers)
    # The bounds that the number of pods sets come last.
    beyond = f"must not be greater than pod set count {podset.count}"
    if number is not None and number > podset.count:
        faults.append(podset.fault(SLICE_SIZE, size, beyond))
    if layers and layers[0].size > podset.count:
        faults.append(podset.fault(LAYERS, layers[0].size, beyond))
    return faults


def _entries(podset: AnnotatedPodSet, layers: "Sequence[SliceLevel]") -> list[Fault]:
    where = (*podset.path, LAYERS)
    faults: list[Fault] = []
    twice: list[Fault] = []
    seen: dict[str, int] = {}
    uneven: list[Fault] = []
    for index, layer in enumerate(layers):
        place = f"{podset.place(LAYERS)}[{index}]"
        texts = (invalid(f"{place}.topology", layer.topology, reason) for reason in qualified(layer.topology))
        faults += [of_webhook(text, where) for text in texts]
        if layer.size < 1:
            faults.append(of_webhook(invalid(f"{place}.size", layer.size, "must be greater than or equal to 1"), where))
        first = seen.setdefault(layer.topology, index)
        if first != index:
            text = quoted(f"{layer.topology} (also at index {first})")
            twice.append(of_webhook(f"{place}.topology: Duplicate value: {text}", where))
        outer = layers[index - 1].size if index else 0
        if index and layer.size > 0 and outer % layer.size:
            text = f"must evenly divide the parent layer size {outer}"
            uneven.append(of_webhook(invalid(f"{place}.size", layer.size, text), where))
    return [*faults, *twice, *uneven]


def _groups(sets: Sequence[AnnotatedPodSet]) -> list[Fault]:
    groups: dict[str, list[AnnotatedPodSet]] = {}
    for podset in sets:
        if GROUP in podset.annotations and _wish(podset) != (None, None):
            groups.setdefault(podset.annotations[GROUP], []).append(podset)
    faults: list[Fault] = []
    for name, members in groups.items():
        counts = [member.count for member in members]
        reason = ""
        if len(members) != 2:
            reason = f"can only define groups of exactly 2 pod sets, got: {len(members)} pod set(s)"
        elif 1 not in counts:
            reason = (
                "can only define groups where at least one pod set has only 1 replica, "
                f"got: {counts[0]} replica(s) and {counts[1]} replica(s) in the group"
            )
        if reason:
            faults += [member.fault(GROUP, name, reason) for member in members]
        if len(members) == 2 and _wish(members[0]) != _wish(members[1]):
            for here, there in (members, members[::-1]):
                text = (
                    f"must specify '{REQUIRED}' or '{PREFERRED}' topology consistent with '{dotted(there.path)}' "
                    f"in group '{name}'"
                )
                faults.append(of_webhook(f"{dotted(here.path)}: Invalid value: {text}", here.path))
    return faults


def _wish(podset: AnnotatedPodSet) -> tuple[str | None, str | None]:
    """The level that is required, else the one that is preferred."""
    required = podset.annotations.get(REQUIRED)
    return required, podset.annotations.get(PREFERRED) if required is None else None


class LayersError(Exception):
    """What Go's decoder says of a text that is not a list of layers."""


class _Number(str):
    """A JSON number as it is written."""

    __slots__ = ()


class SliceLevel(NamedTuple):
    """Slices of `size` pods, each inside one domain of the level `topology`."""

    topology: str
    size: int


def layers_of(text: str) -> list[SliceLevel]:
    """The layers that a text lists; raises `LayersError` with the decoder's words where it lists none."""
    if (parsed := _parsed(text)) is None:
        return []
    if type(parsed) is not list:
        raise LayersError(f"json: cannot unmarshal {_WORDS[type(parsed)]} into Go value of type []v1beta2.{_STRUCT}")
    faults: list[str] = []
    layers = [_layer(item, faults) for item in parsed]
    if faults:
        raise LayersError(faults[0])
    return layers


def _layer(item: Any, faults: list[str]) -> SliceLevel:
    topology, size = "", 0
    if item is not None and type(item) is not _Pairs:
        faults.append(f"json: cannot unmarshal {_WORDS[type(item)]} into Go value of type v1beta2.{_STRUCT}")
    for key, value in item if type(item) is _Pairs else ():
        field, wanted = key.lower(), ""
        if field == "topology" and value is not None:
            topology, wanted = (value, "") if type(value) is str else ("", "string")
        elif field == "size" and value is not None:
            number = parsed_int(value, 32) if type(value) is _Number else None
            size, wanted = (0, "int32") if number is None else (number, "")
        if wanted:
            got = f"number {value}" if type(value) is _Number and wanted == "int32" else _WORDS[type(value)]
            faults.append(f"json: cannot unmarshal {got} into Go struct field {_STRUCT}.{field} of type {wanted}")
    return SliceLevel(topology, size)


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with its members in order, whatever their keys."""


_WORDS = {str: "string", bool: "bool", list: "array", _Number: "number", _Pairs: "object"}


def _parsed(text: str) -> Any:

    def refused(_constant: str) -> Any:
        raise LayersError(f"invalid character {_character(text.lstrip()[0])} looking for beginning of value")

    try:
        return json.loads(
            text, object_pairs_hook=_Pairs, parse_int=_Number, parse_float=_Number, parse_constant=refused
        )
    except json.JSONDecodeError as fault:
        # Python stumbles at a trailing comma since 3.13, and not behind it.
        at = fault.pos + fault.msg.startswith("Illegal trailing comma")
        at += len(text[at:]) - len(text[at:].lstrip(" \t\r\n"))
        if at >= len(text) or fault.msg.startswith("Unterminated"):
            raise LayersError("unexpected end of JSON input") from None
        raise LayersError(f"invalid character {_character(text[at])} {_context(text, fault.msg, at)}") from None
    except RecursionError:
        raise LayersError("exceeded max depth") from None


def _context(text: str, message: str, at: int) -> str:
    known = {
        "Expecting value": "looking for beginning of value",
        "Illegal trailing comma before end of array": "looking for beginning of value",
        "Expecting ':' delimiter": "after object key",
        "Extra data": "after top-level value",
        "Invalid control character at": "in string literal",
        "Expecting ',' delimiter": "after object key:value pair" if _in_object(text[:at]) else "after array element",
    }
    return known.get(message.removesuffix(": "), "looking for beginning of object key string")


def _in_object(text: str) -> bool:
    """Whether what follows such a beginning of a JSON text stands in an object rather than in a list."""
    holders: list[str] = []
    inside = escaped = False
    for char in text:
        if inside:
            inside, escaped = escaped or char != '"', char == "\\" and not escaped
        elif char == '"':
            inside = True
        elif char in "[{":
            holders.append(char)
        elif char in "]}" and holders:
            holders.pop()
    return holders[-1:] == ["{"]


def _character(char: str) -> str:
    """A character in single quotes, as Go's scanner shows it."""
    special = {"'": r"'\''", '"': "'\"'"}
    return special.get(char) or f"'{quoted(char)[1:-1]}'"
