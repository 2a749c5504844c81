"""What is wrong with the resources that a container asks for."""

from __future__ import annotations

from trainc.model.quantity import NANO, Quantity, QuantityError
from trainc.schema.names import qualified
from trainc.schema.pods.said import fields, maps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainc.model.tree import Path
    from trainc.schema.pods.said import Said

CONTAINER = frozenset(("cpu", "memory", "ephemeral-storage"))
_STANDARD = frozenset(
    (
        *CONTAINER,
        *(f"{side}.{name}" for side in ("requests", "limits") for name in CONTAINER),
        "configmaps",
        "persistentvolumeclaims",
        "pods",
        "requests.storage",
        "resourcequotas",
        "replicationcontrollers",
        "secrets",
        "services",
        "services.loadbalancers",
        "services.nodeports",
        "storage",
    )
)
_COUNTED = (
    _STANDARD
    - {"storage", "requests.storage", *CONTAINER}
    - frozenset(f"{side}.{name}" for side in ("requests", "limits") for name in CONTAINER)
)
PAGES = "hugepages-"
_THOUSANDTH = NANO // 1000


def is_device(name: str) -> bool:
    """Whether a name is that of an extended resource, which comes in whole numbers."""
    own = "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")
    return own and not qualified(f"requests.{name}")


def strange(name: str) -> tuple[str, ...]:
    """Why a name without a vendor is none that a container asks for, empty where it is one."""
    if name in CONTAINER or name.startswith(PAGES):
        return ()
    alone = ("must be a standard resource for containers",)
    return alone if qualified(name) else (*standard(name), *alone)


def standard(name: str) -> tuple[str, ...]:
    """Why a name is neither one of Kubernetes' own nor one of a vendor, empty where it is one."""
    if name in _STANDARD or name.startswith(PAGES) or "/" in name:
        return ()
    return ("must be a standard resource type or fully qualified",)


def resources(tree: Any, path: Path, said: Said) -> None:
    """The names of resources, what only comes as a whole, and devices by claim."""
    held = fields(tree)
    for side in ("limits", "requests"):
        for name, amount in fields(held.get(side)).items():
            _amount(name, amount, (*path, side, f"[{name}]"), (*path, side, name), said)
    pages_alone([*fields(held.get("limits")), *fields(held.get("requests"))], path, said)
    _claims(held.get("claims"), (*path, "claims"), said)


def overhead(tree: Any, path: Path, said: Said) -> None:
    """What a runtime class adds to a pod: the server takes it for the limits of a container."""
    held = fields(tree)
    for name, amount in held.items():
        at, place = (*path, "limits", f"[{name}]"), (*path, name)
        _amount(name, amount, at, place, said)
        not_negative(amount, at, place, said)
    pages_alone([*held], path, said)


def pages_alone(asked: list[str], path: Path, said: Said) -> None:
    """Huge pages without anything to run on."""
    if any(name.startswith(PAGES) for name in asked) and not {"cpu", "memory"}.intersection(asked):
        said.forbidden(path, "HugePages require cpu or memory")


def not_negative(amount: Any, path: Path, place: Path, said: Said) -> None:
    """An amount below zero."""
    if nanos(amount) < 0:
        said.invalid(path, spelled(amount), "must be greater than or equal to 0", at=place)


def _amount(name: str, amount: Any, path: Path, place: Path, said: Said) -> None:
    _name(name, path, place, said)
    if name in _COUNTED and nanos(amount) % NANO:
        said.invalid(path, spelled(amount), "must be an integer", at=place)
    if name.startswith(PAGES):
        pages(name, amount, path, place, said)


def _claims(tree: Any, path: Path, said: Said) -> None:
    """Devices by the names of claims, or of requests in them; what a claim has all of, nobody asks a part of."""
    taken: list[str] = []
    for index, claim in maps(tree):
        name, request = str(claim.get("name") or ""), str(claim.get("request") or "")
        at: Path = (*path, index)
        if not name:
            said.required(at)
        elif name in taken:
            said.duplicate(at, name)
        else:
            key = name
            if request:
                said.label((*at, "request"), request)
                key = f"{name}/{request}"
            if key in taken or (not request and any(one.startswith(f"{name}/") for one in taken)):
                said.duplicate(at, key)
            taken.append(key)


def _name(name: str, path: Path, at: Path, said: Said) -> None:
    reasons = qualified(name)
    said.invalid(path, name, *reasons, at=at)
    if "/" not in name:
        said.invalid(path, name, *strange(name), at=at)
    elif "kubernetes.io/" not in name and not is_device(name):
        said.invalid(path, name, "doesn't follow extended resource name standard", at=at)


def pages(name: str, amount: Any, path: Path, at: Path, said: Said) -> None:
    """Huge pages that are no whole number of pages."""
    size = nanos(name.removeprefix(PAGES))
    if size <= 0 or nanos(amount) % size:
        text = f"{spelled(amount)} is not positive integer multiple of {name}"
        said.invalid(path, spelled(amount), text, at=at)


def _parsed(amount: Any) -> Quantity | None:
    """An amount; None where it is none, or is filled in later."""
    try:
        return Quantity.parse(amount)
    except QuantityError:
        return None


def spelled(amount: Any) -> str:
    """An amount as the server spells it, which keeps thousandths."""
    found = _parsed(amount)
    if found is None:
        return str(amount)
    return str(Quantity(-(-found.nanos // _THOUSANDTH) * _THOUSANDTH, found.family))


def nanos(amount: Any) -> int:
    """Billionths of an amount; none where it is no amount at all."""
    found = _parsed(amount)
    return 0 if found is None else found.nanos
