"""JSON stays JSON: other programs read such a file too, and what is YAML besides is not what they take."""

from __future__ import annotations

import json
import re
from typing import Any

from trainc.text.embedded_json import json_value

# Both halves of a character, and a backslash that is no escape of what follows it.
_HALVES = re.compile(r"\\\\|(\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}").sub
_START = "---\n"
_INDENT = re.compile(r"\{\r?\n([ \t]*)").match


def is_json(text: str) -> bool:
    """Whether a document is written as JSON, the mark that starts it aside."""
    body = text.removeprefix(_START)
    if not body.lstrip().startswith("{"):
        return False
    try:
        json_value(body)
    except ValueError:
        return False
    return True


def json_text(tree: Any, like: str) -> str:
    """An object as JSON, laid out like the text that it takes the place of."""
    start = _START if like.startswith(_START) else ""
    body = like.removeprefix(_START)
    indent = _INDENT(body.lstrip())
    separators = None if '": ' in body or not body.strip("{}\n ") else (",", ":")
    text = json.dumps(tree, ensure_ascii=False, indent=indent[1] if indent else None, separators=separators)
    return f"{start}{text}\n" if like.endswith("\n") else f"{start}{text}"


def whole_characters(text: str) -> str:
    """A text that begins as JSON, with each character that is written as two halves as itself: YAML knows no halves."""
    if "\\u" not in text or text.lstrip()[:1] not in ("{", "["):
        return text
    return _HALVES(lambda match: json.loads(f'"{match[0]}"') if match[1] else match[0], text)


def one_object(trees: list[Any]) -> Any:
    """Several objects as the one that JSON has room for."""
    return trees[0] if len(trees) == 1 else {"apiVersion": "v1", "kind": "List", "items": trees}
