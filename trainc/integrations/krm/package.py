"""The files that the items of a ResourceList stand for, and which item a place in one of them belongs to."""

from __future__ import annotations

from bisect import bisect_right
from operator import itemgetter

from trainc.compiler.admit.function_config import is_function_config
from trainc.compiler.project.policies import DEFAULT as FOLDER
from trainc.model.report import Report
from trainc.model.settings import FILE
from trainc.model.tree import value
from trainc.text.trouble import Trouble
from trainc.yaml.reader import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.integrations.krm.resource_list import Item
    from trainc.model.document import Document
    from trainc.model.sourced import Span
    from trainc.model.tree import Path, Tree

_POLICIES = "admissionregistration.k8s.io/"
_PROJECT = ("trainc.dev/v1alpha1", "Project")


class Package:
    """The files of a project, made from items alone: no path of an item leads anywhere else."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self._files: dict[str, list[int]] = {}  # by name, the places of the items in their order
        self._starts: dict[str, list[tuple[int, int]]] = {}  # by name, the first line of each item and its place
        self._fields: dict[int, dict[Span, tuple[Path, Tree]]] = {}  # by place of an item, what is written where
        for place, item in sorted(enumerate(items), key=lambda pair: pair[1].position):
            if is_function_config(value(item.tree, "apiVersion"), value(item.tree, "kind")):
                continue
            self._files.setdefault(_file(place, item), []).append(place)

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Each file with its bytes."""
        for name, places in self._files.items():
            parts: list[str] = []
            line = 1
            for place in places:
                self._starts.setdefault(name, []).append((line, place))
                parts.append(self._items[place].own)
                line += parts[-1].count("\n") + 1
            yield name, "---\n".join(parts).encode("utf-8", "surrogatepass")

    def item_at(self, span: Span) -> int | None:
        """The place of the item that a span of one of the files lies in, None for another file."""
        return self._start(span)[1]

    def _start(self, span: Span) -> tuple[int, int | None]:
        """The first line of the item that a span lies in, and its place."""
        starts = self._starts.get(span.file, [])
        behind = bisect_right(starts, span.line, key=itemgetter(0))
        return starts[behind - 1] if behind else (0, None)

    def items_of(self, file: str) -> list[int]:
        """The places of all items of a file."""
        return self._files.get(file, [])

    def field_at(self, span: Span) -> tuple[Path, Tree]:
        """The path of what is written at a span, in its item, and the node itself; the whole item where nothing is."""
        first, place = self._start(span)
        if place is None:
            return (), None
        fields = self._fields.get(place)
        if fields is None:
            document = next(read(self._items[place].own, span.file, Report(), duplicates="ignore"))
            fields = self._fields[place] = _fields(document)
        wanted = span._replace(line=span.line - first + 1, end_line=span.end_line - first + 1)
        return fields.get(wanted, ((), None))


def _file(place: int, item: Item) -> str:
    """The name of an item's file: the package's, if that is one that a run looks into, else one of its own.

    Raises:
        Trouble: for a project below the top of the package, whose jobs would be left out.
    """
    if (str(value(item.tree, "apiVersion")), str(value(item.tree, "kind"))) == _PROJECT:
        if "/" in item.path:
            raise Trouble(f"{item.path}: a trainc.yaml below the package is another project; run the function there")
        return FILE
    steps = item.path.split("/")
    hidden = any(not step or step.startswith(".") or step == "node_modules" for step in steps)
    outside = hidden or steps[-1] == FILE or not steps[-1].lower().endswith((".yaml", ".yml", ".json"))
    if outside and str(value(item.tree, "apiVersion")).startswith(_POLICIES):
        return f"{FOLDER}/item-{place}.yaml"
    return f"item-{place}.yaml" if outside else item.path


def _fields(document: Document) -> dict[Span, tuple[Path, Tree]]:
    """Each field by the span of its value and by that of its key; the outer one where two stand at one place."""
    fields: dict[Span, tuple[Path, Tree]] = {}
    for path, node in _nodes(document.tree, ()):
        for span in (document.span(path), document.span(path, key=True)):
            fields.setdefault(span, (path, node))
    return fields


def _nodes(node: Tree, path: Path) -> Iterator[tuple[Path, Tree]]:
    kind = type(node)
    if kind is dict or kind is list:
        for step, inner in node.items() if kind is dict else enumerate(node):
            yield (*path, step), inner
            yield from _nodes(inner, (*path, step))
