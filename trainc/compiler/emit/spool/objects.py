"""Objects that belong to no single run of a job: each stands in a file of its own, however many runs there are."""

from collections.abc import Container, Iterable

from trainc.compiler.emit import object_path
from trainc.compiler.emit.spool.disk import Folder
from trainc.model.bundle import Bundle
from trainc.model.references import names_in, provides
from trainc.model.report import Report
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree, get, value
from trainc.yaml.reader import read
from trainc.yaml.writer import dump_all

_KEY_MATERIAL = "external-secrets.io"  # the end of the groups of what makes keys, which outlive runs


def parts_of(bundle: Bundle) -> list[Bundle]:
    """The objects of a job that outlive its run, a bundle for each, and behind them what is the run's own."""
    plan = bundle.plan
    beside = {object_key(document.tree): document for document in plan.companions} if plan is not None else {}
    lasting, own = [], []
    for tree in bundle.objects:
        document = beside.get(object_key(tree))
        if document is None and not str(value(tree, "apiVersion")).partition("/")[0].endswith(_KEY_MATERIAL):
            own.append(tree)
        else:
            lasting.append(Bundle(document or bundle.document, (tree,), cluster=bundle.cluster))
    return [*lasting, Bundle(bundle.document, tuple(own), plan, cluster=bundle.cluster, jobset=bundle.jobset)]


def is_object_file(path: str) -> bool:
    """Whether a rendered file is that of a single object, by its name."""
    return "." in path.rpartition("/")[2].removesuffix(".yaml")


def trees_of(body: bytes) -> list[Tree]:
    """The objects of a rendered text."""
    return [document.tree for document in read(body, "", Report()) if type(document.tree) is dict]


def services_of(trees: Iterable[Tree], folder: str) -> dict[str, Sourced[str]]:
    """The names of the Services among some objects, by the folder that is their namespace's and the name."""
    names = [get(tree, "metadata", "name") for tree in trees if value(tree, "kind") == "Service"]
    return {f"{folder}/{name.value}": name for name in names if name is not None}


def without_objects(body: bytes, path: str, paths: Container[str]) -> bytes:
    """A rendered text at a path without the objects that have a file of their own among the paths."""
    folder = path.rpartition("/")[0]
    trees = trees_of(body)
    kept = [tree for tree in trees if f"{folder}/{object_path(tree, '').rpartition('/')[2]}" not in paths]
    return body if len(kept) == len(trees) else dump_all(kept).encode()


def is_named_nearby(files: Folder, path: str, others: Iterable[str]) -> bool:
    """Whether one of other rendered files names an object of the file at a path; one of another cluster does not."""
    depth = path.count("/")
    top = path.partition("/")[0] if depth > 1 else ""
    near = [other for other in others if other.count("/") == depth and (not top or other.startswith(f"{top}/"))]
    _, existing = files.find(path)
    if existing is None:
        return False
    made = {provides(tree) for tree in trees_of(existing.body)}
    bodies = (other.body for name in near if (other := files.find(name)[1]) is not None)
    return any(made & names_in(trees_of(body)) for body in bodies)


def object_key(tree: Tree) -> tuple[str, str]:
    """The kind and the name of an object."""
    return str(value(tree, "kind")), str(value(tree, "metadata", "name"))
