"""Places in a text as the compiler counts them, and as editors do.

The compiler counts lines and columns from 1, in characters, and ends a line where YAML does. The Language Server
Protocol counts from 0, in units of the encoding that was agreed on (UTF-16 unless the editor asks for another one), and
knows three line ends.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from trainc.model.sourced import Span

_YAML = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
_EDITOR = re.compile("\r\n|[\r\n]")
_MARK = "\ufeff"  # at the start of a text it counts for editors alone
UTF8, UTF16, UTF32 = "utf-8", "utf-16", "utf-32"
_ENCODINGS = {UTF8: ("utf-8", 1), UTF16: ("utf-16-le", 2), UTF32: ("utf-32-le", 4)}


class Positions:
    """One text, and its places in both ways of counting; `encoding` is utf-8, utf-16 or utf-32."""

    def __init__(self, text: str, encoding: str = UTF16) -> None:
        self.text = text
        self._codec, self._bytes = _ENCODINGS[encoding]
        self._starts = [0, *(end.end() for end in _EDITOR.finditer(text))]
        self._yaml_starts = [int(text.startswith(_MARK)), *(end.end() for end in _YAML.finditer(text))]

    def range(self, span: Span) -> types.Range:
        """The range of a span; what lies behind the end of the text is at its end."""
        start = self._offset_of(span.line, span.column)
        end = max(start, self._offset_of(span.end_line, span.end_column))
        return types.Range(self.position(start), self.position(end))

    def position(self, offset: int) -> types.Position:
        """The position of a character, by its number in the text."""
        line = bisect_right(self._starts, offset) - 1
        return types.Position(line, self._units(self.text[self._starts[line] : offset]))

    def offset(self, position: types.Position) -> int:
        """The number of the character at a position; a position behind the end of its line is at that end."""
        if position.line >= len(self._starts):
            return len(self.text)
        line = self.line(position.line)
        units = column = 0
        while column < len(line) and units < position.character:
            units += self._units(line[column])
            column += 1
        return self._starts[position.line] + column

    def place(self, position: types.Position) -> tuple[int, int]:
        """Line and column of a position as the compiler counts them."""
        offset = self.offset(position)
        line = max(bisect_right(self._yaml_starts, offset) - 1, 0)
        return line + 1, max(offset - self._yaml_starts[line], 0) + 1

    def line(self, number: int) -> str:
        """A line of the text, counted from 0 as editors do, without its end; empty where there is none."""
        if number >= len(self._starts):
            return ""
        end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self.text)
        return self.text[self._starts[number] : end].rstrip("\r\n")

    def lines(self) -> list[str]:
        """All lines of the text as editors count them, without their ends."""
        return [self.line(number) for number in range(len(self._starts))]

    def _offset_of(self, line: int, column: int) -> int:
        if line > len(self._yaml_starts):
            return len(self.text)
        start = self._yaml_starts[line - 1]
        end = self._yaml_starts[line] if line < len(self._yaml_starts) else len(self.text)
        return min(start + column - 1, max(start, start + len(self.text[start:end].rstrip("\r\n"))))

    def _units(self, text: str) -> int:
        return len(text.encode(self._codec, "surrogatepass")) // self._bytes
