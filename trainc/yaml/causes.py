"""What somebody probably did where a text is not YAML, told by the text itself: the parser sees only what follows."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from trainc.text.record import NamedTuple

CONFLICT = "keep one side, and remove the lines that start with `<<<<<<<`, `=======` and `>>>>>>>`"
TEMPLATE = "fill the template in first, as in `helm template . | trainc validate -`, or leave it out of the paths"


class SyntaxCause(NamedTuple):
    """A line and column counted from 1, what stands there, and what to do about it."""

    line: int
    column: int
    message: str
    help: str


def cause(data: bytes, line: int, column: int, opened: int) -> SyntaxCause | None:
    """The cause of a fault at a line and column, in something that opened on another line; None where it is not clear."""
    lines = data.splitlines()
    for number in range(min(line + 1, len(lines)), 0, -1):
        if lines[number - 1].startswith(b"<<<<<<< "):
            return SyntaxCause(number, 1, "a merge conflict is not resolved here", CONFLICT)
    for number in (line, opened):
        text = lines[number - 1] if number <= len(lines) else b""
        for mark in (b"{{", b"{%"):
            if mark in text:
                at = len(text[: text.index(mark)].decode("utf-8", "replace")) + 1
                return SyntaxCause(number, at, f"this is not YAML: `{mark.decode()}` starts a template", TEMPLATE)
    if line <= len(lines) and lines[line - 1][column - 1 : column] == b"\t":
        return SyntaxCause(
            line, column, "this is not YAML: a tab stands where only spaces may", "indent with spaces, not tabs"
        )
    return None


def missing_space(data: bytes, line: int, column: int) -> SyntaxCause | None:
    """What is wrong with a line that was read as text and not as a key: `numNodes:2`; None where it has no colon."""
    lines = data.splitlines()  # fewer than the parser's, which also ends lines at Unicode's separators
    text = lines[line - 1].decode("utf-8", "replace")[column - 1 :].strip() if line <= len(lines) else ""
    key, _, content = text.partition(":")
    if not content or content.startswith(("//", " ")) or " " in key:
        return None
    message = f"this is not YAML: no space follows the colon of `{key}`"
    return SyntaxCause(line, column, message, f"write `{key}: {content}`")


def missing_space_above(data: bytes, line: int) -> SyntaxCause | None:
    """The same for the line above, of which the one at `line` was read as the rest: the first line of a map."""
    indents = [len(text) - len(text.lstrip(b" ")) for text in data.splitlines()[max(line - 2, 0) : line]]
    if len(indents) != 2 or indents[0] != indents[1]:
        return None
    return missing_space(data, line - 1, indents[0] + 1)
