"""Amounts of cpu and memory that can only be meant in another unit."""

from __future__ import annotations

from trainc.lint.facts.amounts import ONE, amount
from trainc.lint.tables.machines import MOST_CPUS
from trainc.model.finding import ERROR, WARNING, Rule
from trainc.model.sourced import Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Findings, Job
    from trainc.model.tree import Tree

UNIT = Rule("amount-in-wrong-unit", ERROR)
_LEAST_MEMORY = 1 << 20  # container runtimes refuse limits of a few MiB, and no program fits into one
_LITTLE = {
    "memory": "the node kills the container before its program starts",
    "ephemeral-storage": "the kubelet evicts the pod once its files and logs hold more",
}


def amount_in_wrong_unit(job: Job) -> Findings:
    for container in job.containers:
        for resource in ("cpu", *_LITTLE):
            for field, amounts in (("limits", container.limits), ("requests", container.requests)):
                leaf: Tree = amounts.get(resource)
                size = amount(leaf.value) if type(leaf) is Sourced else None
                if size is None or size <= 0:
                    continue
                if resource == "cpu" and size > MOST_CPUS * ONE:
                    meaning, effect = f"{size // ONE} CPUs", "no node has that many: the pod stays pending"
                elif resource != "cpu" and size < _LEAST_MEMORY * ONE:
                    meaning = "less than a byte" if size < ONE else f"{size // ONE} bytes"
                    effect = _LITTLE[resource] if field == "limits" else "the scheduler counts it as nothing"
                else:
                    continue
                yield UNIT.at(
                    job.at((*container.path, "resources", field, resource)),
                    f"`{resource}: {leaf.value}` is {meaning}",
                    effect=effect,
                    help=_advice(resource, str(leaf.value)),
                    # The recorded server makes such pods; the node alone ends them, and one with virtual machines may not.
                    level=ERROR if resource == "cpu" else WARNING,
                )
                break


def _advice(resource: str, written: str) -> str:
    digits = written.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    if resource == "cpu":
        return f"write `{digits}` for CPUs, or `{digits}m` for thousandths of one"
    if written.endswith("m"):
        return f"write `{digits}Mi`: `m` means thousandths"
    return f"write the unit: `{digits}Gi` or `{digits}Mi`"


CHECKS = (amount_in_wrong_unit,)
