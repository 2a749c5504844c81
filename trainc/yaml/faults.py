"""The findings of the reader, in its words."""

from __future__ import annotations

from trainc.model.finding import Finding
from trainc.model.sourced import Span
from trainc.yaml import rules
from trainc.yaml.scalars import resolve


class StopError(Exception):
    """A document cannot be read to its end; carries the finding."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


def unread_rest(file: str, line: int) -> Finding:
    """An error for the documents from a line on, which nobody reads because too many above them are broken."""
    message = "the documents from here on are not read: too many above them cannot be"
    return rules.SYNTAX.at(Span(file, line, 1, line, 1), message, help="correct those above first")


def ambiguous_text(span: Span, text: str, reason: str) -> Finding:
    """A warning that an unquoted text is read differently elsewhere."""
    value = resolve(text)
    plain = f"write `{str(value).lower()}`, or " if type(value) is not str else ""
    return rules.AMBIGUOUS.at(span, f"`{text}` is {reason}", help=f'{plain}quote it to make it text: `"{text}"`')


CONFLICT = "keep one side, and remove the lines that start with `<<<<<<<`, `=======` and `>>>>>>>`"
TEMPLATE = "render the template first, as in `helm template . | trainc validate -`, or exclude it from the paths"


def _not_yaml(file: str, line: int, column: int, message: str, help_: str) -> Finding:
    return rules.SYNTAX.at(Span(file, line, column, line, column + 1), message, help=help_)


def cause(data: bytes, file: str, line: int, column: int, opened: int) -> Finding | None:
    """The cause of a fault at a line and column, in something that opened on another line; None where it is not clear."""
    lines = data.splitlines()
    for number in range(min(line + 1, len(lines)), 0, -1):
        if lines[number - 1].startswith(b"<<<<<<< "):
            return _not_yaml(file, number, 1, "a merge conflict is not resolved here", CONFLICT)
    for number in (line, opened):
        text = lines[number - 1] if number <= len(lines) else b""
        for mark in (b"{{", b"{%"):
            if mark in text:
                at = len(text[: text.index(mark)].decode("utf-8", "replace")) + 1
                return _not_yaml(file, number, at, f"this is not YAML: `{mark.decode()}` starts a template", TEMPLATE)
    if line <= len(lines) and lines[line - 1][column - 1 : column] == b"\t":
        message = "this is not YAML: a tab stands where only spaces may"
        return _not_yaml(file, line, column, message, "indent with spaces, not tabs")
    return None


def missing_space(data: bytes, file: str, line: int, column: int) -> Finding | None:
    """What is wrong with a line that was read as text and not as a key: `numNodes:2`; None where it has no colon."""
    lines = data.splitlines()  # fewer than the parser's, which also ends lines at Unicode's separators
    text = lines[line - 1].decode("utf-8", "replace")[column - 1 :].strip() if line <= len(lines) else ""
    key, _, content = text.partition(":")
    if not content or content.startswith(("//", " ")) or " " in key:
        return None
    message = f"this is not YAML: no space follows the colon of `{key}`"
    return _not_yaml(file, line, column, message, f"write `{key}: {content}`")


def missing_space_above(data: bytes, file: str, line: int) -> Finding | None:
    """The same for the line above, of which the one at `line` was read as the rest: the first line of a map."""
    indents = [len(text) - len(text.lstrip(b" ")) for text in data.splitlines()[max(line - 2, 0) : line]]
    if len(indents) != 2 or indents[0] != indents[1]:
        return None
    return missing_space(data, file, line - 1, indents[0] + 1)
