"""The calls of kubernetes.client that the SDK makes, answered from a repository."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from kubernetes.client import ApiException

from trainc.text.object_keys import TRAINER_API

if TYPE_CHECKING:
    from trainc.integrations.kubeflow.repository import Repository

_JOBS = "trainjobs"
_NOT_FOUND = 404


class AsyncResult:
    """What a call with `async_req` gives: the answer, or the error, when somebody asks for it."""

    def __init__(self, content: dict[str, Any] | None) -> None:
        self._content = content

    def get(self, timeout: float | None = None) -> dict[str, Any]:  # noqa: ARG002 (as multiprocessing has it)
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

    def get_namespaced_custom_object(self, *where: str, async_req: bool) -> AsyncResult:  # noqa: ARG002
        """A job, or a TrainingRuntime."""
        *_, plural, name = where
        if plural == _JOBS:
            return AsyncResult(self._repository.job(name))
        runtimes = self._repository.contents().namespaced_runtimes()
        return AsyncResult(next((one for one in runtimes if _name(one) == name), None))

    def list_namespaced_custom_object(self, *where: str, async_req: bool) -> AsyncResult:  # noqa: ARG002
        """All jobs, or all TrainingRuntimes."""
        repository = self._repository
        return _list(repository.jobs() if where[-1] == _JOBS else repository.contents().namespaced_runtimes())

    def get_cluster_custom_object(self, *where: str, async_req: bool) -> AsyncResult:  # noqa: ARG002
        """A ClusterTrainingRuntime, with all that it inherits."""
        return AsyncResult(self._repository.contents().runtime(where[-1]))

    def list_cluster_custom_object(self, *where: str, async_req: bool) -> AsyncResult:  # noqa: ARG002
        """All ClusterTrainingRuntimes, each with all that it inherits."""
        return _list(self._repository.contents().runtimes())

    def create_namespaced_custom_object(self, *where: Any) -> None:
        """Write a job to its file."""
        self._repository.write(where[-1])


class NoPods:
    """The part of CoreV1Api that the SDK's backend uses: files have no pods."""

    def list_namespaced_pod(self, *where: str, **options: Any) -> Any:  # noqa: ARG002
        """An empty list."""
        return SimpleNamespace(get=lambda _: SimpleNamespace(to_dict=lambda: {"items": []}))


def _list(items: list[dict[str, Any]]) -> AsyncResult:
    return AsyncResult({"apiVersion": TRAINER_API, "kind": "List", "metadata": {}, "items": items})


def _name(tree: dict[str, Any]) -> object:
    return tree.get("metadata", {}).get("name")
