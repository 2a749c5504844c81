"""What is wrong with the resources that a container or a pod as a whole asks for."""

from collections.abc import Callable
from typing import Any

from trainc.apiserver.names import label, qualified
from trainc.apiserver.pods.complaints import Field, fields
from trainc.model.tree import Tree, get, plain, value
from trainc.text.memo import Memo
from trainc.text.quantity import NANO, Quantity, QuantityError

CONTAINER = frozenset(("cpu", "memory", "ephemeral-storage"))
_COUNTED = frozenset((
    "configmaps", "persistentvolumeclaims", "pods", "resourcequotas", "replicationcontrollers", "secrets", "services",
    "services.loadbalancers", "services.nodeports",
))  # fmt: skip
_OF_QUOTAS = frozenset(f"{side}.{name}" for side in ("requests", "limits") for name in CONTAINER)
_STANDARD = CONTAINER | _OF_QUOTAS | _COUNTED | {"requests.storage", "storage"}
PAGES = "hugepages-"
_OF_POD = ("cpu", PAGES, "memory")
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


def resources(held: Field) -> None:
    """What a container asks for: names, amounts, and requests beside limits."""
    for side in ("limits", "requests"):
        for name in fields(held.get(side)):
            _named_amount(name, held[side].entry(name))
    within_limits(held)
    pages_alone(held, [*fields(held.get("limits")), *fields(held.get("requests"))])
    claims(held["claims"])


def of_pod(pod: Field, claimed: list[str]) -> None:
    """What a pod as a whole asks for and may use; `claimed` are the names of its claims."""
    from trainc.apiserver.pods.requests import amounts, together  # noqa: PLC0415 (few pods have resources of their own)

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
                amount.reading(name).one_of(_OF_POD)
            amount_of(name, amount)
    within_limits(held)
    pages_alone(held, [*fields(held.get("limits")), *fields(held.get("requests"))])

    def known(side: str) -> Callable[[Tree], dict[str, Any]]:
        return lambda holder: amounts(get(holder, "resources", side))

    # The pod gets what its containers ask for together, and none of them may use more than the pod.
    for side in ("requests", "limits"):
        own = known(side)(pod.value)
        for name, needed in together(pod.value, known(side)).items():
            is_summed = side == "requests" or name.startswith(PAGES)
            if is_summed and name in own and needed.quantity > own[name].quantity:
                text = f"must be greater than or equal to aggregate container {side} of {spelled(str(needed.quantity))}"
                held[side].entry(name).reading(spelled(str(own[name].quantity))).invalid(text)
    limits = known("limits")(pod.value)
    for container in pod["containers"].items():
        for name, limit in known("limits")(container.value).items():
            if name in limits and limit.quantity > limits[name].quantity:
                at = container["resources"]["limits"][name]
                printed = at.printed((*held.path, *container.path[-2:], f"[{name}]", "limits"))
                text = f"must be less than or equal to pod limits of {spelled(str(limits[name].quantity))}"
                printed.reading(spelled(str(limit.quantity))).invalid(text)


def overhead(held: Field) -> None:
    """What a runtime class adds to a pod: the server takes it for the limits of a container."""
    for name in fields(held.value):
        _named_amount(name, held[name].printed((*held.path, "limits", f"[{name}]")))
    pages_alone(held, [*fields(held.value)])


def within_limits(held: Field) -> None:
    """Requests and limits, which are the same where nobody may use more than was asked for."""
    limits = fields(held.get("limits"))
    for name, amount in fields(held.get("requests")).items():
        fixed = is_fixed(name)
        if limits.get(name) is None:
            if fixed:
                at = held["requests"][name]
                held["limits"].required("Limit must be set for non overcommitable resources", at=at)
            continue
        request, most = _parsed(amount), _parsed(limits[name])
        if request is None or most is None or request.nanos == most.nanos or (not fixed and request.nanos < most.nanos):
            continue
        why = f"must be {'' if fixed else 'less than or '}equal to {name} limit of {spelled(limits[name])}"
        held["requests"].reading(spelled(amount)).invalid(why, at=held["requests"][name])


def is_fixed(name: str) -> bool:
    """Whether nobody may use more of a resource than was asked for."""
    return name.startswith(PAGES) or ("/" in name and "kubernetes.io/" not in name)


def pages_alone(held: Field, names: list[str]) -> None:
    """Huge pages without anything to run on."""
    if any(name.startswith(PAGES) for name in names) and not {"cpu", "memory"}.intersection(names):
        held.forbidden("HugePages require cpu or memory")


def _named_amount(name: str, amount: Field) -> None:
    if reasons := _REASONS[name]:
        amount.reading(name).invalid(*reasons)
    amount_of(name, amount)


def amount_of(name: str, amount: Field) -> None:
    """An amount below zero, a part of what is counted, or huge pages that are not a whole number of pages."""
    number, reasons = nanos(amount.value), []
    if number < 0:
        reasons.append("must be greater than or equal to 0")
    # What is counted comes in whole numbers.
    if (name in _COUNTED or is_device(name)) and -(-number // _THOUSANDTH) % 1000:
        reasons.append("must be an integer")
    if name.startswith(PAGES) and _parsed(amount.value) is not None:
        size = nanos(name.removeprefix(PAGES))
        if size <= 0 or size % NANO or -(-number // NANO) * NANO % size:
            reasons.append(f"{spelled(amount.value)} is not positive integer multiple of {name}")
    if reasons:
        amount.reading(spelled(amount.value)).invalid(*reasons)


def declared(listed: Field, names: list[str]) -> None:
    """The claims of devices that a container uses are among those of its pod."""
    why = "must be one of the names in pod.spec.resourceClaims"
    why += f": {', '.join(sorted(names))}" if names else " which is empty"
    for claim in listed.maps():
        if (name := str(claim.get("name") or "")) and name not in names:
            claim.reading(name).not_found(why)


def claims(listed: Field) -> None:
    """Devices by the names of claims, or of requests in them; what a claim has all of, nobody asks a part of."""
    taken: list[str] = []
    for claim in listed.maps():
        name, request = str(claim.get("name") or ""), str(claim.get("request") or "")
        if not name:
            claim.required()
        elif name in taken:
            claim.reading(name).duplicate()
        else:
            if request:
                claim["request"].reading(request).fits(label)
            key = f"{name}/{request}" if request else name
            if key in taken or (not request and any(one.startswith(f"{name}/") for one in taken)):
                claim.reading(key).duplicate()
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
