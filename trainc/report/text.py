"""Findings as a person reads them: the rule, the message, the line, what it means and what to do."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.model.finding import Finding, Label

_COLOURS = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "note": "\x1b[1;36m"}
_BOLD, _BLUE, _PLAIN = "\x1b[1m", "\x1b[1;34m", "\x1b[0m"
_WIDEST = 160  # columns of a source line that are shown


class Style:
    """How text is dressed: with colours or without."""

    __slots__ = ("_on",)

    def __init__(self, *, colour: bool) -> None:
        self._on = colour

    def __call__(self, code: str, text: str) -> str:
        return f"{code}{text}{_PLAIN}" if self._on else text


def finding_text(finding: Finding, lines: Callable[[str], list[str]], shown: Callable[[str], str], style: Style) -> str:
    """One finding as a block of lines, without a final newline.

    `lines` gives a file's lines, empty where they cannot be had; `shown` turns a file's name into what the user opens.
    """
    head = style(_COLOURS[finding.level], f"{finding.level}[{finding.rule.name}]")
    out = [f"{head}: {style(_BOLD, finding.message)}"]
    width = max(len(str(label.span.line)) for label in finding.labels)
    for index, label in enumerate(finding.labels):
        out.extend(_label(label, index, width, lines, shown, style))
    tail = [("effect", finding.effect), ("help", finding.help), *(("note", note) for note in finding.notes)]
    gutter = " " * width + style(_BLUE, " = ")
    out.extend(f"{gutter}{style(_BOLD, word)}: {text}" for word, text in tail if text)
    return "\n".join(out)


def _label(
    label: Label, index: int, width: int, lines: Callable[[str], list[str]], shown: Callable[[str], str], style: Style
) -> list[str]:
    span = label.span
    arrow = "-->" if index == 0 else ":::"
    out = [f"{' ' * width}{style(_BLUE, arrow)} {shown(span.file)}:{span.line}:{span.column}"]
    text = lines(span.file)
    if not 0 < span.line <= len(text):
        return out
    line = text[span.line - 1].expandtabs(1)
    start = min(span.column, len(line) + 1)
    end = span.end_column if span.end_line == span.line else len(line.rstrip()) + 1
    cut = max(0, start - _WIDEST // 2) if len(line) > _WIDEST else 0
    mark = ("^" if index == 0 else "-") * max(1, min(end - start, _WIDEST))
    bar = style(_BLUE, "|")
    out.append(f"{span.line:>{width}} {bar} {line[cut : cut + _WIDEST].rstrip()}")
    out.append(f"{' ' * width} {bar} {' ' * (start - 1 - cut)}{mark}{' ' + label.text if label.text else ''}".rstrip())
    return out


def summary(errors: int, warnings: int, jobs: int | None, unknown: dict[str, int]) -> str:
    """The last line of a run: what was compiled, if that was asked for, what was found, what could not be known."""
    parts = [] if jobs is None else [_count(jobs, "job")]
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
