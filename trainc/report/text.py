"""Findings as a person reads them: the rule, the message, the line, what it means and what to do."""

from collections.abc import Callable, Iterable, Iterator

from trainc.model.finding import LEVELS, Finding, Label
from trainc.report.lines import END, LINK, Line, line_text, visible
from trainc.text.counting import counted

_COLOURS = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "note": "\x1b[1;36m"}
_BOLD, _BLUE = "\x1b[1m", "\x1b[1;34m"
_WIDEST = 160  # columns of a source line that are shown


def finding_lines(
    finding: Finding,
    lines: Callable[[str], list[str]],
    shown: Callable[[str], str],
    *,
    width: int = 0,
    link: Callable[[str], str] | None = None,
    printed: set[str] | None = None,
) -> list[Line]:
    """One finding as a block of lines, without notes that are in `printed` already; its own join them.

    `lines` gives a file's lines, empty where they cannot be had; `shown` turns a file's name into what the user opens,
    `link` into an address where the terminal shows links. `width` is the terminal's, 0 where nothing limits a line.
    """
    head = (_COLOURS[finding.level], f"{finding.level}[{finding.rule.name}]")
    out: list[Line] = [(head, ("", ": "), (_BOLD, finding.message))]
    margin = max(len(str(label.span.line)) for label in finding.labels)
    room = min(_WIDEST, width - margin - 3) if width else _WIDEST
    for index, label in enumerate(finding.labels):
        span = label.span
        place = f"{shown(span.file)}:{span.line}:{span.column}"
        address = link(span.file) if link else ""
        target = f"{LINK}{address}{END}" if address else ""
        arrow = "-->" if index == 0 else ":::"
        out.append((("", " " * margin), (_BLUE, arrow), ("", " "), (target, place)))
        out.extend(_excerpt(label, "^" if index == 0 else "-", lines(span.file), margin, room, folds=width > 0))
    notes = [note for note in finding.notes if printed is None or note not in printed]
    if printed is not None:
        printed.update(notes)
    tail = [("effect", finding.effect), ("help", finding.help), *(("note", note) for note in notes)]
    gutter = (("", " " * margin), (_BLUE, " = "))
    out.extend((*gutter, (_BOLD, word), ("", f": {text}")) for word, text in tail if text)
    return out


def headline(level: str, text: str) -> Line:
    """A line that sums findings of one level up."""
    return ((_COLOURS[level], level), ("", f": {text}"))


def _excerpt(label: Label, sign: str, text: list[str], margin: int, room: int, *, folds: bool) -> Iterator[Line]:
    """The line of a label in `room` columns, and below it a mark under the place with the label's words.

    Words that do not fit behind the mark stand below it where a terminal `folds` lines.
    """
    span = label.span
    if not 0 < span.line <= len(text):
        return
    line = text[span.line - 1]
    start = min(span.column, len(line) + 1)
    cut = max(0, start - room // 2) if len(line) > room else 0
    excerpt = line[cut : cut + room].expandtabs(1).rstrip()
    end = span.end_column if span.end_line == span.line else cut + len(excerpt) + 1
    # Escapes are wider than what they stand for: the mark stands under what is shown.
    left, marked = excerpt[: start - 1 - cut], excerpt[start - 1 - cut : max(end, start + 1) - 1 - cut]
    blank = " " * max(start - 1 - cut, len(visible(left)))
    mark = sign * max(1, len(visible(marked)))
    yield (("", f"{span.line:>{margin}} "), (_BLUE, "|"), ("", f" {excerpt}".rstrip()))
    gutter = (("", f"{' ' * margin} "), (_BLUE, "|"))
    if not folds or len(blank) + len(mark) + 1 + len(label.text) <= room:
        words = f" {label.text}" if label.text else ""
        yield (*gutter, ("", f" {blank}{mark}{words}".rstrip()))
        return
    yield (*gutter, ("", f" {blank}{mark}"))
    indent = " " * min(len(blank), room // 2)
    from trainc.report.fold import fold  # noqa: PLC0415 (most labels fit beside their mark)

    for row in fold(label.text, room - len(indent)):
        yield (*gutter, ("", f" {indent}{line_text(row).lstrip()}"))


def statistics(findings: Iterable[Finding]) -> list[str]:
    """A line for each rule that speaks: how often, its level, its name, the number of files; the most frequent first."""
    places: dict[tuple[str, str], list[str]] = {}
    for finding in findings:
        places.setdefault((finding.level, finding.rule.name), []).append(finding.span.file)
    rows = [(level, len(files), name, counted(len({*files}), "file")) for (level, name), files in places.items()]
    rows.sort(key=lambda row: (-LEVELS.index(row[0]), -row[1], row[2]))
    return [f"{count:6}  {level:7}  {name}  ({files})" for level, count, name, files in rows]


def summary(errors: int, warnings: int, counts: dict[str, int | None], unknown: dict[str, int]) -> str:
    """The last line of a run: how much of what was read (None is not said), what was found, what could not be known."""
    parts = [counted(number, word) for word, number in counts.items() if number is not None]
    parts.append(counted(errors, "error") if errors else "no errors")
    if warnings:
        parts.append(counted(warnings, "warning"))
    text = ", ".join(parts)
    if unknown:
        reasons = ", ".join(f"{reason} ({count})" for reason, count in sorted(unknown.items()))
        text += f"; skipped: {reasons}"
    return text
