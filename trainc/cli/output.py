"""The door through which text leaves: lines for people are escaped here, data for programs is passed on as it is."""

import os
import sys
from collections.abc import Iterable
from time import monotonic
from typing import NamedTuple, TextIO

from trainc.report.lines import Line, text_of
from trainc.text.numbers import whole_number

_USUAL = 80  # columns of a terminal that does not tell
_LEAST = 20  # columns below which folding makes a text harder to read
# Variables by which terminals that show links are known. What a multiplexer passes on nobody can tell.
_LINKING = ("DOMTERM", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "WT_SESSION")
_PROGRAMS = ("Hyper", "WezTerm", "ghostty", "iTerm.app", "rio", "tabby", "vscode")
_VTE = 5000  # the first version of GNOME's terminal library that shows links
_PATIENCE = 0.5  # seconds before anything is shown
_PAUSE = 0.1  # seconds between two lines
_CLEAR = "\r\x1b[K"


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


class Terminal(NamedTuple):
    """How lines are written to one stream; `width` is the number of columns, 0 where nothing limits a line."""

    width: int = 0
    colour: bool = False
    links: bool = False


PIPE = Terminal()


def terminal(stream: TextIO, color: str = "auto") -> Terminal:
    """What a stream can show, where `color` is one of auto, always and never.

    Without a choice NO_COLOR wins over FORCE_COLOR, and both over what the stream is.
    """
    if not stream.isatty():
        return Terminal(colour=True) if _has_colour(color, is_terminal=False) else PIPE
    return Terminal(width=_width(stream), colour=_has_colour(color, is_terminal=True), links=_has_links())


def _has_colour(color: str, *, is_terminal: bool) -> bool:
    if color != "auto":
        return color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return is_terminal and os.environ.get("TERM") != "dumb"


def _width(stream: TextIO) -> int:
    columns = _number("COLUMNS")
    if not columns:
        try:
            columns = os.get_terminal_size(stream.fileno()).columns
        except (OSError, ValueError):
            columns = 0
    return max(columns, _LEAST) if columns else _USUAL


def _number(variable: str) -> int:
    """The number in a variable, 0 where it holds none."""
    return whole_number(os.environ.get(variable)) or 0


def _has_links() -> bool:
    """Whether the terminal shows hyperlinks; FORCE_HYPERLINK decides where it is set."""
    if force := os.environ.get("FORCE_HYPERLINK", ""):
        return force != "0"
    if os.environ.get("TMUX") or os.environ.get("TERM", "").startswith(("screen", "tmux", "dumb", "linux")):
        return False
    is_vte = _number("VTE_VERSION") >= _VTE
    return is_vte or os.environ.get("TERM_PROGRAM") in _PROGRAMS or any(os.environ.get(name) for name in _LINKING)


class Progress:
    """A line that counts files on a terminal; the cursor stays at its start, so that other text takes its place."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._next = monotonic() + _PATIENCE
        self._is_shown = False

    def __call__(self, done: int, total: int) -> None:
        """So many files of all are done; when all are, the line goes away."""
        if done >= total:
            if self._is_shown:
                self._write("")
            self._is_shown = False
        elif (moment := monotonic()) >= self._next:
            self._next = moment + _PAUSE
            self._is_shown = True
            self._write(f"{done} of {total} files\r")

    def _write(self, text: str) -> None:
        self._stream.write(f"{_CLEAR}{text}")
        self._stream.flush()
