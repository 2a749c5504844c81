"""The SDK's own Kubernetes backend, with a repository in the place of the API server: jobs and runtimes read, jobs written as files."""

import json
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from types import SimpleNamespace
from typing import Any, NoReturn

from kubeflow.trainer import TrainerClient
from kubeflow.trainer.backends.kubernetes.backend import KubernetesBackend
from kubeflow.trainer.constants import constants
from kubeflow.trainer.types import types
from kubeflow_trainer_api.models import TrainerV1alpha1TrainJob
from kubernetes.client import ApiException

from trainc.compiler import pipeline
from trainc.compiler.emit.spool.disk import create, remove
from trainc.compiler.emit.spool.disk import replace as replace_file
from trainc.compiler.load import load
from trainc.compiler.load.shipped import shipped_names
from trainc.compiler.project import open_project
from trainc.compiler.usage import blueprints
from trainc.library import validate
from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.finding import ERROR, NOTE, Finding
from trainc.model.report import Report
from trainc.model.settings import Project, Selection
from trainc.model.tree import plain, stamp
from trainc.report.details import details
from trainc.text.files import ordinary_contents
from trainc.text.numbers import whole_number
from trainc.text.object_keys import TRAINER_API
from trainc.text.quantity import QuantityError, stored
from trainc.text.trouble import Trouble
from trainc.yaml.reader import read
from trainc.yaml.writer import dump, dump_all

_RUNTIME = "TrainingRuntime"
_EVERYTHING = Selection((".",))
_DEVICES = (constants.GPU_LABEL, constants.TPU_LABEL, constants.NPU_LABEL, constants.CPU_LABEL)
_JOBS = "trainjobs"
_QUOTED = re.compile(r'^( *)((?:- )*(?:[\w.-]+: )?)(".*\\n.*")$')


class Contents:
    """The project that a folder belongs to, as it is now; with a namespace, what is in that namespace alone."""

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
        documents = load(self.project, _EVERYTHING, report)
        jobs: dict[tuple[str, int], Document] = {}
        for cluster in self.project.clusters:
            for file, parts in documents.selected(cluster):
                for document in parts:
                    if document.kind == "TrainJob" and document.name and self._is_here(document):
                        jobs.setdefault((file, document.span(("metadata", "name")).line), document)
        for finding in report.findings:
            if finding.level == ERROR:
                warnings.warn(f"not read: {self.line(finding)}", stacklevel=4)
        return list(jobs.values())

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
        """A ClusterTrainingRuntime with all that it inherits, None where there is none; Trouble where it is not legal."""
        if name not in self._runtimes:
            report = Report()
            try:
                flat = self._flattening(name, report)
            except Trouble:
                self._runtimes[name] = None
                return None
            if flat is None:
                every = (*report.findings, *self._reading.findings)  # what is wrong with a file is said by its reading
                raise Trouble("\n".join(dict.fromkeys(self.line(one) for one in every if one.level == ERROR)))
            self._runtimes[name] = served(dict(plain(flat.tree)))
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

    @cached_property
    def _flattening(self) -> Callable[[str, Report], Document | None]:
        return pipeline.flattening(self.project.serving((Cluster(),)), _EVERYTHING, self._reading)

    @cached_property
    def _blueprints(self) -> list[Any]:
        return blueprints(self.project)

    def _is_here(self, document: Document) -> bool:
        return not self._namespace or (document.namespace or "default") == self._namespace


def served(runtime: dict[str, Any]) -> dict[str, Any]:
    """A runtime with a policy, the label of its framework, amounts as texts, and limits only where they name a device.

    The SDK passes over a runtime without the label, and fails at one without a policy or with a limit of memory alone.
    """
    spec = runtime.get("spec") or {}
    policy = spec.get("mlPolicy") or {}
    framework = next((name for name in policy if name != "numNodes"), "plain")
    metadata = runtime["metadata"]
    labels = {constants.RUNTIME_FRAMEWORK_LABEL: framework, **(metadata.get("labels") or {})}
    out = {**runtime, "metadata": {**metadata, "labels": labels}, "spec": {**spec, "mlPolicy": policy}}
    for role in ((out["spec"].get("template") or {}).get("spec") or {}).get("replicatedJobs") or ():
        job = (role.get("template") or {}).get("spec") or {}
        for container in ((job.get("template") or {}).get("spec") or {}).get("containers") or ():
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


class AsyncResult:
    """What a call with `async_req` gives: the answer, or the error, when somebody asks for it."""

    def __init__(self, content: dict[str, Any] | None) -> None:
        self._content = content

    def get(self, *_: float, **_timeout: float) -> dict[str, Any]:
        """The answer; ApiException with 404 where there is no such object."""
        if self._content is None:
            raise ApiException(status=404, reason="Not Found")
        return self._content


class JobError(RuntimeError):
    """A job that a server would refuse or that would not run; its text has every error with file and line.

    `source` is the YAML that would have been written to the file of the job.
    """

    def __init__(self, findings: tuple[Finding, ...], source: str, lines: list[str]) -> None:
        self.findings = findings
        self.source = source
        super().__init__("\n".join(["the job is not written:", *lines]))


class ExistingJobError(Trouble, RuntimeError):
    """There is a job of that name, and it may not be replaced."""


class Repository:
    """The part of CustomObjectsApi that the SDK's backend uses, for a project that is read anew for each question."""

    cautions: tuple[str, ...] = ()  # what was found of the job written last, and is not an error

    def __init__(self, root: str, folder: str, namespace: str, *, replace: bool) -> None:
        self._root = root
        self._folder = folder
        self.namespace = namespace
        self._replace = replace
        self._held: Contents | None = None

    @contextmanager
    def one_reading(self) -> Iterator[None]:
        """Within it, all questions are answered from one reading of the project."""
        self._held = self.contents()
        try:
            yield
        finally:
            self._held = None

    def contents(self) -> Contents:
        """What the project holds now."""
        return self._held or Contents(self._root, self.namespace)

    def get_namespaced_custom_object(self, *where: str, **_options: bool) -> AsyncResult:
        """A job, or a TrainingRuntime."""
        *_, plural, name = where
        contents = self.contents()
        if plural != _JOBS:
            runtimes = contents.namespaced_runtimes()
            return AsyncResult(next((one for one in runtimes if one.get("metadata", {}).get("name") == name), None))
        same_name = [document for document in contents.jobs if document.name == name]
        if len(same_name) > 1:
            raise Trouble(f"{len(same_name)} jobs are named `{name}`; choose one with trainer_client(namespace=...)")
        return AsyncResult(contents.stored(same_name[0]) if same_name else None)

    def list_namespaced_custom_object(self, *where: str, **_options: bool) -> AsyncResult:
        """All jobs that can be read with their runtimes, sorted by file, others are warnings; or all TrainingRuntimes."""
        contents = self.contents()
        if where[-1] != _JOBS:
            return _list(contents.namespaced_runtimes())
        return _list([contents.stored(document) for document in contents.jobs if contents.is_readable(document)])

    def get_cluster_custom_object(self, *where: str, **_options: bool) -> AsyncResult:
        """A ClusterTrainingRuntime, with all that it inherits."""
        return AsyncResult(self.contents().runtime(where[-1]))

    def list_cluster_custom_object(self, *_where: str, **_options: bool) -> AsyncResult:
        """All ClusterTrainingRuntimes, each with all that it inherits."""
        return _list(self.contents().runtimes())

    def file_of(self, name: str) -> str:
        """The file of a job that is there, from the project's root."""
        return next(document.file for document in self.contents().jobs if document.name == name)

    def create_namespaced_custom_object(self, *where: Any) -> None:
        """Write a job to its file if it compiles; where it raises JobError, the file is as it was."""
        job: dict[str, Any] = where[-1]
        metadata = {**job["metadata"], **({"namespace": self.namespace} if self.namespace else {})}
        name = str(metadata["name"])
        contents = self.contents()
        top = contents.project.root
        path = os.path.join(self._root, self._folder, f"{name}.yaml")
        file = os.path.relpath(path, top).replace(os.sep, "/")
        there = next((document.file for document in contents.jobs if document.name == name), "")
        if there not in ("", file) or (os.path.lexists(path) and not self._replace):
            raise ExistingJobError(
                f"{there or file}: a job `{name}` already exists; choose another name, or pass replace=True"
            )
        text = readable(dump(stamp({**job, "metadata": metadata}, "the SDK")))
        before = ordinary_contents(path) if os.path.exists(path) else None
        if before is None:
            create(path, text)
        else:
            replace_file(path, text.encode())
        findings = validate(path, root=self._root)
        if any(finding.level == ERROR for finding in findings):
            if before is None:
                remove(top, file)
            else:
                replace_file(path, before)
            raise JobError(findings, text, [contents.line(one) for one in findings if one.level == ERROR])
        self.cautions = tuple([contents.line(finding) for finding in findings if finding.level != NOTE])


def readable(text: str) -> str:
    """A YAML text with quoted texts of several lines as blocks; as it was, where that would say anything else."""
    blocks = "\n".join(map(_block, text.split("\n")))
    documents = [list(read(one, "", Report())) for one in (text, blocks)]
    same = [dump_all(document.tree for document in stream) for stream in documents]
    return blocks if same[0] == same[1] else text


def _block(line: str) -> str:
    """A line whose value is a quoted text as a block below its key, if it can be one."""
    match = _QUOTED.match(line)
    try:
        content = json.loads(match[3]) if match else ""
    except ValueError:
        return line
    if match is None or content.rstrip("\n").startswith(" ") or content.endswith("\n\n"):
        return line
    indent = " " * (len(match[1]) + 2)
    chomp = "" if content.endswith("\n") else "-"
    rows = content.removesuffix("\n").split("\n")
    return "\n".join([f"{match[1]}{match[2]}|{chomp}", *[f"{indent}{row}" if row else "" for row in rows]])


class RepositoryBackend(KubernetesBackend):
    """Builds jobs and reads them back as the SDK does; what needs a cluster says what to use instead."""

    def __init__(self, repository: Repository) -> None:
        """The parent's constructor connects to a cluster; nothing here does."""
        self.custom_api = repository
        self.core_api = NoPods()
        self.namespace = repository.namespace or "default"
        self._repository = repository

    def train(self, *given: Any, **options: Any) -> str:
        """Write a job, and return its name; what `trainc validate` warns of is a warning.

        Raises:
            JobError: with what `trainc validate` says of it; nothing is written then.
            ExistingJobError: where there is a job of that name.
            ValueError: as the SDK does, for a trainer that the runtime cannot run.
        """
        try:
            name = str(super().train(*given, **options))
        except RuntimeError as error:
            if isinstance(error.__cause__, JobError | Trouble):
                raise error.__cause__ from None
            raise
        for caution in self._repository.cautions:
            warnings.warn(caution, stacklevel=3)
        return name

    def list_runtimes(self) -> list[types.Runtime]:
        """The runtimes of the project; what cannot be read is a warning."""
        with self._repository.one_reading():
            return list(super().list_runtimes())

    def list_jobs(self, runtime: types.Runtime | None = None) -> list[types.TrainJob]:
        """The jobs of the project, each `Created` at the time of its file; a file that cannot be read is a warning."""
        with self._repository.one_reading():
            return list(super().list_jobs(runtime))

    def get_runtime_packages(self, runtime: types.Runtime) -> NoReturn:
        """Not known without a cluster; ValueError as the SDK does, for a runtime with a trainer of its own."""
        if runtime.trainer.trainer_type == types.TrainerType.BUILTIN_TRAINER:
            raise ValueError("Cannot get Runtime packages for BuiltinTrainer")
        raise NotImplementedError(
            f"packages of `{runtime.name}` are in its image: `podman run --rm {runtime.trainer.image} pip list`"
        )

    def get_job_logs(self, name: str, follow: bool = False, step: str = f"{constants.NODE}-0") -> Iterator[str]:
        """Not known without a cluster."""
        container = step.rpartition("-")[0] if step[-1:].isdigit() else step
        pods = {constants.JOBSET_NAME_LABEL: name, **_labels_of(self.get_job(name), step)}
        selector = ",".join(f"{label}={value}" for label, value in pods.items())
        follows = " --follow" if follow else ""
        raise NotImplementedError(
            f"logs are in the cluster: `{self._kubectl()} logs --selector {selector} --container {container} --tail=-1{follows}`"
        )

    def get_job_events(self, name: str) -> list[types.Event]:
        """Not known without a cluster."""
        self.get_job(name)
        raise NotImplementedError(
            f"events are in the cluster: `{self._kubectl()} get events --field-selector involvedObject.name={name}`"
        )

    def wait_for_job_status(
        self,
        name: str,
        status: Iterable[str] = (constants.TRAINJOB_COMPLETE,),
        timeout: int = 600,
        polling_interval: int = 2,
        callbacks: list[Callable[[types.TrainJob], None]] | None = None,
    ) -> types.TrainJob:
        """The job where `Created` is waited for; whether it runs is not known without a cluster."""

        def stop(job: types.TrainJob) -> None:
            if job.status not in status:
                raise NotImplementedError(
                    f"the job runs in the cluster after its manifest is applied: "
                    f"`{self._kubectl()} wait jobset/{name} --for=condition=Completed --timeout={timeout}s`"
                )

        calls = [*(callbacks or ()), stop]
        return super().wait_for_job_status(name, set(status), timeout, polling_interval, calls)

    def delete_job(self, name: str) -> NoReturn:
        """Left to people: a job goes away with its file, by a commit that somebody reviews."""
        self.get_job(name)
        file = self._repository.file_of(name)
        raise NotImplementedError(f"to delete a job, commit: `git rm {file}`, then `trainc build -w`")

    def _kubectl(self) -> str:
        return f"kubectl --namespace {self.namespace}"


def _labels_of(job: types.TrainJob, step: str) -> dict[str, str]:
    """The labels of a step's pod beside the name of its JobSet; with MPI node 0 is the launcher, as in the SDK."""
    role, _, index = step.rpartition("-")
    if (number := whole_number(index)) is None:
        return {constants.JOBSET_RJOB_NAME_LABEL: step}
    if job.runtime.trainer.command[0] == "mpirun":
        if number == 0:
            return {constants.JOBSET_RJOB_NAME_LABEL: constants.LAUNCHER}
        index = str(number - 1)
    return {constants.JOBSET_RJOB_NAME_LABEL: role, constants.JOB_INDEX_LABEL: index}


def client_of(root: str, folder: str, namespace: str, *, replace: bool) -> TrainerClient:
    """A client over the project at `root`."""
    client = TrainerClient.__new__(TrainerClient)  # its constructor knows the SDK's own backends alone
    client.backend = RepositoryBackend(Repository(root, folder, namespace, replace=replace))
    return client


class NoPods:
    """The part of CoreV1Api that the SDK's backend uses: files have no pods."""

    def list_namespaced_pod(self, *_: str, **_options: Any) -> Any:
        """An empty list."""
        return SimpleNamespace(get=lambda _: SimpleNamespace(to_dict=lambda: {"items": []}))


def _list(items: list[dict[str, Any]]) -> AsyncResult:
    return AsyncResult({"apiVersion": TRAINER_API, "kind": "List", "metadata": {}, "items": items})
