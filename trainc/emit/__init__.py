"""Bundles -> text: one spelling, apply order, the header line."""

from __future__ import annotations

from trainc.model.tree import value
from trainc.yaml.writer import dump_all, dump_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from trainc.model.bundle import Bundle
else:
    from trainc.model.record import NamedTuple


class Rendered(NamedTuple):
    """The text of one job's objects, and the stable name of the file it belongs in."""

    path: str  # [<cluster>/]<namespace>/<job>.yaml, relative to the output folder
    name: str  # of the run, as its objects carry it
    source: str  # the file the job was written in
    text: str
    objects: int


def emit(bundle: Bundle, *, json: bool = False) -> Rendered:
    """The objects of a bundle as YAML documents in apply order, or as JSON objects separated by commas."""
    if json:
        text = ",".join(dump_json(tree) for tree in bundle.objects)
    else:
        shared = bundle.plan.shared if bundle.plan is not None else None
        kept = shared.kept if shared is not None else {}
        text = dump_all(bundle.objects, kept)
    file = bundle.document.file
    path = file if bundle.jobset is None else path_of(bundle)
    return Rendered(path, bundle.name, file, text, len(bundle.objects))


def path_of(bundle: Bundle) -> str:
    """The stable name of the file that a job's objects belong in, relative to the output folder."""
    folder = f"{bundle.cluster}/" if bundle.cluster else ""
    return f"{folder}{value(bundle.jobset, 'metadata', 'namespace') or 'default'}/{bundle.document.name}.yaml"
