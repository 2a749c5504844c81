"""What is wrong with the resources of a pod as a whole, by themselves and beside those of its containers."""

from __future__ import annotations

from trainc.model.quantity import NANO
from trainc.schema.names import qualified
from trainc.schema.pods.amounts import (
    PAGES,
    is_device,
    nanos,
    not_negative,
    pages,
    pages_alone,
    parsed,
    spelled,
    standard,
)
from trainc.schema.pods.said import fields, maps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainc.model.quantity import Quantity
    from trainc.model.tree import Path
    from trainc.schema.pods.said import Said

_NAMES = ("cpu", PAGES, "memory")


def resources(pod: dict[str, Any], path: Path, said: Said) -> None:
    """What a pod asks for and may use, in a pod that stands at a path."""
    at: Path = (*path, "resources")
    held = fields(pod.get("resources"))
    limits, requests = fields(held.get("limits")), fields(held.get("requests"))
    if held.get("claims") is not None:
        said.forbidden((*at, "claims"), "claims may not be set for Resources at pod-level")
    for side, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in amounts.items():
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


def _beside(pod: dict[str, Any], path: Path, said: Said) -> None:
    """The pod gets what its containers ask for together, and none of them may use more than the pod."""
    at: Path = (*path, "resources")
    requests, limits = _asked(pod, "requests"), _asked(pod, "limits")
    for name, most in _together(pod, "requests").items():
        if name in requests and most > requests[name]:
            text = f"must be greater than or equal to aggregate container requests of {most}"
            said.invalid((*at, "requests", f"[{name}]"), str(requests[name]), text, at=(*at, "requests", name))
    for name, most in _together(pod, "limits").items():
        if name in limits and name.startswith(PAGES) and most > limits[name]:
            text = f"must be greater than or equal to aggregate container limits of {most}"
            said.invalid((*at, "limits", f"[{name}]"), str(limits[name]), text, at=(*at, "limits", name))
    for index, container in maps(pod.get("containers")):
        for name, limit in _asked(container, "limits").items():
            if name in limits and limit > limits[name]:
                text = f"must be less than or equal to pod limits of {limits[name]}"
                place: Path = (*path, "containers", index, "resources", "limits", name)
                said.invalid((*at, "containers", index, f"[{name}]", "limits"), str(limit), text, at=place)


def _together(pod: dict[str, Any], side: str) -> dict[str, Quantity]:
    """What containers need at once: all that run, or one that starts with those that stay and started before it."""
    needed: dict[str, Quantity] = {}
    staying: dict[str, Quantity] = {}
    for _, container in maps(pod.get("containers")):
        _add(needed, _asked(container, side))
    starting: dict[str, Quantity] = {}
    for _, container in maps(pod.get("initContainers")):
        asked = _asked(container, side)
        if container.get("restartPolicy") == "Always":
            _add(needed, asked)
            _add(staying, asked)
            _raise(starting, staying)
        else:
            alone = dict(asked)
            _add(alone, staying)
            _raise(starting, alone)
    _raise(needed, starting)
    return needed


def _asked(holder: dict[str, Any], side: str) -> dict[str, Quantity]:
    """The amounts of a pod or a container that are known."""
    given = fields(fields(holder.get("resources")).get(side))
    return {name: found for name, amount in given.items() if (found := parsed(amount)) is not None}


def _add(total: dict[str, Quantity], more: dict[str, Quantity]) -> None:
    for name, amount in more.items():
        total[name] = total[name].plus(amount) if name in total else amount


def _raise(total: dict[str, Quantity], least: dict[str, Quantity]) -> None:
    for name, amount in least.items():
        if name not in total or amount > total[name]:
            total[name] = amount
