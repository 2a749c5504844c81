"""Where the nodes of a document in the common spelling stand, found out when somebody asks: hardly anybody does."""

from __future__ import annotations

from trainc.model.sourced import Sourced
from trainc.yaml.lines import BOUNDARY, LINES, Flow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.document import Marks, Stretch
    from trainc.model.tree import Tree
    from trainc.yaml.lines import Line


class Places:
    """The marks of a document, by identity of its nodes."""

    __slots__ = ("_at", "_lines", "_marks", "_tree")

    def __init__(self, tree: Tree, lines: list[str], at: int) -> None:
        self._tree = tree
        self._lines = lines
        self._at = at  # the index of the line on which it starts
        self._marks: dict[int, Marks] | None = None

    def get(self, node: int) -> Marks | None:
        """The marks of a node, None for one that is not of the document."""
        if self._marks is None:
            self._marks = _Survey(self._lines, self._at).of(self._tree)
        return self._marks.get(node)


class _Survey:
    """A walk down the lines that a tree was read from, along the tree; `at` is the index of the next line."""

    __slots__ = ("_at", "_end", "_lines", "_marks")

    def __init__(self, lines: list[str], at: int) -> None:
        self._lines = lines
        self._at = at
        self._end = (0, 0)  # of the latest value, which ends all that it is the last of
        self._marks: dict[int, Marks] = {}

    def of(self, tree: Tree) -> dict[int, Marks]:
        """The marks of all nodes of a document."""
        if self._next_line() is BOUNDARY:
            self._at += 1
        self._node(tree)
        return self._marks

    def _next_line(self) -> Line:
        """What the next line says that says anything."""
        while (line := LINES[self._lines[self._at]]) is None:
            self._at += 1
        return line

    def _node(self, node: Tree) -> None:
        """A map or a list that starts on the next line."""
        dash, column = self._next_line()[:2]
        first = self._at + 1
        if type(node) is dict:
            places: dict[str, Stretch] = {}
            for key, child in node.items():
                line = self._next_line()
                self._at += 1
                places[key] = self._at, column, self._at, line[3]
                self._child(child, line)
            self._marks[id(node)] = first, column, *self._end, places
            return
        for child in node:
            line = self._next_line()
            if line[2] is None:
                self._at += 1
                self._child(child, line)
            else:
                self._node(child)
        self._marks[id(node)] = first, dash, *self._end, None

    def _child(self, child: Tree, line: Line) -> None:
        """What a key or a dash on the line before holds."""
        if type(child) is Sourced:
            span = child.origin.at
            assert span is not None
            self._end = span[3:]
            self._at = max(self._at, span.end_line - 1)  # below the text of a literal
        elif type(line[4]) is Flow:
            self._bracketed(child, line[4], line[6])
        else:
            self._node(child)

    def _bracketed(self, node: Tree, flow: Flow, end: int) -> None:
        """A list or map in brackets on the line before."""
        at = self._at
        places = {key or "": (at, first, at, after) for key, first, after, *_ in flow.parts} if flow.table else None
        self._end = (at, end)
        self._marks[id(node)] = at, flow.start, at, end, places
