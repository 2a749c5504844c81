"""The SDK's own Kubernetes backend, with a repository in the place of the API server."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NoReturn

from kubeflow.trainer import TrainerClient
from kubeflow.trainer.backends.kubernetes.backend import KubernetesBackend

from trainc.kubeflow.api import NoPods, RepositoryApi
from trainc.kubeflow.repository import JobError, Repository
from trainc.model.trouble import Trouble

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubeflow.trainer.types import types


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
            Trouble: where there is a job of that name.
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

    def get_runtime_packages(self, runtime: types.Runtime) -> NoReturn:
        """Not known without a cluster."""
        raise NotImplementedError(
            f"packages of `{runtime.name}` are in its image: `podman run --rm {runtime.trainer.image} pip list`"
        )

    def get_job_logs(self, name: str, follow: bool = False, step: str = "node-0") -> Iterator[str]:
        """Not known without a cluster."""
        role, _, index = step.rpartition("-")
        follows = " --follow" if follow else ""
        target = f"job/{name}-{role}-0" if role else f"job/{name}-{step}-0"
        raise NotImplementedError(
            f"logs are in the cluster: `{self._kubectl()} logs {target}{follows}`" + (f" (pod {index})" if role else "")
        )

    def get_job_events(self, name: str) -> list[types.Event]:
        """Not known without a cluster."""
        raise NotImplementedError(
            f"events are in the cluster: `{self._kubectl()} get events --field-selector involvedObject.name={name}`"
        )

    def wait_for_job_status(self, name: str, *given: Any, **options: Any) -> types.TrainJob:
        """Not known without a cluster."""
        raise NotImplementedError(
            f"whether the job runs is known in the cluster, once its manifest is applied: "
            f"`{self._kubectl()} wait jobset/{name} --for=condition=Completed --timeout=600s`"
        )

    def delete_job(self, name: str) -> NoReturn:
        """Left to people: a job goes away with its file, by a commit that somebody reviews."""
        file = self._repository.file_of(name)
        raise NotImplementedError(f"a job is deleted by a commit: `git rm {file}`, then `trainc build -w`")

    def _kubectl(self) -> str:
        return f"kubectl --namespace {self.namespace}"


def client_of(root: str, folder: str, namespace: str, *, replace: bool) -> TrainerClient:
    """A client over the project at `root`."""
    client = TrainerClient.__new__(TrainerClient)  # its constructor knows the SDK's own backends alone
    client.backend = RepositoryBackend(Repository(root, folder, namespace, replace=replace))
    return client
