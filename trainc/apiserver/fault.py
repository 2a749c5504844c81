"""What a server says against an object, as plain data."""

from typing import NamedTuple

from trainc.model.tree import Path, Tree, dotted

# The notice that the API server adds when schema faults keep it from evaluating CEL rules.
SKIPPED_RULES = (
    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)

# The types of values as Go's decoder of JSON calls them, and as a schema does.
JSON_TYPES = {str: "string", bool: "bool", int: "number", float: "number", dict: "object", list: "array"}
SCHEMA_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}
FURTHER = "further"  # the kind of a fault that the server would tell once those before it are mended
NO_MAP = "must be an object for an array of list-type map"
_PATHLESS = "<nil>: Internal error: "  # how webhooks begin an error that names no field
_ESCAPES = {
    '"': '\\"', "\\": "\\\\", "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
    "\v": "\\v",
}  # fmt: skip
_HTML = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


class NotJudgedError(Exception):
    """A question that no engine answers; the text says why."""


class Fault(NamedTuple):
    """One complaint: where, of which kind, and the server's own text.

    `kind` is one of unknown, schema, listtype, cel, decode, webhook. `message` is what the server prints, its path
    included. `candidates` are the names that are known where an unknown one stands. `blocking` faults keep the API
    server from evaluating CEL rules. `since` is the first program and version that takes what this one refuses.
    """

    path: Path
    kind: str
    message: str
    value: object = None
    candidates: tuple[str, ...] = ()
    blocking: bool = False
    since: str = ""

    def __repr__(self) -> str:
        return f"Fault({self.kind}: {self.message})"


class Verdict:
    """What a server answers.

    `by` is the stage that refused: decode, unknown-field, schema, listtype, cel or webhook, empty when accepted.
    `messages` are the server's texts, `faults` the same with places. `stored` is the object as it would be kept, for a
    refused one as far as it got. `empty_patch` tells whether mutating webhooks left the object as it was, None where
    none was asked. `dropped` are unknown fields, `unchecked` rules not judged, `schema_faults` those of an unreadable one.
    """

    def __init__(self, stored: Tree) -> None:
        self.by = ""
        self.faults: list[Fault] = []
        self.messages: list[str] = []
        self.stored = stored
        self.empty_patch: bool | None = None
        self.dropped: list[Fault] = []
        self.unchecked: list[Fault] = []
        self.schema_faults: list[str] = []

    @property
    def accepted(self) -> bool:
        return not self.by

    def refuse(self, by: str, faults: list[Fault], messages: list[str] | None = None) -> "Verdict":
        """This verdict, refused at a stage."""
        self.by = by
        self.faults = faults
        self.messages = list(dict.fromkeys(fault.message for fault in faults) if messages is None else messages)
        return self


def in_words(fault: Fault) -> tuple[str, str]:
    """The field that a complaint is about, and the reason against it, without what only a server's log needs."""
    if fault.message.startswith(_PATHLESS):
        return dotted(fault.path), fault.message.removeprefix(_PATHLESS)
    path, _, reason = fault.message.partition(": ")
    if not reason:
        return dotted(fault.path), path  # a Go program that cannot read a value names no field
    return (dotted(fault.path) if path in ("<nil>", "json") and fault.path else path), reason


def gate_help(fault: Fault) -> str:
    """How to say that a feature gate is on, for a complaint that rests on one or a field dropped for one; else nothing."""
    before, separator, _ = fault.message.partition(" feature gate is disabled")
    gate = fault.message if fault.kind == "dropped" else before.rpartition(" ")[2] if separator else ""
    return (
        f"if the gate is enabled in the cluster, declare it: `--set gates={gate}`, or `gates` in trainc.yaml"
        if gate
        else ""
    )


def version_help(fault: Fault) -> str:
    """Which version takes what this server's refuses; nothing for a complaint that rests on no version."""
    return f"remove it, or install {fault.since} or later and set that version in trainc.yaml" if fault.since else ""


def untold(path: Path, value: object) -> Fault:
    """The remark that a value could not be checked because nobody knows it yet."""
    return Fault(path, "unknowable", f"{dotted(path)}: the value of {quoted(str(value))} is unknown", value)


def quoted(text: str) -> str:
    """A string as Go's `%q` prints it."""
    return '"' + "".join(_ESCAPES.get(c) or (c if c.isprintable() else _escape(ord(c))) for c in text) + '"'


def _escape(code: int) -> str:
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shown(value: object) -> str:
    """A value as a field error prints it: strings quoted, everything else as compact JSON."""
    if type(value) is str:
        return quoted(value)
    if type(value) is not float:
        return compact(value)
    from decimal import Decimal  # noqa: PLC0415 (few numbers are fractions)

    # As Go's `%v` prints it: with an exponent from a million on.
    exact = Decimal(repr(value)).normalize()
    if -5 < exact.adjusted() < 6:
        return f"{exact:f}"
    digits, _, power = f"{exact:e}".partition("e")
    return f"{digits}e{power[0]}{power[1:]:0>2}"


def number(value: float) -> str:
    """A number as Go writes it in JSON."""
    if value.__class__ is not float:
        return str(value)
    if 1e-6 <= abs(value) < 1e21:
        from decimal import Decimal  # noqa: PLC0415 (few numbers are fractions)

        text = f"{Decimal(repr(value)):f}"
        return text.removesuffix(".0")
    return repr(value).removesuffix(".0").replace("e-0", "e-")


def compact(value: object) -> str:
    """Compact JSON with the keys in the order given."""
    from json import dumps  # noqa: PLC0415 (only where something is wrong)

    text = dumps(value, separators=(",", ":"), ensure_ascii=False)
    # Go writes JSON that is safe inside of HTML.
    return text.translate(_HTML) if not text.isascii() or any(c in text for c in "<>&") else text


def invalid(path: str, value: object, reason: str) -> str:
    return f"{path}: Invalid value: {shown(value)}: {reason}"


def of_webhook(message: str, path: Path = (), value: object = None) -> Fault:
    return Fault(path, "webhook", message, value)
