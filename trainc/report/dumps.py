"""JSON of every report: ASCII, and nothing in it that a terminal or a workflow runner obeys."""

from __future__ import annotations

import json
from typing import Any

_scalar = json.JSONEncoder().encode


def dumps(content: Any, *, sort_keys: bool = True) -> str:
    """`content` as indented JSON with a line end.

    Control characters inside of texts are escaped by JSON itself but for DEL; `##[` starts a command of a runner
    anywhere in a line.
    """
    text = _text(content, "\n", sort_keys=sort_keys)
    return f"{text.replace(chr(127), chr(92) + 'u007f').replace('##', '#' + chr(92) + 'u0023')}\n"


def _text(node: Any, line: str, *, sort_keys: bool) -> str:
    """The text of a node with each item on a line of its own; `json` does so several times slower."""
    if not node or type(node) not in (dict, list, tuple):
        return _scalar(node)
    inner = f"{line}  "
    if type(node) is dict:
        pairs = sorted(node.items()) if sort_keys else node.items()
        texts = [f"{_scalar(key)}: {_text(child, inner, sort_keys=sort_keys)}" for key, child in pairs]
    else:
        texts = [_text(child, inner, sort_keys=sort_keys) for child in node]
    opening, closing = "{}" if type(node) is dict else "[]"
    return f"{opening}{inner}{f',{inner}'.join(texts)}{line}{closing}"


def inline(value: Any) -> str:
    """One value as JSON within a line for people, whose door escapes what is hidden."""
    return json.dumps(value, ensure_ascii=False)
