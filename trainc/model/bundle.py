"""A bundle: the complete objects of one job, every leaf sourced, names final."""

from trainc.model.document import Document
from trainc.model.finding import place
from trainc.model.plan import Plan
from trainc.model.sourced import Origin, Sourced, Span
from trainc.model.tree import Path, Tree, first_leaf, get, value
from trainc.text.object_keys import JOBSET_API, TRAINC_PREFIX

KEEP = f"{TRAINC_PREFIX}keep"
OF_THE_WHOLE = ("suspend", "managedBy", "ttlSecondsAfterFinished")  # what a Job and a JobSet call alike
ROLE = "node"
_API_VERSION = Sourced("batch/v1", Origin(by="trainc.dev/keep"))
_KIND = Sourced("Job", Origin(by="trainc.dev/keep"))


def keeps_job(tree: Tree) -> bool:
    """Whether an object is a plain Job that says of itself that it stays one."""
    is_job = value(tree, "kind") == "Job" and value(tree, "apiVersion") == "batch/v1"
    return bool(is_job and value(tree, "metadata", "annotations", KEEP) == "job")


def runs_pods(tree: Tree) -> bool:
    """Whether an object is the one of a bundle that makes the pods: a JobSet, or a Job that stays one."""
    return value(tree, "kind") == "JobSet" or keeps_job(tree)


def job_of(view: Tree) -> Tree:
    """The Job that a JobSet of one role with one Job stands for."""
    spec = view["spec"]
    own = {field: spec[field] for field in OF_THE_WHOLE if field in spec}
    return {
        "apiVersion": _API_VERSION,
        "kind": _KIND,
        "metadata": view["metadata"],
        "spec": {**spec["replicatedJobs"][0]["template"]["spec"], **own},
    }


def view_of(job: Tree) -> Tree:
    """The JobSet of one role with one Job that stands for a Job."""
    spec = job["spec"]
    inner = {field: node for field, node in spec.items() if field not in OF_THE_WHOLE}
    subdomain = get(spec, "template", "spec", "subdomain")
    network = {} if subdomain is None else {"network": {"subdomain": subdomain}}
    role = {"name": Sourced(ROLE, Origin(by="role of a plain Job")), "template": {"spec": inner}}
    own = {field: spec[field] for field in OF_THE_WHOLE if field in spec}
    return {
        "apiVersion": Sourced(JOBSET_API, Origin(by="view")),
        "kind": Sourced("JobSet", Origin(by="view")),
        "metadata": job["metadata"],
        "spec": {**own, **network, "replicatedJobs": [role]},
    }


class Bundle:
    """All objects that one job becomes, in apply order, and the document they came from."""

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
        self.plan = plan  # None for a JobSet given as input: there is nothing behind it but its own text
        self.passing = passing  # whether these are documents of a file without jobs, which go on as they are
        self.cluster = cluster  # its name, empty where the project names none
        # The first of them, found where nobody says which it is; None in a bundle that has none.
        self.jobset: Tree = _first_jobset(objects) if jobset is None else jobset
        # Whether the job stays a plain Job: its JobSet is how rules see it, and none of its objects.
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
        if kind == "Job" and keeps_job(tree):
            return view_of(tree)
    return other
