"""The schema validator's checks of one scalar, with its texts.

Source: k8s.io/kube-openapi/pkg/validation/validate and k8s.io/apiextensions-apiserver's wording of its errors.
"""

from trainc.apiserver.fault import SCHEMA_TYPES, Fault, NotJudgedError, invalid, shown, untold
from trainc.apiserver.schema.log import Log
from trainc.apiserver.schema.node import SchemaNode
from trainc.apiserver.schema.patterns import matches
from trainc.model.tree import Path, Tree, dotted
from trainc.text.placeholders import is_placeholder, placeholder

_FORMATS = {int: "int64", float: "float64"}
_FITTING: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "int-or-string": (int, str),
    "object": (),
    "array": (),
    "partial": (),
}
_INT32 = 2**31
_INT64 = 2**63
REMEMBERED = 512  # texts that a node keeps as known to be good
_LONG = 1 << 16  # limits beyond this are for scripts and documents, and what fills in a few words does not reach them


def scalar(node: SchemaNode, value: object, path: Path, log: Log) -> None:
    """Check one value that is neither map nor list."""
    if value.__class__ is float and value.is_integer() and abs(value) < _INT64:
        value = int(value)  # Go's JSON writes 2.0 as 2
    elif value.__class__ is int and not -_INT64 <= value < _INT64:
        value = float(value)  # and reads what does not fit into 64 bits as a float
    kind = value.__class__
    known = len(log.schema), len(log.unchecked)
    if kind is str and node.kind not in ("object", "array") and is_placeholder(value):
        if node.kind != "string" or not _takes_all(node) or placeholder(str(value)) == value:
            log.unchecked.append(untold(path, value))
        return
    if kind not in _FITTING.get(node.kind, (kind,)):
        if value is None and node.nullable:
            return
        type_faults(node, value, path, log)
        if kind is float and node.kind == "integer":
            _bounds(node, value, path, log)  # type: ignore[arg-type]
    elif kind is str:
        _text(node, value, path, log)  # type: ignore[arg-type]
    elif kind is int or kind is float:
        _number(node, value, path, log)  # type: ignore[arg-type]
    unsupported(node, value, path, log)
    if node.live:
        log.rules.append((node, path, value))
    elif kind is str and len(node.good) < REMEMBERED and known == (len(log.schema), len(log.unchecked)):
        node.good.add(value)  # type: ignore[arg-type]


def _takes_all(node: SchemaNode) -> bool:
    """Whether the server takes any text there, so that one in which something is filled in later needs no check."""
    raw = node.raw
    is_free = node.enum is None and not node.format and not node.live and "pattern" not in raw
    return is_free and raw.get("maxLength", _LONG) >= _LONG and raw.get("minLength", 0) <= 1


def unsupported(node: SchemaNode, value: object, path: Path, log: Log) -> None:
    """The fault of a value of any type that is not one of those listed."""
    if node.enum is None or value in node.enum:
        return
    options = ", ".join(shown(option) for option in node.enum)
    text = f"{dotted(path)}: Unsupported value: {shown(value)}: supported values: {options}"
    log.schema.append(Fault(path, "schema", text, value, blocking=True))


def _text(node: SchemaNode, value: str, path: Path, log: Log) -> None:
    raw = node.raw
    most, least, pattern = raw.get("maxLength"), raw.get("minLength"), raw.get("pattern")
    if most is not None and len(value) > most:
        text = f"{dotted(path)}: Too long: may not be more than {most} bytes"
        log.schema.append(Fault(path, "schema", text, value, blocking=True))
    elif least is not None and len(value) < least:
        _add(log, path, value, f"should be at least {least} chars long")
    elif pattern is not None:
        _match(pattern, value, path, log)
    if node.format != "date-time":
        return
    import re  # noqa: PLC0415 (few fields hold times)

    if re.fullmatch(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", value, re.ASCII) is None:
        reason = f"{dotted(path)} in body must be of type date-time: {shown(value)}"
        log.schema.append(Fault(path, "schema", invalid(dotted(path), value, reason), value, blocking=True))


def _match(pattern: str, value: str, path: Path, log: Log) -> None:
    try:
        fits = matches(pattern, value)
    except NotJudgedError as error:
        log.unchecked.append(Fault(path, "schema", f"the pattern '{pattern}' is not evaluated: {error}", value))
        return
    if not fits:
        _add(log, path, value, f"should match '{pattern}'")


def _number(node: SchemaNode, value: float, path: Path, log: Log) -> None:
    if node.kind == "int-or-string":
        if not node.low <= value <= node.high:
            _out_of_range(node, path, log)
        elif "pattern" not in node.raw and not -_INT32 <= value < _INT32:
            log.loose = True
        return
    if node.kind == "integer" and not node.low <= value <= node.high:
        _out_of_range(node, path, log)
    _bounds(node, value, path, log)


def _bounds(node: SchemaNode, value: float, path: Path, log: Log) -> None:
    raw = node.raw
    if "maximum" in raw:
        most = raw["maximum"]
        if raw.get("exclusiveMaximum") and value >= most:
            _add(log, path, value, f"should be less than {most}")
        elif value > most:
            _add(log, path, value, f"should be less than or equal to {most}")
    if "minimum" in raw:
        least = raw["minimum"]
        if raw.get("exclusiveMinimum") and value <= least:
            _add(log, path, value, f"should be greater than {least}")
        elif value < least:
            _add(log, path, value, f"should be greater than or equal to {least}")


def _add(log: Log, path: Path, value: object, reason: str) -> None:
    place = dotted(path)
    log.schema.append(Fault(path, "schema", invalid(place, value, f"{place} in body {reason}"), value))


def _out_of_range(node: SchemaNode, path: Path, log: Log) -> None:
    spelled = f"with format {node.format}" if node.format else "(default format)"
    text = f'<nil>: Invalid value: "": Checked value must be of type integer {spelled} in {dotted(path)}'
    log.schema.append(Fault(path, "schema", text))


def type_faults(node: SchemaNode, value: Tree, path: Path, log: Log) -> None:
    kind = value.__class__
    got = SCHEMA_TYPES.get(kind, "null")
    wanted = {"int-or-string": "integer,string", "partial": "object"}.get(node.kind, node.kind)
    if value is not None and node.format and kind not in (str, list):
        got = _FORMATS.get(kind, "")
        wanted = node.format
    _mistyped(path, wanted, got, log)
    if kind is float and node.kind == "integer":
        _out_of_range(node, path, log)
    if node.kind == "int-or-string" and "anyOf" in node.raw:
        # The validator tries the alternatives, integer first, and repeats what the first of them says.
        text = f'<nil>: Invalid value: "": "{dotted(path)}" must validate at least one schema (anyOf)'
        log.schema.append(Fault(path, "schema", text))
        _mistyped(path, "integer", got, log)
        if kind is float:
            _out_of_range(node, path, log)


def _mistyped(path: Path, wanted: str, got: str, log: Log) -> None:
    place = dotted(path)
    text = invalid(place, got, f'{place} in body must be of type {wanted}: "{got}"')
    log.schema.append(Fault(path, "schema", text, got, blocking=True))
