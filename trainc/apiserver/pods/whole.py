"""What is wrong with the resources of a pod as a whole, by themselves and beside those of its containers."""

from __future__ import annotations

from trainc.apiserver.names import qualified
from trainc.apiserver.pods.amounts import (
    PAGES,
    amount_of,
    claims,
    declared,
    pages_alone,
    spelled,
    standard,
    within_limits,
)
from trainc.apiserver.pods.complaints import Field, fields, items
from trainc.apiserver.pods.requests import Amounts, amounts, together
from trainc.model.tree import Tree, get, plain, value

_NAMES = ("cpu", "hugepages-", "memory")


def resources(pod: Field, claimed: list[str]) -> None:
    """What a pod asks for and may use; `claimed` are the names of its claims."""
    held = pod["resources"].reading(plain(pod.get("resources")))
    if value(pod.value, "os", "name") == "windows":
        held.forbidden("may not be set for a windows pod")
        return
    if held.get("claims") is not None:
        held["claims"].forbidden("claims may not be set for Resources at pod-level")
        claims(held["claims"])
        declared(held["claims"], claimed)
    for side in ("limits", "requests"):
        for name in fields(held.get(side)):
            amount = held[side].entry(name)
            reasons = qualified(name) or standard(name)
            amount.reading(name).invalid(*reasons)
            if not reasons and not name.startswith(PAGES):
                amount.reading(name).one_of(_NAMES)
            amount_of(name, amount)
    within_limits(held)
    pages_alone(held, [*fields(held.get("limits")), *fields(held.get("requests"))])
    # The pod gets what its containers ask for together, and none of them may use more than the pod.
    limits = _asked(pod.value, "limits")
    _at_least_together(pod, "requests", _asked(pod.value, "requests"))
    _at_least_together(pod, "limits", {name: most for name, most in limits.items() if name.startswith(PAGES)})
    for index, container in enumerate(items(pod.get("containers"))):
        for name, limit in _asked(container, "limits").items():
            if name in limits and limit.quantity > limits[name].quantity:
                at = pod["containers"][index]["resources"]["limits"][name]
                printed = at.printed((*held.path, "containers", index, f"[{name}]", "limits"))
                text = f"must be less than or equal to pod limits of {spelled(str(limits[name].quantity))}"
                printed.reading(spelled(str(limit.quantity))).invalid(text)


def _asked(holder: Tree, side: str) -> Amounts:
    """The amounts of a pod or a container that are known."""
    return amounts(get(holder, "resources", side))


def _at_least_together(pod: Field, side: str, own: Amounts) -> None:
    for name, amount in together(pod.value, lambda container: _asked(container, side)).items():
        if name in own and amount.quantity > own[name].quantity:
            text = f"must be greater than or equal to aggregate container {side} of {spelled(str(amount.quantity))}"
            pod["resources"][side].entry(name).reading(spelled(str(own[name].quantity))).invalid(text)
