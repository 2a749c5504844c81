"""Findings as a person reads them: the rule, the message, the line, what it means and what to do."""

from __future__ import annotations

from trainc.model.finding import LEVELS
from trainc.report.lines import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainc.model.finding import Finding, Label
    from trainc.report.lines import Line

_COLOURS = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "note": "\x1b[1;36m"}
_BOLD, _BLUE = "\x1b[1m", "\x1b[1;34m"
_WIDEST = 160  # columns of a source line that are shown


def finding_lines(finding: Finding, lines: Callable[[str], list[str]], shown: Callable[[str], str]) -> list[Line]:
    """One finding as a block of lines.

    `lines` gives a file's lines, empty where they cannot be had; `shown` turns a file's name into what the user opens.
    """
    head = (_COLOURS[finding.level], f"{finding.level}[{finding.rule.name}]")
    out: list[Line] = [(head, ("", ": "), (_BOLD, finding.message))]
    width = max(len(str(label.span.line)) for label in finding.labels)
    for index, label in enumerate(finding.labels):
        out.extend(_label(label, index, width, lines, shown))
    tail = [("effect", finding.effect), ("help", finding.help), *(("note", note) for note in finding.notes)]
    gutter = (("", " " * width), (_BLUE, " = "))
    out.extend((*gutter, (_BOLD, word), ("", f": {text}")) for word, text in tail if text)
    return out


def _label(
    label: Label, index: int, width: int, lines: Callable[[str], list[str]], shown: Callable[[str], str]
) -> list[Line]:
    span = label.span
    arrow = "-->" if index == 0 else ":::"
    place = f" {shown(span.file)}:{span.line}:{span.column}"
    out: list[Line] = [(("", " " * width), (_BLUE, arrow), ("", place))]
    text = lines(span.file)
    if not 0 < span.line <= len(text):
        return out
    line = text[span.line - 1]
    start = min(span.column, len(line) + 1)
    cut = max(0, start - _WIDEST // 2) if len(line) > _WIDEST else 0
    excerpt = line[cut : cut + _WIDEST].expandtabs(1).rstrip()
    end = span.end_column if span.end_line == span.line else cut + len(excerpt) + 1
    # Escapes are wider than what they stand for: the mark stands under what is shown.
    left, marked = excerpt[: start - 1 - cut], excerpt[start - 1 - cut : max(end, start + 1) - 1 - cut]
    blank = " " * max(start - 1 - cut, len(visible(left)))
    mark = ("^" if index == 0 else "-") * max(1, len(visible(marked)))
    out.append((("", f"{span.line:>{width}} "), (_BLUE, "|"), ("", f" {excerpt}".rstrip())))
    note = f" {label.text}" if label.text else ""
    out.append((("", f"{' ' * width} "), (_BLUE, "|"), ("", f" {blank}{mark}{note}".rstrip())))
    return out


def statistics(findings: Iterable[Finding]) -> list[str]:
    """A line for each rule that speaks: how often, its level, its name, the number of files; the most frequent first."""
    counts: dict[tuple[str, str], int] = {}
    files: dict[tuple[str, str], set[str]] = {}
    for finding in findings:
        key = finding.level, finding.rule.name
        counts[key] = counts.get(key, 0) + 1
        files.setdefault(key, set()).add(finding.labels[0].span.file)
    ordered = sorted(counts, key=lambda key: (-LEVELS.index(key[0]), -counts[key], key[1]))
    return [f"{counts[key]:6}  {key[0]:7}  {key[1]}  ({_count(len(files[key]), 'file')})" for key in ordered]


def summary(errors: int, warnings: int, jobs: int | None, unknown: dict[str, int], runtimes: int = 0) -> str:
    """The last line of a run: what was compiled or looked at, what was found, what could not be known."""
    parts = [] if jobs is None else [_count(jobs, "job")]
    if runtimes:
        parts.append(_count(runtimes, "runtime"))
    parts.append(_count(errors, "error") if errors else "no errors")
    if warnings:
        parts.append(_count(warnings, "warning"))
    text = ", ".join(parts)
    if unknown:
        named = ", ".join(f"{reason} ({count})" for reason, count in sorted(unknown.items()))
        text += f"; not checked: {named}"
    return text


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
