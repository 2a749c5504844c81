"""What pod validation says about resources, and amounts that no machine has (Kubernetes 1.36)."""

from __future__ import annotations

from trainc.lint.facts.amounts import ONE, amount
from trainc.lint.facts.demand import MANY
from trainc.lint.facts.values import table
from trainc.lint.tables.devices import device_kind, meant_device
from trainc.model.finding import ERROR, Label, Rule
from trainc.model.sourced import Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Findings, Job


MANY_DEVICES = Rule("too-many-devices", ERROR)
MISSPELT = Rule("misspelt-resource", ERROR)
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


CHECKS = (too_many_devices, misspelt_resource, mixed_accelerators)
