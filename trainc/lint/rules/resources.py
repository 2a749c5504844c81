"""What pod validation says about resources, and amounts that no machine has (Kubernetes 1.36)."""

from __future__ import annotations

from trainc.lint.facts.amounts import ONE, amount, canonical
from trainc.lint.facts.demand import MANY, STANDARD
from trainc.lint.facts.values import table
from trainc.lint.refusal import Explanation, Words
from trainc.lint.tables.devices import DEVICES, device_kind, meant_device
from trainc.model.finding import ERROR, Label, Rule
from trainc.model.sourced import Sourced
from trainc.model.tree import value
from trainc.text.spelling import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Findings, Job
    from trainc.lint.refusal import ServerComplaint


NEGATIVE = Rule("negative-quantity", ERROR)
FRACTION = Rule("fractional-device", ERROR)
OVER_LIMIT = Rule("request-over-limit", ERROR)
NOT_LIMIT = Rule("request-not-limit", ERROR)
MANY_DEVICES = Rule("too-many-devices", ERROR)
UNKNOWN = Rule("unknown-resource", ERROR)
MISSPELT = Rule("misspelt-resource", ERROR)
HUGEPAGES = Rule("hugepages-alone", ERROR)
MIXED = Rule("mixed-accelerators", ERROR)


def too_many_devices(job: Job) -> Findings:
    amounts = [
        (container, side, resource, leaf)
        for container in job.containers
        for side, side_amounts in (("limits", container.limits), ("requests", container.requests))
        for resource, leaf in side_amounts.items()
        if type(leaf) is Sourced
    ]
    for container, side, resource, leaf in amounts:
        number = amount(leaf.value) if device_kind(resource) else None
        if number is not None and number >= MANY:
            digits = str(leaf.value).rstrip("kKMGTPEi")
            yield MANY_DEVICES.at(
                job.at((*container.path, "resources", side, resource)),
                f"`{resource}: {leaf.value}` asks for {number // ONE:,} devices",
                effect="no machine has so many: the pods wait for ever",
                help=f"write `{resource}: {digits}`" if digits != str(leaf.value) else "ask for what one machine has",
            )


def misspelt_resource(job: Job) -> Findings:
    for container in job.containers:
        for resource in dict.fromkeys((*container.limits, *container.requests)):
            meant = meant_device(resource)
            if meant and not _is_offered(job, resource):
                yield MISSPELT.at(
                    job.at(container.amount_path(resource), key=True),
                    f"no device plugin offers `{resource}`",
                    effect="no node has it: the pods stay pending for ever",
                    help=f"did you mean `{meant}`?",
                )


def _is_offered(job: Job, resource: str) -> bool:
    """Whether a node of the cluster's dump has the resource, whatever its name looks like."""
    nodes = job.cluster.objects.get("Node", {}).values()
    return any(resource in table(table(node, "status"), "allocatable") for node in nodes)


def mixed_accelerators(job: Job) -> Findings:
    for container in job.containers:
        if len(container.devices) < 2:
            continue
        kinds: dict[tuple[str, str], str] = {}
        for resource in container.devices:
            kinds.setdefault((_vendor(resource), device_kind(resource)), resource)
        if len(kinds) > 1:
            (kind, first), (_, second) = list(kinds.items())[:2]
            yield MIXED.at(
                job.at(container.amount_path(second)),
                f"`{container.name}` asks for `{first}` and `{second}`",
                also=[Label(job.at(container.amount_path(first)), f"a {kind[1]}")],
                effect="no node offers both: the pods stay pending",
                help="keep one of them",
            )


def _vendor(resource: str) -> str:
    """Whose device it is: the last two parts of its domain."""
    return ".".join(resource.partition("/")[0].split(".")[-2:])


def _meant(resource: str) -> str:
    """The resource that somebody probably meant: one of Kubernetes' own, or a device without its domain."""
    name = resource.lower()
    devices = [device for device in DEVICES if device.rpartition("/")[2].lower() == name.removesuffix("s")]
    near = nearest(name, STANDARD)
    if near and not devices:
        return f"did you mean `{near}`?"
    return f"write the whole name: {' or '.join(f'`{one}`' for one in devices or ['nvidia.com/gpu'])}"


def _negative(refused: ServerComplaint) -> Words:
    return Words(f"`{refused.path[-1]}: {canonical(refused.written)}` is less than nothing")


def _part(refused: ServerComplaint) -> Words:
    resource, written = refused.path[-1], refused.written
    return Words(
        f"`{resource}: {written}` asks for a part of a device",
        f"ask for whole devices, as in `{resource}: {-(-(amount(written) or 0) // ONE)}`, or for a slice by the name that its device plugin gives it",
    )


def _no_resource(refused: ServerComplaint) -> Words:
    resource = str(refused.path[-1])
    # One name to mend, under limits and requests.
    return Words(f"there is no resource `{resource}`", _meant(resource), key=True, group=(refused.above(2), resource))


def _over(refused: ServerComplaint) -> Words:
    return _unlike(refused, "raise the limit or lower the request")


def _differs(refused: ServerComplaint) -> Words:
    return _unlike(refused, "write the limit alone: the request of a device follows it")


def _unlike(refused: ServerComplaint, help_: str) -> Words:
    resource, owner = refused.path[-1], refused.container.name if refused.container is not None else ""
    limit = refused.above(2, "limits", resource)
    most = value(refused.job.tree, *limit)
    message = f"`{owner}` requests {refused.written} of {resource}, but its limit is {most}"
    return Words(message, help_, also=(Label(refused.job.at(limit), "the limit"),))


def _no_limit(refused: ServerComplaint) -> Words:
    resource = refused.path[-1]
    help_ = f"write it under `limits`: `{resource}: {refused.written}`; the request follows"
    return Words(f"`{resource}` is requested without a limit", help_)


def _pages_unlike(refused: ServerComplaint) -> Words:
    return Words(f"request and limit of `{refused.path[-1]}` differ")


def _pages_unlimited(refused: ServerComplaint) -> Words:
    return Words(f"`{refused.path[-1]}` is requested without a limit")


def _pages_alone(_refused: ServerComplaint) -> Words:
    return Words("huge pages are asked for without cpu or memory", "ask for cpu or memory as well", key=True)


_PAGES = tuple(f"requests.hugepages-{size}" for size in ("64Ki", "2Mi", "32Mi", "512Mi", "1Gi", "16Gi"))

EXPLANATIONS = (
    Explanation(NEGATIVE, ("resources.limits.*", "resources.requests.*"), _negative, "or equal to 0"),
    Explanation(UNKNOWN, ("resources.limits.*", "resources.requests.*"), _no_resource, "must be a standard resource"),
    Explanation(FRACTION, ("resources.limits.*", "resources.requests.*"), _part, "must be an integer"),
    Explanation(HUGEPAGES, _PAGES, _pages_unlike, "must be equal to"),
    Explanation(HUGEPAGES, _PAGES, _pages_unlimited, "Limit must be set"),
    Explanation(HUGEPAGES, "resources", _pages_alone, "HugePages require"),
    Explanation(OVER_LIMIT, "requests.*", _over, "must be less than or equal to"),
    Explanation(NOT_LIMIT, "requests.*", _differs, "must be equal to"),
    Explanation(NOT_LIMIT, "requests.*", _no_limit, "Limit must be set"),
)


CHECKS = (too_many_devices, misspelt_resource, mixed_accelerators)
