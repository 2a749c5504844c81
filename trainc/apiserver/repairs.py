"""The edits that mend what a server refuses, where one answer is certain; none where there are two."""

import json
import shlex

from trainc.apiserver.fault import Fault
from trainc.apiserver.history import successor
from trainc.apiserver.schema.node import SchemaNode
from trainc.model.document import Document
from trainc.model.finding import Edit
from trainc.model.sourced import Sourced
from trainc.model.tree import Path, Tree, get
from trainc.text.numbers import whole_number
from trainc.text.quantity import BAD_NUMBER, MALFORMED, UNKNOWN_SUFFIX
from trainc.text.spelling import intended

ENTRY = ("name", "value")  # of a variable
_MAX_FIELDS = 64  # of one object; nobody writes more, and each is compared with each
_COMMANDS = ("command", "args")
_OF_SHELLS = frozenset("$&|;<>()`*?[]{}~#!\n")  # characters that a shell reads otherwise than a program
_BUILTINS = frozenset((".", ":", "cd", "exec", "eval", "export", "set", "source", "ulimit", "umask", "unset"))
_BINARY = {"k": "Ki", "m": "Mi", "g": "Gi", "t": "Ti", "p": "Pi"}
_QUANTITY = "[KMGTPE]i"  # in the pattern of quantities alone


def renamed(document: Document, fault: Fault) -> list[Edit]:
    """The edit that gives an unknown field the one name that was meant, which must not stand beside it already."""
    name = str(fault.path[-1])
    names = [known] if (known := successor(document.kind, fault.path)) else intended(name, fault.candidates)
    beside = get(document.written, *fault.path[:-1])
    if len(names) != 1 or type(beside) is not dict or names[0] in beside or len(beside) > _MAX_FIELDS:
        return []
    others = beside.keys() - {name, *fault.candidates}
    has_rivals = any(names[0] in intended(key, fault.candidates) for key in others)
    return [] if has_rivals else document.edits(fault.path, name=names[0])


def listed(document: Document, above: Path, item: SchemaNode | None) -> list[Edit]:
    """The edit that writes a map of variables as the list that it should be."""
    names = item.props.names if item is not None else ()
    entries = get(document.written, *above)
    if type(entries) is not dict or not all(one in names for one in ENTRY):
        return []
    texts = {name: text_of(leaf) for name, leaf in entries.items()}
    if any(text is None for text in texts.values()):
        return []
    wanted = [{"name": name, "value": text} for name, text in texts.items()]
    return document.edits(above, wanted)


def retyped(document: Document, fault: Fault) -> list[Edit]:
    """The edit that writes a value in its right type, where nothing else is wrong with it and it means one thing."""
    leaf = get(document.written, *fault.path)
    if type(leaf) is not Sourced:
        return []
    wanted = fault.message.partition(" must be of type ")[2].partition(":")[0]
    fresh: object = None
    if " of type string" in fault.message and isinstance(leaf.value, bool | int | float):
        fresh = text_of(leaf)
    elif not isinstance(leaf.value, str):
        return []
    elif wanted in ("integer", "number"):
        fresh = whole_number(leaf.value)
    elif wanted == "boolean" and leaf.value in ("true", "false"):
        fresh = leaf.value == "true"
    elif wanted == "array" and fault.path[-1] in _COMMANDS:
        fresh = words(leaf.value) or None
    elif is_of_quantity(fault):
        fresh = amount(leaf.value) or None
    return [] if fresh is None else document.edits(fault.path, fresh)


def is_of_quantity(fault: Fault) -> bool:
    """Whether a schema or a Go program says that a text is not a quantity."""
    return _QUANTITY in fault.message or any(text in fault.message for text in (MALFORMED, BAD_NUMBER, UNKNOWN_SUFFIX))


def text_of(leaf: Tree) -> str | None:
    """A scalar as the text that its file shows; None for what is none, or is spelled in another way than it is read."""
    if type(leaf) is not Sourced or leaf.value is None:
        return None
    if isinstance(leaf.value, str):
        return leaf.value
    return json.dumps(leaf.value) if alike(leaf) else None


def alike(leaf: Sourced[object]) -> bool:
    """Whether the file spells a value as it is printed."""
    at = leaf.origin.at
    return at is None or (at.line == at.end_line and at.end_column - at.column == len(json.dumps(leaf.value)))


def words(line: str) -> list[str]:
    """The words of a command line; none where a shell would do more than part them, or quotes are left open."""
    if not _OF_SHELLS.isdisjoint(line):
        return []
    try:
        parts = shlex.split(line)
    except ValueError:
        return []
    return [] if parts and (parts[0] in _BUILTINS or "=" in parts[0]) else parts


def amount(written: str) -> str:
    """A quantity of powers of 1024 with a blank, a byte's B or a small letter in it; empty for all that is not sure."""
    number, unit = number_and_unit(written)
    return f"{number}{_BINARY[unit[:-1]]}" if unit[-1:] == "i" and unit[:-1] in _BINARY else ""


def number_and_unit(written: str) -> tuple[str, str]:
    """A number and the small letters behind it without a byte's B; both empty where it is none."""
    number = written.strip().rstrip("iIbBkKmMgGtTpP ")
    is_number = number.isascii() and number.replace(".", "", 1).isdigit()
    return (number, written.strip()[len(number) :].strip().lower().removesuffix("b")) if is_number else ("", "")
