"""LimitRanges: the defaults that they write into containers, and what Kueue refuses because of them."""

from __future__ import annotations

from trainc.apiserver.pods.requests import Amount, amounts, quantity_of, together
from trainc.cluster.capacity.amounts import units
from trainc.model.tree import get, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from trainc.apiserver.pods.requests import Amounts
    from trainc.model.tree import Tree

CONTAINER, POD = "Container", "Pod"
_ABOVE = "requests must not be above the limitRange max"
_BELOW = "requests must not be below the limitRange min"
_EXCEEDS = "requests must not exceed its limits"


class Range:
    """The bounds and defaults of one type of a LimitRange, by resource name."""

    __slots__ = ("default", "default_request", "largest", "ratio", "smallest")

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
    limits = get(tree, "spec", "limits")
    for item in limits if type(limits) is list else []:
        kind = value(item, "type")
        if type(kind) is str:
            one = Range(item, is_container=kind == CONTAINER)
            if kind in ranges:
                ranges[kind].merge(one)
            else:
                ranges[kind] = one
    return ranges


class Summary:
    """All LimitRanges of a namespace as Kueue merges them."""

    def __init__(self, trees: Iterable[Tree]) -> None:
        self.ranges: dict[str, Range] = {}
        for tree in trees:
            for kind, one in ranges_of(tree).items():
                if kind in self.ranges:
                    self.ranges[kind].merge(one)
                else:
                    self.ranges[kind] = one

    def of_container(self, container: Tree) -> tuple[Amounts, Amounts]:
        """Requests and limits of a container after the defaults; a limit stands in for a request that is absent."""
        requests = amounts(get(container, "resources", "requests"))
        limits = amounts(get(container, "resources", "limits"))
        return self._filled(requests, limits, CONTAINER)

    def of_pod(self, pod: Tree) -> tuple[Amounts, Amounts] | None:
        """Requests and limits of the pod as a whole, None where it states none."""
        if type(get(pod, "resources")) is not dict:
            return None
        requests = amounts(get(pod, "resources", "requests"))
        return self._filled(requests, amounts(get(pod, "resources", "limits")), POD)

    def _filled(self, requests: Amounts, limits: Amounts, kind: str) -> tuple[Amounts, Amounts]:
        one = self.ranges.get(kind)
        if one is not None:
            limits = {**one.default, **limits}
            requests = {**one.default_request, **requests}
        return {**limits, **requests}, limits

    def pod_amounts(self, pod: Tree, overhead: Tree) -> Amounts:
        """What one pod asks for in all."""
        if type(pod) is not dict:
            return {}
        pod_requests = together(pod, lambda container: dict(self.of_container(container)[0]))
        whole = self.of_pod(pod)
        if whole is not None:
            pod_requests.update({name: amount for name, amount in whole[0].items() if may_be_of_pod(name)})
        own = amounts(get(pod, "overhead")) or amounts(overhead)
        for name, amount in own.items():
            before = pod_requests.get(name)
            pod_requests[name] = Amount(before.quantity.plus(amount.quantity), before.leaves) if before else amount
        return pod_requests

    def faults(self, pods: Iterable[tuple[Tree, Amounts]]) -> str:
        """What Kueue says of pods that break a LimitRange, or whose requests exceed their limits; empty for nothing."""
        listed = list(pods)
        messages = list(_each(listed, self._exceeding))
        if messages:
            return f"resources validation failed: {_joined(messages)}"
        messages = list(_each(listed, self._outside))
        return f"resources didn't satisfy LimitRange constraints: {_joined(messages)}" if messages else ""

    def _exceeding(self, pod: Tree, pod_requests: Amounts, path: str) -> Iterable[str]:  # noqa: ARG002 (one shape)
        for where, container in _containers(pod):
            requests, limits = self.of_container(container)
            yield from _fault(f"{path}.{where}", _greater(requests, limits), _EXCEEDS)
        whole = self.of_pod(pod)
        if whole is not None:
            yield from _fault(f"{path}.resources", _greater(*whole), _EXCEEDS)

    def _outside(self, pod: Tree, pod_requests: Amounts, path: str) -> Iterable[str]:
        one = self.ranges.get(CONTAINER)
        for where, container in _containers(pod) if one else ():
            requests, limits = self.of_container(container)
            most, least = keep(requests, limits, smaller=False), keep(requests, limits, smaller=True)
            yield from _fault(f"{path}.{where}", _greater(most, one.largest if one else {}), _ABOVE)
            yield from _fault(f"{path}.{where}", _greater(one.smallest if one else {}, least), _BELOW)
        whole = self.ranges.get(POD)
        if whole:
            yield from _fault(path, _greater(pod_requests, whole.largest), _ABOVE)
            yield from _fault(path, _greater(whole.smallest, pod_requests), _BELOW)


def may_be_of_pod(name: str) -> bool:
    """Whether a pod may state a resource as a whole."""
    return name in {"cpu", "memory"} or name.startswith("hugepages-")


def _each(pods: list[tuple[Tree, Amounts]], check: Callable[[Tree, Amounts, str], Iterable[str]]) -> Iterable[str]:
    for index, (pod, requests) in enumerate(pods):
        yield from check(pod, requests, f"spec.podSets[{index}].template.spec")


def _containers(pod: Tree) -> Iterable[tuple[str, Tree]]:
    for field in ("initContainers", "containers"):
        listed = get(pod, field)
        for index, container in enumerate(listed if type(listed) is list else []):
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


def _joined(faults: list[str]) -> str:
    distinct = list(dict.fromkeys(faults))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"


def reserved_fault(pods: Iterable[Tree]) -> str:
    """What the webhook of Kueue's Workloads says of requests that it never takes; empty for nothing."""
    messages: list[str] = []
    for index, pod in enumerate(pods):
        path = f"spec.podSets[{index}].template.spec"
        for where, container in _containers(pod):
            messages += _reserved(f"{path}.{where}.resources", get(container, "resources"))
        messages += _reserved(f"{path}.resources", get(pod, "resources"))
    return _joined(messages) if messages else ""


def _reserved(path: str, resources: Tree) -> Iterable[str]:
    for part in ("requests", "limits"):
        listed = get(resources, part)
        for name, leaf in listed.items() if type(listed) is dict else ():
            if name == "pods":
                yield f'{path}.{part}[pods]: Invalid value: "pods": the key is reserved for internal kueue use'
            quantity = quantity_of(leaf)
            if quantity is not None and quantity.nanos < 0:
                yield f'{path}.{part}[{name}]: Invalid value: "{quantity}": must be greater than or equal to 0'
