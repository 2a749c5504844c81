"""JSON of every report: ASCII, and nothing in it that a terminal or a workflow runner obeys."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def dumps(content: Any, *, sort_keys: bool = True) -> str:
    """`content` as indented JSON with a line end.

    Control characters inside of texts are escaped by JSON itself but for DEL; `##[` starts a command of a runner
    anywhere in a line.
    """
    text = "".join(_pieces(content, "\n", sort_keys=sort_keys))
    return f"{text.replace(chr(127), chr(92) + 'u007f').replace('##', '#' + chr(92) + 'u0023')}\n"


def _pieces(node: Any, line: str, *, sort_keys: bool) -> Iterator[str]:
    """The text of a node with each item on a line of its own; `json` does so several times slower."""
    if not node or type(node) not in (dict, list, tuple):
        yield json.dumps(node)
        return
    inner = f"{line}  "
    between = inner
    is_map = type(node) is dict
    yield "{" if is_map else "["
    for item in (sorted(node.items()) if sort_keys else node.items()) if is_map else node:
        key, child = item if is_map else (None, item)
        yield between if key is None else f"{between}{json.dumps(key)}: "
        if type(child) is str:
            yield json.dumps(child)
        else:
            yield from _pieces(child, inner, sort_keys=sort_keys)
        between = f",{inner}"
    yield f"{line}}}" if is_map else f"{line}]"


def inline(value: Any) -> str:
    """One value as JSON within a line for people, whose door escapes what is hidden."""
    return json.dumps(value, ensure_ascii=False)
