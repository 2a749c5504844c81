"""Places inside a scalar: the line of a script, the flag in a command line."""

from __future__ import annotations

from trainc.model.sourced import Span


def within(span: Span, written: str, fragment: str) -> Span:
    """The word of `written` that begins with `fragment`, where the scalar at `span` shows its text as it is.

    A literal block is taken to be indented to its own indicator, as `- |` usually is; for a scalar that is folded or
    escaped the place of the whole is given.
    """
    offset = written.find(fragment)
    before = written[:offset]
    length = len(_word(written[offset:], fragment))
    if span.line == span.end_line:
        quotes = span.end_column - span.column - len(written)
        if quotes not in (0, 2):
            return span
        column = span.column + quotes // 2 + offset
        return Span(span.file, span.line, column, span.line, column + length)
    if span.end_line - span.line not in (len(written.splitlines()), len(written.splitlines()) + 1):
        return span
    line = span.line + 1 + before.count("\n")
    column = span.column + offset - (before.rfind("\n") + 1)
    return Span(span.file, line, column, line, column + length)


def _word(text: str, fragment: str) -> str:
    """The fragment, to the end of its word."""
    rest = text[len(fragment) :]
    end = next((index for index, char in enumerate(rest) if char.isspace() or char in "'\";|&)"), len(rest))
    return fragment.partition("\n")[0] if "\n" in fragment else fragment + rest[:end]
