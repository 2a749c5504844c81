"""A runtime put together from several documents, in which every node still has a place in one of them."""

from typing import NamedTuple

from trainc.apiserver.normalise import normalise
from trainc.model.document import Document
from trainc.model.finding import ERROR, Finding, Label, Rule, place
from trainc.model.paths import Steps, at_path, keyed, located
from trainc.model.sourced import Origin, Sourced, Span
from trainc.model.tree import Path, Tree, first_leaf, get, plain
from trainc.text.object_keys import TRAINER_API

_BY = "composed runtime"
API_VERSION = Sourced(TRAINER_API, Origin(by=_BY))
KIND = Sourced("ClusterTrainingRuntime", Origin(by=_BY))

# Components add to what is there: these lists, which a patch replaces whole, get what they do not hold yet.
ADDING = frozenset(("add", "drop", "tolerations"))
LOCKED = Rule("locked-field", ERROR, admission=True)


class RuntimePart(NamedTuple):
    """One piece of a runtime: its layer, who wrote it, a partial runtime spec, and the document that it stands in.

    The node at a path of the piece stands in the document at `below` and the path without its first `cut` steps;
    `document` is None for a piece of which only the leaves know their place.
    """

    name: str
    label: str
    tree: Tree
    document: Document | None = None
    below: Path = ("spec",)
    cut: int = 0

    def span(self, path: Path, *, key: bool) -> Span | None:
        """Where the node at a path of the piece is written, None where nobody knows."""
        if self.document is not None:
            return self.document.span((*self.below, *path[self.cut :]), key=key)
        leaf = first_leaf(get(self.tree, *path))
        return place(leaf.origin) if leaf is not None else None


class Composed(Document):
    """A ClusterTrainingRuntime that stands in no file: `parts` are what it was merged from, lowest first.

    `leaf` is the runtime that jobs name; what the parts do not hold has its place there.
    """

    __slots__ = ("leaf", "parts")
    composed = True

    def __init__(self, leaf: Document, tree: Tree, parts: tuple[RuntimePart, ...]) -> None:
        super().__init__(leaf.file, tree, {}, leaf.start, inside=None)
        self.leaf = leaf
        self.parts = parts

    def admitted(self, tree: Tree) -> "Composed":
        return type(self)(self.leaf, tree, self.parts)

    @property
    def sources(self) -> tuple[Document, ...]:
        return tuple([part.document for part in self.parts if part.document is not None])

    def span(self, path: Path = (), *, key: bool = False) -> Span:
        """Where the highest part that holds the node at `path` wrote it; the nearest parent for a node that is not."""
        if path[:1] == ("spec",):
            for length in range(len(path), 1, -1):
                if (spot := self._spot(path[:length], key=key or length < len(path))) is not None:
                    return spot
        return self.leaf.span(path, key=key)

    def _spot(self, path: Path, *, key: bool) -> Span | None:
        if (node := get(self.tree, *path)) is None:
            return None
        if type(node) is Sourced and not key:
            return place(node.origin)
        steps = keyed(self.tree, path)[1:]
        for part in reversed(self.parts):
            inner = located(part.tree, steps)
            spot = part.span(inner, key=key) if inner is not None else None
            if spot is not None:
                return spot
        return None


class Held(NamedTuple):
    """A lock that holds: the field, what has to stay there, why, where it was locked, and by which runtime."""

    path: str
    steps: Steps
    node: Tree
    reason: str
    owner: str
    span: Span

    def keeps(self, node: Tree, inner: Steps = ()) -> bool:
        """Whether a node says what the lock holds, at a place in the locked field and in whatever spelling."""
        whole = (*self.steps, *inner)
        return bool(_spelled(node, whole) == _spelled(at_path(self.node, inner), whole))

    def broken(self, span: Span, who: str) -> Finding:
        """The finding for something at `span` that changes the field."""
        return LOCKED.at(
            span,
            f"{who} changes `{self.path}`, which runtime `{self.owner}` locks",
            label="changed here",
            also=[Label(self.span, f"locked here: {self.reason}")],
            help="remove the change, or ask the owners of the runtime to remove the lock",
        )


def _spelled(node: Tree, steps: Steps) -> object:
    """The values of a field as the API writes them: amounts in one spelling, nothing for a null."""
    if node is None or len(steps) < 2:
        return plain(node)
    *_, above, last = steps
    if type(last) is str:
        field = above if type(above) is str else f"{steps[-3]}[]"
        return plain(normalise({last: node}, field).get(last))
    return plain(normalise([node], str(above))[0])
