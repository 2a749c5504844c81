"""What is wrong with the resources of a pod as a whole, by themselves and beside those of its containers."""

from __future__ import annotations

from trainc.apiserver.names import qualified
from trainc.apiserver.pods.amounts import (
    PAGES,
    claims,
    declared,
    not_negative,
    pages,
    pages_alone,
    spelled,
    standard,
    whole_number,
    within_limits,
)
from trainc.apiserver.pods.complaints import Complaints, fields, items
from trainc.apiserver.pods.requests import Amounts, amounts, together
from trainc.model.tree import Path, Tree, get, plain, value

_NAMES = ("cpu", "hugepages-", "memory")


def resources(pod: Tree, path: Path, claimed: list[str], log: Complaints) -> None:
    """What a pod asks for and may use, in a pod that stands at a path; `claimed` are the names of its claims."""
    at: Path = (*path, "resources")
    if value(pod, "os", "name") == "windows":
        log.forbidden(at, "may not be set for a windows pod")
        return
    held = fields(plain(pod["resources"]))
    limits, requests = fields(held.get("limits")), fields(held.get("requests"))
    if held.get("claims") is not None:
        log.forbidden((*at, "claims"), "claims may not be set for Resources at pod-level")
        claims(held["claims"], (*at, "claims"), log)
        declared(held["claims"], (*at, "claims"), claimed, log)
    for side, side_amounts in (("limits", limits), ("requests", requests)):
        for name, amount in side_amounts.items():
            printed = (*at, side, f"[{name}]")
            place = (*at, side, name)
            reasons = qualified(name) or standard(name)
            log.invalid(printed, name, *reasons, at=place)
            if not reasons and name not in _NAMES and not name.startswith(PAGES):
                log.one_of(printed, name, _NAMES, at=place)
            not_negative(amount, printed, place, log)
            whole_number(name, amount, printed, place, log)
            if name.startswith(PAGES):
                pages(name, amount, printed, place, log)
    within_limits(limits, requests, at, log)
    pages_alone([*limits, *requests], at, log)
    _beside(pod, path, log)


def _beside(pod: Tree, path: Path, log: Complaints) -> None:
    """The pod gets what its containers ask for together, and none of them may use more than the pod."""
    at: Path = (*path, "resources")
    requests, limits = _asked(pod, "requests"), _asked(pod, "limits")
    _at_least_together(pod, "requests", requests, at, log)
    _at_least_together(pod, "limits", {name: most for name, most in limits.items() if name.startswith(PAGES)}, at, log)
    for index, container in enumerate(items(pod.get("containers"))):
        for name, limit in _asked(container, "limits").items():
            if name in limits and limit.quantity > limits[name].quantity:
                text = f"must be less than or equal to pod limits of {spelled(str(limits[name].quantity))}"
                place: Path = (*path, "containers", index, "resources", "limits", name)
                printed: Path = (*at, "containers", index, f"[{name}]", "limits")
                log.invalid(printed, spelled(str(limit.quantity)), text, at=place)


def _asked(holder: Tree, side: str) -> Amounts:
    """The amounts of a pod or a container that are known."""
    return amounts(get(holder, "resources", side))


def _at_least_together(pod: Tree, side: str, own: Amounts, path: Path, log: Complaints) -> None:
    for name, amount in together(pod, lambda container: _asked(container, side)).items():
        if name in own and amount.quantity > own[name].quantity:
            text = f"must be greater than or equal to aggregate container {side} of {spelled(str(amount.quantity))}"
            shown = spelled(str(own[name].quantity))
            log.invalid((*path, side, f"[{name}]"), shown, text, at=(*path, side, name))
