"""Cpu and memory of a whole pod against the machine that it selects."""

from __future__ import annotations

from trainc.apiserver.pods.requests import pod_requests
from trainc.lint.facts.amounts import ONE, amount
from trainc.lint.facts.machine import machine_of
from trainc.lint.tables.machines import MOST_CPUS
from trainc.model.finding import ERROR, Label, Rule
from trainc.model.sourced import Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Container, ExpandedRole, Findings, Job
    from trainc.model.sourced import Span
    from trainc.model.tree import Path, Tree

TOO_LARGE = Rule("larger-than-machine", ERROR)
_LARGEST = {"cpu": MOST_CPUS * ONE, "memory": ONE << 60}


def larger_than_machine(job: Job) -> Findings:
    seen: set[Span] = set()  # roles may be made of one template
    for role in job.roles:
        machine, path = machine_of(role) if "nodeSelector" in role.pod else (None, ())
        if machine is None or not machine.cpus:
            continue
        requests = pod_requests(role.pod)
        cpu, memory = (
            ("cpu", f"{machine.cpus} CPUs", machine.cpus * ONE),
            ("memory", f"{machine.gib}Gi", machine.gib * (ONE << 30)),
        )
        for resource, held, most in (cpu, memory):
            requested = requests.get(resource)
            # More than any machine has is meant in another unit, and reported as that.
            if requested is None or not most < requested.quantity.nanos <= _LARGEST[resource]:
                continue
            span = job.at(_largest(role, resource))
            if span in seen:
                continue
            seen.add(span)
            yield TOO_LARGE.at(
                span,
                f"a pod of `{role.name}` requests {requested.quantity} of {resource}, but `{machine.name}` has {held}",
                also=[Label(job.at(path), f"{held} per machine")],
                effect="the pods stay pending for ever",
                help="request less: the kubelet and the system keep a part of the machine",
            )


def _largest(role: ExpandedRole, resource: str) -> Path:
    """Where the pods of a role request the most of a resource: in a container, or as a whole."""
    amounts = [(_amount_of(each, resource), each.amount_path(resource)) for each in role.containers]
    held = [(amount, path) for amount, path in amounts if amount is not None]
    most = max((amount for amount, _ in held), default=None)
    return next((path for amount, path in held if amount == most), (*role.pod_path, "resources"))


def _amount_of(container: Container, resource: str) -> int | None:
    leaf: Tree = container.requests.get(resource, container.limits.get(resource))
    return amount(leaf.value) if type(leaf) is Sourced else None


CHECKS = (larger_than_machine,)
