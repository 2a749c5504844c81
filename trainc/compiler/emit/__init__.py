"""Bundles -> text: one spelling, apply order, the header line."""

from collections.abc import Sequence
from typing import NamedTuple

from trainc.model.bundle import Bundle
from trainc.model.references import KINDS
from trainc.model.tree import Tree, value
from trainc.yaml.writer import dump_all, dump_json


class Rendered(NamedTuple):
    """The text of one job's objects, or of an object that jobs name, and the stable name of the file it belongs in."""

    path: str  # [<cluster>/]<namespace>/<job>.yaml or <kind>.<name>.yaml, relative to the output folder
    name: str  # of the run, as its objects carry it
    source: str  # the file the job, or the object, was written in
    text: str
    objects: int


def emit(bundle: Bundle, *, json: bool = False) -> Rendered:
    """The objects of a bundle as YAML documents in apply order, or as JSON objects separated by commas."""
    text = ",".join(map(dump_json, bundle.objects)) if json else manifests(bundle.objects)
    file = bundle.document.file
    path = file if bundle.passing else path_of(bundle)
    return Rendered(path, bundle.name, file, text, len(bundle.objects))


def manifests(objects: Sequence[Tree]) -> str:
    """Objects as YAML documents, in which placeholders for numbers have no quotes."""
    text = dump_all(objects)
    if '"$' not in text:
        return text
    from trainc.compiler.emit.numbers import with_plain_numbers  # noqa: PLC0415 (few jobs hold a placeholder)

    return dump_all([with_plain_numbers(tree) for tree in objects])


def path_of(bundle: Bundle) -> str:
    """The stable name of the file that a job's objects belong in, relative to the output folder."""
    if bundle.jobset is None:
        return object_path(bundle.objects[0], bundle.cluster)
    folder = f"{bundle.cluster}/" if bundle.cluster else ""
    return f"{folder}{value(bundle.jobset, 'metadata', 'namespace') or 'default'}/{_stem(bundle.document.name)}.yaml"


def run_path(path: str, run: str) -> str:
    """The file of a run where those of earlier runs stay, for a job whose stable file has this path."""
    return "/".join([*path.split("/")[:-1], f"{_stem(run)}.yaml"])


def _stem(name: str) -> str:
    """The name of a job's file without its suffix: a plain Job's name may have dots, and only files of objects do."""
    return name.replace(".", "_")


def object_path(tree: Tree, cluster: str) -> str:
    """The stable name of the file of an object that belongs to no single run: no job's file has a dot in its name.

    The kind of an object that jobs cannot name comes with its group, as kubectl has it.
    """
    kind, name = str(value(tree, "kind")), str(value(tree, "metadata", "name"))
    group = str(value(tree, "apiVersion")).rpartition("/")[0]
    stem = f"{kind.lower()}.{name}" if kind in KINDS or not group else f"{kind.lower()}.{group}.{name}"
    folder = f"{cluster}/" if cluster else ""
    namespace = str(value(tree, "metadata", "namespace") or "default")
    return f"{folder}{_safe(namespace).replace('.', '_')}/{_safe(stem)}.yaml"


def _safe(name: str) -> str:
    """A name with nothing in it that leads elsewhere in a tree of files."""
    return "".join([letter if letter.isalnum() or letter in "-." else "_" for letter in name])
