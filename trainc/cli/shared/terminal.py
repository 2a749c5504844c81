"""What a stream can show: its width, colours and links. A pipe or a file gets plain lines of any length."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

_USUAL = 80  # columns of a terminal that does not tell
_LEAST = 20  # columns below which folding makes a text harder to read
# Variables by which terminals that show links are known. What a multiplexer passes on nobody can tell.
_LINKING = ("DOMTERM", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "WT_SESSION")
_PROGRAMS = ("Hyper", "WezTerm", "ghostty", "iTerm.app", "rio", "tabby", "vscode")
_VTE = 5000  # the first version of GNOME's terminal library that shows links


class Terminal:
    """How lines are written to one stream; `width` is the number of columns, 0 where nothing limits a line."""

    __slots__ = ("colour", "links", "width")

    def __init__(self, *, width: int = 0, colour: bool = False, links: bool = False) -> None:
        self.width = width
        self.colour = colour
        self.links = links

    @property
    def state(self) -> tuple[int, bool, bool]:
        """Everything that decides about what is written."""
        return self.width, self.colour, self.links


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
    setting = os.environ.get("COLUMNS", "")
    if setting.isascii() and setting.isdecimal() and int(setting[:9]):
        return max(int(setting[:9]), _LEAST)
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return max(columns, _LEAST) if columns else _USUAL


def _has_links() -> bool:
    """Whether the terminal shows hyperlinks; FORCE_HYPERLINK decides where it is set."""
    force = os.environ.get("FORCE_HYPERLINK", "")
    if force:
        return force != "0"
    if os.environ.get("TMUX") or os.environ.get("TERM", "").startswith(("screen", "tmux", "dumb", "linux")):
        return False
    version = os.environ.get("VTE_VERSION", "")
    is_vte = version.isascii() and version.isdecimal() and int(version[:9]) >= _VTE
    return is_vte or os.environ.get("TERM_PROGRAM") in _PROGRAMS or any(os.environ.get(name) for name in _LINKING)
