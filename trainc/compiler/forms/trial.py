"""Compiles texts that nobody selected, as the run at hand would compile them, to learn what becomes of them."""

from __future__ import annotations

from trainc.compiler.forms.record import Recorder, record_of
from trainc.yaml.reader import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.compiler.forms.record import Record
    from trainc.model.bundle import Bundle
    from trainc.model.catalog import Catalog, Documents, Objects
    from trainc.model.cluster import Cluster
    from trainc.model.document import Document
    from trainc.model.report import Report
    from trainc.model.settings import Project, Selection

    Admit = Callable[[Documents, Project, Selection, Report], Catalog]
    Compile = Callable[[Project, Catalog, Report], Iterator[Bundle]]


class Trial:
    """One cluster's slow path, with a report of its own: nothing of a trial is in the run's findings, counts or output."""

    def __init__(
        self,
        documents: Documents,
        project: Project,
        selection: Selection,
        report: Report,
        stages: tuple[Admit, Compile],
        *,
        json: bool,
    ) -> None:
        admit, self._compile = stages
        self._recorder = Recorder(report, project.level_of)
        self._project = project
        self._json = json
        self._file = ""
        self._texts: list[str] = []
        self._records: list[Record | None] = []
        self._catalog = admit(documents._replace(selected=self._selected), project, selection, self._recorder)

    @property
    def objects(self) -> Objects:
        """What finds the objects that jobs name in the files of the project."""
        return self._catalog.objects

    def document(self, file: str, text: str) -> Document | None:
        """The only document of a text, None where there are several, none, or something wrong with it."""
        faults = Recorder(self._recorder, self._project.level_of)
        documents = list(read(text, file, faults, duplicates=self._project.checks.field_validation))
        if len(documents) != 1 or faults.said or type(documents[0].tree) is not dict or "items" in documents[0].tree:
            return None
        return documents[0]

    def records(self, file: str, texts: list[str]) -> list[Record | None]:
        """What becomes of each text in the place of a file; None where it is not exactly one job that compiles."""
        self._file, self._texts, self._records = file, texts, []
        bundle: Bundle | None = None
        for bundle in self._compile(self._project, self._catalog, self._recorder):
            if self._records:
                self._records[-1] = record_of(bundle, self._recorder, json=self._json)
        self._catalog.unread.clear()
        self._catalog.passing.clear()
        return self._records

    def _selected(self, _: Cluster) -> Iterator[tuple[str, list[Document]]]:
        for text in self._texts:
            self._recorder.restart()
            self._records.append(None)
            document = self.document(self._file, text)
            if document is not None:
                yield self._file, [document]
