"""KRM functions of kustomize and kpt: a ResourceList in and out, the object that configures a run, and the files of its items."""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from trainc.compiler.admit.function_config import BUILD, COMMANDS, is_function_config
from trainc.compiler.emit import Rendered, path_of
from trainc.compiler.emit.spool import Spool
from trainc.compiler.project.clusters import DEFAULT as FOLDER
from trainc.kinds.other_operators import is_input_kind
from trainc.kinds.table import kind_of
from trainc.model.account import Account
from trainc.model.bundle import Bundle
from trainc.model.document import Document
from trainc.model.finding import ERROR
from trainc.model.report import Report
from trainc.model.settings import FILE, STDIN
from trainc.model.sourced import Origin, Sourced, Span
from trainc.model.tree import Path, Tree, get, plain, stamp, value
from trainc.text.numbers import whole_number
from trainc.text.spelling import meant
from trainc.text.trouble import Trouble
from trainc.yaml.reader import read
from trainc.yaml.writer import dump

_KIND = "ResourceList"
PATH, INDEX = "internal.config.kubernetes.io/path", "internal.config.kubernetes.io/index"
_INTERNAL = "internal.config.kubernetes.io/"
_FORMER = {  # as older versions of both spell them
    "config.kubernetes.io/path": PATH,
    "config.kubernetes.io/index": INDEX,
    "config.k8s.io/id": "",
    "kustomize.config.k8s.io/id": "",
}
_ORIGIN = Origin(by="the ResourceList")
_DASH = 2  # columns of `- ` in front of an item
_CHOICES = {  # a word of the configuration -> the option, and what it may be
    "only": ("only", ("admission",)),
    "failOn": ("fail_on", ("error", "warning")),
    "fieldValidation": ("field_validation", ("strict", "warn", "ignore")),
    "podSecurity": ("pod_security", ("baseline", "restricted")),
}
_NAMES = ("cluster", "select", "ignore")  # one name, or several
_SWITCHES = {"closedWorld": "closed_world"}
_POLICIES = "admissionregistration.k8s.io/"
_PROJECT = ("trainc.dev/v1alpha1", "Project")
_SPECS = {  # what only a compiler reads
    ("trainer.kubeflow.org", "TrainingRuntime"),
    ("trainer.kubeflow.org", "ClusterTrainingRuntime"),
    ("trainc.dev", "Runtime"),
    ("trainc.dev", "RuntimeComponent"),
    ("trainc.dev", "TrainJobPatch"),
    ("trainc.dev", "Project"),
}


class Item(NamedTuple):
    """One object of the list.

    `text` is what was given, comments included; `own` is the same without what kustomize and kpt note on it while a
    function runs. `path` and `position` say which file of the package it is from, and which document there; they are
    empty and 0 where nothing does.
    """

    tree: Tree
    text: str
    own: str
    path: str
    position: int


class ResourceList(NamedTuple):
    """What a function is given: items in order, and the object that configures it (None where there is none)."""

    api_version: str
    items: tuple[Item, ...]
    config: Document | None
    config_text: str


def read_list(data: bytes) -> ResourceList:
    """The ResourceList that a text holds; Trouble where it is not one."""
    report = Report()
    documents = list(read(data, STDIN, report, duplicates="ignore"))
    if broken := next((finding for finding in report.findings if finding.level == ERROR), None):
        raise Trouble(f"{broken.span}: {broken.message}")
    if len(documents) != 1 or documents[0].kind != _KIND:
        raise Trouble(
            "standard input is not a ResourceList; kustomize and kpt write one, `trainc build -` takes manifests"
        )
    document = documents[0]
    items = _objects(document.tree.get("items"), "items")
    config = get(document.tree, "functionConfig")
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    texts = _slices(text.splitlines(), document, items)
    return ResourceList(
        document.api_version,
        tuple([_item(tree, written) for tree, written in zip(items, texts, strict=True)]),
        document.part(config) if type(config) is dict else None,
        dump(config) if type(config) is dict else "",
    )


def _objects(items: Tree, where: str) -> list[Tree]:
    if items is None:
        return []
    if type(items) is not list or any(type(item) is not dict for item in items):
        raise Trouble(f"`{where}` is not a list of objects")
    return items


def _item(tree: Tree, text: str) -> Item:
    notes = get(tree, "metadata", "annotations")
    known = {_FORMER.get(key, key): str(value(notes, key)) for key in notes} if type(notes) is dict else {}
    position = whole_number(known.get(INDEX, "")) or 0
    return Item(tree, text, _own_text(tree, text), known.get(PATH, ""), position)


def write_list(given: ResourceList, texts: Iterable[str], results: list[dict[str, Any]]) -> str:
    """The answer of a function: items in order, its configuration, and its results."""
    parts = [f"apiVersion: {given.api_version}\nkind: {_KIND}\n"]
    items = [_indented(text, "- ") for text in texts]
    parts.append("items:\n" + "".join(items) if items else "items: []\n")
    if given.config_text:
        parts.append("functionConfig:\n" + _indented(given.config_text, "  "))
    if results:
        parts.append("results:\n" + dump(stamp(results, "report")))
    return "".join(parts)


def _indented(text: str, head: str) -> str:
    """Lines behind a head of two characters, and below it."""
    first, *rest = text.removesuffix("\n").split("\n")
    return "\n".join([head + first, *[f"  {line}" if line else line for line in rest]]) + "\n"


def _is_note(key: str) -> bool:
    """Whether an annotation is a note that a tool took for itself."""
    return key.startswith(_INTERNAL) or key in _FORMER


def _own_text(tree: Tree, text: str) -> str:
    """An object's text without the notes of tools; with its comments, where every note has a line of its own."""
    notes = get(tree, "metadata", "annotations")
    if type(notes) is not dict or not any(map(_is_note, notes)):
        return text
    kept = {key: leaf for key, leaf in notes.items() if not _is_note(key)}
    metadata = {key: node for key, node in tree["metadata"].items() if key != "annotations"}
    own = {**tree, "metadata": {**metadata, "annotations": kept} if kept else metadata}
    # The lines of the notes go, and `annotations:` where nothing else is below it.
    document = next(read(text, "", Report(), duplicates="ignore"))
    drop: set[int] = set()
    for key in filter(_is_note, notes):
        start, span = (document.span(("metadata", "annotations", key), key=is_key) for is_key in (True, False))
        drop.update(range(start.line, span.end_line + (span.end_column > 1)))
    if not kept:
        drop.add(document.span(("metadata", "annotations"), key=True).line)
    lines = enumerate(text.splitlines(keepends=True), 1)
    cut = "".join([line for number, line in lines if number not in drop])
    return cut if _says(cut, own) else dump(own)


def _annotated(tree: Tree, notes: dict[str, Tree]) -> Tree:
    metadata = tree["metadata"]
    return {**tree, "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), **notes}}}


def _slices(lines: Sequence[str], document: Document, items: Sequence[Tree]) -> list[str]:
    """The text of each item: what is written where that reads as the item, or the item in trainc's own spelling.

    JSON, and items that stand on one line with others, have no lines of their own.
    """
    marks = [document.marks.get(id(item)) for item in items]
    texts = [_block(lines, mark[0] - 1, mark[1] - 1) if mark is not None else "" for mark in marks]
    return [text if _says(text, item) else dump(item) for text, item in zip(texts, items, strict=True)]


def _says(text: str, tree: Tree) -> bool:
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


class Configuration(NamedTuple):
    """What to do with the items: the command, its options as the command line has them, and items besides those given."""

    command: str
    options: dict[str, list[str]]
    resources: list[Item]


def configuration(config: Document | None, settings: Collection[str]) -> Configuration:
    """What a functionConfig asks for: a ConfigMap's `data`, or the `spec` of kind Build or Validate of trainc.dev.

    `settings` are the names of those of a cluster. Trouble for a kind, an option or a value that there is not.
    """
    if config is None:
        return Configuration(BUILD, {}, [])
    section = "data" if config.kind == "ConfigMap" else "spec"
    if section == "spec" and not is_function_config(config.api_version, config.kind):
        raise Trouble(
            f"functionConfig has kind {config.kind or 'unknown'}; it must be a ConfigMap, or a Build or Validate of "
            "trainc.dev/v1alpha1; put jobs under `spec.resources` of Build"
        )
    written = plain(get(config.tree, section) or {})
    if type(written) is not dict:
        raise Trouble(f"functionConfig: `{section}` is not a map of options")
    words = dict(written)
    command = COMMANDS.get(config.kind) or str(words.pop("command", BUILD))
    if command not in COMMANDS.values():
        raise Trouble(f"functionConfig: `command` must be {' or '.join(COMMANDS.values())}, not `{command}`")
    listed = get(config.tree, "spec", "resources") if config.kind in COMMANDS else None
    inline = [_item(item, dump(item)) for item in _objects(listed, "functionConfig: spec.resources")]
    words.pop("resources", None)
    options: dict[str, list[str]] = {}
    for key, given in words.items():
        if type(given) is dict or (type(given) is list and key not in _NAMES):
            kind = "map" if type(given) is dict else "list"
            raise Trouble(f"functionConfig: `{key}` must be one value, not a {kind}")
        text = str(given).lower() if type(given) is bool else str(given)
        if key in _CHOICES:
            option, choices = _CHOICES[key]
            if text not in choices:
                raise Trouble(f"functionConfig: `{key}` must be one of {', '.join(choices)}, not `{text}`")
            options[option] = [text]
        elif key in _NAMES:
            options[key] = [str(name).strip() for name in (given if type(given) is list else text.split(","))]
        elif key in _SWITCHES:
            if text not in ("true", "false"):
                raise Trouble(f"functionConfig: `{key}` must be true or false, not `{text}`")
            options |= {_SWITCHES[key]: [""]} if text == "true" else {}
        elif key in settings:
            options.setdefault("set", []).append(f"{key}={text}")
        else:
            known = (*_CHOICES, *_NAMES, *_SWITCHES, *settings)
            hint = meant(key, known, f"options: {', '.join(known)}")
            raise Trouble(f"functionConfig: unknown option `{key}`; {hint}")
    return Configuration(command, options, inline)


class Package:
    """The files of a project, made from items alone: no path of an item leads anywhere else."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self.places: dict[str, list[int]] = {}  # by name, the places of the items in their order
        self._starts: dict[str, list[tuple[int, int]]] = {}  # by name, the first line of each item and its place
        self._fields: dict[int, dict[Span, tuple[Path, Tree]]] = {}  # by place of an item, what is written where
        for place, item in sorted(enumerate(items), key=lambda pair: pair[1].position):
            if is_function_config(value(item.tree, "apiVersion"), value(item.tree, "kind")):
                continue
            self.places.setdefault(_file(place, item), []).append(place)

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Each file with its bytes."""
        for name, places in self.places.items():
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

    def field_at(self, span: Span) -> tuple[Path, Tree]:
        """The path of what is written at a span, in its item, and the node itself; the whole item where nothing is."""
        first, place = self._start(span)
        if place is None:
            return (), None
        if (fields := self._fields.get(place)) is None:
            document = next(read(self._items[place].own, span.file, Report(), duplicates="ignore"))
            fields = self._fields[place] = {}
            for path, node in _nodes(document.tree, ()):
                for at in (document.span(path), document.span(path, key=True)):
                    fields.setdefault(at, (path, node))  # the outer one where two stand at one place
        wanted = span._replace(line=span.line - first + 1, end_line=span.end_line - first + 1)
        return fields.get(wanted, ((), None))


def _file(place: int, item: Item) -> str:
    """The name of an item's file: the package's, if that is one that a run looks into, else one of its own."""
    if (str(value(item.tree, "apiVersion")), str(value(item.tree, "kind"))) == _PROJECT:
        if "/" in item.path:  # its jobs would be left out
            raise Trouble(f"{item.path}: a trainc.yaml below the package is another project; run the function there")
        return FILE
    steps = item.path.split("/")
    hidden = any(not step or step.startswith(".") or step == "node_modules" for step in steps)
    outside = hidden or steps[-1] == FILE or not steps[-1].lower().endswith((".yaml", ".yml", ".json"))
    if outside and str(value(item.tree, "apiVersion")).startswith(_POLICIES):
        return f"{FOLDER}/item-{place}.yaml"
    return f"item-{place}.yaml" if outside else item.path


def _nodes(node: Tree, path: Path) -> Iterator[tuple[Path, Tree]]:
    kind = type(node)
    if kind is dict or kind is list:
        for step, inner in node.items() if kind is dict else enumerate(node):
            yield (*path, step), inner
            yield from _nodes(inner, (*path, step))


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
                notes = {PATH: Sourced(path, _ORIGIN), INDEX: Sourced(str(len(made)), _ORIGIN)}
                made.append(_annotated(tree, notes) if path else tree)
                continue
            # With the notes that tools took on the item that it replaces.
            notes = get(self._items[place].tree, "metadata", "annotations")
            theirs = {key: leaf for key, leaf in notes.items() if _is_note(key)} if type(notes) is dict else {}
            self._changed[place] = _annotated(tree, theirs) if theirs else tree
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
        left = (place for file in account.unasked for place in self._package.places.get(file, ()))
        for place in left:
            document = Document("", self._items[place].tree, {})
            older = kind_of(document.api_version, document.kind)
            if document.kind in ("TrainJob", "JobSet") or older is not None or is_input_kind(document):
                specs.add(place)
        texts: list[str] = []
        for place, item in enumerate(self._items):
            if place in self._made:
                texts += map(dump, self._made[place])
            elif place in self._changed:
                texts.append(dump(self._changed[place]))
            elif place not in specs and _kind(item.tree) not in _SPECS:
                texts.append(item.text)
        return texts


def _kind(tree: Tree) -> tuple[str, str]:
    return str(value(tree, "apiVersion")).partition("/")[0], str(value(tree, "kind"))
