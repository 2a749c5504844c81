"""A part of a text and what stands there instead."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from trainc.text.record import NamedTuple


class Replacement(NamedTuple):
    """From a line and a column, counted from 1, up to but without its end: what is written there instead."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str
