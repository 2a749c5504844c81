"""Regular expressions for the few texts that need them: loading `re` costs five milliseconds, half of Python's start."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable
    from typing import Any


class Pattern:
    """An expression that is compiled when it first looks at a text; called, it matches the whole of one."""

    __slots__ = ("_match", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._match: Any = None

    def __call__(self, text: str) -> re.Match[str] | None:
        if self._match is None:
            import re  # noqa: PLC0415 (the reason for this class)

            self._match = re.compile(self._text).fullmatch
        match: re.Match[str] | None = self._match(text)
        return match


def sub(pattern: str, replaced: Callable[[re.Match[str]], str], text: str) -> str:
    """A text with everything that matches replaced."""
    import re  # noqa: PLC0415

    return re.sub(pattern, replaced, text)
