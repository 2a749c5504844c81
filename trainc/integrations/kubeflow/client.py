"""The SDK's own Kubernetes backend, with a repository in the place of the API server."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from types import SimpleNamespace
from typing import Any, NoReturn

from kubeflow.trainer import TrainerClient
from kubeflow.trainer.backends.kubernetes.backend import KubernetesBackend
from kubeflow.trainer.constants import constants
from kubeflow.trainer.types import types
from kubernetes.client import ApiException

from trainc.integrations.kubeflow.repository import JobError, Repository
from trainc.text.numbers import whole_number
from trainc.text.object_keys import TRAINER_API
from trainc.text.trouble import Trouble


class RepositoryBackend(KubernetesBackend):
    """Builds jobs and reads them back as the SDK does; what needs a cluster says what to use instead."""

    def __init__(self, repository: Repository) -> None:
        """The parent's constructor connects to a cluster; nothing here does."""
        self.custom_api = RepositoryApi(repository)
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
        """Not known without a cluster.

        Raises:
            ValueError: as the SDK does, for a runtime with a trainer of its own.
        """
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


_JOBS = "trainjobs"
_NOT_FOUND = 404


class AsyncResult:
    """What a call with `async_req` gives: the answer, or the error, when somebody asks for it."""

    def __init__(self, content: dict[str, Any] | None) -> None:
        self._content = content

    def get(self, *_: float, **_timeout: float) -> dict[str, Any]:
        """The answer.

        Raises:
            ApiException: with 404, where there is no such object.
        """
        if self._content is None:
            raise ApiException(status=_NOT_FOUND, reason="Not Found")
        return self._content


class RepositoryApi:
    """The part of CustomObjectsApi that the SDK's backend uses."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def get_namespaced_custom_object(self, *where: str, **_options: bool) -> AsyncResult:
        """A job, or a TrainingRuntime."""
        *_, plural, name = where
        if plural == _JOBS:
            return AsyncResult(self._repository.job(name))
        runtimes = self._repository.contents().namespaced_runtimes()
        return AsyncResult(next((one for one in runtimes if one.get("metadata", {}).get("name") == name), None))

    def list_namespaced_custom_object(self, *where: str, **_options: bool) -> AsyncResult:
        """All jobs, or all TrainingRuntimes."""
        repository = self._repository
        return _list(repository.jobs() if where[-1] == _JOBS else repository.contents().namespaced_runtimes())

    def get_cluster_custom_object(self, *where: str, **_options: bool) -> AsyncResult:
        """A ClusterTrainingRuntime, with all that it inherits."""
        return AsyncResult(self._repository.contents().runtime(where[-1]))

    def list_cluster_custom_object(self, *_where: str, **_options: bool) -> AsyncResult:
        """All ClusterTrainingRuntimes, each with all that it inherits."""
        return _list(self._repository.contents().runtimes())

    def create_namespaced_custom_object(self, *where: Any) -> None:
        """Write a job to its file."""
        self._repository.write(where[-1])


class NoPods:
    """The part of CoreV1Api that the SDK's backend uses: files have no pods."""

    def list_namespaced_pod(self, *_: str, **_options: Any) -> Any:
        """An empty list."""
        return SimpleNamespace(get=lambda _: SimpleNamespace(to_dict=lambda: {"items": []}))


def _list(items: list[dict[str, Any]]) -> AsyncResult:
    return AsyncResult({"apiVersion": TRAINER_API, "kind": "List", "metadata": {}, "items": items})
