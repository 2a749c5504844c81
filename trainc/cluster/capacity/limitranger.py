"""LimitRanges as the API server applies them to pods: defaults first, then every range is checked for itself."""

from __future__ import annotations

from trainc.apiserver.pods.requests import amounts, together
from trainc.cluster.capacity.limits import CONTAINER, POD, ranges_of
from trainc.model.tree import get
from trainc.text.quantity import NANO

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.apiserver.pods.requests import Amounts
    from trainc.cluster.capacity.limits import Range
    from trainc.model.tree import Tree


class Limits:
    """The requests and limits of a pod's containers once a namespace's ranges have filled them in."""

    def __init__(self, ranges: Iterable[Tree]) -> None:
        self.ranges = [ranges_of(tree) for tree in ranges]
        self.containers = [one[CONTAINER] for one in self.ranges if CONTAINER in one]

    def requests(self, container: Tree) -> Amounts:
        """What a container asks for: its own limits stand in before the defaults of the namespace do."""
        requests = amounts(get(container, "resources", "requests"))
        requests = {**amounts(get(container, "resources", "limits")), **requests}
        for one in self.containers:
            requests = {**one.default_request, **requests}
        return requests

    def limits(self, container: Tree) -> Amounts:
        """The limits of a container."""
        limits = amounts(get(container, "resources", "limits"))
        for one in self.containers:
            limits = {**one.default, **limits}
        return limits

    def refusal(self, pod: Tree) -> str:
        """What the API server says of a pod that breaks a range, empty where none does."""
        faults: list[str] = []
        for ranges in self.ranges:
            for container in _containers(pod) if CONTAINER in ranges else ():
                faults += _faults(ranges[CONTAINER], CONTAINER, self.requests(container), self.limits(container))
            if POD in ranges:
                requests = {**together(pod, self._requests), **_of_pod(pod, "requests")}
                limits = {**together(pod, self._limits), **_of_pod(pod, "limits")}
                faults += _faults(ranges[POD], POD, requests, limits)
            if faults:
                break
        distinct = list(dict.fromkeys(faults))
        return f"[{', '.join(distinct)}]" if len(distinct) > 1 else "".join(distinct)

    def _requests(self, container: Tree) -> Amounts:
        return dict(self.requests(container))

    def _limits(self, container: Tree) -> Amounts:
        return dict(self.limits(container))


def _of_pod(pod: Tree, part: str) -> Amounts:
    """What a pod states as a whole, as far as LimitRanger looks at it."""
    requested = amounts(get(pod, "resources", part))
    if part == "requests":  # a limit of the pod stands in for a request, as for containers
        requested = {**amounts(get(pod, "resources", "limits")), **requested}
    return {name: amount for name, amount in requested.items() if name in {"cpu", "memory"}}


def _containers(pod: Tree) -> Iterator[Tree]:
    for field in ("containers", "initContainers"):
        listed = get(pod, field)
        yield from listed if type(listed) is list else []


def _faults(one: Range, kind: str, requests: Amounts, limits: Amounts) -> Iterator[str]:
    yield from _below(one, kind, requests, limits)
    yield from _above(one, kind, requests, limits)
    yield from _beyond_ratio(one, kind, requests, limits)


def _below(one: Range, kind: str, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for name, bound in one.smallest.items():
        start = f"minimum {name} usage per {kind} is {bound.quantity}"
        if name not in requests:
            yield f"{start}.  No request is specified"
        elif requests[name].quantity < bound.quantity:
            yield f"{start}, but request is {requests[name].quantity}"
        elif name in limits and limits[name].quantity < bound.quantity:
            yield f"{start}, but limit is {limits[name].quantity}"


def _above(one: Range, kind: str, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for name, bound in one.largest.items():
        start = f"maximum {name} usage per {kind} is {bound.quantity}"
        if name not in limits:
            yield f"{start}.  No limit is specified"
        elif bound.quantity < limits[name].quantity:
            yield f"{start}, but limit is {limits[name].quantity}"
        elif name in requests and bound.quantity < requests[name].quantity:
            yield f"{start}, but request is {requests[name].quantity}"


def _beyond_ratio(one: Range, kind: str, requests: Amounts, limits: Amounts) -> Iterator[str]:
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
