"""Refusals in the words of Kubernetes' field errors: `<path>: Invalid value: <json>: <detail>`."""

from __future__ import annotations

from trainc.model.tree import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainc.model.tree import Tree

# Go prints the fields of a struct in the order of their declaration, and the keys of a map sorted.
_DECLARED = (
    "name",
    "apiGroup",
    "kind",
    "value",
    "valueFrom",
    "jobName",
    "containerNames",
    "apiVersion",
    "fieldPath",
    "containerName",
    "resource",
    "divisor",
    "limits",
    "requests",
    "claims",
    "key",
    "optional",
)


def invalid(path: str, bad: Tree, detail: str) -> str:
    """The text of an Invalid error; None prints as `null`, as a pointer to nothing does."""
    return f"{path}: Invalid value: {compact(bad)}: {detail}"


def forbidden(path: str, detail: str) -> str:
    """The text of a Forbidden error."""
    return f"{path}: Forbidden: {detail}"


def compact(tree: Tree) -> str:
    """A value as Go's JSON encoder prints it: no spaces, fields in declared order, `<`, `>` and `&` escaped."""
    import json  # noqa: PLC0415 (only a refusal needs it)

    text = json.dumps(_ordered(plain(tree)), separators=(",", ":"), ensure_ascii=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _ordered(node: Any) -> Any:
    if type(node) is list:
        return [_ordered(item) for item in node]
    if type(node) is dict:
        return {key: _ordered(node[key]) for key in sorted(node, key=_rank)}
    return node


def _rank(key: str) -> tuple[int, str]:
    return (_DECLARED.index(key), "") if key in _DECLARED else (len(_DECLARED), key)
