"""Amounts of cpu and memory that can only be meant in another unit."""

from __future__ import annotations

from trainc.lint.facts.amounts import ONE, amount
from trainc.lint.tables.machines import MOST_CPUS
from trainc.model.finding import ERROR, WARNING, Rule
from trainc.model.sourced import Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Container, Job
    from trainc.model.tree import Tree

UNIT = Rule("amount-in-wrong-unit", ERROR)
_LEAST_MEMORY = 1 << 20  # container runtimes refuse limits of a few MiB, and no program fits into one
_LITTLE = {
    "memory": "the node kills the container before its program starts",
    "ephemeral-storage": "the kubelet evicts the pod once its files and logs hold more",
}


def amount_in_wrong_unit(job: Job) -> None:
    for container in job.containers:
        seen: set[str] = set()
        for field, amounts in (("limits", container.limits), ("requests", container.requests)):
            for resource in ("cpu", *_LITTLE):
                leaf: Tree = amounts.get(resource)
                if type(leaf) is Sourced and resource not in seen and _add(job, container, field, resource, leaf.value):
                    seen.add(resource)


def _add(job: Job, container: Container, field: str, resource: str, written: object) -> bool:
    """Report one amount; whether there was anything to report."""
    size = amount(written)
    if size is None or size <= 0:
        return False
    if resource == "cpu":
        wrong = size > MOST_CPUS * ONE
        meaning, effect = f"{size // ONE} CPUs", "no node has that many: the pod stays pending"
    else:
        wrong = size < _LEAST_MEMORY * ONE
        meaning = "less than a byte" if size < ONE else f"{size // ONE} bytes"
        effect = _LITTLE[resource] if field == "limits" else "the scheduler counts it as nothing"
    if wrong:
        job.report.add(
            UNIT.at(
                job.at((*container.path, "resources", field, resource)),
                f"`{resource}: {written}` is {meaning}",
                effect=effect,
                help=_advice(resource, str(written)),
                # The recorded server makes such pods; the node alone ends them, and one with virtual machines may not.
                level=ERROR if resource == "cpu" else WARNING,
            )
        )
    return wrong


def _advice(resource: str, written: str) -> str:
    digits = written.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    if resource == "cpu":
        return f"write `{digits}` for CPUs, or `{digits}m` for thousandths of one"
    if written.endswith("m"):
        return f"write `{digits}Mi`: `m` means thousandths"
    return f"write the unit: `{digits}Gi` or `{digits}Mi`"


CHECKS = (amount_in_wrong_unit,)
