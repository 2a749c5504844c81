"""JSON of every report: ASCII, and nothing in it that a terminal or a workflow runner obeys."""

from __future__ import annotations

import json
from typing import Any


def dumps(content: Any, *, sort_keys: bool = True) -> str:
    """`content` as indented JSON with a line end.

    Control characters inside of texts are escaped by JSON itself but for DEL; `##[` starts a command of a runner
    anywhere in a line.
    """
    text = json.dumps(content, indent=2, sort_keys=sort_keys)
    return f"{text.replace(chr(127), chr(92) + 'u007f').replace('##', '#' + chr(92) + 'u0023')}\n"


def inline(value: Any) -> str:
    """One value as JSON within a line for people, whose door escapes what is hidden."""
    return json.dumps(value, ensure_ascii=False)
