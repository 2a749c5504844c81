"""Documents in any spelling, through libyaml's events, and findings for what cannot be read."""

from __future__ import annotations

from collections.abc import Iterator

from yaml.error import MarkedYAMLError, YAMLError

from trainc.model.document import Document
from trainc.model.finding import Finding, Label
from trainc.model.report import Report
from trainc.model.sourced import Span
from trainc.text.record import Any
from trainc.yaml import rules
from trainc.yaml.constructor import Constructor
from trainc.yaml.events import Parser, python_parser
from trainc.yaml.faults import StopError, cause, missing_space, missing_space_above, unread_rest

RESTARTS = 20  # broken documents of one file that are reported

_LINE_END = rb"\r\n|[\r\n]|\xc2\x85|\xe2\x80[\xa8\xa9]"
_SECOND_COLON = "mapping values are not allowed in this context"
_NO_COLON = "could not find expected ':'"
_TOO_DEEP = "exceeded maximum nesting depth"  # libyaml's own bound since PyYAML 6.0.4; DEPTH comes first, at its place
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
    report.add(unread_rest(file, data.count(b"\n", 0, len(data) - len(data.lstrip(b"\n"))) + 1))


def _fault(error: YAMLError, file: str, data: bytes) -> Finding:
    """The finding for one of the parser's errors: for its cause where the text shows one."""
    if not isinstance(error, MarkedYAMLError) or error.problem_mark is None:
        return rules.SYNTAX.at(Span(file, 1, 1, 1, 1), f"this is not YAML: {error}")
    mark, context = error.problem_mark, error.context_mark
    opened = context.line + 1 if context is not None else mark.line + 1
    known = cause(data, file, mark.line + 1, mark.column + 1, opened)
    if error.problem == _SECOND_COLON:
        known = known or missing_space_above(data, file, mark.line + 1)
    if error.problem == _NO_COLON and context is not None:
        mark = context  # the line that was read as text; the parser names the next one
        known = known or missing_space(data, file, mark.line + 1, mark.column + 1)
    if known is not None:
        return known
    problem = error.problem or "this cannot be read"
    also = []
    if context is not None and context.line != mark.line:
        if mark.line >= data.count(b"\n"):
            mark = context  # the end of the text is where it was missed, and no line that anybody could open
        else:
            also = [Label(_one(context, file), (error.context or "").removeprefix("while "))]
    return rules.SYNTAX.at(_one(mark, file), f"this is not YAML: {problem}", also=also, help=rules.help_for(problem))


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
