"""Documents in any spelling, through libyaml's events, and findings for what cannot be read."""

from collections.abc import Iterator
from typing import Any

from yaml.error import MarkedYAMLError, YAMLError

from trainc.model.document import Document
from trainc.model.finding import Finding, Label
from trainc.model.report import Report
from trainc.model.sourced import Span
from trainc.yaml import rules
from trainc.yaml.constructor import Constructor, StopError
from trainc.yaml.events import Parser, python_parser

RESTARTS = 20  # broken documents of one file that are reported

_LINE_END = rb"\r\n|[\r\n]|\xc2\x85|\xe2\x80[\xa8\xa9]"
_SECOND_COLON = "mapping values are not allowed in this context"
_NO_COLON = "could not find expected ':'"
_TOO_DEEP = "exceeded maximum nesting depth"  # libyaml's own bound since PyYAML 6.0.4; DEPTH comes first, at its place
_HELP = (  # words of libyaml's messages, and what usually helps
    ("mapping values are not allowed", "check the indentation, and quote a value that contains `: `"),
    (
        "found character that cannot start any token",
        "indent with spaces, and quote a value that starts with `@`, `%` or a backtick",
    ),
    ("found a tab character", "indent with spaces, not tabs"),
    ("expected node content", "give a value here, or close the bracket that is open"),
    ("did not find expected key", "check the indentation of this line against the lines above it"),
    ("did not find expected '-' indicator", "check the indentation of this line against the list above it"),
    ("could not find expected ':'", "write `key: value`, with a space after the colon"),
    ("expected ',' or", "close the bracket, or separate its items with commas"),
    ("unexpected end of stream", "close the quote or bracket that is opened here"),
    ("expected alphabetic or numeric character", "quote a value that starts with `*` or `&`"),
    ("unknown escape character", "use single quotes, or double the backslash"),
)
_NEXT = rb"(?m)^---(?=\s|\Z)"


def parsed(data: bytes, file: str, report: Report, duplicates: str) -> Iterator[Document]:
    """The documents of a text; after one that cannot be read, reading goes on at the next line that starts one."""
    for _ in range(RESTARTS):
        constructor = Constructor(Parser(data).get_event, file, report, duplicates)
        try:
            try:
                yield from constructor.documents()
            except MarkedYAMLError as error:
                if error.problem != _TOO_DEEP:
                    raise
                import re  # noqa: PLC0415

                ends = [0, *(end.end() for end in re.finditer(_LINE_END, data))]
                again = b"\n" * (constructor.line - 1) + data[ends[constructor.line - 1] :]
                constructor = Constructor(python_parser(again).get_event, file, report, duplicates)
                yield from constructor.documents()
        except StopError as error:
            report.add(error.finding)
        except YAMLError as error:
            report.add(_fault(error, file, data))
        else:
            return
        report.account.count_unread(file, constructor.line)
        if (rest := _after(data, constructor.line)) is None:
            return
        data = rest
    report.add(rules.unread_rest(file, data.count(b"\n", 0, len(data) - len(data.lstrip(b"\n"))) + 1))


def _fault(error: YAMLError, file: str, data: bytes) -> Finding:
    """The finding for one of the parser's errors: for its cause where the text shows one."""
    if not isinstance(error, MarkedYAMLError) or error.problem_mark is None:
        return rules.SYNTAX.at(Span(file, 1, 1, 1, 1), f"this is not YAML: {error}")
    mark, context = error.problem_mark, error.context_mark
    opened = context.line + 1 if context is not None else mark.line + 1
    known = _cause(data, file, mark.line + 1, mark.column + 1, opened)
    if error.problem == _SECOND_COLON:
        known = known or _missing_space_above(data, file, mark.line + 1)
    if error.problem == _NO_COLON and context is not None:
        mark = context  # the line that was read as text; the parser names the next one
        known = known or _missing_space(data, file, mark.line + 1, mark.column + 1)
    if known is not None:
        return known
    problem = error.problem or "this cannot be read"
    help_ = next((text for words, text in _HELP if words in problem), "")
    also = []
    if context is not None and context.line != mark.line:
        if mark.line >= data.count(b"\n"):
            mark = context  # the end of the text is where it was missed, and no line that anybody could open
        else:
            also = [Label(_one(context, file), (error.context or "").removeprefix("while "))]
    return rules.SYNTAX.at(_one(mark, file), f"this is not YAML: {problem}", also=also, help=help_)


def _one(mark: Any, file: str) -> Span:
    return Span(file, mark.line + 1, mark.column + 1, mark.line + 1, mark.column + 2)


def _after(data: bytes, line: int) -> bytes | None:
    """What follows from the first document that starts below a line, on its old lines; None where there is none."""
    import re  # noqa: PLC0415

    starts = re.compile(_NEXT).match
    for count, end in enumerate(re.finditer(_LINE_END, data), 1):
        if count >= line and starts(data, end.end()):
            return b"\n" * count + data[end.end() :]
    return None


def _not_yaml(file: str, line: int, column: int, message: str, help_: str) -> Finding:
    return rules.SYNTAX.at(Span(file, line, column, line, column + 1), message, help=help_)


def _cause(data: bytes, file: str, line: int, column: int, opened: int) -> Finding | None:
    """The cause of a fault at a line and column, in something that opened on another line; None where it is not clear."""
    lines = data.splitlines()
    for number in range(min(line + 1, len(lines)), 0, -1):
        if lines[number - 1].startswith(b"<<<<<<< "):
            return _not_yaml(file, number, 1, "a merge conflict is not resolved here", rules.CONFLICT)
    for number in (line, opened):
        text = lines[number - 1] if number <= len(lines) else b""
        for mark in (b"{{", b"{%"):
            if mark in text:
                at = len(text[: text.index(mark)].decode("utf-8", "replace")) + 1
                return _not_yaml(
                    file, number, at, f"this is not YAML: `{mark.decode()}` starts a template", rules.TEMPLATE
                )
    if line <= len(lines) and lines[line - 1][column - 1 : column] == b"\t":
        message = "this is not YAML: a tab stands where only spaces may"
        return _not_yaml(file, line, column, message, "indent with spaces, not tabs")
    return None


def _missing_space(data: bytes, file: str, line: int, column: int) -> Finding | None:
    """What is wrong with a line that was read as text and not as a key: `numNodes:2`; None where it has no colon."""
    lines = data.splitlines()  # fewer than the parser's, which also ends lines at Unicode's separators
    text = lines[line - 1].decode("utf-8", "replace")[column - 1 :].strip() if line <= len(lines) else ""
    key, _, content = text.partition(":")
    if not content or content.startswith(("//", " ")) or " " in key:
        return None
    message = f"this is not YAML: no space follows the colon of `{key}`"
    return _not_yaml(file, line, column, message, f"write `{key}: {content}`")


def _missing_space_above(data: bytes, file: str, line: int) -> Finding | None:
    """The same for the line above, of which the one at `line` was read as the rest: the first line of a map."""
    indents = [len(text) - len(text.lstrip(b" ")) for text in data.splitlines()[max(line - 2, 0) : line]]
    if len(indents) != 2 or indents[0] != indents[1]:
        return None
    return _missing_space(data, file, line - 1, indents[0] + 1)
