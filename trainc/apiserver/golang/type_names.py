"""The Go names that decoders put into their error texts (JobSet v1alpha2, core/v1, batch/v1)."""

from __future__ import annotations

from trainc.apiserver.golang.types import TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.apiserver.schema.node import SchemaNode
    from trainc.model.tree import Path

_INTEGERS = {"int32": "int32", "int64": "int64"}


def field_name(path: Path) -> str:
    """`Struct.path.to.field` for the value at `path`: indices and map keys do not show."""
    steps = _steps(path)
    owner = _struct(steps[:-1])
    return f"{owner}.{'.'.join(steps)}"


def type_name(node: SchemaNode, path: Path) -> str:
    """The Go type of the field at `path`."""
    steps = _steps(path)
    if node.kind == "array":
        item = node.item()
        return "[]" + (type_name(item, path) if item is not None else "interface {}")
    known = _longest_known(steps)
    if known and not (type(path[-1]) is str and path[-1] != steps[-1]):
        return known
    if node.kind == "object":
        other = node.other()
        return f"map[string]{type_name(other, path)}" if other is not None else f"v1.{_capital(steps[-1])}"
    if node.kind == "integer":
        return _INTEGERS.get(node.format, "int")
    return {"boolean": "bool", "number": "float64"}.get(node.kind, "string")


def _steps(path: Path) -> list[str]:
    """The named fields of a path: everything below a map belongs to the map's own field."""
    steps: list[str] = []
    for step in path:
        if type(step) is str:
            steps.append(step)
            if step in _MAPS:
                break
    return steps


_MAPS = frozenset({"labels", "annotations", "nodeSelector", "limits", "requests", "overhead", "matchLabels"})


def _struct(steps: list[str]) -> str:
    return _longest_known(steps).partition(".")[2] or "".join(map(_capital, steps[-1:]))


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _longest_known(steps: list[str]) -> str:
    for length in (3, 2, 1):
        known = TYPES.get(".".join(steps[-length:]))
        if known is not None:
            return known
    return ""
