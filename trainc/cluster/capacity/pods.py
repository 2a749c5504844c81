"""The pods that a JobSet's controller creates, as the API server stores them and the scheduler sees them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trainc.apiserver.pods.complaints import fields, items
from trainc.apiserver.pods.requests import pod_requests
from trainc.cluster.capacity.amounts import Units, all_units, required_terms
from trainc.cluster.capacity.nodes import HOSTNAME, is_of_job
from trainc.model.tree import Tree, get, plain, value

JOB_KEY = "jobset.sigs.k8s.io/job-key"
Ports = frozenset[tuple[str, str, int]]


class PendingPod:
    """One pod, or many equal ones, before it has a node.

    `requests` is what it takes of a node, where it is one of the `pods`; `spec` holds the parts that decide where it may run.
    """

    __slots__ = ("host_ports", "labels", "name", "namespace", "requests", "spec", "terms", "tolerations")

    def __init__(
        self,
        name: str,
        namespace: str,
        labels: Mapping[str, str],
        spec: dict[str, Any],
        requests: Units,
        host_ports: Ports = frozenset(),
    ) -> None:
        self.name = name
        self.namespace = namespace
        self.labels = dict(labels)
        self.spec = spec
        self.tolerations: list[Any] = spec.get("tolerations") or []
        self.terms = required_terms(spec)
        self.requests = requests
        self.host_ports = host_ports

    def like(self, name: str, **changes: Any) -> PendingPod:
        """A pod that differs in its name and in some parts of its spec; `labels` are added."""
        labels = {**self.labels, **changes.pop("labels", {})}
        return PendingPod(name, self.namespace, labels, {**self.spec, **changes}, self.requests, self.host_ports)

    @property
    def knows_names(self) -> bool:
        """Whether it asks for nodes by their names, so that nodes that are alike otherwise differ for it."""
        if self.spec.get("nodeName") or HOSTNAME in (self.spec.get("nodeSelector") or {}):
            return True
        return any(
            term.get("matchFields") or any(one.get("key") == HOSTNAME for one in term.get("matchExpressions") or [])
            for term in self.terms or []
        )

    @property
    def has_peer_rules(self) -> bool:
        affinity = self.spec.get("affinity") or {}
        return bool(
            self.host_ports
            or required_peers(self.spec, "podAffinity")
            or required_peers(self.spec, "podAntiAffinity")
            or hard_spreads(self.spec)
            or affinity.get("podAffinity")
        )


def required_peers(spec: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    """The required terms of a pod's affinity or anti-affinity to other pods."""
    terms = ((spec.get("affinity") or {}).get(kind) or {}).get("requiredDuringSchedulingIgnoredDuringExecution")
    return [term for term in terms or [] if isinstance(term, dict)]


def hard_spreads(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    constraints = spec.get("topologySpreadConstraints") or []
    return [one for one in constraints if isinstance(one, dict) and one.get("whenUnsatisfiable") != "ScheduleAnyway"]


def host_ports(tree: Tree) -> Ports:
    """The ports that a pod takes on its node: address, protocol, number."""
    ports = set()
    shares_network = value(tree, "hostNetwork") is True
    for container in items(get(tree, "containers")):
        for port in items(get(container, "ports")):
            number = value(port, "hostPort") or (value(port, "containerPort") if shares_network else None)
            if type(number) is int and number > 0:
                ports.add((value(port, "hostIP") or "0.0.0.0", value(port, "protocol") or "TCP", number))  # noqa: S104
    return frozenset(ports)


def ports_collide(first: Ports, second: Ports) -> bool:
    """Whether two pods want the same port of a node; the address 0.0.0.0 is all of them."""
    return any(
        mine[1:] == theirs[1:] and (mine[0] == theirs[0] or "0.0.0.0" in (mine[0], theirs[0]))  # noqa: S104
        for mine in first
        for theirs in second
    )


def bound_pods(trees: Iterable[tuple[str, Tree]], *, is_idle: bool) -> list[tuple[PendingPod, str]]:
    """The pods of a dump that hold a node, each with the node's name; an idle cluster runs none of a job."""
    bound = []
    for key, tree in trees:
        node = value(tree, "spec", "nodeName")
        if type(node) is not str or not node or value(tree, "status", "phase") in {"Succeeded", "Failed"}:
            continue
        if is_idle and is_of_job(tree):
            continue
        spec = get(tree, "spec")
        namespace, _, name = key.rpartition("/")
        affinity = plain(get(spec, "affinity"))
        parts = {} if affinity is None else {"affinity": affinity}
        requests = {"pods": 1, **all_units(pod_requests(spec))} if type(spec) is dict else {}
        labels = fields(plain(get(tree, "metadata", "labels")))
        bound.append((PendingPod(name, namespace, labels, parts, requests, host_ports(spec)), node))
    return bound
