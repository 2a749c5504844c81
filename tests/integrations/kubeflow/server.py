"""The SDK's own Kubernetes backend over objects in memory: what a client of a cluster would have sent and got."""

from collections.abc import Iterable
from typing import Any

from kubeflow.trainer.backends.kubernetes.backend import KubernetesBackend
from kubernetes.client import ApiException

from trainc.integrations.kubeflow.client import AsyncResult, NoPods

TIME = "2026-01-01T00:00:00Z"


class Server:
    """Keeps objects by plural and name, and gives them back as an API server does."""

    def __init__(self, runtimes: Iterable[dict[str, Any]]) -> None:
        self.objects: dict[tuple[str, str], dict[str, Any]] = {}
        for runtime in runtimes:
            self.objects[f"{runtime['kind'].lower()}s", runtime["metadata"]["name"]] = runtime

    def create_namespaced_custom_object(self, *where: Any) -> None:
        """Store an object; 409 where there is one of that name."""
        _, _, namespace, plural, body = where
        key = (plural, body["metadata"]["name"])
        if key in self.objects:
            raise ApiException(status=409, reason="Conflict")
        metadata = {**body["metadata"], "namespace": namespace, "creationTimestamp": TIME}
        self.objects[key] = {**body, "metadata": metadata}

    def get_namespaced_custom_object(self, *where: str, async_req: bool) -> AsyncResult:  # noqa: ARG002
        """An object by its name."""
        return AsyncResult(self.objects.get((where[-2], where[-1])))

    get_cluster_custom_object = get_namespaced_custom_object

    def list_namespaced_custom_object(self, *where: str, async_req: bool) -> AsyncResult:  # noqa: ARG002
        """All objects of a plural."""
        return AsyncResult({"items": [tree for (plural, _), tree in self.objects.items() if plural == where[-1]]})

    list_cluster_custom_object = list_namespaced_custom_object


class ServerBackend(KubernetesBackend):
    """The SDK's backend, whose constructor would look for a cluster."""

    def __init__(self, server: Server, namespace: str) -> None:
        self.custom_api = server
        self.core_api = NoPods()
        self.namespace = namespace
