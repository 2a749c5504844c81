"""What validating webhooks have in common: reading fields, and the two spellings of a complaint."""

from __future__ import annotations

from trainc.apiserver.fault import Fault, invalid, of_webhook
from trainc.model.sourced import Sourced
from trainc.model.tree import dotted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainc.model.tree import Path, Tree


def of(holder: Tree, name: str, default: Any = None) -> Any:
    """The bare value of a field."""
    value = holder.get(name)
    if value.__class__ is Sourced:
        return value.value
    return default if value is None else value


def count(holder: Tree, name: str, default: int) -> int:
    """A whole number, the default where it is absent or not known yet."""
    leaf = holder.get(name)
    value = leaf.value if leaf.__class__ is Sourced else leaf
    return value if value.__class__ is int else default


def plain_fault(message: str, path: Path) -> Fault:
    """An error that the webhook gives without a field; `path` is where it can be mended."""
    return of_webhook(f"<nil>: Internal error: {message}", path)


def field_fault(path: Path, value: Any, reason: str, at: Path = ()) -> Fault:
    """An `Invalid value` at a field."""
    return of_webhook(invalid(dotted(path), value, reason), at or path, value)
