"""A TrainJob with the TrainJobPatch of one cluster merged in, in which every node still has its place in one of both."""

from trainc.model.document import Document
from trainc.model.finding import ERROR, SAFE, Edit, Finding, Rule, place
from trainc.model.run import RUN_PATH
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import Path, Tree, UnknownDirectiveError, get, value
from trainc.text.merge_keys import MERGE_KEYS

PATCH = "TrainJobPatch"  # a kind, and in the order of precedence the layer above the job that it is merged over
UNKNOWN_WORD = Rule("unknown-merge-directive", ERROR, admission=True)
KEYS = {**MERGE_KEYS, "runtimePatches": "manager"}


class Patched(Document):
    """The `job` with the `patch` of a cluster merged in; its file and its line are those of the job.

    `legal` is the job without the patch, as a server would store it, None where it would not.
    """

    __slots__ = ("cluster", "job", "legal", "patch")

    def __init__(self, job: Document, patch: Document, tree: Tree, *, written: Tree = None) -> None:
        super().__init__(job.file, tree, job.marks, job.start, written=written, inside=job.inside, text=job.text)
        self.job = job
        self.patch = patch
        self.cluster = ""
        self.legal: Document | None = None

    def of(self, cluster: str, legal: Document | None) -> "Patched":
        """This job, of that cluster."""
        self.cluster, self.legal = cluster, legal
        return self

    def admitted(self, tree: Tree) -> "Patched":
        return Patched(self.job, self.patch, tree, written=self.written).of(self.cluster, self.legal)

    def instead(self, tree: Tree) -> "Patched":
        return Patched(self.job, self.patch, tree).of(self.cluster, self.legal)

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.job.file, self.patch.file)))

    def holds(self, span: Span) -> bool:
        return self.job.holds(span) or self.patch.holds(span)

    def place_of(self, path: Path) -> tuple[Document, Path]:
        """The document that says what stands at a path, and where; the number of a run belongs into the patch."""
        if path == RUN_PATH:
            return self.patch, path
        for document in self._in_order(path):
            if (inner := self._inner(document, path)) is not None:
                return document, inner
        return self.job, path

    def span(self, path: Path = (), *, key: bool = False) -> Span:
        """Where the node at `path` is written (with `key`, its key); the nearest parent for a node that is not."""
        for length in range(len(path), 0, -1):
            above = path[:length]
            for document in self._in_order(above):
                if (inner := self._inner(document, above)) is not None:
                    return document.span(inner, key=key or length < len(path))
        return self.job.span()

    def edits(self, path: Path, value: object = None, *, safety: str = SAFE, name: str = "") -> list[Edit]:
        """The edit of the job or of the patch, whichever says what stands at the path."""
        document, inner = self.place_of(path)
        return document.edits(inner, value, safety=safety, name=name)

    def _in_order(self, path: Path) -> tuple[Document, Document]:
        """The patch first for a value of its own, and the job first for everything else."""
        node = get(self.written, *path)
        inner = self._inner(self.patch, path) if type(node) is Sourced else None
        is_patched = inner is not None and get(self.patch.written, *inner) is node
        return (self.patch, self.job) if is_patched else (self.job, self.patch)

    def _inner(self, document: Document, path: Path) -> Path | None:
        """Where a path leads in one of the two documents, None where that has nothing there."""
        here, there, field = self.written, document.written, ""
        inner: list[str | int] = []
        for step in path:
            at = step if type(here) is dict or here is there else _item(get(here, step), there, field)
            if at is None or get(there, at) is None:
                return None
            inner.append(at)
            here, there = get(here, step), get(there, at)
            field = step if type(step) is str else field
        return tuple(inner)


def _item(item: Tree, items: Tree, field: str) -> int | None:
    """The place of an item's namesake in a list that is merged."""
    key = KEYS.get(field, "")
    name = value(item, key) if key else None
    if name is None or type(items) is not list:
        return None
    return next((index for index, one in enumerate(items) if value(one, key) == name), None)


def unknown_word(error: UnknownDirectiveError, otherwise: Span) -> Finding:
    """The finding for a directive at which a merge stopped."""
    return UNKNOWN_WORD.at(
        place(error.leaf.origin) or otherwise,
        f"`$patch: {error.leaf.value}` is not a directive of the strategic merge",
        help="write `replace` or `delete`, or remove the key",
    )
