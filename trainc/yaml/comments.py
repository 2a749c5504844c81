"""Comments of a YAML text, and those that speak to trainc: `# trainc: allow[rule] reason`."""

from typing import Any

from trainc.model.report import Allow
from trainc.model.sourced import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

MARK = b"trainc:"  # what a text that speaks to trainc has in it
_START = r"(?:^|(?<=[ \t]))#"
_ALLOW = _START + r"[ \t]*trainc:[ \t]*allow(?:\[([^\]\n]*)\]|\b)[ \t]*([^\r\n]*)"
_ANY = _START + r".*"

_LONG_SCALAR = frozenset("\"'|>")  # one of these begins each scalar that may hold what looks like a comment

Place = tuple[int, int]
_NOWHERE: Place = (1 << 62, 1)  # behind every place


def allows(data: bytes, file: str) -> list[Allow]:
    """The `allow` comments of a YAML text, in order; text that only looks like one, in a string or block, is not."""
    if MARK not in data:
        return []
    return [
        Allow((match[1] or "").strip(), match[2].strip(), Span(file, line, match.start() + 1, line, match.end() + 1))
        for line, match in _matches(data, _ALLOW)
    ]


def comments(data: bytes) -> list[str]:
    """Every comment of a YAML text, from its `#` to the end of its line, in order."""
    return [match[0].rstrip() for _, match in _matches(data, _ANY)] if b"#" in data else []


def _matches(data: bytes, pattern: str) -> "list[tuple[int, re.Match[str]]]":
    """What matches in comments, with its line."""
    import re  # noqa: PLC0415 (few files speak to trainc)

    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    lines = re.split("\r\n|[\r\n\x85\u2028\u2029]", text)
    matches = [(number, match) for number, line in enumerate(lines, 1) for match in re.finditer(pattern, line)]
    if not matches:
        return []
    # Before any quote or block there are only plain scalars, which end where a comment begins.
    scalars = iter(_scalars(data) if _LONG_SCALAR.intersection("\n".join(lines[: matches[-1][0]])) else ())
    start = end = (0, 0)
    out = []
    for line, match in matches:
        place = (line, match.start() + 1)
        while end <= place:
            start, end = next(scalars, (_NOWHERE, _NOWHERE))
        if place < start:
            out.append((line, match))
    return out


def _scalars(data: bytes) -> list[tuple[Place, Place]]:
    """Where the scalars of a text stand, as far as it can be read."""
    from yaml.error import YAMLError  # noqa: PLC0415 (few files, again)
    from yaml.events import ScalarEvent, StreamEndEvent  # noqa: PLC0415

    from trainc.yaml.events import Parser  # noqa: PLC0415

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
