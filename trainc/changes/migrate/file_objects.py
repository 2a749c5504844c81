"""The objects of a file that go out with its jobs: Services, ConfigMaps and whatever else stands beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.changes.migrate.chunks import as_bytes
from trainc.kinds.other_operators import INPUT_KINDS, JOB, holds_several, is_input_kind, is_training, selected_job
from trainc.kinds.table import KINDS
from trainc.kinds.unsupported import COMPILED
from trainc.model.report import Report
from trainc.model.tree import get, value
from trainc.yaml.reader import read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.model.document import Document
    from trainc.model.tree import Tree

_RUNTIMES = ("TrainingRuntime", "ClusterTrainingRuntime")


def is_other_job(document: Document) -> bool:
    """Whether a document is a job of another operator that trainc compiles, or holds several."""
    return is_input_kind(document) or holds_several(document)


def listed_jobs(tree: Tree) -> list[tuple[str, str]]:
    """Kind and name of each job in a List that could be migrated if it were a document of its own."""
    jobs = []
    items = get(tree, "items")
    for item in items if type(items) is list else ():
        key = str(value(item, "apiVersion")), str(value(item, "kind"))
        if key in KINDS or (key in INPUT_KINDS and (key != JOB or is_training(item))):
            jobs.append((key[1], str(value(item, "metadata", "name") or "")))
    return jobs


class FileObjects:
    """The documents of a file, as texts; `changed` are those that follow a job which is a TrainJob now."""

    def __init__(self, pieces: list[str]) -> None:
        self.pieces = pieces
        self.changed: dict[int, str] = {}
        self._documents: list[Document | None] | None = None

    def around(self, index: int) -> dict[int, str]:
        """The objects that go out with the job at a place: its own Services, and with the first job all that no job owns."""
        if self._documents is None:
            self._documents = [_document(piece) for piece in self.pieces]
        documents = self._documents
        jobs = [place for place, one in enumerate(documents) if one is not None and _is_job(one)]
        names = {
            one.name: place
            for place in jobs
            if (one := documents[place]) is not None and (one.api_version, one.kind) == JOB
        }
        by_line = {}
        for place, one in enumerate(documents):
            if one is None or place in jobs or one.kind in _RUNTIMES or not (one.api_version and one.kind):
                continue
            owner = names.get(selected_job(one.tree)) if len(jobs) > 1 else None
            if index == (jobs[0] if owner is None else owner):
                by_line[place] = self.changed.get(place, self.pieces[place])
        return by_line

    def put(self, around: Mapping[int, str]) -> None:
        """Take over objects as they are now."""
        self.changed |= {place: text for place, text in around.items() if text != self.pieces[place]}


def _document(piece: str) -> Document | None:
    own_report = Report()
    documents = list(read(as_bytes(piece), "", own_report, duplicates="ignore"))
    return documents[0] if documents and not own_report.failed and type(documents[0].tree) is dict else None


def _is_job(document: Document) -> bool:
    key: Any = (document.api_version, document.kind)
    if document.kind in _RUNTIMES:
        return False
    return is_other_job(document) or key in KINDS or COMPILED.get(document.kind) == document.api_version
