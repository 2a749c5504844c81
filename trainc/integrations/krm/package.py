"""The files that the items of a ResourceList stand for, and which item a place in one of them belongs to."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter

from trainc.compiler.admit.function_config import is_function_config
from trainc.compiler.emit import Rendered, path_of
from trainc.compiler.emit.spool import Spool
from trainc.compiler.project.clusters import DEFAULT as FOLDER
from trainc.integrations.krm.resource_list import Item, placed, with_notes
from trainc.kinds.other_operators import is_input_kind
from trainc.kinds.table import kind_of
from trainc.model.account import Account
from trainc.model.bundle import Bundle
from trainc.model.document import Document
from trainc.model.report import Report
from trainc.model.settings import FILE
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import Path, Tree, get, value
from trainc.text.trouble import Trouble
from trainc.yaml.reader import read
from trainc.yaml.writer import dump

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
        if (fields := self._fields.get(place)) is None:
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


_SPECS = {  # what only a compiler reads
    ("trainer.kubeflow.org", "TrainingRuntime"),
    ("trainer.kubeflow.org", "ClusterTrainingRuntime"),
    ("trainc.dev", "Runtime"),
    ("trainc.dev", "RuntimeComponent"),
    ("trainc.dev", "TrainJobPatch"),
    ("trainc.dev", "Project"),
}


class ItemSpool(Spool):
    """Collects the objects of every job, each with the item that it takes the place of."""

    def __init__(self, package: Package, items: Sequence[Item], output: str) -> None:
        super().__init__()
        self._package = package
        self._items = items
        self._output = output  # the folder of rendered files
        self._made: dict[int, list[Tree]] = {}  # by the place of the job's item
        self._changed: dict[int, Tree] = {}  # items that go out in another form, in their own place

    def add(self, rendered: Rendered, bundle: Bundle, report: Report) -> None:
        """Keep the objects of one bundle."""
        super().add(rendered, bundle, report)
        source = self._package.item_at(bundle.document.span())
        made = self._made.setdefault(source, []) if source is not None and bundle.jobset is not None else []
        path = f"{self._output}/{path_of(bundle)}" if source is not None and self._items[source].path else ""
        for tree in bundle.objects:
            if (place := self._written(tree)) is None:
                made.append(placed(tree, path, len(made)) if path else tree)
                continue
            self._changed[place] = with_notes(tree, self._items[place].tree)
            if place == source and bundle.jobset is not None:
                made.append(self._changed[place])

    def _written(self, tree: Tree) -> int | None:
        """The place of the item that an object is, in whatever form; None for one that trainc makes."""
        words = (get(tree, "kind"), get(tree, "apiVersion"))
        span = next((word.origin.at for word in words if type(word) is Sourced), None)
        place = self._package.item_at(span) if span is not None else None
        return place if place is not None and _kind(self._items[place].tree) == _kind(tree) else None

    def texts_in_place(self, account: Account) -> list[str]:
        """The texts of all items in order, jobs replaced by what they became; a spec that became nothing is left out."""
        specs = {self._package.item_at(span) for span in account.places()}
        left = (place for file in account.unasked for place in self._package.items_of(file))
        specs |= {place for place in left if _is_job(self._items[place].tree)}
        texts: list[str] = []
        for place, item in enumerate(self._items):
            if place in self._made:
                texts += map(dump, self._made[place])
            elif place in self._changed:
                texts.append(dump(self._changed[place]))
            elif place not in specs and _kind(item.tree) not in _SPECS:
                texts.append(item.text)
        return texts


def _is_job(tree: Tree) -> bool:
    """Whether an object is a job that trainc compiles."""
    document = Document("", tree, {})
    known = document.kind in ("TrainJob", "JobSet") or kind_of(document.api_version, document.kind) is not None
    return known or is_input_kind(document)


def _kind(tree: Tree) -> tuple[str, str]:
    return str(value(tree, "apiVersion")).partition("/")[0], str(value(tree, "kind"))
