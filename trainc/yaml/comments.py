"""Comments that speak to trainc: `# trainc: allow[rule] reason`."""

from __future__ import annotations

from trainc.model.report import Allow
from trainc.model.sourced import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MARK = b"trainc:"  # what a text that speaks to trainc has in it
_PATTERN = r"(?:^|(?<=[ \t]))#[ \t]*trainc:[ \t]*allow\[([^\]\n]*)\][ \t]*([^\r\n]*)"

_LONG_SCALAR = frozenset("\"'|>")  # one of these begins each scalar that may hold what looks like a comment

Place = tuple[int, int]
_NOWHERE: Place = (1 << 62, 1)  # behind every place


def allows(data: bytes, file: str) -> list[Allow]:
    """The `allow` comments of a YAML text, in order; text that only looks like one, in a string or block, is not."""
    if MARK not in data:
        return []
    import re  # noqa: PLC0415 (few files speak to trainc)

    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    lines = re.split("\r\n|[\r\n\x85\u2028\u2029]", text)
    found = [(number, m) for number, line in enumerate(lines, 1) for m in re.finditer(_PATTERN, line)]
    if not found:
        return []
    # Before any quote or block there are only plain scalars, which end where a comment begins.
    scalars = iter(_scalars(data) if _LONG_SCALAR.intersection("\n".join(lines[: found[-1][0]])) else ())
    start = end = (0, 0)
    out = []
    for line, match in found:
        column = match.start() + 1
        while end <= (line, column):
            start, end = next(scalars, (_NOWHERE, _NOWHERE))
        if (line, column) < start:
            span = Span(file, line, column, line, match.end() + 1)
            out.append(Allow(match[1].strip(), match[2].strip(), span))
    return out


def _scalars(data: bytes) -> list[tuple[Place, Place]]:
    """Where the scalars of a text stand, as far as it can be read."""
    from trainc.yaml.events import Parser, ScalarEvent, StreamEndEvent, YAMLError  # noqa: PLC0415 (few files, again)

    out: list[tuple[Place, Place]] = []
    get = Parser(data).get_event
    try:
        while type(event := get()) is not StreamEndEvent:
            if type(event) is ScalarEvent:
                a: Any = event.start_mark
                b: Any = event.end_mark
                out.append(((a.line + 1, a.column + 1), (b.line + 1, b.column + 1)))
    except YAMLError:
        pass
    return out
