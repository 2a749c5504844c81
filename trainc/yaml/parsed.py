"""Documents in any spelling, through libyaml's events, and findings for what cannot be read."""

from __future__ import annotations

from trainc.model.finding import Label
from trainc.model.sourced import Span
from trainc.yaml import rules
from trainc.yaml.constructor import Constructor
from trainc.yaml.events import MarkedYAMLError, Parser, YAMLError
from trainc.yaml.faults import StopError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.model.document import Document
    from trainc.model.finding import Finding
    from trainc.model.report import Report

RESTARTS = 20  # broken documents of one file that are reported

_LINE_END = rb"\r\n|[\r\n]|\xc2\x85|\xe2\x80[\xa8\xa9]"
_NEXT = rb"(?m)^---(?=\s|\Z)"


def parsed(data: bytes, file: str, report: Report, duplicates: str) -> Iterator[Document]:
    """The documents of a text; after one that cannot be read, reading goes on at the next line that starts one."""
    for _ in range(RESTARTS):
        constructor = Constructor(Parser(data).get_event, file, report, duplicates)
        try:
            yield from constructor.documents()
        except StopError as error:
            report.add(error.finding)
        except YAMLError as error:
            report.add(_fault(error, file))
        else:
            return
        rest = _after(data, constructor.line)
        if rest is None:
            return
        data = rest


def _fault(error: YAMLError, file: str) -> Finding:
    """The finding for one of the parser's errors."""
    if not isinstance(error, MarkedYAMLError) or error.problem_mark is None:
        return rules.SYNTAX.at(Span(file, 1, 1, 1, 1), f"this is not YAML: {error}")
    mark, context = error.problem_mark, error.context_mark
    at = Span(file, mark.line + 1, mark.column + 1, mark.line + 1, mark.column + 2)
    also = []
    if context is not None and context.line != mark.line:
        start = Span(file, context.line + 1, context.column + 1, context.line + 1, context.column + 2)
        also = [Label(start, (error.context or "").removeprefix("while "))]
    problem = error.problem or "this cannot be read"
    return rules.SYNTAX.at(at, f"this is not YAML: {problem}", also=also, help=rules.help_for(problem))


def _after(data: bytes, line: int) -> bytes | None:
    """What follows from the first document that starts below a line, on its old lines; None where there is none."""
    import re  # noqa: PLC0415

    starts = re.compile(_NEXT).match
    for count, found in enumerate(re.finditer(_LINE_END, data), 1):
        if count >= line and starts(data, found.end()):
            return b"\n" * count + data[found.end() :]
    return None
