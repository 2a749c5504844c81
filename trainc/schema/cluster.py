"""The schemas that a cluster brings: its CustomResourceDefinitions in the place of the built-in ones."""

from __future__ import annotations

from trainc.model.finding import ERROR, Rule
from trainc.model.tree import get, plain, value
from trainc.schema.table import Table, compile_table, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from trainc.model.document import Document
    from trainc.model.report import Report
    from trainc.model.tree import Tree

NOT_STRUCTURAL = Rule(
    "not-structural",
    ERROR,
    "a definition whose schema is not structural",
    "Without types at every level nobody can say which fields a server would keep; the verdict would be a guess.",
    admission=True,
)


def table_of(definitions: Iterable[Document], report: Report) -> Table:
    """The built-in table, with the kinds that the definitions serve replaced by theirs."""
    roots: dict[str, Any] = {}
    whole = []
    for definition in definitions:
        for kind, schema, with_status in _served(definition.tree):
            fault = _unstructured(schema, ())
            if fault is None:
                roots[kind] = schema
                whole += [] if with_status else [kind]
            else:
                report.add(_not_structural(definition, kind, fault))
    return Table(compile_table(roots, whole=whole), base=load()) if roots else load()


def _served(tree: Tree) -> Iterator[tuple[str, Any, bool]]:
    """Kind, schema, and whether status is a subresource, for each version that is served."""
    group, kind = value(tree, "spec", "group"), value(tree, "spec", "names", "kind")
    for version in get(tree, "spec", "versions") or ():
        schema = get(version, "schema", "openAPIV3Schema")
        if value(version, "served") is not False and type(schema) is dict:
            status = get(version, "subresources", "status") is not None
            yield f"{group}/{value(version, 'name')}/{kind}", plain(schema), status


def _unstructured(schema: Any, path: tuple[str, ...]) -> tuple[str, ...] | None:
    """The first place without a type, None for a structural schema."""
    if type(schema) is not dict:
        return path
    typed = "type" in schema or schema.get("x-kubernetes-int-or-string") or schema.get("x-kubernetes-preserve-unknown-fields")
    if not typed:
        return path
    for name, child in (schema.get("properties") or {}).items():
        if (found := _unstructured(child, (*path, "properties", name))) is not None:
            return found
    for word in ("items", "additionalProperties"):
        child = schema.get(word)
        if type(child) is dict and (found := _unstructured(child, (*path, word))) is not None:
            return found
    return None


def _not_structural(definition: Document, kind: str, path: tuple[str, ...]) -> Any:
    where = ".".join(path) or "the schema"
    return NOT_STRUCTURAL.at(
        definition.span(("spec", "versions"), key=True),
        f"the schema of `{kind}` has no type at {where}",
        effect="the built-in schema is used instead",
        help="dump the definition again with `kubectl get crd NAME -o yaml`",
    )
