"""The comments of a YAML text as the parser that keeps them sees them: the judge of what migrations keep."""

from collections.abc import Iterator
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from trainc.changes.migrate.chunks import load, split


def comments(text: str) -> list[str]:
    """Every comment of a text, one line each, sorted."""
    return sorted(line for piece in split(text) for line in _of(load(piece)))


def _of(node: Any) -> list[str]:
    # One token may be known to a map and to the key above it.
    once = {id(token): token for token in _tokens(node)}
    lines = [line.strip() for token in once.values() for line in token.value.splitlines()]
    return [line for line in lines if line.startswith("#")]


def _tokens(node: Any) -> Iterator[Any]:
    held = getattr(node, "ca", None)
    if held is not None:
        kept = [tokens for key, tokens in held.items.items() if _has(node, key)]
        yield from _flat([held.comment, held.end, *kept])
    if isinstance(node, CommentedMap | CommentedSeq):
        for child in node.values() if isinstance(node, CommentedMap) else node:
            yield from _tokens(child)


def _has(node: Any, key: Any) -> bool:
    return key in node if isinstance(node, CommentedMap) else key < len(node)


def _flat(held: Any) -> Iterator[Any]:
    if isinstance(held, list):
        for one in held:
            yield from _flat(one)
    elif held is not None and hasattr(held, "value"):
        yield held
