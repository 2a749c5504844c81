"""What pod validation says about resources (Kubernetes 1.36)."""

from __future__ import annotations

from trainc.model.finding import ERROR, Label, Rule
from trainc.model.sourced import Sourced
from trainc.model.spelling import nearest
from trainc.schema.pods.amounts import is_device, strange
from trainc.verify.amounts import ONE, amount, canonical
from trainc.verify.data.devices import DEVICES, device_kind
from trainc.verify.demand import MANY, STANDARD
from trainc.verify.refusal import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Path, Tree
    from trainc.verify.containers import Container
    from trainc.verify.job import Job

_WHY = "JobSet does not look into pod templates: the mistake shows only as events of a Job that cannot make pods."

NEGATIVE = Rule("negative-quantity", ERROR, "a resource is asked for in a negative amount", _WHY)
FRACTION = Rule(
    "fractional-device",
    ERROR,
    "a device is asked for in parts, or with a unit that is no whole number",
    "Extended resources count whole devices; sharing one needs MIG or time slicing, which have names of their own.",
)
OVER_LIMIT = Rule("request-over-limit", ERROR, "a container requests more than its limit", _WHY)
NOT_LIMIT = Rule(
    "request-not-limit",
    ERROR,
    "a device's request and limit differ, or it has no limit",
    "Devices cannot be overcommitted: Kubernetes takes a limit alone, or a request that equals it.",
)
MANY_DEVICES = Rule(
    "too-many-devices",
    ERROR,
    "a container asks for more accelerators than any machine has",
    "Suffixes as in `8Gi` are for bytes; of a device they ask for thousands, which the API server takes for what it is.",
)
UNKNOWN = Rule(
    "unknown-resource",
    ERROR,
    "a container asks for a resource that Kubernetes does not have",
    "Besides cpu, memory, ephemeral-storage and huge pages, resources have their vendor's domain in their name. "
    + _WHY,
)
HUGEPAGES = Rule(
    "hugepages-alone",
    ERROR,
    "huge pages without an equal limit, or without cpu or memory beside them",
    "Huge pages are never overcommitted, and a container that asks for them must ask for cpu or memory as well.",
)


def _each(job: Job) -> list[tuple[Container, str, str, Sourced[object]]]:
    return [
        (container, side, resource, leaf)
        for container in job.containers
        for side, amounts in (("limits", container.limits), ("requests", container.requests))
        for resource, leaf in amounts.items()
        if type(leaf) is Sourced
    ]


def _path(container: Container, side: str, resource: str = "") -> Path:
    return (*container.path, "resources", side, *([resource] if resource else []))


def negative_quantity(job: Job) -> None:
    for container in job.containers:
        for side, amounts in (("limits", container.limits), ("requests", container.requests)):
            for resource, leaf in amounts.items():
                written = leaf.value if type(leaf) is Sourced else None
                if (type(written) is str and written.startswith("-")) or (type(written) is int and written < 0):
                    number = amount(written)
                    if number is not None and number < 0:
                        _refuse_amount(
                            job,
                            NEGATIVE,
                            container,
                            side,
                            resource,
                            leaf.value,
                            "must be greater than or equal to 0",
                            "is less than nothing",
                        )


def _refuse_amount(
    job: Job,
    rule: Rule,
    container: Container,
    side: str,
    resource: str,
    written: object,
    fault: str,
    message: str,
    hint: str = "",
) -> None:
    shown = (*_path(container, side), f"[{resource}]")
    reason = f'Invalid value: "{canonical(written)}": {fault}'
    refuse(
        job,
        rule,
        _path(container, side, resource),
        reason,
        f"`{resource}: {canonical(written)}` {message}",
        help=hint,
        shown=shown,
    )


def fractional_device(job: Job) -> None:
    for container, side, resource, leaf in _each(job):
        if is_device(resource) and type(leaf.value) is not int:
            number = amount(leaf.value)
            if number is not None and number % ONE and number > 0:
                _refuse_amount(
                    job,
                    FRACTION,
                    container,
                    side,
                    resource,
                    leaf.value,
                    "must be an integer",
                    "asks for a part of a device",
                    "ask for whole devices, or for a slice by the name that its device plugin gives it",
                )


def too_many_devices(job: Job) -> None:
    for container, side, resource, leaf in _each(job):
        number = amount(leaf.value) if device_kind(resource) else None
        if number is not None and number >= MANY:
            digits = str(leaf.value).rstrip("kKMGTPEi")
            job.report.add(
                MANY_DEVICES.at(
                    job.at(_path(container, side, resource)),
                    f"`{resource}: {leaf.value}` asks for {number // ONE:,} devices",
                    effect="no machine has so many: the pods wait for ever",
                    help=f"write `{resource}: {digits}`"
                    if digits != str(leaf.value)
                    else "ask for what one machine has",
                )
            )


def unknown_resource(job: Job) -> None:
    said: set[tuple[int, str]] = set()
    for container, side, resource, _ in _each(job):
        reasons = () if "/" in resource else strange(resource)
        if not reasons or (id(container), resource) in said:
            continue
        said.add((id(container), resource))  # one name to mend, under limits and requests
        refuse(
            job,
            UNKNOWN,
            _path(container, side, resource),
            tuple(f'Invalid value: "{resource}": {reason}' for reason in reasons),
            f"there is no resource `{resource}`",
            key=True,
            help=_meant(resource),
            shown=(*_path(container, side), f"[{resource}]"),
        )


def _meant(resource: str) -> str:
    """The resource that somebody probably meant: one of Kubernetes' own, or a device without its domain."""
    name = resource.lower()
    devices = [device for device in DEVICES if device.rpartition("/")[2].lower() == name.removesuffix("s")]
    near = nearest(name, STANDARD)
    if near and not devices:
        return f"did you mean `{near}`?"
    return f"write the whole name: {' or '.join(f'`{one}`' for one in devices or ['nvidia.com/gpu'])}"


def request_over_limit(job: Job) -> None:
    for container in job.containers:
        for resource, leaf in container.requests.items():
            limit: Tree = container.limits.get(resource)
            if limit is None or "/" in resource or resource.startswith("hugepages-"):
                continue
            asked, most = _amounts(leaf, limit)
            if asked is not None and most is not None and asked > most:
                reason = f'Invalid value: "{canonical(leaf.value)}": must be less than or equal to {resource} limit of {canonical(limit.value)}'
                refuse(
                    job,
                    OVER_LIMIT,
                    _path(container, "requests", resource),
                    reason,
                    f"`{container.name}` requests {leaf.value} of {resource}, but its limit is {limit.value}",
                    also=[Label(job.at(_path(container, "limits", resource)), "the limit")],
                    help="raise the limit or lower the request",
                    shown=_path(container, "requests"),
                )


def _amounts(left: Tree, right: Tree) -> tuple[int | None, int | None]:
    return tuple(amount(leaf.value) if type(leaf) is Sourced else None for leaf in (left, right))  # type: ignore[return-value]


def request_not_limit(job: Job) -> None:
    for container in job.containers:
        for resource, leaf in container.requests.items():
            if "/" in resource and not resource.startswith("kubernetes.io/"):
                _equal(job, container, resource, leaf)


def _equal(job: Job, container: Container, resource: str, leaf: Tree) -> None:
    limit: Tree = container.limits.get(resource)
    asked, most = _amounts(leaf, limit)
    if asked is None or (most is None and limit is not None):
        return
    path = _path(container, "requests", resource)
    if most is None:
        reason = "Required value: Limit must be set for non overcommitable resources"
        refuse(
            job,
            NOT_LIMIT,
            path,
            reason,
            f"`{resource}` is requested without a limit",
            help=f"write it under `limits`: `{resource}: {leaf.value}`; the request follows",
            shown=_path(container, "limits"),
        )
    elif asked != most:
        reason = (
            f'Invalid value: "{canonical(leaf.value)}": must be equal to {resource} limit of {canonical(limit.value)}'
        )
        refuse(
            job,
            NOT_LIMIT,
            path,
            reason,
            f"`{container.name}` requests {leaf.value} of {resource}, but its limit is {limit.value}",
            also=[Label(job.at(_path(container, "limits", resource)), "the limit")],
            help="write the limit alone: the request of a device follows it",
            shown=_path(container, "requests"),
        )


def hugepages_alone(job: Job) -> None:
    for container in job.containers:
        if not container.limits and not container.requests:
            continue
        pages = [(side, key) for side, key in (("limits", k) for k in container.limits) if key.startswith("hugepages-")]
        pages += [("requests", key) for key in container.requests if key.startswith("hugepages-")]
        for side, resource in pages:
            _pages(job, container, side, resource)


def _pages(job: Job, container: Container, side: str, resource: str) -> None:
    leaf: Tree = container.requests.get(resource)
    limit: Tree = container.limits.get(resource)
    asked, most = _amounts(leaf, limit)
    path = _path(container, side, resource)
    if side == "requests" and most is None:
        reason = "Required value: Limit must be set for non overcommitable resources"
        refuse(
            job, HUGEPAGES, path, reason, f"`{resource}` is requested without a limit", shown=_path(container, "limits")
        )
    elif side == "requests" and asked is not None and most is not None and asked != most:
        reason = (
            f'Invalid value: "{canonical(leaf.value)}": must be equal to {resource} limit of {canonical(limit.value)}'
        )
        refuse(
            job,
            HUGEPAGES,
            path,
            reason,
            f"request and limit of `{resource}` differ",
            shown=_path(container, "requests"),
        )
    elif side == "limits" and not {"cpu", "memory"} & (container.limits.keys() | container.requests.keys()):
        reason = "Forbidden: HugePages require cpu or memory"
        refuse(
            job,
            HUGEPAGES,
            path,
            reason,
            f"`{resource}` stands without cpu or memory",
            shown=(*container.path, "resources"),
        )
