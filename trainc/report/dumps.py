"""JSON of every report: ASCII, and nothing in it that a terminal or a workflow runner obeys."""

import json
from collections.abc import Iterator
from json.encoder import encode_basestring_ascii as _string
from typing import Any

_scalar = json.JSONEncoder().encode


def dumps(content: Any, *, sort_keys: bool = True) -> str:
    """`content` as indented JSON with a line end.

    Control characters inside of texts are escaped by JSON itself but for DEL; `##[` starts a command of a runner
    anywhere in a line.
    """
    return "".join(parts(content, sort_keys=sort_keys))


def parts(content: Any, *, sort_keys: bool = True) -> Iterator[str]:
    """What `dumps` returns, part by part: an iterator inside of `content` is a list whose items are never all in memory."""
    for text in _parts(content, "\n", sort_keys=sort_keys):
        yield text.replace("\x7f", "\\u007f").replace("##", "#\\u0023")
    yield "\n"


def _parts(node: Any, line: str, *, sort_keys: bool) -> Iterator[str]:
    if not isinstance(node, dict | list | Iterator):
        yield _text(node, line, sort_keys=sort_keys)
        return
    inner = f"{line}  "
    opening, closing = "{}" if isinstance(node, dict) else "[]"
    before = opening + inner
    if isinstance(node, dict):
        for key, child in sorted(node.items()) if sort_keys else node.items():
            yield f"{before}{_string(key)}: "
            yield from _parts(child, inner, sort_keys=sort_keys)
            before = f",{inner}"
    else:
        for child in node:
            yield before
            if isinstance(node, list):
                yield from _parts(child, inner, sort_keys=sort_keys)
            else:
                yield _text(child, inner, sort_keys=sort_keys)
            before = f",{inner}"
    yield line + closing if before[0] == "," else opening + closing


def _text(node: Any, line: str, *, sort_keys: bool) -> str:
    """The text of a node with each item on a line of its own; `json` does so several times slower."""
    if type(node) is str:
        return _string(node)
    if type(node) is int:
        return str(node)
    if not node or type(node) not in (dict, list, tuple):
        return _scalar(node)
    inner = f"{line}  "
    if type(node) is dict:
        pairs = sorted(node.items()) if sort_keys else node.items()
        texts = [f"{_string(key)}: {_text(child, inner, sort_keys=sort_keys)}" for key, child in pairs]
    else:
        texts = [_text(child, inner, sort_keys=sort_keys) for child in node]
    opening, closing = "{}" if type(node) is dict else "[]"
    return f"{opening}{inner}{f',{inner}'.join(texts)}{line}{closing}"


def inline(value: Any) -> str:
    """One value as JSON within a line for people, whose door escapes what is hidden."""
    return json.dumps(value, ensure_ascii=False)
