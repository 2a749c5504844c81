"""The door through which text leaves: lines for people are escaped here, data for programs is passed on as it is."""

from __future__ import annotations

import sys

from trainc.report.lines import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.report.lines import Line


def tell(*lines: Line, colour: bool = False) -> None:
    """Write lines for people to standard error."""
    sys.stderr.write(text_of(lines, colour=colour))


def answer(*lines: Line, colour: bool = False) -> None:
    """Write lines for people to standard output."""
    sys.stdout.write(text_of(lines, colour=colour))


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
