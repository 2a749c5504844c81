"""The repository that a dump becomes: every file of it as text, and what became of each job."""

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from trainc.apiserver.pods.complaints import fields
from trainc.apiserver.served import Served
from trainc.authoring.adopt.objects import (
    ARCHIVE,
    HELD,
    JOBS,
    DumpedObject,
    LeftOut,
    SortedDump,
    ending,
    job_path,
    owner_of,
    runtime_path,
)
from trainc.authoring.adopt.written import applied_by, as_kept_job, live, written
from trainc.changes.compare.adopted import adopted_text
from trainc.changes.compare.committed import Committed
from trainc.changes.compare.updates import LeafUpdate, Update, moved_run, update
from trainc.changes.git.scratch import Scratch, drop, unpack
from trainc.changes.migrate import migrate
from trainc.compiler import pipeline
from trainc.compiler.emit import path_of
from trainc.compiler.emit.digest import body_digest, job_digest
from trainc.compiler.emit.spool.disk import Folder, OnDisk
from trainc.compiler.emit.spool.disk import written as written_in
from trainc.compiler.emit.spool.folder import FolderSpool
from trainc.compiler.header import Header
from trainc.compiler.project import open_project
from trainc.model.bundle import Bundle, keeps_job, runs_pods
from trainc.model.finding import ERROR, WARNING, Finding
from trainc.model.report import Report
from trainc.model.settings import ADOPTED, OUTPUT, Project, Selection
from trainc.model.tree import plain, stamp, value
from trainc.yaml.writer import dump, dump_all

_SECRET = "secret-in-text"  # noqa: S105 (the name of a rule)
_MAX_ROUNDS = 4  # of building and holding back what stops the build
_SAME_OBJECTS = frozenset((("trainer.kubeflow.org", "TrainJob"), ("jobset.x-k8s.io", "JobSet"), ("batch", "Job")))
EQUAL, IN_PLACE, KEPT, UNKNOWN = "equal", "changes in place", "kept", "unknown"


@dataclass(slots=True, eq=False)
class AdoptedJob:
    """One job of the dump: its file, how it ended, why it is held back, and how its build stands to what runs."""

    object: DumpedObject
    folder: str
    path: str
    text: str
    ended: str
    applied_by: str
    sources: set[str]  # the files that it is compiled from, as far as one of them may stop it
    reason: str = ""
    notes: list[str] = field(default_factory=list)
    comparison: "Comparison | None" = None

    def hold(self, cluster: str, reason: str) -> None:
        """Put the job where nothing reads it."""
        self.folder, self.reason = HELD, reason
        self.path = job_path(self.object, cluster, HELD)


class Adoption(NamedTuple):
    """A repository as texts by path, and the account of the dump that it comes from."""

    files: dict[str, str]
    rendered: dict[str, tuple[str, str]]  # by path: the job's file, and the text
    jobs: list[AdoptedJob]
    runtimes: dict[str, DumpedObject]  # by path
    left: list[LeftOut]
    findings: list[Finding]  # about the jobs that are compiled
    secrets: list[Finding]
    levels: dict[str, int]  # by rule that is an error in jobs which run: in how many
    failures: list[Finding]  # why nothing is rendered, where that is so


class Wishes(NamedTuple):
    """What was asked for: the cluster's name, what becomes of finished jobs, whether older kinds are migrated."""

    cluster: str
    archives: bool
    migrates: bool


def adopt(dump: SortedDump, wishes: Wishes, config: Callable[[Mapping[str, int]], dict[str, str]]) -> Adoption:
    """The repository of a dump; `config` gives what every project needs, for the rules that are errors in jobs which run."""
    left = list(dump.left)
    runtimes = {runtime_path(one): one for one in dump.runtimes}
    files = {path: _text(one, wishes, path) for path, one in runtimes.items()}
    flavors = [one.tree for one in dump.all.values() if one.kind == "ResourceFlavor"]
    jobs = [job for one in dump.jobs if (job := _job(one, wishes, left, flavors)) is not None]
    known = {(one.kind, one.name) for one in dump.runtimes}
    for job in jobs:  # trainc would take a runtime of its own, or none
        spec = fields(job.object.tree.get("spec"))
        reference = spec.get("runtimeRef") if job.object.kind == "TrainJob" else None
        if isinstance(reference, dict):
            kind, name = str(reference.get("kind") or "ClusterTrainingRuntime"), str(reference.get("name"))
            if (kind, name) not in known:
                job.notes.append(f"{kind} `{name}` is not in the dump: add {kind.lower()}s to kubectl get")
    files |= config({})
    findings, levels = _compile(jobs, files, dump, wishes.cluster)
    secrets = _secrets([job for job in jobs if job.folder != JOBS], files, wishes.cluster)
    known_places = {finding.span for finding in secrets}
    secrets += [one for one in findings if one.rule.name == _SECRET and one.span not in known_places]
    files |= config(levels)
    rendered, failures = _build(jobs, files, wishes.cluster)
    files |= {job.path: job.text for job in jobs}
    running = [job.comparison.running for job in jobs if job.comparison is not None and job.comparison.running]
    if running:
        files[f"clusters/{wishes.cluster}/{ADOPTED}"] = "---\n".join(running)
    return Adoption(files, rendered, jobs, runtimes, left, findings, secrets, levels, failures)


def _job(
    one: DumpedObject, wishes: Wishes, left: list[LeftOut], flavors: Sequence[dict[str, Any]]
) -> AdoptedJob | None:
    """A job with its file, None where it is left out."""
    if (ended := ending(one.tree)) and not wishes.archives:
        left.append(LeftOut(one, f"it has {ended}, and would train again"))
        return None
    is_same = (one.key[0], one.kind) in _SAME_OBJECTS
    folder = ARCHIVE if ended else JOBS if is_same else HELD
    path = job_path(one, wishes.cluster, folder)
    text = _text(one, wishes, path, flavors, keeps=not ended)
    job = AdoptedJob(one, folder, path, text, ended, applied_by(one.tree), {path})
    if folder == HELD:
        job.reason = "its own operator runs it: the JobSet that it compiles to would train a second time"
    if owner_of(one) is None and one.tree.get("metadata", {}).get("ownerReferences"):
        job.notes.append("its ownerReferences are removed: deleting the owner no longer deletes it")
    return job


def _text(
    one: DumpedObject, wishes: Wishes, path: str, flavors: Sequence[dict[str, Any]] = (), *, keeps: bool = False
) -> str:
    tree = written(one.tree, flavors)
    if keeps and (one.api, one.kind) == ("batch/v1", "Job"):
        return dump(as_kept_job(tree))
    text = dump(tree)
    return text if not wishes.migrates else migrate(text, file=path).text


def _compile(
    jobs: list[AdoptedJob], files: Mapping[str, str], dumped: SortedDump, cluster: str
) -> tuple[list[Finding], dict[str, int]]:
    """Compile the jobs that run, compare each with what runs, and hold back what does not compile.

    Gives the findings about those that compile, and in how many of them each rule is an error.
    """
    if not (by_file := {job.path: job for job in jobs if job.folder == JOBS}):
        return [], {}
    with Scratch() as folder:
        texts = {job.path: job.text for job in by_file.values()}
        project, selection, report = _opened(folder, {**files, **texts})
        served = {one.name: Served(one) for one in project.clusters}
        for bundle in pipeline.bundles(project, selection, report):
            job = by_file[bundle.document.file]
            job.comparison = compare(bundle, dumped, served[bundle.cluster])
            runtime = bundle.plan.runtime if bundle.plan is not None else None
            job.sources = {job.path, *(one.file for one in runtime.sources)} if runtime is not None else {job.path}
        report.close()
        verdicts = _blamed(report, by_file, lambda finding: finding.rule.verdict)
        exposed = _blamed(report, by_file, lambda finding: finding.rule.name == _SECRET, levels=(ERROR, WARNING))
        causes = {entry.place.file: entry.cause for entry in report.account.refused(cluster)}
    for path, job in by_file.items():
        cause = verdicts.get(path) or causes.get(path)
        if job.comparison is None or path in verdicts:
            job.comparison = None
            words = f"{cause.message} [{cause.rule.name}]" if cause is not None else "it does not compile to any object"
            job.hold(cluster, f"it does not compile: {words}")
        elif path in exposed:
            rendered = f"{OUTPUT}/{cluster}/{job.object.namespace or 'default'}/{job.object.name}.yaml"
            job.comparison = None
            job.hold(cluster, f"its secret in plain text would be in Git twice, in {path} and {rendered}")
    kept = [one for one in report.findings if one.span.file not in by_file or by_file[one.span.file].folder == JOBS]
    levels: Counter[str] = Counter()
    for finding in kept:
        if finding.level == ERROR and not finding.rule.verdict and finding.rule.name != _SECRET:
            levels[finding.rule.name] += max(1, len(report.reached.get(finding.identity(), ())))
    return kept, levels


def _blamed(
    report: Report,
    by_file: Mapping[str, AdoptedJob],
    stops: Callable[[Finding], bool],
    levels: tuple[str, ...] = (ERROR,),
) -> dict[str, Finding]:
    """For each job with an error (or a finding of other `levels`) that stops it, in its own file or in its runtime's, the first of them."""
    first: dict[str, Finding] = {}
    by_source = defaultdict(list)
    for job in by_file.values():
        for file in job.sources:
            by_source[file].append(job)
    for finding in report.findings:
        if finding.level in levels and stops(finding):
            file, names = finding.span.file, report.reached.get(finding.identity(), ())
            for job in by_source.get(file, ()):
                if job.path == file or job.object.name in names:
                    first.setdefault(job.path, finding)
    return first


def _secrets(jobs: Iterable[AdoptedJob], files: Mapping[str, str], cluster: str) -> list[Finding]:
    """The tokens and passwords that stand in jobs which are not compiled."""
    if not (by_file := {job_path(job.object, cluster): job for job in jobs}):
        return []
    with Scratch() as folder:
        texts = {path: job.text for path, job in by_file.items()}
        project, selection, report = _opened(folder, {**files, **texts})
        for _ in pipeline.bundles(project, selection, report):
            pass
    found = [(finding, finding.span) for finding in report.findings if finding.rule.name == _SECRET]
    moved = {path: job.path for path, job in by_file.items()}  # to the file that the repository has
    return [
        one.placed(span, span._replace(file=moved[span.file])) if span.file in moved else one for one, span in found
    ]


def _build(
    jobs: list[AdoptedJob], files: Mapping[str, str], cluster: str
) -> tuple[dict[str, tuple[str, str]], list[Finding]]:
    """What `build -w` writes for the jobs that run, over the renderings of those that are kept; else why it cannot."""
    failures: list[Finding] = []
    with Scratch() as folder:
        texts = {**files, **{job.path: job.text for job in jobs if job.folder == JOBS}}
        for _ in range(_MAX_ROUNDS):
            if not (running := {job.path: job for job in jobs if job.folder == JOBS}):
                return {}, []
            kept = [job.comparison.rendered for job in running.values() if job.comparison is not None]
            texts |= {f"{OUTPUT}/{path}": text for path, text in kept if path}
            (project, selection, report), texts = _opened(folder, texts), {}
            render(project, selection, report, os.path.join(folder, OUTPUT))
            if not (failures := [finding for finding in report.findings if finding.level == ERROR]):
                rendered = {}
                for path, header in written_in(Folder(os.path.join(folder, OUTPUT)), ()):
                    with open(os.path.join(folder, OUTPUT, path), encoding="utf-8", newline="") as stream:
                        rendered[f"{OUTPUT}/{path}"] = (header.source, stream.read())
                return rendered, []
            if not (blamed := _blamed(report, running, lambda _: True)):
                break
            for path, finding in blamed.items():
                job = running[path]
                rendering = job.comparison.rendered[0] if job.comparison is not None else ""
                drop(folder, [path, *([f"{OUTPUT}/{rendering}"] if rendering else [])])
                job.comparison = None
                job.hold(cluster, f"it does not compile: {finding.message} [{finding.rule.name}]")
    return {}, failures


def _opened(folder: str, files: Mapping[str, str]) -> tuple[Project, Selection, Report]:
    unpack(folder, ((path, text.encode("utf-8", "surrogatepass")) for path, text in files.items()))
    opening = Report()
    project = open_project((folder,), opening)
    report = Report(level_of=project.level_of)
    report.add_all(opening.findings)
    return project, Selection((JOBS,)), report


class _DumpedFolder:
    """A folder as the dump left it: what it has is what runs, and stands for the base; no merge is unfinished."""

    missing = ""

    def __init__(self, name: str) -> None:
        self._files = Folder(name)

    def paths(self) -> Iterable[str]:
        return ()

    def find(self, path: str) -> OnDisk | None:
        return self._files.find(path)[1]

    def absent(self, _path: str) -> bytes | None:
        return None

    def is_unmerged(self, _path: str) -> bool:
        return False


def render(project: Project, selection: Selection, report: Report, folder: str) -> None:
    """Bring a folder of rendered files up to date, where no job is new or gone."""
    dumped = _DumpedFolder(folder)
    spool = FolderSpool(
        folder,
        reaches=lambda _path, _source: True,
        settle=Committed(project, selection).settle,
        still_owned=lambda _bundle, _source, _report: False,
        base=dumped,
        index=dumped,
        gone=lambda _path, _source, _report: False,
        holds=lambda _path, _source: True,
        moved=moved_run,
    )
    pipeline.build(project, selection, spool, report)


class Comparison(NamedTuple):
    """How a job's build stands to what runs, the fields that differ, and the rendering that keeps a run as it is.

    `rendered` is the path of that rendering in the output folder and its text, both empty where the build takes its place.
    """

    state: str
    differences: tuple[str, ...] = ()
    reason: str = ""
    rendered: tuple[str, str] = ("", "")
    running: str = ""  # the object that runs, where a rendering keeps it


def compare(bundle: Bundle, dump: SortedDump, served: Served) -> Comparison:
    """A job's build against the object of the dump that it would be applied to."""
    target = next((tree for tree in bundle.objects if runs_pods(tree)), None)
    kind = str(value(target, "kind"))
    group = str(value(target, "apiVersion")).rpartition("/")[0]
    key = (group, kind, str(value(target, "metadata", "namespace") or ""), str(value(target, "metadata", "name")))
    if (running := dump.all.get(key)) is None:
        listed = any(known[1] == kind for known in dump.all)
        why = "the dump does not contain it" if listed else "the dump has no JobSets: add `jobsets` to kubectl get"
        return Comparison(UNKNOWN, reason=f"the cluster runs it as {kind} {key[2]}/{key[3]}, and {why}")
    was, now = stamp(live(running.tree), "cluster"), target
    if keeps_job(target):  # no schema says what Kubernetes fills in: both sides without it
        was, now = stamp(as_kept_job(plain(was)), "cluster"), stamp(live(plain(target)), "build")
    change = update(was, now, served)
    if not change.changed:
        return Comparison(EQUAL)
    if not change.refused:
        return Comparison(IN_PLACE, _shown(change, change.changed, bundle))
    text = adopted_text(bundle, was)
    header = Header(bundle.document.file, job_digest(bundle), body_digest(text.encode()))
    return Comparison(
        KEPT,
        _shown(change, change.refused, bundle),
        rendered=(path_of(bundle), f"{header}{text}"),
        running=dump_all([was]),
    )


def _shown(change: Update, fields: list[LeafUpdate], bundle: Bundle) -> tuple[str, ...]:
    causes = [change.cause(one, bundle) or change.place(one, bundle).file for one in fields]
    return tuple(f"{one} ({cause})" if cause else str(one) for one, cause in zip(fields, causes, strict=True))
