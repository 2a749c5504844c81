"""The complaints of Job and pod validation, each with the place that the server prints and the place of the mistake."""

from collections.abc import Callable, Collection
from typing import Any

from trainc.apiserver.fault import Fault, shown
from trainc.apiserver.names import label_value, qualified
from trainc.apiserver.schema.features import Features
from trainc.model.tree import Path, get
from trainc.text.placeholders import is_placeholder

MAX_INT32 = 2**31 - 1
CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


class Complaints:
    """The complaints so far; `dropped` are the fields that the server drops because the gate for them is off."""

    __slots__ = ("dropped", "faults", "features", "kind")

    def __init__(self, features: Features, kind: str = "pod") -> None:
        self.features = features
        self.kind = kind
        self.faults: list[Fault] = []
        self.dropped: list[Fault] = []


class Field:
    """A value that is judged, with the path that the server prints for it, the place where it stands, and the complaints.

    Its parts are fields, too: `field["name"]` has the value None where there is none. Each check adds a complaint about
    the field where it has one; `at` is the field that is to be mended where that is another one.
    """

    __slots__ = ("at", "log", "path", "value")

    def __init__(self, value: Any, path: Path, log: Complaints, at: Path | None = None) -> None:
        self.value = value
        self.path = path
        self.log = log
        self.at = path if at is None else at

    def __getitem__(self, step: str | int) -> "Field":
        held = self.value
        inner = held.get(step) if type(held) is dict else get(held, step)
        path = (*self.path, step)
        return Field(inner, path, self.log, path if self.at is self.path else (*self.at, step))

    def entry(self, key: str) -> "Field":
        """The value of a map's key, which the server prints in brackets."""
        return self.part(key, f"[{key}]")

    def part(self, step: str | int, printed: str | int) -> "Field":
        """A part, by the step to it and the one that the server prints."""
        return Field(get(self.value, step), (*self.path, printed), self.log, (*self.at, step))

    def printed(self, path: Path) -> "Field":
        """The same field, for which the server prints another path."""
        return Field(self.value, path, self.log, self.at)

    def reading(self, value: Any) -> "Field":
        """The same field with another value: the part of it that is wrong, or what it is read as."""
        return Field(value, self.path, self.log, self.at)

    def default(self, value: Any) -> "Field":
        """The same field with a value that it has where nobody gives it one."""
        return self if self.value is not None else self.reading(value)

    def fallback(self, value: Any) -> "Field":
        """The same field with a value that it has where nobody gives it one, or an empty one."""
        return self if self.value else self.reading(value)

    def given(self, *names: str) -> "list[Field]":
        """Those of the parts that are there, in this order."""
        return [self[name] for name in names if fields(self.value).get(name) is not None]

    def filled(self, *names: str) -> "list[Field]":
        """Those of the parts that say something, in this order."""
        return [self[name] for name in names if fields(self.value).get(name)]

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a part."""
        return fields(self.value).get(name, default)

    def text(self, name: str) -> str:
        """The text that a part is, empty where it is none."""
        return text(fields(self.value), name)

    def items(self) -> "list[Field]":
        """The items of a list; none where there is no list."""
        return [self[index] for index in range(len(items(self.value)))]

    def maps(self) -> "list[Field]":
        """The items of a list that are maps."""
        return [self[index] for index, _ in maps(self.value)]

    def add(self, text: str, value: object = None, *, at: "Field | None" = None) -> None:
        """A complaint in full, unless it rests on a text that is filled in later."""
        if not is_placeholder(value):
            self.log.faults.append(Fault((at or self).at, self.log.kind, f"{spelled(self.path)}: {text}", value))

    def has(self, gate: str) -> bool:
        """Whether a gate is on; if not, the field is noted as dropped."""
        if self.log.features.has(gate):
            return True
        self.log.dropped.append(Fault(self.at, "dropped", gate))
        return False

    def invalid(self, *reasons: str, at: "Field | None" = None) -> None:
        """One complaint for each reason against the value."""
        for reason in reasons:
            self.add(f"Invalid value: {shown(self.value)}: {reason}", self.value, at=at)

    def duplicate(self, *, at: "Field | None" = None) -> None:
        """A value that only one may have."""
        self.add(f"Duplicate value: {shown(self.value)}", self.value, at=at)

    def required(self, why: str = "", *, at: "Field | None" = None) -> None:
        """A value is missing."""
        self.add(f"Required value: {why}" if why else "Required value", at=at)

    def need(self, why: str = "", *, at: "Field | None" = None) -> bool:
        """A value must say something; whether it does."""
        if not self.value:
            self.required(why, at=at)
        return bool(self.value)

    def forbidden(self, why: str, *, at: "Field | None" = None) -> None:
        """A field must not be set here."""
        self.add(f"Forbidden: {why}", at=at)

    def not_found(self, why: str = "") -> None:
        """A name that nothing has."""
        self.add(f"Not found: {shown(self.value)}{': ' if why else ''}{why}", self.value)

    def too_many(self, most: int) -> None:
        """A list that is too long."""
        if (count := len(items(self.value))) > most:
            self.add(f"Too many: {count}: must have at most {most} items")

    def too_long(self, most: int, size: int | None = None) -> None:
        """A text of too many bytes."""
        if (len(str(self.value).encode()) if size is None else size) > most:
            self.add(f"Too long: may not be more than {most} bytes")

    def one_of(self, words: Collection[str], *, at: "Field | None" = None) -> None:
        """A word, where there is one, has to be one of a few."""
        if self.value is not None and self.value not in words:
            listed = ", ".join(f'"{word}"' for word in words)
            self.add(f"Unsupported value: {shown(self.value)}: supported values: {listed}", self.value, at=at)

    def fits(self, rule: Callable[[str], tuple[str, ...]]) -> None:
        """A text, where it is one, has to fit a rule for names or labels."""
        if type(self.value) is str:
            self.invalid(*rule(self.value))

    def labels(self) -> None:
        """Labels, of which the server does not say which is wrong."""
        for key, value in fields(self.value).items():
            self.reading(key).invalid(*qualified(key), at=self[key])
            self.reading(value).invalid(*(label_value(value) if type(value) is str else ()), at=self[key])

    def between(self, least: int, most: int) -> None:
        """A whole number in a range."""
        if type(self.value) is int and not least <= self.value <= most:
            self.invalid(f"must be between {least} and {most}, inclusive")

    def not_negative(self) -> None:
        """A whole number that is not negative."""
        if type(self.value) is int and self.value < 0:
            self.invalid("must be greater than or equal to 0")

    def no_backsteps(self) -> None:
        """A path without `..`."""
        if type(self.value) is str and ".." in self.value.split("/"):
            self.invalid("must not contain '..'")

    def below(self) -> None:
        """A path that does not leave the folder it is below."""
        if type(self.value) is str and self.value.startswith("/"):
            self.invalid("must be a relative path")
        self.no_backsteps()

    def inside(self) -> None:
        """The path of a file in a volume, whose beginnings with dots are the volume's own."""
        self.below()
        if type(self.value) is str and self.value.startswith("..") and not self.value.startswith("../"):
            self.invalid("must not start with '..'")


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
