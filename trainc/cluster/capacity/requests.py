"""What a JobSet asks of a cluster, as Kueue and the schedulers count it: pod sets with their numbers and requests.

LimitRanges write defaults into containers, and Kueue refuses pods because of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from trainc.apiserver.pods.complaints import fields, items, maps, text
from trainc.apiserver.pods.requests import Amount, Amounts, amounts, may_be_of_pod, quantity_of, together
from trainc.cluster.capacity.amounts import Units, added, all_units, required_terms, units
from trainc.cluster.capacity.facts import ClusterFacts
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
        spec = get(job, "template", "spec")
        parallelism = count_of(spec, "parallelism", 1)
        self.replicas = count_of(job, "replicas", 1)
        self.count = self.replicas * min(parallelism, count_of(spec, "completions", parallelism))
        self.tree = get(spec, "template", "spec")
        self.annotations: dict[str, str] = fields(plain(get(spec, "template", "metadata", "annotations")))
        tree = fields(self.tree)
        self.spec: dict[str, Any] = {key: plain(tree[key]) for key in _DECIDING if key in tree}
        self.tolerations: list[Any] = self.spec.get("tolerations") or []
        self.terms = required_terms(self.spec)
        self.topology_request = TopologyRequest(self.annotations)
        self.quota_cost: Units = {}
        self.placed: Units = {}


def count_of(holder: Tree, name: str, default: int) -> int:
    count = value(holder, name)
    return count if type(count) is int and count >= 0 else default


class Defaults:
    """What a namespace and Kueue's configuration make of the requests that people write."""

    def __init__(self, facts: ClusterFacts, namespace: str) -> None:
        self.summary = LimitRangeSummary(tree for _, tree in facts.in_namespace("LimitRange", namespace))
        resources = fields(facts.configuration.get("resources"))
        self.excluded = tuple(str(one) for one in resources.get("excludeResourcePrefixes") or ())
        self.rules = {one.get("input"): one for one in resources.get("transformations") or () if type(one) is dict}
        self.ignores_undeclared = resources.get("quotaCheckStrategy") == "IgnoreUndeclared"
        self.facts = facts

    def fill(self, pods: PodSet) -> Amounts:
        """Work out `quota_cost` and `placed` of a pod set; the exact amounts of one pod."""
        overhead = None
        name = value(pods.tree, "runtimeClassName")
        if type(name) is str:
            overhead = get(self.facts.find("RuntimeClass", name), "overhead", "podFixed")
        exact = self.summary.pod_amounts(pods.tree, overhead)
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
    if not any(name in rules for name in requests):
        return dict(requests)
    kept: dict[str, Amount] = {}
    made: dict[str, Quantity] = {}
    for name, amount in requests.items():
        rule = rules.get(name)
        if rule is None:
            kept[name] = amount
            continue
        base = amount.quantity
        if (by := requests.get(rule.get("multiplyBy") or "")) is not None:
            base = _product(base, by.quantity)
        for output, factor in (rule.get("outputs") or {}).items():
            more = _product(base, Quantity.parse(factor))
            made[output] = made[output].plus(more) if output in made else more
        if (rule.get("strategy") or "Retain") == "Retain":
            kept[name] = amount
    for output, quantity in made.items():
        before = kept.get(output)
        extra = Quantity(max(0, quantity.nanos), quantity.family)
        kept[output] = Amount(before.quantity.plus(extra) if before else extra, before.leaves if before else ())
    return kept


def _product(first: Quantity, second: Quantity) -> Quantity:
    return Quantity(-(-(first.nanos * second.nanos) // NANO), first.family)


CONTAINER, POD = "Container", "Pod"
_ABOVE = "requests must not be above the limitRange max"
_BELOW = "requests must not be below the limitRange min"
_EXCEEDS = "requests must not exceed its limits"


class Range:
    """The bounds and defaults of one type of a LimitRange, by resource name."""

    def __init__(self, item: Tree, *, is_container: bool) -> None:
        self.largest = amounts(get(item, "max"))
        self.smallest = amounts(get(item, "min"))
        self.default = amounts(get(item, "default"))
        self.default_request = amounts(get(item, "defaultRequest"))
        self.ratio = amounts(get(item, "maxLimitRequestRatio"))
        if is_container:  # the API server fills these in when the LimitRange is created
            self.default = {**self.largest, **self.default}
            self.default_request = {**self.smallest, **self.default, **self.default_request}

    def merge(self, other: Range) -> None:
        """Take the bounds of another range where they are narrower, and its defaults where there are none."""
        self.largest = keep(self.largest, other.largest, smaller=True)
        self.smallest = keep(self.smallest, other.smallest, smaller=False)
        self.default = {**other.default, **self.default}
        self.default_request = {**other.default_request, **self.default_request}


def keep(first: Mapping[str, Amount], second: Mapping[str, Amount], *, smaller: bool) -> Amounts:
    """Both lists of amounts, with the smaller or the larger amount where both have one."""
    out = dict(first)
    for name, amount in second.items():
        mine = out.get(name)
        if mine is None or ((amount.quantity < mine.quantity) == smaller and amount.quantity != mine.quantity):
            out[name] = amount
    return out


def ranges_of(tree: Tree) -> dict[str, Range]:
    """The ranges of one LimitRange by type; those of one type are merged."""
    ranges: dict[str, Range] = {}
    typed = ((value(item, "type"), item) for item in items(get(tree, "spec", "limits")))
    _merge(ranges, ((kind, Range(item, is_container=kind == CONTAINER)) for kind, item in typed if type(kind) is str))
    return ranges


def _merge(ranges: dict[str, Range], more: Iterable[tuple[str, Range]]) -> None:
    for kind, one in more:
        if kind in ranges:
            ranges[kind].merge(one)
        else:
            ranges[kind] = one


class LimitRangeSummary:
    """All LimitRanges of a namespace as Kueue merges them."""

    def __init__(self, trees: Iterable[Tree]) -> None:
        self.ranges: dict[str, Range] = {}
        for tree in trees:
            _merge(self.ranges, ranges_of(tree).items())

    def of_container(self, container: Tree) -> tuple[Amounts, Amounts]:
        """Requests and limits of a container after the defaults; a limit stands in for a request that is absent."""
        requests = amounts(get(container, "resources", "requests"))
        return self._filled(requests, amounts(get(container, "resources", "limits")), CONTAINER)

    def of_pod(self, pod: Tree) -> tuple[Amounts, Amounts] | None:
        """Requests and limits of the pod as a whole, None where it states none."""
        if type(get(pod, "resources")) is not dict:
            return None
        return self._filled(amounts(get(pod, "resources", "requests")), amounts(get(pod, "resources", "limits")), POD)

    def _filled(self, requests: Amounts, limits: Amounts, kind: str) -> tuple[Amounts, Amounts]:
        if (one := self.ranges.get(kind)) is not None:
            limits = {**one.default, **limits}
            requests = {**one.default_request, **requests}
        return {**limits, **requests}, limits

    def pod_amounts(self, pod: Tree, overhead: Tree) -> Amounts:
        if type(pod) is not dict:
            return {}
        pod_requests = together(pod, lambda container: dict(self.of_container(container)[0]))
        if (whole := self.of_pod(pod)) is not None:
            pod_requests.update({name: amount for name, amount in whole[0].items() if may_be_of_pod(name)})
        own = amounts(get(pod, "overhead")) or amounts(overhead)
        for name, amount in own.items():
            before = pod_requests.get(name)
            pod_requests[name] = Amount(before.quantity.plus(amount.quantity), before.leaves) if before else amount
        return pod_requests

    def faults(self, pods: Iterable[tuple[Tree, Amounts]]) -> str:
        """What Kueue says of pods that break a LimitRange, or whose requests exceed their limits; empty for nothing."""
        listed = [(pod, of_pod, f"spec.podSets[{index}].template.spec") for index, (pod, of_pod) in enumerate(pods)]
        if messages := [message for pod, _, path in listed for message in self._exceeding(pod, path)]:
            return f"resources validation failed: {joined(messages)}"
        messages = [message for one in listed for message in self._outside(*one)]
        return f"resources didn't satisfy LimitRange constraints: {joined(messages)}" if messages else ""

    def _exceeding(self, pod: Tree, path: str) -> Iterable[str]:
        for where, container in _containers(pod):
            requests, limits = self.of_container(container)
            yield from _fault(f"{path}.{where}", _greater(requests, limits), _EXCEEDS)
        if (whole := self.of_pod(pod)) is not None:
            yield from _fault(f"{path}.resources", _greater(*whole), _EXCEEDS)

    def _outside(self, pod: Tree, pod_requests: Amounts, path: str) -> Iterable[str]:
        one = self.ranges.get(CONTAINER)
        for where, container in _containers(pod) if one else ():
            requests, limits = self.of_container(container)
            most, least = keep(requests, limits, smaller=False), keep(requests, limits, smaller=True)
            yield from _fault(f"{path}.{where}", _greater(most, one.largest if one else {}), _ABOVE)
            yield from _fault(f"{path}.{where}", _greater(one.smallest if one else {}, least), _BELOW)
        if whole := self.ranges.get(POD):
            yield from _fault(path, _greater(pod_requests, whole.largest), _ABOVE)
            yield from _fault(path, _greater(whole.smallest, pod_requests), _BELOW)


def _containers(pod: Tree) -> Iterable[tuple[str, Tree]]:
    for field in ("initContainers", "containers"):
        for index, container in enumerate(items(get(pod, field))):
            yield f"{field}[{index}]", container


def _greater(first: Mapping[str, Amount], second: Mapping[str, Amount]) -> list[str]:
    return sorted(
        name
        for name, amount in first.items()
        if name in second and units(name, amount.quantity) > units(name, second[name].quantity)
    )


def _fault(path: str, names: list[str], reason: str) -> Iterable[str]:
    if names:
        listed = ",".join(f'"{name}"' for name in names)
        yield f"{path}: Invalid value: [{listed}]: {reason}"


def joined(faults: Iterable[str]) -> str:
    """Faults as Go joins errors: each once, several in brackets; empty for none."""
    distinct = list(dict.fromkeys(faults))
    return f"[{', '.join(distinct)}]" if len(distinct) > 1 else "".join(distinct)


def reserved_fault(pods: Iterable[Tree]) -> str:
    """What the webhook of Kueue's Workloads says of requests that it never takes; empty for nothing."""
    messages: list[str] = []
    for index, pod in enumerate(pods):
        path = f"spec.podSets[{index}].template.spec"
        for where, container in _containers(pod):
            messages += _reserved(f"{path}.{where}.resources", get(container, "resources"))
        messages += _reserved(f"{path}.resources", get(pod, "resources"))
    return joined(messages)


def _reserved(path: str, resources: Tree) -> Iterable[str]:
    for part in ("requests", "limits"):
        for name, leaf in fields(get(resources, part)).items():
            if name == "pods":
                yield f'{path}.{part}[pods]: Invalid value: "pods": the key is reserved for internal kueue use'
            if (quantity := quantity_of(leaf)) is not None and quantity.nanos < 0:
                yield f'{path}.{part}[{name}]: Invalid value: "{quantity}": must be greater than or equal to 0'
