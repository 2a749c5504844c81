"""Rules about numbers: what a group waits for against the pods that there will be."""

from __future__ import annotations

from trainc.apiserver.pods.complaints import fields
from trainc.apiserver.pods.requests import pod_requests, quantity_of, total
from trainc.lint.rules.scheduling.order import at_first
from trainc.model.finding import ERROR, WARNING, Rule
from trainc.model.sourced import Sourced
from trainc.model.tree import get, value
from trainc.schedulers.gang import pods
from trainc.schedulers.keys import REQUESTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.apiserver.pods.requests import Amounts
    from trainc.lint.facts.placement import Group, Placement
    from trainc.model.finding import Finding
    from trainc.model.plan import Role
    from trainc.model.report import Report

SIZE = Rule("gang-size", ERROR)
RESOURCES = Rule("gang-resources", WARNING)
TASKS = Rule("gang-task-minima", ERROR)
UNEVEN = Rule("gang-uneven-job", WARNING)
BEST_EFFORT = Rule("gang-best-effort-member", WARNING)


def look(placement: Placement, report: Report) -> None:
    """Report every number of a group that its pods do not bear out."""
    for group in placement.groups:
        tied = [t.role for t in placement.ties if t.back_end == group.back_end and t.group.value == group.name]
        if not tied:
            continue
        for finding in (*_size(placement, group, tied), *_resources(placement, group, tied), *_tasks(placement, group)):
            report.add(finding)
    for tie in placement.ties:
        for finding in (*_uneven(placement, tie.role), *_best_effort(placement, tie.back_end, tie.role)):
            report.add(finding)


def _size(placement: Placement, group: Group, tied: list[Role]) -> Iterator[Finding]:
    count = sum(map(pods, tied))
    if group.minimum in {None, count} or group.minimum == sum(map(pods, placement.members)):
        return  # right for the members: where some are not tied, that is the mistake
    field = group.minimum_path[-1]
    more, alone = group.minimum > count, _alone(placement, group)
    if group.minimum == at_first(placement, tied):
        return  # the others come once these are ready: to wait for them as well would be for ever
    yield SIZE.at(
        placement.bundle.span(group.tree, group.minimum_path),
        f"`{field}` is {group.minimum}, but the group has {count} pod{'s' * (count != 1)}",
        effect=("the group never starts" if alone else "unless pods of other jobs belong to it, the group never starts")
        if more
        else f"{group.minimum} of {count} pods may start without the others",
        help=f"set it to {count}; with the cluster's `scheduler:` it is computed"
        if more
        else f"raise it to {count}, unless fewer pods are enough to train",
        level=ERROR if more and alone else WARNING,
    )


def _alone(placement: Placement, group: Group) -> bool:
    """Whether a group is for this job alone: one of another name may count the pods of several jobs."""
    name = placement.bundle.name
    return group.name == name or group.name.startswith(f"{name}-")


def _resources(placement: Placement, group: Group, tied: list[Role]) -> Iterator[Finding]:
    written = get(group.tree, "spec", "minResources")
    if type(written) is not dict:
        return
    people = {name: leaf for name, leaf in written.items() if type(leaf) is Sourced and leaf.by != REQUESTS}
    there = _sum(tied, placement) if people else {}
    for name, leaf in people.items():
        quantity = quantity_of(leaf)
        own = there.get(name)
        if quantity is not None and (own is None or own.quantity < quantity):
            yield RESOURCES.at(
                placement.bundle.span(group.tree, ("spec", "minResources", name)),
                f"`minResources` asks for {leaf.value} of `{name}`, but the pods ask for {own.quantity if own else 0}",
                effect="the group is held back although its pods would fit",
                help="leave `minResources` to trainc, or write what the pods ask for",
            )


def _sum(tied: list[Role], placement: Placement) -> Amounts:
    overhead = placement.cluster.overhead
    return total(
        (
            pod_requests(
                role.pod, overhead=overhead(value(role.pod, "runtimeClassName")), injected=placement.cluster.injected
            ),
            pods(role),
            (),
        )
        for role in tied
    )


def _tasks(placement: Placement, group: Group) -> Iterator[Finding]:
    minima = get(group.tree, "spec", "minTaskMember")
    plan = placement.bundle.plan
    if type(minima) is not dict or (plan is not None and get(plan.gang, "older", "minTaskMember") is not None):
        return  # Volcano's controller itself writes minima of its own Jobs that do not add up
    span = placement.bundle.span(group.tree, ("spec", "minTaskMember"))
    counted = sum(leaf.value for leaf in minima.values() if type(leaf) is Sourced and type(leaf.value) is int)
    if group.minimum is not None and counted != group.minimum:
        yield TASKS.at(
            span,
            f"`minTaskMember` adds up to {counted}, `minMember` is {group.minimum}",
            help=f"set `minMember: {counted}`, or correct the minima",
        )
    if get(group.tree, "spec", "subGroupPolicy") is not None:
        yield TASKS.at(
            span,
            "`minTaskMember` and `subGroupPolicy` are both set",
            help="keep `subGroupPolicy`, which replaces the other",
        )


def _uneven(placement: Placement, role: Role) -> Iterator[Finding]:
    job = get(role.tree, "template", "spec")
    width, finish = value(job, "parallelism"), value(job, "completions")
    if type(width) is int and type(finish) is int and width < finish:
        yield UNEVEN.at(
            placement.role_at(role, "template", "spec", "completions"),
            f"`{role.name.value}` runs {finish} completions with {width} pod{'s' * (width != 1)} at a time",
            effect="pods that start later may wait for members that have finished",
            help="make `parallelism` and `completions` equal, or take the role out of the gang",
        )


def _best_effort(placement: Placement, back_end: str, role: Role) -> Iterator[Finding]:
    if back_end == "volcano" and pods(role) and not _asks(role):
        yield BEST_EFFORT.at(
            placement.role_at(role, "name"),
            f"the pods of `{role.name.value}` request nothing",
            effect="Volcano counts them as ready before they run, and places them last",
            help="give them a small request, such as `cpu: 100m`",
        )


def _asks(role: Role) -> bool:
    holders = (role.pod, *role.containers, *role.init_containers)
    return any(fields(get(holder, "resources", part)) for holder in holders for part in ("requests", "limits"))
