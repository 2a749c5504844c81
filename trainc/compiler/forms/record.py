"""Compiles texts to learn from, and keeps what each job leaves behind: texts with holes, facts that all of a form share."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from trainc.compiler.emit import emit, path_of
from trainc.compiler.emit.digest import written_text
from trainc.frameworks import FRAMEWORKS, OLDER
from trainc.lint.across_jobs import names_of
from trainc.model.bundle import Bundle
from trainc.model.catalog import Catalog, Documents, Objects
from trainc.model.cluster import Cluster
from trainc.model.document import Document, Identity
from trainc.model.finding import ERROR, Finding, Rule
from trainc.model.references import references_of
from trainc.model.report import Report
from trainc.model.run import run_of
from trainc.model.settings import Project, Selection
from trainc.model.sourced import Sourced
from trainc.yaml.reader import read

Admit = Callable[[Documents, Project, Selection, Report], Catalog]
Compile = Callable[[Project, Catalog, Report], Iterator[Bundle]]

SEPARATOR = "\0"  # between texts, none of which holds it
HOLE = "\1"  # in a text with a place for a number; no text that counts holds it either
OWN_TEXTS = 6  # of a record, before those of names


class Record(NamedTuple):
    """A compiled job: `texts` vary with its numbers, everything else is the same for all jobs of a form.

    The texts are the rendering, its path, the run's name, the job's name and namespace, what the job's digest is made
    of, then four for each object (cluster, kind, namespace, name) and four for each object that the job names.
    """

    texts: tuple[str, ...]
    objects: int
    names: int  # of the texts, how many fours are names of objects
    kind: str
    number: int  # of the run
    line: int  # where the job's name is written
    column: int
    padding: int  # columns of its place that are not the name itself: quotes
    runtimes: frozenset[Identity]  # that the job is made of
    findings: tuple[Finding, ...]
    skipped: tuple[str, ...]

    def facts(self) -> tuple[object, ...]:
        """Everything that has to be the same in two jobs of one form."""
        return (*self[1:-2], tuple(map(_facts, self.findings)), self.skipped)


def _facts(finding: Finding) -> tuple[object, ...]:
    labels = tuple([(label.span, label.text) for label in finding.labels])
    return (finding.rule.name, finding.level, finding.message, labels, finding.effect, finding.help, finding.notes)


def record_of(bundle: Bundle, recorder: "Recorder", *, json: bool) -> Record | None:
    """The record of a bundle, None for one that no form may answer for."""
    findings = recorder.said
    document = bundle.document
    place = _place(document)
    plan = bundle.plan
    if bundle.jobset is None or place is None or plan is None or plan.companions or plan.beside:
        return None
    if plan.framework and not (plan.framework in FRAMEWORKS or plan.framework in OLDER):
        return None  # nobody knows what a package asks of a value
    if recorder.is_unsure or any(_is_own(finding, document.file) for finding in findings):
        return None
    text = emit(bundle, json=json).text
    names = [str(part) for key in names_of(bundle) for part in key]
    references = [str(part) for one in sorted(references_of(bundle, bundle.objects)) for part in one]
    own = (text, path_of(bundle), bundle.name, document.name, document.namespace, written_text(bundle))
    texts = (*own, *names, *references)
    line, column, padding = place
    if any(SEPARATOR in one or HOLE in one for one in texts):
        return None
    sources = plan.runtime.sources if plan.runtime is not None else ()
    return Record(
        texts,
        objects=len(bundle.objects),
        names=len(names) // 4,
        kind=document.kind,
        number=run_of(document.tree),
        line=line,
        column=column,
        padding=padding,
        runtimes=frozenset([one.identity for one in sources]),
        findings=tuple(findings),
        skipped=tuple(recorder.skipped),
    )


def _is_own(finding: Finding, file: str) -> bool:
    """Whether a finding is an error, or speaks of the job itself: then each job has its own."""
    return finding.level == ERROR or bool(finding.fix) or any(label.span.file == file for label in finding.labels)


def _place(document: Document) -> tuple[int, int, int] | None:
    metadata = document.written.get("metadata") if type(document.written) is dict else None
    leaf = metadata.get("name") if type(metadata) is dict else None
    at = leaf.origin.at if type(leaf) is Sourced else None
    if at is None or at != document.span(("metadata", "name")) or at.line != at.end_line:
        return None
    return at.line, at.column, at.end_column - at.column - len(document.name)


class Recorder(Report):
    """A report of jobs that are compiled to learn from: it keeps what each of them says, and forgets it with the next."""

    __slots__ = ("_run", "is_unsure", "said", "skipped")

    def __init__(self, like: Report, level_of: Callable[[str, str], str]) -> None:
        super().__init__(admission_only=like.admission_only, compiles=like.compiles, level_of=level_of)
        self._run = like
        self.is_unsure = False  # whether the run has said it otherwise, or not at all
        self.said: list[Finding] = []
        self.skipped: list[str] = []

    def restart(self) -> None:
        """Forget what was said of the job before."""
        self.end()
        self.said, self.skipped, self.is_unsure = [], [], False
        self.unknown.clear()
        self.reached.clear()
        self._findings.clear()

    def add(self, finding: Finding) -> None:
        """Keep a finding as it was before anybody silenced it."""
        self.said.append(finding)
        super().add(finding)

    def tell(self, rule: Rule, leaf: Any, make: Callable[..., Finding], *given: Any) -> None:  # noqa: ARG002 (a report's)
        """Add what `make` says, for each job anew; the run itself has said it once, of the first job that met it."""
        finding = make(*given)
        self.is_unsure = self.is_unsure or not self._run.jobs_reached(finding)
        self.add(finding)

    def skip(self, reason: str) -> None:
        """Note a check that could not be made."""
        self.skipped.append(reason)
        super().skip(reason)


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
            if (document := self.document(self._file, text)) is not None:
                yield self._file, [document]
