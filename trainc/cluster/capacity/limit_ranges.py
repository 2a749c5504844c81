"""LimitRanges: what they write into containers, and what the API server and Kueue say of pods that break one.

The API server looks at every range for itself, Kueue at all of a namespace in one.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from trainc.apiserver.pods.complaints import fields, items
from trainc.apiserver.pods.requests import Amount, Amounts, add, amounts, may_be_of_pod, quantity_of, together
from trainc.cluster.capacity.amounts import units
from trainc.model.tree import Tree, get, value
from trainc.text.quantity import NANO

_CONTAINER, _POD = "Container", "Pod"
_ABOVE = "requests must not be above the limitRange max"
_BELOW = "requests must not be below the limitRange min"
_EXCEEDS = "requests must not exceed its limits"


class Range(NamedTuple):
    """The bounds and defaults of one type of a LimitRange, by resource name."""

    largest: Amounts
    smallest: Amounts
    default: Amounts
    default_request: Amounts
    ratio: Amounts


def _range_of(item: Tree, kind: str) -> Range:
    parts = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
    one = Range(*(amounts(get(item, part)) for part in parts))
    if kind == _CONTAINER:  # the API server fills these in when the LimitRange is created
        default = {**one.largest, **one.default}
        one = one._replace(default=default, default_request={**one.smallest, **default, **one.default_request})
    return one


def _merged(ranges: Iterable[tuple[str, Range]]) -> dict[str, Range]:
    """The ranges by type: of several the narrower bounds, and of defaults the first."""
    out: dict[str, Range] = {}
    for kind, other in ranges:
        if (one := out.get(kind)) is None:
            out[kind] = other
        else:
            out[kind] = Range(
                _kept(one.largest, other.largest, smaller=True),
                _kept(one.smallest, other.smallest, smaller=False),
                {**other.default, **one.default},
                {**other.default_request, **one.default_request},
                one.ratio,
            )
    return out


def _kept(first: Mapping[str, Amount], second: Mapping[str, Amount], *, smaller: bool) -> Amounts:
    """Both lists of amounts, with the smaller or the larger amount where both have one."""
    out = dict(first)
    for name, amount in second.items():
        mine = out.get(name)
        if mine is None or ((amount.quantity < mine.quantity) == smaller and amount.quantity != mine.quantity):
            out[name] = amount
    return out


class LimitRanges:
    """The LimitRanges of a namespace."""

    def __init__(self, trees: Iterable[Tree]) -> None:
        typed = [[(value(item, "type"), item) for item in items(get(tree, "spec", "limits"))] for tree in trees]
        self._each = [
            _merged((kind, _range_of(item, kind)) for kind, item in one if type(kind) is str) for one in typed
        ]
        self._all = _merged(pair for ranges in self._each for pair in ranges.items())

    def requests(self, container: Tree) -> Amounts:
        """What a container of the API server asks for: its own limits stand in before the namespace's defaults do."""
        own = {**amounts(get(container, "resources", "limits")), **amounts(get(container, "resources", "requests"))}
        return {**self._all[_CONTAINER].default_request, **own} if _CONTAINER in self._all else own

    def limits(self, container: Tree) -> Amounts:
        own = amounts(get(container, "resources", "limits"))
        return {**self._all[_CONTAINER].default, **own} if _CONTAINER in self._all else own

    def refusal(self, pod: Tree) -> str:
        """What the API server says of a pod that breaks a range, empty where none does."""
        for ranges in self._each:
            faults: list[str] = []
            for _, container in containers_of(pod, "containers", "initContainers") if _CONTAINER in ranges else ():
                faults += _faults(ranges[_CONTAINER], _CONTAINER, self.requests(container), self.limits(container))
            if _POD in ranges:
                requests = {**together(pod, self.requests), **_of_pod(pod, "limits", "requests")}
                limits = {**together(pod, self.limits), **_of_pod(pod, "limits")}
                faults += _faults(ranges[_POD], _POD, requests, limits)
            if faults:
                return joined(faults)
        return ""

    def for_kueue(self, container: Tree, kind: str = _CONTAINER) -> tuple[Amounts, Amounts]:
        """Requests and limits as Kueue fills them in; a limit stands in for a request that nothing gives."""
        requests, limits = (amounts(get(container, "resources", part)) for part in ("requests", "limits"))
        if (one := self._all.get(kind)) is not None:
            limits = {**one.default, **limits}
            requests = {**one.default_request, **requests}
        return {**limits, **requests}, limits

    def pod_for_kueue(self, pod: Tree, overhead: Tree) -> Amounts:
        """What a pod costs in all; `overhead` is that of its RuntimeClass."""
        if type(pod) is not dict:
            return {}
        requests = together(pod, lambda container: dict(self.for_kueue(container)[0]))
        if type(get(pod, "resources")) is dict:
            whole = self.for_kueue(pod, _POD)[0]
            requests.update({name: amount for name, amount in whole.items() if may_be_of_pod(name)})
        add(requests, amounts(get(pod, "overhead")) or amounts(overhead))
        return requests

    def kueue_refusal(self, pods: Iterable[tuple[Tree, Amounts]]) -> str:
        """What Kueue says of pods that break a LimitRange, or whose requests exceed their limits; empty for nothing."""
        exceeding: list[str] = []
        outside: list[str] = []
        for index, (pod, asked) in enumerate(pods):
            path = f"spec.podSets[{index}].template.spec"
            for where, container in containers_of(pod):
                requests, limits = self.for_kueue(container)
                exceeding += _invalid(f"{path}.{where}", requests, limits, _EXCEEDS)
                if one := self._all.get(_CONTAINER):
                    outside += _invalid(f"{path}.{where}", _kept(requests, limits, smaller=False), one.largest, _ABOVE)
                    outside += _invalid(f"{path}.{where}", one.smallest, _kept(requests, limits, smaller=True), _BELOW)
            if type(get(pod, "resources")) is dict:
                exceeding += _invalid(f"{path}.resources", *self.for_kueue(pod, _POD), _EXCEEDS)
            if whole := self._all.get(_POD):
                outside += _invalid(path, asked, whole.largest, _ABOVE)
                outside += _invalid(path, whole.smallest, asked, _BELOW)
        if exceeding:
            return f"resources validation failed: {joined(exceeding)}"
        return f"resources didn't satisfy LimitRange constraints: {joined(outside)}" if outside else ""


def containers_of(pod: Tree, *lists: str) -> Iterator[tuple[str, Tree]]:
    """The containers of a pod with their places, in the order of these lists or in that in which they start."""
    for field in lists or ("initContainers", "containers"):
        for index, container in enumerate(items(get(pod, field))):
            yield f"{field}[{index}]", container


def _of_pod(pod: Tree, *parts: str) -> Amounts:
    """What a pod states as a whole, as far as LimitRanger looks at it; a later part stands before an earlier one."""
    stated = {name: amount for part in parts for name, amount in amounts(get(pod, "resources", part)).items()}
    return {name: amount for name, amount in stated.items() if name in {"cpu", "memory"}}


def _faults(one: Range, kind: str, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for name, bound in one.smallest.items():
        start = f"minimum {name} usage per {kind} is {bound.quantity}"
        if name not in requests:
            yield f"{start}.  No request is specified"
        elif requests[name].quantity < bound.quantity:
            yield f"{start}, but request is {requests[name].quantity}"
        elif name in limits and limits[name].quantity < bound.quantity:
            yield f"{start}, but limit is {limits[name].quantity}"
    for name, bound in one.largest.items():
        start = f"maximum {name} usage per {kind} is {bound.quantity}"
        if name not in limits:
            yield f"{start}.  No limit is specified"
        elif bound.quantity < limits[name].quantity:
            yield f"{start}, but limit is {limits[name].quantity}"
        elif name in requests and bound.quantity < requests[name].quantity:
            yield f"{start}, but request is {requests[name].quantity}"
    for name, bound in one.ratio.items():
        start = f"{name} max limit to request ratio per {kind} is {bound.quantity}"
        request = requests[name].quantity.nanos if name in requests else 0
        most = limits[name].quantity.nanos if name in limits else 0
        if not request:
            yield f"{start}, but no request is specified or request is 0"
        elif not most:
            yield f"{start}, but no limit is specified or limit is 0"
        elif most * NANO > bound.quantity.nanos * request:
            yield f"{start}, but provided ratio is {most / request:f}"


def _invalid(path: str, first: Mapping[str, Amount], second: Mapping[str, Amount], reason: str) -> Iterator[str]:
    """Kueue's words for the resources of which the first list has more than the second."""
    names = sorted(
        name
        for name, amount in first.items()
        if name in second and units(name, amount.quantity) > units(name, second[name].quantity)
    )
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
        holders = [(f".{where}", container) for where, container in containers_of(pod)]
        for where, holder in [*holders, ("", pod)]:
            for part in ("requests", "limits"):
                path = f"spec.podSets[{index}].template.spec{where}.resources.{part}"
                for name, leaf in fields(get(holder, "resources", part)).items():
                    if name == "pods":
                        messages.append(
                            f'{path}[pods]: Invalid value: "pods": the key is reserved for internal kueue use'
                        )
                    if (quantity := quantity_of(leaf)) is not None and quantity.nanos < 0:
                        messages.append(
                            f'{path}[{name}]: Invalid value: "{quantity}": must be greater than or equal to 0'
                        )
    return joined(messages)
