"""Jobs and runtimes of a project as the API server would give them, and jobs written as files."""

from __future__ import annotations

import os
import warnings
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from trainc import pipeline
from trainc.emit.spool.disk import create, remove
from trainc.emit.spool.disk import replace as replace_file
from trainc.kubeflow.readable import readable
from trainc.library import validate
from trainc.load import load
from trainc.load.shipped import shipped_names
from trainc.model.cluster import Cluster
from trainc.model.finding import ERROR, NOTE
from trainc.model.report import Report
from trainc.model.settings import Selection
from trainc.model.tree import plain, stamp
from trainc.model.trouble import Trouble
from trainc.project import open_project
from trainc.report.details import details
from trainc.usage import blueprints
from trainc.yaml.writer import dump

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.model.document import Document
    from trainc.model.finding import Finding
    from trainc.model.settings import Project

_RUNTIME = "TrainingRuntime"


class JobError(Exception):
    """A job that a server would refuse or that would not run; its text has every error with file and line.

    `findings` are all that was found, `source` is the YAML that would have been written to the file of the job.
    """

    def __init__(self, findings: tuple[Finding, ...], source: str, root: str) -> None:
        self.findings = findings
        self.source = source
        errors = [finding for finding in findings if finding.level == ERROR]
        super().__init__("\n".join(["the job is not written:", *[_line(finding, root) for finding in errors]]))


class Repository:
    """The project at a folder; it is read anew for each question, as people edit it."""

    def __init__(self, root: str, folder: str, namespace: str, *, replace: bool) -> None:
        self._root = root
        self._folder = folder
        self.namespace = namespace
        self._replace = replace
        self.cautions: tuple[str, ...] = ()  # what was found of the job written last, and is not an error

    def jobs(self) -> list[dict[str, Any]]:
        """Every TrainJob, of the namespace if one is given, sorted by file."""
        return [self._as_stored(document) for document in self._jobs()]

    def job(self, name: str) -> dict[str, Any] | None:
        """The TrainJob of a name, None where there is none."""
        named = [document for document in self._jobs() if document.name == name]
        if len(named) > 1:
            raise Trouble(f"there are {len(named)} jobs `{name}`; say which with trainer_client(namespace=...)")
        return self._as_stored(named[0]) if named else None

    def file_of(self, name: str) -> str:
        """The file of a job, from the project's root.

        Raises:
            Trouble: where there is no such job.
        """
        file = next((document.file for document in self._jobs() if document.name == name), "")
        if not file:
            raise Trouble(f"there is no TrainJob `{name}` in this project")
        return file

    def runtimes(self) -> list[dict[str, Any]]:
        """The ClusterTrainingRuntimes that a job can name: the project's; without a trainc.yaml, those of trainc too."""
        project = self._project()
        own = [one.name for one in blueprints(project) if not one.is_component and one.document.kind != _RUNTIME]
        names = dict.fromkeys([*own, *(() if project.file else shipped_names(""))])
        return [tree for name in names if (tree := self.runtime(name)) is not None]

    def runtime(self, name: str) -> dict[str, Any] | None:
        """A ClusterTrainingRuntime with all that it inherits, None where there is none.

        Raises:
            Trouble: where it is there and is not legal.
        """
        project, report = self._project().serving((Cluster(),)), Report()
        try:
            flat = pipeline.flattened(name, project, Selection((".",)), report)
        except Trouble:
            return None
        if flat is None:
            raise Trouble("\n".join(_line(one, self._root) for one in report.findings if one.level == ERROR))
        return dict(plain(flat.tree))

    def namespaced_runtimes(self) -> list[dict[str, Any]]:
        """The TrainingRuntimes of the project."""
        runtimes = [one.document for one in blueprints(self._project()) if one.document.kind == _RUNTIME]
        return [dict(plain(document.tree)) for document in runtimes if self._is_here(document)]

    def write(self, job: dict[str, Any]) -> None:
        """Write a job to its file if it compiles.

        Raises:
            JobError: with the errors; the file is as it was then.
            Trouble: where another file holds a job of that name, or its own does and may not be replaced.
        """
        metadata = {**job["metadata"], **({"namespace": self.namespace} if self.namespace else {})}
        name = str(metadata["name"])
        file = f"{self._folder}/{name}.yaml"
        path = os.path.join(self._root, file)
        there = next((document.file for document in self._jobs() if document.name == name), "")
        if there not in ("", file) or (os.path.lexists(path) and not self._replace):
            raise Trouble(f"{there or file}: there is a job `{name}`; choose another name, or pass replace=True")
        text = readable(dump(stamp({**job, "metadata": metadata}, "the SDK")))
        before = _contents(path)
        if before is None:
            create(path, text)
        else:
            replace_file(path, text.encode())
        findings = validate(path, root=self._root)
        if any(finding.level == ERROR for finding in findings):
            if before is None:
                remove(self._root, file)
            else:
                replace_file(path, before)
            raise JobError(findings, text, self._root)
        self.cautions = tuple([_line(finding, self._root) for finding in findings if finding.level != NOTE])

    def _jobs(self) -> Iterator[Document]:
        project, report = self._project(), Report()
        documents = load(project, Selection((".",)), report)
        seen: set[tuple[str, int]] = set()
        for cluster in project.clusters:
            for file, parts in documents.selected(cluster):
                for document in parts:
                    key = (file, document.span(("metadata", "name")).line)
                    if document.kind == "TrainJob" and document.name and key not in seen and self._is_here(document):
                        seen.add(key)
                        yield document
        for finding in report.findings:
            if finding.level == ERROR:
                warnings.warn(f"not read: {_line(finding, self._root)}", stacklevel=4)

    def _is_here(self, document: Document) -> bool:
        return not self.namespace or (document.namespace or "default") == self.namespace

    def _project(self) -> Project:
        report = Report()
        project = open_project((self._root,), report)
        if report.failed:
            raise Trouble("\n".join(_line(one, self._root) for one in report.findings if one.level == ERROR))
        return project

    def _as_stored(self, document: Document) -> dict[str, Any]:
        """A job with what the SDK takes for granted: a namespace, and a time, which here is that of its file."""
        tree = dict(plain(document.tree))
        changed = os.stat(os.path.join(self._root, document.file)).st_mtime
        time = datetime.fromtimestamp(changed, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        namespace = document.namespace or self.namespace or "default"
        return {**tree, "metadata": {**tree["metadata"], "namespace": namespace, "creationTimestamp": time}}


def _contents(path: str) -> bytes | None:
    if not os.path.exists(path):
        return None
    with open(path, "rb") as stream:
        return stream.read()


def _line(finding: Finding, root: str) -> str:
    """A finding in one line, its file as it is found from here."""
    span = finding.span
    file = span.file if span.file.startswith(("<", "trainc:")) else os.path.relpath(os.path.join(root, span.file))
    what = "; ".join([finding.message, *details(finding)])
    return f"{file}:{span.line}:{span.column}: {finding.level}[{finding.rule.name}] {what}"
