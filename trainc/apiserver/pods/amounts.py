"""What is wrong with the resources that a container asks for."""

from __future__ import annotations

from trainc.apiserver.names import qualified
from trainc.apiserver.pods.complaints import Complaints, fields, maps
from trainc.model.tree import Path
from trainc.text.memo import Memo
from trainc.text.quantity import NANO, Quantity, QuantityError
from trainc.text.record import Any

CONTAINER = frozenset(("cpu", "memory", "ephemeral-storage"))
_COUNTED = frozenset((
    "configmaps", "persistentvolumeclaims", "pods", "resourcequotas", "replicationcontrollers", "secrets", "services",
    "services.loadbalancers", "services.nodeports",
))  # fmt: skip
_OF_QUOTAS = frozenset(f"{side}.{name}" for side in ("requests", "limits") for name in CONTAINER)
_STANDARD = CONTAINER | _OF_QUOTAS | _COUNTED | {"requests.storage", "storage"}
PAGES = "hugepages-"
_THOUSANDTH = NANO // 1000


def is_device(name: str) -> bool:
    """Whether a name is that of an extended resource, which comes in whole numbers."""
    return _DEVICES[name]


def _is_device(name: str) -> bool:
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


def resources(tree: Any, path: Path, log: Complaints) -> None:
    """What a container asks for: names, amounts, and requests beside limits."""
    held = fields(tree)
    limits, requests = fields(held.get("limits")), fields(held.get("requests"))
    for side, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in amounts.items():
            _amount(name, amount, (*path, side, f"[{name}]"), (*path, side, name), log)
    within_limits(limits, requests, path, log)
    pages_alone([*limits, *requests], path, log)
    claims(held.get("claims"), (*path, "claims"), log)


def overhead(tree: Any, path: Path, log: Complaints) -> None:
    """What a runtime class adds to a pod: the server takes it for the limits of a container."""
    held = fields(tree)
    for name, amount in held.items():
        _amount(name, amount, (*path, "limits", f"[{name}]"), (*path, name), log)
    pages_alone([*held], path, log)


def within_limits(limits: dict[str, Any], requests: dict[str, Any], path: Path, log: Complaints) -> None:
    """Requests and limits, which are the same where nobody may use more than was asked for."""
    at: Path = (*path, "requests")
    for name, amount in requests.items():
        place, fixed = (*at, name), is_fixed(name)
        if limits.get(name) is None:
            if fixed:
                why = "Limit must be set for non overcommitable resources"
                log.required((*path, "limits"), why, at=place)
            continue
        request, most = _parsed(amount), _parsed(limits[name])
        if request is None or most is None or request.nanos == most.nanos:
            continue
        bound = f"{name} limit of {spelled(limits[name])}"
        if fixed:
            log.invalid(at, spelled(amount), f"must be equal to {bound}", at=place)
        elif request.nanos > most.nanos:
            log.invalid(at, spelled(amount), f"must be less than or equal to {bound}", at=place)


def is_fixed(name: str) -> bool:
    """Whether nobody may use more of a resource than was asked for."""
    return name.startswith(PAGES) or ("/" in name and "kubernetes.io/" not in name)


def pages_alone(resource_names: list[str], path: Path, log: Complaints) -> None:
    """Huge pages without anything to run on."""
    if any(name.startswith(PAGES) for name in resource_names) and not {"cpu", "memory"}.intersection(resource_names):
        log.forbidden(path, "HugePages require cpu or memory")


def not_negative(amount: Any, path: Path, place: Path, log: Complaints) -> None:
    """An amount below zero."""
    if nanos(amount) < 0:
        log.invalid(path, spelled(amount), "must be greater than or equal to 0", at=place)


def whole_number(name: str, amount: Any, path: Path, place: Path, log: Complaints) -> None:
    """What is counted comes in whole numbers."""
    if (name in _COUNTED or is_device(name)) and -(-nanos(amount) // _THOUSANDTH) % 1000:
        log.invalid(path, spelled(amount), "must be an integer", at=place)


def _amount(name: str, amount: Any, path: Path, place: Path, log: Complaints) -> None:
    if reasons := _REASONS[name]:
        log.invalid(path, name, *reasons, at=place)
    not_negative(amount, path, place, log)
    whole_number(name, amount, path, place, log)
    if name.startswith(PAGES):
        pages(name, amount, path, place, log)


def declared(tree: Any, path: Path, names: list[str], log: Complaints) -> None:
    """The claims of devices that a container uses are among those of its pod."""
    why = "must be one of the names in pod.spec.resourceClaims"
    why += f": {', '.join(sorted(names))}" if names else " which is empty"
    for index, claim in maps(tree):
        if (name := str(claim.get("name") or "")) and name not in names:
            log.not_found((*path, index), name, why)


def claims(tree: Any, path: Path, log: Complaints) -> None:
    """Devices by the names of claims, or of requests in them; what a claim has all of, nobody asks a part of."""
    taken: list[str] = []
    for index, claim in maps(tree):
        name, request = str(claim.get("name") or ""), str(claim.get("request") or "")
        at: Path = (*path, index)
        if not name:
            log.required(at)
        elif name in taken:
            log.duplicate(at, name)
        else:
            key = name
            if request:
                log.label((*at, "request"), request)
                key = f"{name}/{request}"
            if key in taken or (not request and any(one.startswith(f"{name}/") for one in taken)):
                log.duplicate(at, key)
            taken.append(key)


def _reasons(name: str) -> tuple[str, ...]:
    """Why no container asks for a resource of this name."""
    if "/" not in name:
        return (*qualified(name), *strange(name))
    if "kubernetes.io/" not in name and not is_device(name):
        return (*qualified(name), "doesn't follow extended resource name standard")
    return qualified(name)


# Every container asks for the same few resources by name.
_REASONS = Memo(_reasons)
_DEVICES = Memo(_is_device)


def pages(name: str, amount: Any, path: Path, at: Path, log: Complaints) -> None:
    """Huge pages that are not a whole number of pages."""
    size = nanos(name.removeprefix(PAGES))
    if _parsed(amount) is not None and (size <= 0 or size % NANO or -(-nanos(amount) // NANO) * NANO % size):
        text = f"{spelled(amount)} is not positive integer multiple of {name}"
        log.invalid(path, spelled(amount), text, at=at)


def _parsed(amount: Any) -> Quantity | None:
    """An amount; None where it is none, or is filled in later."""
    try:
        return Quantity.parse(amount)
    except QuantityError:
        return None


def spelled(amount: Any) -> str:
    """An amount as the server spells it, which keeps thousandths."""
    if (parsed := _parsed(amount)) is None:
        return str(amount)
    return str(Quantity(-(-parsed.nanos // _THOUSANDTH) * _THOUSANDTH, parsed.family))


def nanos(amount: Any) -> int:
    """Billionths of an amount; none where it is not an amount at all."""
    parsed = _parsed(amount)
    return 0 if parsed is None else parsed.nanos
