"""What a CEL rule sees of an object: the fields that its schema declares, with the types that it gives them.

Source: k8s.io/apiserver pkg/cel/common (schemas.go, values.go) and k8s.io/apiextensions-apiserver pkg/apiserver/schema/cel,
Kubernetes 1.36.
"""

from __future__ import annotations

from trainc.apiserver.cel.operators import bare
from trainc.apiserver.fault import NotJudgedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainc.apiserver.schema.node import SchemaNode
    from trainc.model.tree import Tree

# Formats whose values are not texts for a rule.
_TYPED_FORMATS = frozenset(["date", "date-time", "datetime", "duration", "byte"])
_METADATA = ("name", "generateName")
_SPELLED = (("__", "__underscores__"), (".", "__dot__"), ("-", "__dash__"), ("/", "__slash__"))
_RESERVED = frozenset(
    [
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ]
)


def visible(node: SchemaNode | None, tree: Tree, compared: str = "") -> Any:
    """Plain data as a rule sees it; with `compared`, the text of a rule that may compare it with another state.

    Raises:
        NotJudgedError: for what the engine would take for something else than the server does.
    """
    value = bare(tree)
    if node is None or node.kind in ("", "partial"):
        raise NotJudgedError("it looks at a value without a type")
    if type(value) is dict:
        return _object(node, value, compared)
    if type(value) is list:
        if (node.keys or node.unique) and len(value) > 1 and ("==" in compared or "!=" in compared):
            raise NotJudgedError("it compares lists whose order does not count")
        return [visible(node.item(), item, compared) for item in value]
    if node.format in _TYPED_FORMATS:
        raise NotJudgedError(f"values of the format `{node.format}` are not known to the engine as such")
    return float(value) if node.kind == "number" and type(value) is int else value


def _object(node: SchemaNode, value: dict[str, Tree], compared: str) -> dict[str, Any]:
    if not node.props.names:
        other = node.other()
        return {} if other is None else {key: visible(other, child, compared) for key, child in value.items()}
    fields = {}
    for key, child in value.items():
        if key == "metadata" and "apiVersion" in node.props.names and type(child) is dict:
            fields[key] = {name: bare(child[name]) for name in _METADATA if name in child}
        elif key in node.props.names:
            at = node.prop(key)
            if at is not None and (at.kind or not at.preserve):
                fields[_escaped(key)] = visible(at, child, compared)
    return fields


def _escaped(name: str) -> str:
    """A property's name as a rule has to write it."""
    if name in _RESERVED:
        return f"__{name}__"
    for text, escape in _SPELLED:
        name = name.replace(text, escape)
    return name
