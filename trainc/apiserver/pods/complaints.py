"""The complaints of Job and pod validation, each with the place that the server prints and the place of the mistake."""

from __future__ import annotations

from collections.abc import Collection

from trainc.apiserver.fault import Fault, shown
from trainc.apiserver.names import SUBDOMAIN_TEXT, label, label_value, qualified, subdomain
from trainc.apiserver.schema.features import Features
from trainc.model.tree import Path
from trainc.text.placeholders import is_placeholder
from trainc.text.record import Any

MAX_INT32 = 2**31 - 1
CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


class Complaints:
    """The complaints so far; those that rest on a text which is filled in later are left out.

    `dropped` are the fields that the server drops because the gate for them is off.
    """

    __slots__ = ("dropped", "faults", "features", "kind")

    def __init__(self, features: Features, kind: str = "pod") -> None:
        self.features = features
        self.kind = kind
        self.faults: list[Fault] = []
        self.dropped: list[Fault] = []

    def add(self, path: Path, text: str, value: object = None, *, at: Path = ()) -> None:
        """A complaint in full; `at` is the place of the mistake where the server prints another one."""
        if not is_placeholder(value):
            self.faults.append(Fault(at or path, self.kind, f"{spelled(path)}: {text}", value))

    def moved(self, other: Complaints, printed: Path, at: Path) -> None:
        """The complaints of another that the server prints below one place, while the mistakes stand below another."""
        for fault in other.faults:
            self.faults.append(Fault((*at, *fault.path[len(printed) :]), fault.kind, fault.message, fault.value))

    def has(self, gate: str, path: Path) -> bool:
        """Whether a gate is on; if not, the field is noted as dropped."""
        if self.features.has(gate):
            return True
        self.dropped.append(Fault(path, "dropped", gate))
        return False

    def invalid(self, path: Path, value: object, *reasons: str, at: Path = ()) -> None:
        """One complaint for each reason against a value."""
        for reason in reasons:
            self.add(path, f"Invalid value: {shown(value)}: {reason}", value, at=at)

    def duplicate(self, path: Path, value: object, *, at: Path = ()) -> None:
        """A value that only one may have."""
        self.add(path, f"Duplicate value: {shown(value)}", value, at=at)

    def required(self, path: Path, why: str = "", *, at: Path = ()) -> None:
        """A value is missing."""
        self.add(path, f"Required value: {why}" if why else "Required value", at=at)

    def forbidden(self, path: Path, why: str, *, at: Path = ()) -> None:
        """A field must not be set here."""
        self.add(path, f"Forbidden: {why}", at=at)

    def not_found(self, path: Path, value: object, why: str = "") -> None:
        """A name that nothing has."""
        self.add(path, f"Not found: {shown(value)}{': ' if why else ''}{why}", value)

    def too_many(self, path: Path, count: int, most: int) -> None:
        """A list that is too long."""
        if count > most:
            self.add(path, f"Too many: {count}: must have at most {most} items")

    def too_long(self, path: Path, size: int, most: int, *, at: Path = ()) -> None:
        """A text of too many bytes."""
        if size > most:
            self.add(path, f"Too long: may not be more than {most} bytes", at=at)

    def one_of(self, path: Path, value: object, words: Collection[str], *, at: Path = ()) -> None:
        """A word has to be one of a few."""
        if value not in words:
            listed = ", ".join(f'"{word}"' for word in words)
            self.add(path, f"Unsupported value: {shown(value)}: supported values: {listed}", value, at=at)

    def name(self, path: Path, value: object, *, at: Path = ()) -> None:
        """The name of another object."""
        if type(value) is str:
            self.invalid(path, value, *(subdomain(value) if value else (SUBDOMAIN_TEXT,)), at=at)

    def label(self, path: Path, value: object) -> None:
        """A DNS label."""
        if type(value) is str:
            self.invalid(path, value, *label(value))

    def key(self, path: Path, value: object) -> None:
        """The key of a label."""
        if type(value) is str:
            self.invalid(path, value, *qualified(value))

    def value(self, path: Path, value: object, *, at: Path = ()) -> None:
        """The value of a label."""
        if type(value) is str:
            self.invalid(path, value, *label_value(value), at=at)

    def labels(self, path: Path, labels: Any, *, at: Path = ()) -> None:
        """Labels, of which the server does not say which is wrong; `at` is where they stand if not at `path`."""
        for key, value in fields(labels).items():
            odd_key, odd_value = qualified(key), label_value(value) if type(value) is str else ()
            if odd_key or odd_value:
                where = (*(at or path), key)
                self.invalid(path, key, *odd_key, at=where)
                self.invalid(path, value, *odd_value, at=where)

    def between(self, path: Path, value: object, least: int, most: int) -> None:
        """A whole number in a range."""
        if type(value) is int and not least <= value <= most:
            self.invalid(path, value, f"must be between {least} and {most}, inclusive")

    def not_negative(self, path: Path, value: object) -> None:
        """A whole number that is not negative."""
        if type(value) is int and value < 0:
            self.invalid(path, value, "must be greater than or equal to 0")

    def no_backsteps(self, path: Path, value: object, *, at: Path = ()) -> None:
        """A path without `..`."""
        if type(value) is str and ".." in value.split("/"):
            self.invalid(path, value, "must not contain '..'", at=at)

    def below(self, path: Path, value: object, *, at: Path = ()) -> None:
        """A path that does not leave the folder it is below."""
        if type(value) is str and value.startswith("/"):
            self.invalid(path, value, "must be a relative path", at=at)
        self.no_backsteps(path, value, at=at)

    def inside(self, path: Path, value: object) -> None:
        """The path of a file in a volume, whose beginnings with dots are the volume's own."""
        self.below(path, value)
        if type(value) is str and value.startswith("..") and not value.startswith("../"):
            self.invalid(path, value, "must not start with '..'")


def spelled(path: Path) -> str:
    """A path as the server prints it; keys of maps stand in brackets."""
    out = ""
    for step in path:
        if type(step) is int:
            out += f"[{step}]"
        elif str(step).startswith("["):
            out += str(step)
        else:
            out += f".{step}" if out else str(step)
    return out


def fields(tree: Any) -> dict[str, Any]:
    """A map, empty where there is none."""
    return tree if type(tree) is dict else {}


def items(tree: Any) -> list[Any]:
    """A list, empty where there is none."""
    return tree if type(tree) is list else []


def maps(tree: Any) -> list[tuple[int, dict[str, Any]]]:
    """The maps of a list with their places."""
    return [(index, item) for index, item in enumerate(items(tree)) if type(item) is dict]


def is_set(holder: dict[str, Any], *names: str) -> list[str]:
    """Those of the fields that are there, in this order."""
    return [name for name in names if holder.get(name) is not None]


def text(holder: dict[str, Any], name: str) -> str:
    """A text, empty where there is none."""
    value = holder.get(name)
    return value if type(value) is str else ""


def selects(selector: dict[str, Any], labels: dict[str, Any]) -> bool:
    """Whether labels fit a label selector."""
    if any(labels.get(key) != value for key, value in fields(selector.get("matchLabels")).items()):
        return False
    return all(_holds(rule, labels) for _, rule in maps(selector.get("matchExpressions")))


def _holds(rule: dict[str, Any], labels: dict[str, Any]) -> bool:
    key, values = text(rule, "key"), items(rule.get("values"))
    return {
        "In": labels.get(key) in values,
        "NotIn": key not in labels or labels[key] not in values,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }.get(text(rule, "operator"), False)
