"""The door through which text leaves: lines for people are escaped here, data for programs is passed on as it is."""

from __future__ import annotations

import sys

from trainc.cli.shared.terminal import terminal
from trainc.report.lines import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TextIO

    from trainc.report.lines import Line


def tell(*lines: Line, color: str = "auto") -> None:
    """Write lines for people to standard error; `color` is one of auto, always and never."""
    _write(sys.stderr, lines, color)


def answer(*lines: Line, color: str = "auto", folds: bool = True) -> None:
    """Write lines for people to standard output; `color` is one of auto, always and never.

    Lines that somebody copies, such as commands, must not fold.
    """
    _write(sys.stdout, lines, color, folds=folds)


def _write(stream: TextIO, lines: Iterable[Line], color: str, *, folds: bool = True) -> None:
    shape = terminal(stream, color)
    if folds and shape.width:
        from trainc.report.fold import fold  # noqa: PLC0415 (a pipe takes lines of any length)

        lines = [row for line in lines for row in fold(line, shape.width)]
    stream.write(text_of(lines, colour=shape.colour))


def ask(question: str) -> str:
    """The line that somebody at the terminal answers to a question."""
    sys.stderr.write(text_of([question]).rstrip("\n") + " ")
    sys.stderr.flush()
    return sys.stdin.readline().strip()


def data(text: str) -> None:
    """Write what a program reads to standard output: manifests, schemas, reports whose own format escapes."""
    sys.stdout.write(text)


def data_beside(text: str) -> None:
    """Write what a program reads to standard error, where standard output carries manifests."""
    sys.stderr.write(text)
