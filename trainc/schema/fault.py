"""What a server says against an object, as plain data."""

from __future__ import annotations

from trainc.model.tree import dotted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Path

# The notice that the API server adds when schema faults keep it from evaluating CEL rules.
SKIPPED_RULES = (
    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)


class Fault:
    """One complaint: where, of which kind, and the server's own text.

    `kind` is one of unknown, schema, listtype, cel, decode, webhook. `message` is what the server prints, its path
    included. `candidates` are the names that are known where an unknown one stands. `blocking` faults keep the API
    server from evaluating CEL rules.
    """

    __slots__ = ("blocking", "candidates", "kind", "message", "path", "value")

    def __init__(
        self,
        path: Path,
        kind: str,
        message: str,
        value: object = None,
        *,
        candidates: tuple[str, ...] = (),
        blocking: bool = False,
    ) -> None:
        self.path = path
        self.kind = kind
        self.message = message
        self.value = value
        self.candidates = candidates
        self.blocking = blocking

    def __repr__(self) -> str:
        return f"Fault({self.kind}: {self.message})"


def is_placeholder(value: object) -> bool:
    """Whether a text holds `${NAME}`, which something puts a value in before a server sees it."""
    return value.__class__ is str and "${" in value and "}" in value.partition("${")[2]


def untold(path: Path, value: object) -> Fault:
    """The remark that a value could not be checked because nobody knows it yet."""
    return Fault(path, "unknowable", f"{dotted(path)}: the value of {quoted(str(value))} is not known here", value)


_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}


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
    return compact(value)


def compact(value: object) -> str:
    """Compact JSON with the keys in the order given."""
    from json import dumps  # noqa: PLC0415 (only where something is wrong)

    return dumps(value, separators=(",", ":"), ensure_ascii=False)


def invalid(path: str, value: object, reason: str) -> str:
    """The text of an `Invalid value` field error."""
    return f"{path}: Invalid value: {shown(value)}: {reason}"


def of_webhook(message: str, path: Path = (), value: object = None) -> Fault:
    """A webhook's complaint at `path`."""
    return Fault(path, "webhook", message, value)
