"""The complaints of pod template validation, each with the place that the server prints and the place of the mistake."""

from __future__ import annotations

from trainc.schema.fault import Fault, is_placeholder, shown
from trainc.schema.names import SUBDOMAIN_TEXT, label, label_value, qualified, subdomain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from trainc.model.tree import Path


class Said:
    """The complaints so far; those that rest on a text which is filled in later are left out."""

    __slots__ = ("faults",)

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def add(self, path: Path, text: str, value: object = None, *, at: Path = ()) -> None:
        """A complaint in full; `at` is the place of the mistake where the server prints another one."""
        if not is_placeholder(value):
            self.faults.append(Fault(at or path, "pod", f"{spelled(path)}: {text}", value))

    def standing(self, there: Said, printed: Path, at: Path) -> None:
        """The complaints of another that the server prints below one place, while the mistakes stand below another."""
        for fault in there.faults:
            self.faults.append(Fault((*at, *fault.path[len(printed) :]), fault.kind, fault.message, fault.value))

    def invalid(self, path: Path, value: object, *reasons: str, at: Path = ()) -> None:
        """One complaint for each reason against a value."""
        for reason in reasons:
            self.add(path, f"Invalid value: {shown(value)}: {reason}", value, at=at)

    def duplicate(self, path: Path, value: object) -> None:
        """A value that only one may have."""
        self.add(path, f"Duplicate value: {shown(value)}", value)

    def required(self, path: Path, why: str = "", *, at: Path = ()) -> None:
        """A value is missing."""
        self.add(path, f"Required value: {why}" if why else "Required value", at=at)

    def forbidden(self, path: Path, why: str) -> None:
        """A field must not be set here."""
        self.add(path, f"Forbidden: {why}")

    def one_of(self, path: Path, value: object, words: Collection[str], *, at: Path = ()) -> None:
        """A word has to be one of a few."""
        if value not in words:
            listed = ", ".join(f'"{word}"' for word in words)
            self.add(path, f"Unsupported value: {shown(value)}: supported values: {listed}", value, at=at)

    def name(self, path: Path, value: object) -> None:
        """The name of another object."""
        if type(value) is str:
            self.invalid(path, value, *(subdomain(value) if value else (SUBDOMAIN_TEXT,)))

    def label(self, path: Path, value: object) -> None:
        """A DNS label."""
        if type(value) is str:
            self.invalid(path, value, *label(value))

    def key(self, path: Path, value: object) -> None:
        """The key of a label."""
        if type(value) is str:
            self.invalid(path, value, *qualified(value))

    def value(self, path: Path, value: object) -> None:
        """The value of a label."""
        if type(value) is str:
            self.invalid(path, value, *label_value(value))

    def between(self, path: Path, value: object, least: int, most: int) -> None:
        """A whole number in a range."""
        if type(value) is int and not least <= value <= most:
            self.invalid(path, value, f"must be between {least} and {most}, inclusive")

    def not_negative(self, path: Path, value: object) -> None:
        """A whole number that is not negative."""
        if type(value) is int and value < 0:
            self.invalid(path, value, "must be greater than or equal to 0")

    def below(self, path: Path, value: object) -> None:
        """A path that does not leave the folder it is below."""
        if type(value) is not str:
            return
        if value.startswith("/"):
            self.invalid(path, value, "must be a relative path")
        if ".." in value.split("/"):
            self.invalid(path, value, "must not contain '..'")

    def inside(self, path: Path, value: object) -> None:
        """The path of a file in a volume, whose beginnings with dots are the volume's own."""
        self.below(path, value)
        if type(value) is str and value.startswith("..") and not value.startswith("../"):
            self.invalid(path, value, "must not start with '..'")


def spelled(path: Path) -> str:
    """A path as the server prints it; the keys of resources stand in brackets."""
    out = ""
    for step in path:
        if type(step) is int or (type(step) is str and step.startswith("[")):
            out += f"[{step}]" if type(step) is int else str(step)
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
