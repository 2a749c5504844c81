"""The stage between load and the other stages: a file whose job a form answers for goes no further."""

from trainc.compiler.emit import Rendered
from trainc.compiler.emit.spool import Spool
from trainc.compiler.emit.spool.changes import Filled, NewRun
from trainc.compiler.forms import Forms
from trainc.compiler.forms.record import OWN_TEXTS, Admit, Compile, Trial
from trainc.compiler.forms.template import Template, Values
from trainc.lint.across_jobs import SharedNames
from trainc.lint.facts.storage import is_for_one_node
from trainc.model.account import COMPILED
from trainc.model.catalog import Documents
from trainc.model.references import CLAIM, Reference
from trainc.model.report import Report
from trainc.model.settings import FILE, Project, Selection
from trainc.model.sourced import Span
from trainc.yaml.comments import MARK

_LARGEST = 64 * 1024  # bytes of a text


def is_open(project: Project) -> bool:
    """Whether forms can answer for jobs of the present cluster of a project.

    They cannot where a job's values are compared with more than what its own files and trainc hold: with objects,
    definitions, admission policies and digests of images of a cluster, and by rules of installed packages.
    """
    cluster = project.cluster
    known = (
        cluster.objects or cluster.definitions or cluster.policies or project.policies or "digests" in cluster.images
    )
    return not (known or project.rules_from or project.checks.closed_world or cluster.closed)


class FormStage:
    """Puts what forms fill in for one cluster where the other stages put what they compile: into spool, report and names."""

    def __init__(
        self,
        documents: Documents,
        project: Project,
        selection: Selection,
        report: Report,
        goal: tuple[Spool, SharedNames],
        stages: tuple[Admit, Compile],
        files: int,
    ) -> None:
        self._project = project
        self._report = report
        self._spool, self._together = goal
        trial = Trial(documents, project, selection, report, stages, json=self._spool.json)
        self._forms = Forms(trial, files, whole_images=bool(project.cluster.images))
        self._objects = trial.objects
        self._nearest = documents.nearest
        self._beside = documents.beside
        self._near: dict[str, str] = {}  # by folder

    def is_filled(self, file: str, data: bytes) -> bool:
        """Whether a form answers for the only job of a file; then everything is said and kept that its job gives rise to."""
        if len(data) > _LARGEST or not data.isascii() or MARK in data or b"\r" in data or file.endswith(FILE):
            return False
        report = self._report
        before = report.job, report.account.current
        report.job, report.account.current = "", None  # what is learned now is not said of the job before
        template = self._forms.template(file, data, self._place(file))
        if template is not None and self._fill(file, *template):
            return True
        report.job, report.account.current = before
        return False

    def _place(self, file: str) -> str:
        """What a job's runtime, and the clusters that it runs on, depend on: the folder of runtimes, the paths."""
        folder = file.rpartition("/")[0]
        near = self._near.get(folder)
        if near is None:
            runtimes = self._nearest(file) if self._project.runtimes is None else ""
            near = self._near[folder] = f"{runtimes}\n{self._beside(file).label}"
        if len(self._project.clusters) == 1 and not self._project.cluster.paths:
            return near
        return "\n".join([near, *[cluster.name for cluster in self._project.holders[file]]])

    def _fill(self, file: str, template: Template, values: Values) -> bool:
        record = template.record
        texts = template.texts(values)
        text, path, run, job, namespace, written = texts[:OWN_TEXTS]
        job = run if job == run else job  # a run keeps the names of every job, each once
        names = [run if one == run else one for one in texts[OWN_TEXTS : OWN_TEXTS + 4 * record.names]]
        references = [known or Reference._make(texts[at : at + 4]) for at, known in template.references]
        if any(one.kind == CLAIM and any(map(is_for_one_node, self._objects.claims(one.name))) for one in references):
            return False  # which of several PVCs of a name a job mounts depends on its folder
        end = record.column + len(job) + record.padding
        place = Span._make((file, record.line, record.column, record.line, end))
        new = NewRun._make((place, file, job, record.number, run))
        rendered = Rendered._make((path, run, file, text, record.objects))
        if not self._spool.add_filled(Filled._make((rendered, written, references, new))):
            return False
        report = self._report
        report.account.count((file, 0, self._project.cluster.name), record.kind, job, namespace, place)
        report.job = job
        report.add_all(record.findings)
        for reason in record.skipped:
            report.skip(reason)
        report.reached_runtimes.update(record.runtimes)
        report.account.end(COMPILED)
        if self._spool.outcomes is not None:
            self._spool.outcomes.add_filled(file, record.runtimes, report)
        self._together.add_names(zip(*[iter(names)] * 4, strict=True), (run, place), report)
        return True
