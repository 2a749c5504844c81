"""The text of each item of a list as it stands there, comments included, moved to the first column."""

from __future__ import annotations

from trainc.model.report import Report
from trainc.yaml.reader import read
from trainc.yaml.writer import dump

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.model.document import Document
    from trainc.model.tree import Tree

_DASH = 2  # columns of `- ` in front of an item


def slices(lines: Sequence[str], document: Document, items: Sequence[Tree]) -> list[str]:
    """The text of each item: what is written where that reads as the item, or the item in trainc's own spelling.

    JSON, and items that stand on one line with others, have no lines of their own.
    """
    return [_slice(lines, document, item) for item in items]


def _slice(lines: Sequence[str], document: Document, item: Tree) -> str:
    mark = document.marks.get(id(item))
    text = _block(lines, mark[0] - 1, mark[1] - 1) if mark is not None else ""
    return text if says(text, item) else dump(item)


def says(text: str, tree: Tree) -> bool:
    """Whether a text is one document that reads as a tree."""
    report = Report()
    documents = list(read(text, "", report, duplicates="ignore")) if text else []
    return len(documents) == 1 and not report.failed and dump(documents[0].tree) == dump(tree)


def _block(lines: Sequence[str], first: int, column: int) -> str:
    """The lines of the block whose first key stands on a line (from 0), at a column; empty where it is no such block."""
    head = column - _DASH
    dash = first
    while dash > 0 and head >= 0 and lines[dash][: head + 1] != " " * head + "-":
        dash -= 1
    if head < 0 or lines[dash][:column].strip() != "-":
        return ""
    end = dash + 1
    margin = " " * column
    while end < len(lines) and (lines[end].startswith(margin) or not lines[end].strip()):
        end += 1
    return "".join([f"{line[column:]}\n" for line in lines[dash:end]])
