"""What is wrong with the resources of a pod as a whole, by themselves and beside those of its containers."""

from __future__ import annotations

from trainc.model.quantity import NANO
from trainc.model.requests import amounts, together
from trainc.model.tree import get, plain
from trainc.schema.names import qualified
from trainc.schema.pods.amounts import (
    PAGES,
    is_device,
    nanos,
    not_negative,
    pages,
    pages_alone,
    spelled,
    standard,
)
from trainc.schema.pods.said import fields, items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainc.model.requests import Amounts
    from trainc.model.tree import Path, Tree
    from trainc.schema.pods.said import Said

_NAMES = ("cpu", PAGES, "memory")


def resources(pod: Tree, path: Path, said: Said) -> None:
    """What a pod asks for and may use, in a pod that stands at a path."""
    at: Path = (*path, "resources")
    held = fields(plain(pod["resources"]))
    limits, requests = fields(held.get("limits")), fields(held.get("requests"))
    if held.get("claims") is not None:
        said.forbidden((*at, "claims"), "claims may not be set for Resources at pod-level")
    for side, asked in (("limits", limits), ("requests", requests)):
        for name, amount in asked.items():
            _amount(name, amount, (*at, side, f"[{name}]"), (*at, side, name), said)
    for name, amount in requests.items():
        _within(name, amount, limits.get(name), at, said)
    pages_alone([*limits, *requests], at, said)
    _beside(pod, path, said)


def _amount(name: str, amount: Any, path: Path, place: Path, said: Said) -> None:
    reasons = qualified(name) or standard(name)
    said.invalid(path, name, *reasons, at=place)
    if not reasons and name not in _NAMES and not name.startswith(PAGES):
        said.one_of(path, name, _NAMES, at=place)
    not_negative(amount, path, place, said)
    if is_device(name) and nanos(amount) % NANO:
        said.invalid(path, spelled(amount), "must be an integer", at=place)
    if name.startswith(PAGES):
        pages(name, amount, path, place, said)


def _within(name: str, amount: Any, limit: Any, path: Path, said: Said) -> None:
    """A request and its limit, which are the same where nobody may use more than was asked for."""
    at, place = (*path, "requests"), (*path, "requests", name)
    fixed = name.startswith(PAGES) or ("/" in name and "kubernetes.io/" not in name)
    if limit is None:
        if fixed:
            text = "Limit must be set for non overcommitable resources"
            said.required((*path, "limits"), text, at=place)
    elif fixed and nanos(amount) != nanos(limit):
        said.invalid(at, spelled(amount), f"must be equal to {name} limit of {spelled(limit)}", at=place)
    elif nanos(amount) > nanos(limit):
        said.invalid(at, spelled(amount), f"must be less than or equal to {name} limit of {spelled(limit)}", at=place)


def _beside(pod: Tree, path: Path, said: Said) -> None:
    """The pod gets what its containers ask for together, and none of them may use more than the pod."""
    at: Path = (*path, "resources")
    requests, limits = _asked(pod, "requests"), _asked(pod, "limits")
    for name, most in together(pod, lambda container: _asked(container, "requests")).items():
        if name in requests and most.quantity > requests[name].quantity:
            text = f"must be greater than or equal to aggregate container requests of {most.quantity}"
            shown = str(requests[name].quantity)
            said.invalid((*at, "requests", f"[{name}]"), shown, text, at=(*at, "requests", name))
    for name, most in together(pod, lambda container: _asked(container, "limits")).items():
        if name in limits and name.startswith(PAGES) and most.quantity > limits[name].quantity:
            text = f"must be greater than or equal to aggregate container limits of {most.quantity}"
            shown = str(limits[name].quantity)
            said.invalid((*at, "limits", f"[{name}]"), shown, text, at=(*at, "limits", name))
    for index, container in enumerate(items(pod.get("containers"))):
        for name, limit in _asked(container, "limits").items():
            if name in limits and limit.quantity > limits[name].quantity:
                text = f"must be less than or equal to pod limits of {limits[name].quantity}"
                place: Path = (*path, "containers", index, "resources", "limits", name)
                printed: Path = (*at, "containers", index, f"[{name}]", "limits")
                said.invalid(printed, str(limit.quantity), text, at=place)


def _asked(holder: Tree, side: str) -> Amounts:
    """The amounts of a pod or a container that are known."""
    return amounts(get(holder, "resources", side))
