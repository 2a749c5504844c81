"""Where the characters of a scalar stand in its file: a word of a script is at its own line, not at that of the scalar."""

from collections.abc import Iterator, Sequence

from trainc.model.sourced import Span

Place = tuple[int, int]  # line and column, counted from 1

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b", "_": "\xa0"}
_HEX = {"x": 2, "u": 4, "U": 8}


def character_places(lines: Sequence[str], span: Span, value: str) -> list[Place] | None:
    """The place of each character of a scalar that stands at `span`; a blank is where the character before it ends.

    Every style of YAML folds, indents and escapes blanks alone, and keeps all other characters in their order: both
    texts are walked side by side. None where they differ, as where something else was made of what is written.
    """
    written = _written(lines, span)
    places: list[Place] = []
    place = span.line, span.column
    for char in value:
        if not char.isspace():
            found = next(written, None)
            if found is None or found[0] != char:
                return None
            place = found[1], found[2]
            places.append(place)
            place = place[0], place[1] + 1
        else:
            places.append(place)
    return places if next(written, None) is None else None


def _written(lines: Sequence[str], span: Span) -> Iterator[tuple[str, int, int]]:
    """The characters of a scalar in its file but for blanks, quotes undone, each with its line and column."""
    if not 0 < span.line <= len(lines):
        return
    first = lines[span.line - 1]
    at = span.column - 1
    while first[at : at + 1] in ("&", "!"):  # an anchor or a tag
        end = first.find(" ", at)
        at = len(first) if end < 0 else end + len(first[end:]) - len(first[end:].lstrip())
    style = first[at : at + 1]
    number = span.line
    if style and style in "|>":
        number, at = number + 1, 0
    elif style and style in "\"'":
        at += 1
    while number <= min(span.end_line, len(lines)):
        line = lines[number - 1]
        end = len(line)
        if number == span.end_line:
            end = min(end, span.end_column - 1 - (1 if style and style in "\"'" else 0))
        yield from _of_line(line, number, at, end, style)
        number, at = number + 1, 0


def _of_line(line: str, number: int, at: int, end: int, style: str) -> Iterator[tuple[str, int, int]]:
    while at < end:
        char, width = line[at], 1
        if style == "'" and char == "'":
            width = 2
        elif style == '"' and char == "\\":
            mark = line[at + 1 : at + 2]
            digits = _HEX.get(mark, 0)
            width = 2 + digits
            char = _ESCAPES.get(mark, mark)
            if digits:
                code = line[at + 2 : at + width]
                char = chr(int(code, 16)) if code.isalnum() and int(code, 16) < 0x110000 else ""
        if char and not char.isspace():
            yield char, number, at + 1
        at += width


def span_of(places: Sequence[Place], file: str, start: int, end: int) -> Span:
    """Where characters of a scalar stand, up to the end of their first line."""
    line, column = places[start]
    last = max((at for at in range(start, end) if places[at][0] == line), default=start)
    return Span(file, line, column, line, places[last][1] + 1)


def folds(places: Sequence[Place], value: str) -> list[int]:
    """Where each line of the file begins that YAML has joined to the line before it by a blank."""
    starts = []
    line, is_break = 0, False
    for at, char in enumerate(value):
        if char.isspace():
            is_break = is_break or char == "\n"
            continue
        if places[at][0] > line and line and not is_break:
            starts.append(at)
        line, is_break = places[at][0], False
    return starts
