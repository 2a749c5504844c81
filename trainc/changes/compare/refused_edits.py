"""Jobs whose edit no run takes: their rendered file is committed or lies in the work tree, and a server refuses the change."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from trainc.apiserver.served import Served
from trainc.changes.compare.decision import Decision, Decisions
from trainc.changes.compare.rendered import file_of
from trainc.changes.compare.updates import Update, immutable_change, moved_run, pairs, update
from trainc.compiler.emit import Rendered, run_path
from trainc.compiler.emit.digest import job_digest, written_digest
from trainc.compiler.emit.spool.changes import is_whole, new_run, runs_in
from trainc.compiler.emit.spool.disk import Folder, read_file
from trainc.compiler.emit.spool.objects import trees_of
from trainc.compiler.header import Header, read_header
from trainc.model.bundle import Bundle
from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.finding import Finding
from trainc.model.report import Report
from trainc.model.run import run_of
from trainc.model.settings import Project, Selection
from trainc.text.files import ordinary_contents
from trainc.yaml.reader import read

Bound = Callable[[Document, Project, Report], list[Cluster]]

_FIRST_LINE = 4096  # bytes that hold it


def renderings(
    bundles: Iterable[Bundle], project: Project, selection: Selection
) -> Iterator[tuple[Bundle, str, str, Decision]]:
    """Each job that has a rendered file as trainc wrote it, the file, its text, and what stays of it."""
    decisions = Decisions(project, selection)
    for bundle in bundles:
        if bundle.jobset is None:
            continue
        file = file_of(bundle, project)
        path = os.path.join(project.root, file)
        existing = read_file(path)
        decision = decisions.on_disk(bundle, existing, path)
        if existing is not None and decision is not None:
            yield bundle, file, existing.body.decode("utf-8", "replace"), decision


def is_behind(bundle: Bundle, project: Project) -> bool:
    """Whether an earlier run of a job is rendered and its present run is not."""
    folder, file = os.path.split(os.path.join(project.root, file_of(bundle, project)))
    name, number = bundle.document.name, run_of(bundle.document.tree)
    earlier = {name, *(f"{name}-r{run}" for run in range(2, number))}
    if project.old_run == "keep":
        there = {entry.removesuffix(".yaml") for entry in os.listdir(folder)} if os.path.isdir(folder) else set()
        is_there = bundle.name in there or bundle.name in runs_in(Folder(folder), f"{name}.yaml")
        return not is_there and not there.isdisjoint(earlier)
    runs = runs_in(Folder(folder), file)
    return bundle.name not in runs and not runs.isdisjoint(earlier)


class RenderedRuns:
    """The runs that lie rendered in the work tree, and what their jobs' own files say now; Git is hardly ever asked.

    What shared files change besides is left to who reads the history: a run may keep its rendering in spite of it.
    `bound` says on which clusters a job runs.
    """

    def __init__(self, project: Project, selection: Selection, bound: Bound) -> None:
        self._project = project
        self._selection = selection
        self._bound = bound
        self._servers = {cluster.name: Served(cluster) for cluster in project.clusters}
        self._files = Folder(os.path.join(project.root, project.output))

    def judge(self, bundle: Bundle, report: Report) -> None:
        """A finding where a job's own file changes what its rendered run cannot take."""
        file = file_of(bundle, self._project)
        header = self._header(file)
        if header is None:
            self._judge_move(bundle, file.removeprefix(f"{self._project.output}/"), report)
        if header is None or header.job == job_digest(bundle):
            return
        path = os.path.join(self._project.root, file)
        existing = read_file(path)
        if existing is None or not is_whole(existing):
            return
        both = pairs(bundle, trees_of(existing.body), bundle.objects)
        updates = [update(was, now, self._servers[bundle.cluster]) for was, now in both]
        refused = [own for one in updates if (own := one.refused_by(bundle, own=True)).refused]
        if not refused and any(one.refused for one in updates):
            # An edit that leaves no trace in the job, such as a line that went: Git knows the former job.
            decision = Decisions(self._project, self._selection).on_disk(bundle, existing, path)
            refused = [] if decision is None or decision.text else decision.refused
        if refused:
            report.add(_finding(bundle, refused, file))

    def is_known(self, rendered: Rendered, written: str) -> bool:
        """Whether the rendered file of a job, if there is one, was made from a job written so."""
        keeps = self._project.old_run == "keep"
        path = run_path(rendered.path, rendered.name) if keeps else rendered.path
        header = self._header(f"{self._project.output}/{path}")
        return header.job == written_digest(written) if header is not None else not self._files.elsewhere(path)

    def _judge_move(self, bundle: Bundle, path: str, report: Report) -> None:
        """A finding where the run of a job that has no rendered file has one in another place, for nobody else."""
        for other in self._files.elsewhere(path):
            header = self._header(f"{self._project.output}/{other}")
            if header is None or header.source != bundle.document.file or self._is_held(bundle, other):
                continue
            if bundle.name in runs_in(self._files, other):
                run = new_run(bundle)
                objects = (one.removesuffix(".yaml") for one in (other, path))
                report.add(moved_run(run.place, run.job, run.number, *objects))

    def _is_held(self, bundle: Bundle, path: str) -> bool:
        """Whether the file at a path may be that of another job in the file of a bundle, or of the job on another cluster."""
        clusters = {cluster.name for cluster in self._bound(bundle.document, self._project, Report())}
        top = path.partition("/")[0] if path.count("/") > 1 else ""
        if top != bundle.cluster and top in clusters:
            return True
        data = ordinary_contents(os.path.join(self._project.root, bundle.document.file))
        documents = read(data, bundle.document.file, Report())
        return sum(one.name == bundle.document.name or one.kind.endswith("List") for one in documents) > 1

    def _header(self, file: str) -> Header | None:
        """The first line of a rendered file, None where there is none that trainc wrote."""
        try:
            data = ordinary_contents(os.path.join(self._project.root, file), _FIRST_LINE)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return read_header(data.partition(b"\n")[0].decode("utf-8", "replace"))


def refused_runs(bundles: Iterable[Bundle], project: Project, selection: Selection, report: Report) -> None:
    """A finding for each job whose edit its rendered run cannot take."""
    for bundle, file, _, decision in renderings(bundles, project, selection):
        if decision.refused and not decision.text:
            report.add(_finding(bundle, decision.refused, file))


def _finding(bundle: Bundle, refused: list[Update], file: str) -> Finding:
    effect = f"it is rendered as {file}: if it runs, the API server rejects the change, and `build -w` writes nothing"
    return immutable_change(bundle, refused, effect=effect, otherwise="otherwise revert the edit")
