"""Text of strangers in Markdown: it stays in its table cell, and is neither a link, a mention nor HTML."""

import re
from collections.abc import Sequence

_MARKUP = frozenset("&<[]|`\\@#\n\r")  # a `>` ends no tag where none can begin


def code(text: str) -> str:
    """`text` as code, whatever it holds."""
    if not text:
        return ""
    if not {"`", "|", "\n", "\r"}.isdisjoint(text):
        # No escape ends a code span or a cell everywhere alike; a character reference does not either.
        return f"<code>{''.join(char if char.isalnum() or char == ' ' else f'&#{ord(char)};' for char in text)}</code>"
    return f"`{text}`"


def fenced(lines: Sequence[str], language: str = "") -> list[str]:
    """Lines as a block of code, behind a fence that none of them ends; each has to be one line when it is written."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *lines, fence]


def prose(text: str) -> str:
    """`text` as words between others."""
    shown = "".join(f"&#{ord(char)};" if char in _MARKUP else char for char in text)
    return shown.replace("://", "&#58;//").replace("www.", "www&#46;")


def sentence(text: str) -> str:
    """`text` as words in which backticks mark code; each part is spelled safely, whatever marks it."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return prose(text)
    return "".join(code(part) if index % 2 else prose(part) for index, part in enumerate(parts))
