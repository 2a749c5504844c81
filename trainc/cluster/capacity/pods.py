"""The pods of a JobSet: sets of equal ones, as Kueue counts them, and each as the scheduler sees it."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from trainc.apiserver.pods.complaints import fields, items, maps, text
from trainc.apiserver.pods.requests import Amount, Amounts, add, pod_requests
from trainc.cluster.capacity.amounts import Units, added, all_units, required_terms
from trainc.cluster.capacity.facts import ClusterFacts
from trainc.cluster.capacity.limit_ranges import LimitRanges
from trainc.cluster.capacity.nodes import FINISHED, HOSTNAME, is_of_job
from trainc.model.tree import Tree, get, plain, value
from trainc.text.embedded_json import json_value
from trainc.text.numbers import whole_number
from trainc.text.quantity import NANO, Quantity

_PREFIX = "kueue.x-k8s.io/podset-"
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
# The parts of a pod spec that decide where it may run, besides its requests.
_DECIDING = (
    "affinity", "hostNetwork", "nodeName", "nodeSelector", "priorityClassName", "runtimeClassName", "schedulerName",
    "schedulingGates", "tolerations", "topologySpreadConstraints", "activeDeadlineSeconds",
)  # fmt: skip
JOB_KEY = "jobset.sigs.k8s.io/job-key"
Ports = frozenset[tuple[str, str, int]]


class SliceLayer(NamedTuple):
    """Slices of so many pods that stay in one domain of a level."""

    level: str
    size: int


class TopologyRequest:
    """What a pod set's annotations ask of topology-aware placement."""

    def __init__(self, annotations: Mapping[str, str]) -> None:
        self.is_implied = False
        self.level = ""
        self.mode = next((m for m in ("required", "preferred", "unconstrained") if _key(m) in annotations), "")
        self.slices = _slices(annotations)
        if self.mode in ("required", "preferred"):
            self.level = annotations[_key(self.mode)]
        elif self.mode == "unconstrained" and annotations[_key(self.mode)] not in _TRUE:
            self.mode = "unwanted"
        self.is_explicit = bool(self.mode or self.slices)
        group = annotations.get(f"{_PREFIX}group-name")
        self.group = group if self.level and group is not None else None

    @property
    def is_required(self) -> bool:
        return self.mode == "required"

    @property
    def is_slice_only(self) -> bool:
        """Whether slices alone are asked for: then the pods may lie anywhere else."""
        return bool(self.slices) and self.mode not in ("required", "preferred")

    @property
    def is_unconstrained(self) -> bool:
        return self.mode == "unconstrained" or self.is_implied or self.is_slice_only

    def main_level(self, levels: list[str]) -> str:
        """The level that the pods share, empty where none is asked for."""
        if self.level:
            return self.level
        if self.is_slice_only:
            return levels[0] if levels else ""
        return levels[-1] if self.mode == "unconstrained" and levels else ""


def _key(mode: str) -> str:
    return f"{_PREFIX}{mode}-topology"


def _slices(annotations: Mapping[str, str]) -> tuple[SliceLayer, ...]:
    if (several := annotations.get(f"{_PREFIX}slice-required-topology-constraints")) is not None:
        try:
            layers = json_value(several)
        except ValueError:
            return ()
        return tuple(
            [SliceLayer(text(one, "topology"), one["size"]) for _, one in maps(layers) if type(one.get("size")) is int]
        )
    level, size = annotations.get(f"{_PREFIX}slice-required-topology"), annotations.get(f"{_PREFIX}slice-size", "")
    number = whole_number(size)
    return (SliceLayer(level, number),) if level is not None and number is not None else ()


class PodSet:
    """The equal pods of one replicatedJob.

    `quota_cost` is what one pod costs of a quota, `placed` what it takes of a node, where it is one of the `pods`; both
    after the namespace's defaults.
    """

    def __init__(self, job: Tree) -> None:
        name = value(job, "name")
        self.name: str = name.lower() if type(name) is str else ""
        template = get(job, "template", "spec", "template")
        self.replicas = count_of(job, "replicas", 1)
        self.count = pods_of(job)
        self.tree = get(template, "spec")
        tree = fields(self.tree)
        self.spec: dict[str, Any] = {key: plain(tree[key]) for key in _DECIDING if key in tree}
        self.tolerations: list[Any] = self.spec.get("tolerations") or []
        self.terms = required_terms(self.spec)
        self.topology_request = TopologyRequest(fields(plain(get(template, "metadata", "annotations"))))
        self.quota_cost: Units = {}
        self.placed: Units = {}


def jobs_of(jobset: Tree) -> list[Tree]:
    return items(get(jobset, "spec", "replicatedJobs"))


def pods_of(job: Tree) -> int:
    """The pods of all Jobs of a replicatedJob."""
    spec = get(job, "template", "spec")
    parallelism = count_of(spec, "parallelism", 1)
    return count_of(job, "replicas", 1) * min(parallelism, count_of(spec, "completions", parallelism))


def count_of(holder: Tree, name: str, default: int) -> int:
    count = value(holder, name)
    return count if type(count) is int and count >= 0 else default


class Defaults:
    """What a namespace and Kueue's configuration make of the requests that people write."""

    def __init__(self, facts: ClusterFacts, namespace: str) -> None:
        self.limits = LimitRanges(tree for _, tree in facts.in_namespace("LimitRange", namespace))
        resources = fields(facts.configuration.get("resources"))
        self.excluded = tuple(str(one) for one in resources.get("excludeResourcePrefixes") or ())
        self.rules = {one.get("input"): one for one in resources.get("transformations") or () if type(one) is dict}
        self.ignores_undeclared = resources.get("quotaCheckStrategy") == "IgnoreUndeclared"
        self.facts = facts

    def fill(self, pods: PodSet) -> Amounts:
        """Work out `quota_cost` and `placed` of a pod set; the exact amounts of one pod."""
        overhead = get(self.facts.runtime_class(pods.tree), "overhead", "podFixed")
        exact = self.limits.pod_for_kueue(pods.tree, overhead)
        pods.placed = added(all_units(exact), {"pods": 1})
        counted = exact
        if self.excluded or self.rules:
            kept = {name: amount for name, amount in exact.items() if not name.startswith(self.excluded)}
            counted = transformed(kept if self.excluded else exact, self.rules)
        pods.quota_cost = {name: max(0, amount) for name, amount in all_units(counted).items()}
        return exact


def unknown_of_pod(facts: ClusterFacts, pod: Tree) -> str:
    """What a pod asks for that the dump does not tell of, empty for nothing."""
    if get(pod, "resourceClaims") is not None:
        return "the pods claim devices (`resourceClaims`), which no dump shows"
    name = value(pod, "runtimeClassName")
    if name and get(pod, "overhead") is None and not facts.is_listed("RuntimeClass"):
        return f"RuntimeClass {name}, which may add an overhead to the pods, is not in the dump"
    return ""


def transformed(requests: Mapping[str, Amount], rules: Mapping[Any, Mapping[str, Any]]) -> Amounts:
    """The requests after `resources.transformations` of Kueue's configuration."""
    kept: dict[str, Amount] = {}
    made: dict[str, Amount] = {}
    for name, amount in requests.items():
        rule = rules.get(name) or {"strategy": "Retain"}
        base = amount.quantity
        if (by := requests.get(rule.get("multiplyBy") or "")) is not None:
            base = _product(base, by.quantity)
        for output, factor in (rule.get("outputs") or {}).items():
            add(made, {output: Amount(_product(base, Quantity.parse(factor)), ())})
        if (rule.get("strategy") or "Retain") == "Retain":
            kept[name] = amount
    for name, amount in made.items():
        quantity = amount.quantity
        add(kept, {name: Amount(Quantity(max(0, quantity.nanos), quantity.family), ())})
    return kept


def _product(first: Quantity, second: Quantity) -> Quantity:
    return Quantity(-(-(first.nanos * second.nanos) // NANO), first.family)


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

    def like(self, name: str, **changes: Any) -> "PendingPod":
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
        if type(node) is not str or not node or value(tree, "status", "phase") in FINISHED:
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
