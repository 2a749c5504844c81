"""What one reading of a project finds: its jobs and its runtimes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from kubeflow.trainer.constants import constants
from kubeflow_trainer_api.models import TrainerV1alpha1TrainJob

from trainc.compiler import pipeline
from trainc.compiler.load import load
from trainc.compiler.load.shipped import shipped_names
from trainc.compiler.project import open_project
from trainc.compiler.usage import blueprints
from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.finding import ERROR, Finding
from trainc.model.report import Report
from trainc.model.settings import Project, Selection
from trainc.model.tree import plain
from trainc.report.details import details
from trainc.text.quantity import QuantityError, stored
from trainc.text.trouble import Trouble

_RUNTIME = "TrainingRuntime"
_EVERYTHING = Selection((".",))


class Contents:
    """The project that a folder belongs to, as it is now; with a namespace, what is in that namespace alone.

    Raises:
        Trouble: where trainc.yaml cannot be read.
    """

    def __init__(self, root: str, namespace: str) -> None:
        report = Report()
        self.project: Project = open_project((root,), report)
        self._namespace = namespace
        self._reading = Report()
        self._runtimes: dict[str, dict[str, Any] | None] = {}
        if report.failed:
            raise Trouble("\n".join(self.line(one) for one in report.findings if one.level == ERROR))

    def line(self, finding: Finding) -> str:
        """A finding in one line, its file as it is found from here."""
        span = finding.span
        shipped = span.file.startswith(("<", "trainc:"))
        file = span.file if shipped else os.path.relpath(os.path.join(self.project.root, span.file))
        what = "; ".join([finding.message, *details(finding)])
        return f"{file}:{span.line}:{span.column}: {finding.level}[{finding.rule.name}] {what}"

    @cached_property
    def jobs(self) -> list[Document]:
        """Every TrainJob, sorted by file; a file that cannot be read is a warning."""
        report = Report()
        jobs = list(self._jobs(report))
        for finding in report.findings:
            if finding.level == ERROR:
                warnings.warn(f"not read: {self.line(finding)}", stacklevel=4)
        return jobs

    def runtimes(self) -> list[dict[str, Any]]:
        """The ClusterTrainingRuntimes that a job can name; one that is not legal is a warning."""
        own = [one.name for one in self._blueprints if not one.is_component and one.document.kind != _RUNTIME]
        trees = []
        for name in dict.fromkeys([*own, *(() if self.project.file else shipped_names(""))]):
            try:
                trees.append(self.runtime(name))
            except Trouble as trouble:
                warnings.warn(f"not read: {trouble}", stacklevel=4)
        return [tree for tree in trees if tree is not None]

    def runtime(self, name: str) -> dict[str, Any] | None:
        """A ClusterTrainingRuntime with all that it inherits, None where there is none.

        Raises:
            Trouble: where it is there and is not legal.
        """
        if name not in self._runtimes:
            self._runtimes[name] = self._flattened(name)
        return self._runtimes[name]

    def namespaced_runtimes(self) -> list[dict[str, Any]]:
        """The TrainingRuntimes of the project."""
        runtimes = [one.document for one in self._blueprints if one.document.kind == _RUNTIME]
        return [served(dict(plain(document.tree))) for document in runtimes if self._is_here(document)]

    def is_readable(self, job: Document) -> bool:
        """Whether the SDK can read a job and its runtime; a warning where not, as it would give no job at all then."""
        try:
            name = TrainerV1alpha1TrainJob.from_dict(self.stored(job)).spec.runtime_ref.name
            is_known = self.runtime(name) is not None
            is_known = is_known or any(one["metadata"]["name"] == name for one in self.namespaced_runtimes())
            reason = "" if is_known else f"unknown runtime `{name}`"
        except ValueError:
            reason = f"it is invalid; see `trainc validate {job.file}`"
        except Trouble as trouble:
            reason = str(trouble)
        if reason:
            warnings.warn(f"not listed: job `{job.name}` in {job.file}: {reason}", stacklevel=4)
        return not reason

    def stored(self, document: Document) -> dict[str, Any]:
        """A job with what the SDK takes for granted: a namespace, and a time, which here is that of its file."""
        tree = dict(plain(document.tree))
        changed = os.stat(os.path.join(self.project.root, document.file)).st_mtime
        time = datetime.fromtimestamp(changed, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        namespace = document.namespace or self._namespace or "default"
        return {**tree, "metadata": {**tree["metadata"], "namespace": namespace, "creationTimestamp": time}}

    def _jobs(self, report: Report) -> Iterator[Document]:
        documents = load(self.project, _EVERYTHING, report)
        seen: set[tuple[str, int]] = set()
        for cluster in self.project.clusters:
            for file, parts in documents.selected(cluster):
                for document in parts:
                    key = (file, document.span(("metadata", "name")).line)
                    if document.kind == "TrainJob" and document.name and key not in seen and self._is_here(document):
                        seen.add(key)
                        yield document

    def _flattened(self, name: str) -> dict[str, Any] | None:
        report = Report()
        try:
            flat = self._flattening(name, report)
        except Trouble:
            return None
        if flat is None:
            every = (*report.findings, *self._reading.findings)  # what is wrong with a file is said by its reading
            raise Trouble("\n".join(dict.fromkeys(self.line(one) for one in every if one.level == ERROR)))
        return served(dict(plain(flat.tree)))

    @cached_property
    def _flattening(self) -> Callable[[str, Report], Document | None]:
        return pipeline.flattening(self.project.serving((Cluster(),)), _EVERYTHING, self._reading)

    @cached_property
    def _blueprints(self) -> list[Any]:
        return blueprints(self.project)

    def _is_here(self, document: Document) -> bool:
        return not self._namespace or (document.namespace or "default") == self._namespace


_PLAIN = "plain"
_DEVICES = (constants.GPU_LABEL, constants.TPU_LABEL, constants.NPU_LABEL, constants.CPU_LABEL)


def served(runtime: dict[str, Any]) -> dict[str, Any]:
    """A runtime with a policy, the label of its framework, amounts as texts, and limits only where they name a device.

    The SDK passes over a runtime without the label, and fails at one without a policy or with a limit of memory alone.
    """
    spec = runtime.get("spec") or {}
    policy = spec.get("mlPolicy") or {}
    framework = next((name for name in policy if name != "numNodes"), _PLAIN)
    metadata = runtime["metadata"]
    labels = {constants.RUNTIME_FRAMEWORK_LABEL: framework, **(metadata.get("labels") or {})}
    out = {**runtime, "metadata": {**metadata, "labels": labels}, "spec": {**spec, "mlPolicy": policy}}
    for container in _containers(out):
        resources = container.get("resources") or {}
        amounts = {name: _stored(resources[name]) for name in ("requests", "limits") if resources.get(name)}
        limits = amounts.get("limits", ())
        if not any(name in _DEVICES or name.startswith(constants.GPU_MIG_PREFIX) for name in limits):
            amounts.pop("limits", None)
        container["resources"] = amounts
    return out


def _stored(amounts: dict[str, Any]) -> dict[str, str]:
    """Amounts as the API server gives them: texts in their canonical spelling; what is not an amount stays."""
    texts = {name: str(amount) for name, amount in amounts.items()}
    with suppress(QuantityError):
        return {name: stored(text) for name, text in texts.items()}
    return texts


def _containers(runtime: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every container of a runtime's pods."""
    template = runtime["spec"].get("template") or {}
    for role in (template.get("spec") or {}).get("replicatedJobs") or ():
        job = (role.get("template") or {}).get("spec") or {}
        yield from ((job.get("template") or {}).get("spec") or {}).get("containers") or ()
