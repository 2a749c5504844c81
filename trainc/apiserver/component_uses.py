"""The spellings in which components are switched on: a text, a list and a map say the same."""

from collections.abc import Callable

from trainc.model.sourced import Origin, Sourced, Span
from trainc.model.tree import Tree

SpanOfKey = Callable[[str], Span]


def names_in(text: str) -> list[str]:
    """The names in a text, separated by commas or blanks, each once."""
    return list(dict.fromkeys(text.replace(",", " ").split()))


def uses(node: Tree, span_of_key: SpanOfKey) -> Tree:
    """`shm, spot`, `[shm, spot]` and `{shm: {size: 1Gi}, spot: null}` as a list of `{name, with}`.

    What is none of these stays as it is, for the schema to refuse.
    """
    if type(node) is Sourced and type(node.value) is str:
        return [{"name": Sourced(name, node.origin)} for name in names_in(node.value)]
    if type(node) is dict:
        return [
            {"name": Sourced(name, Origin(span_of_key(name)))}
            | ({} if type(given) is Sourced and given.value is None else {"with": given})
            for name, given in node.items()
        ]
    if type(node) is list and any(type(item) is Sourced for item in node):
        return [{"name": item} if type(item) is Sourced and type(item.value) is str else item for item in node]
    return node
