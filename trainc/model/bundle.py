"""A bundle: the complete objects of one job, every leaf sourced, names final."""

from __future__ import annotations

from trainc.model.finding import place
from trainc.model.sourced import Sourced
from trainc.model.tree import first_leaf, get, value
from trainc.text.object_keys import JOBSET_API

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.document import Document
    from trainc.model.plan import Plan
    from trainc.model.sourced import Span
    from trainc.model.tree import Path, Tree


class Bundle:
    """All objects that one job becomes, in apply order, and the document they came from.

    `plan` is None for a JobSet given as input: there is nothing behind it but its own text. `keeps_job` says that the
    job stays a plain Job: its JobSet is how rules see it, and none of its objects.
    """

    __slots__ = ("cluster", "document", "jobset", "keeps_job", "objects", "passing", "plan")

    def __init__(
        self,
        document: Document,
        objects: tuple[Tree, ...],
        plan: Plan | None = None,
        *,
        cluster: str = "",
        jobset: Tree = None,
        passing: bool = False,
    ) -> None:
        self.document = document
        self.objects = objects
        self.plan = plan
        self.passing = passing  # whether these are documents of a file without jobs, which go on as they are
        self.cluster = cluster  # its name, empty where the project names none
        # The first of them, found where nobody says which it is; None in a bundle that has none.
        self.jobset: Tree = _first_jobset(objects) if jobset is None else jobset
        self.keeps_job = self.jobset is not None and all(tree is not self.jobset for tree in objects)

    @property
    def name(self) -> str:
        """The name of the job as its objects carry it."""
        return value(self.jobset, "metadata", "name") or self.document.name

    @property
    def around(self) -> tuple[Tree, ...]:
        """The objects, and those of the same file that go out with another job."""
        if self.plan is None or not self.plan.beside:
            return self.objects
        return (*[document.tree for document in self.plan.beside], *self.objects)

    def of_kind(self, kind: str) -> list[Tree]:
        """The objects of one kind."""
        return [tree for tree in self.around if value(tree, "kind") == kind]

    def span(self, tree: Tree, path: Path = ()) -> Span:
        """A place in the user's files for the node at `path` of one of the objects: its own, or the nearest above it."""
        node = get(tree, *path)
        if type(node) is Sourced and node.origin.at is not None:
            return node.origin.at
        for length in range(len(path), -1, -1):
            below = get(tree, *path[:length])
            # Of the map around it, a field that a server filled in may come first.
            fields = below.values() if node is not None and length == len(path) - 1 and type(below) is dict else ()
            leaves = (first_leaf(below), *(field for field in fields if type(field) is Sourced))
            position = next((spot for leaf in leaves if leaf is not None and (spot := place(leaf.origin))), None)
            if position is not None:
                return position
        return self.document.span(("metadata", "name"))


def _first_jobset(objects: tuple[Tree, ...]) -> Tree:
    other: Tree = None  # an object of that kind which another operator runs may stand beside the job's
    for tree in objects:
        kind = value(tree, "kind")
        if kind == "JobSet":
            if value(tree, "apiVersion") == JOBSET_API:
                return tree
            other = tree if other is None else other
        if kind == "Job":
            from trainc.model.kept_job import keeps_job, view_of  # noqa: PLC0415 (few bundles hold one)

            if keeps_job(tree):
                return view_of(tree)
    return other
