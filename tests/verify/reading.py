"""A bundle straight from YAML text, for tests that look at one JobSet and what lies beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from trainc.model.bundle import Bundle
from trainc.model.document import Document
from trainc.model.sourced import Origin, Sourced, Span

if TYPE_CHECKING:
    from trainc.model.document import Marks


class Scalars(yaml.SafeLoader):
    """PyYAML's own scalars: enough for the cases, which avoid the spellings that readers disagree about."""


def bundle_of(text: str, file: str = "jobset.yaml") -> Bundle:
    """The bundle that the documents of `text` form: the first JobSet (or document), everything else beside it."""
    documents = []
    for node in yaml.compose_all(text, Loader=Scalars):
        if node is not None:
            marks: dict[int, Marks] = {}
            documents.append(Document(file, _tree(node, file, marks), marks, node.start_mark.line + 1))
    first = next((d for d in documents if d.kind == "JobSet"), documents[0])
    return Bundle(first, tuple(d.tree for d in documents))


def _mark(node: yaml.Node) -> tuple[int, int, int, int]:
    start, end = node.start_mark, node.end_mark
    return (start.line + 1, start.column + 1, end.line + 1, end.column + 1)


def _tree(node: yaml.Node, file: str, marks: dict[int, Marks]) -> Any:
    if isinstance(node, yaml.MappingNode):
        keys = {str(key.value): _mark(key) for key, _ in node.value}
        tree: Any = {str(key.value): _tree(child, file, marks) for key, child in node.value}
        marks[id(tree)] = (_mark(node), keys)
        return tree
    if isinstance(node, yaml.SequenceNode):
        tree = [_tree(child, file, marks) for child in node.value]
        marks[id(tree)] = (_mark(node), None)
        return tree
    loader = Scalars("")
    value = loader.construct_object(node)
    return Sourced(value, Origin(Span(file, *_mark(node))))
