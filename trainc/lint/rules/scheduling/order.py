"""Rules about time: a gang that waits for itself, and what a restart does to it."""

from __future__ import annotations

from trainc.kinds.table import NAMES
from trainc.model.finding import ERROR, WARNING, Label, Rule
from trainc.model.tree import get, value
from trainc.schedulers.gang import COMPLETE, pods, waits
from trainc.schedulers.keys import NODE_SELECTOR
from trainc.text.object_keys import EXCLUSIVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.lint.facts.placement import Gang, Placement
    from trainc.model.finding import Finding
    from trainc.model.plan import Role
    from trainc.model.report import Report
    from trainc.model.tree import Path, Tree

START_ORDER = Rule("gang-start-order", ERROR)
INITIALIZER = Rule("initializer-in-gang", ERROR)
EXCLUSIVE_PLACEMENT = Rule("gang-exclusive-placement", ERROR)
MIXED_RESTART = Rule("gang-restart-strategy", WARNING)
RETRIES = Rule("gang-retries", WARNING)


def look(placement: Placement, report: Report) -> None:
    """Report every way in which the gangs of a job cannot start, or not start again."""
    for gang in placement.gangs():
        _start_order(placement, gang, report)
        _exclusive(placement, gang.roles, report)
        if gang.back_end != "volcano":
            _retries(placement, gang.roles, report)
    if placement.ties:
        _restart_strategy(placement, report)


def _start_order(placement: Placement, gang: Gang, report: Report) -> None:
    """A gang waits for itself where fewer pods than its minimum are there from the start."""
    names = {role.name.value: role for role in gang.roles if pods(role)}
    if gang.group is not None and at_first(placement, gang.roles) >= (gang.group.minimum or 0):
        return
    level = ERROR if gang.group is not None else WARNING  # nobody knows for how many pods a group elsewhere waits
    for role in names.values():
        for index, (name, status) in enumerate(waits(role)):
            if name in names:
                rule = INITIALIZER if status == COMPLETE else START_ORDER
                report.add(_waiting(placement, rule, role, names[name], index, level))
    if len(names) > 1 and _in_order(placement):
        report.add(
            START_ORDER.at(
                placement.at("spec", "startupPolicy", "startupPolicyOrder"),
                f"the roles start one after the other, but {_listed(names)} are one gang",
                effect="the first role waits for pods that are created only when it is ready: nothing starts",
                help="remove `startupPolicy`, and let the processes wait for each other",
                level=level,
            )
        )


def at_first(placement: Placement, roles: Iterable[Role]) -> int:
    """How many pods of these roles are created without waiting for others of them."""
    live = [role for role in roles if pods(role)]
    names = {role.name.value for role in live}
    first = [role for role in live if names.isdisjoint(name for name, _ in waits(role))]
    return sum(map(pods, first[:1] if _in_order(placement) else first))


def _in_order(placement: Placement) -> bool:
    return bool(value(placement.jobset, "spec", "startupPolicy", "startupPolicyOrder") == "InOrder")


def _waiting(placement: Placement, rule: Rule, role: Role, first: Role, index: int, level: str) -> Finding:
    here, there = role.name.value, first.name.value
    if rule is INITIALIZER:
        done, advice = "finished", f"take `{there}` out: a gang of the cluster's `scheduler:` counts what runs together"
    else:
        done, advice = "ready", f"remove the dependency, and let the processes of `{here}` wait for `{there}`"
    return rule.at(
        placement.role_at(role, "dependsOn", index),
        f"`{here}` is created when `{there}` is {done}, but both are one gang",
        label="waits here",
        also=[Label(placement.role_at(first, "name"), "is waited for, and waits for the whole gang")],
        effect=f"`{there}` waits for the pods of `{here}`, which do not exist yet: nothing starts",
        help=advice,
        level=level,
    )


def _exclusive(placement: Placement, tied: list[Role], report: Report) -> None:
    everywhere = _one_by_one(get(placement.jobset, "metadata", "annotations"))
    for role in tied:
        if everywhere or _one_by_one(get(role.tree, "template", "metadata", "annotations")):
            path: Path = (
                ("metadata", "annotations", EXCLUSIVE)
                if everywhere
                else ("spec", "replicatedJobs", role.index, "template", "metadata", "annotations", EXCLUSIVE)
            )
            report.add(
                EXCLUSIVE_PLACEMENT.at(
                    placement.at(*path),
                    f"the pods of `{role.name.value}` are a gang and are placed exclusively",
                    effect="the first pod gets no node before the others exist, and they are not created before it has one",
                    help="ask the gang's back end for the topology, and remove the annotation",
                )
            )


def _one_by_one(annotations: Tree) -> bool:
    """Whether pods follow their leader to its domain; with nodes labelled beforehand all are created at once."""
    return type(annotations) is dict and EXCLUSIVE in annotations and NODE_SELECTOR not in annotations


def _restart_strategy(placement: Placement, report: Report) -> None:
    policy = get(placement.jobset, "spec", "failurePolicy")
    if value(policy, "maxRestarts") and value(policy, "restartStrategy") in {None, "Recreate"}:
        report.add(
            MIXED_RESTART.at(
                placement.at("spec", "failurePolicy", "restartStrategy"),
                "the job is a gang, and its restarts do not wait for the pods of the last run",
                effect="pods that are still ending count for the new gang, and a part of it can start alone",
                help="set `restartStrategy: BlockingRecreate`",
            )
        )


def _retries(placement: Placement, tied: list[Role], report: Report) -> None:
    for role in tied:
        limit = value(role.tree, "template", "spec", "backoffLimit")
        if type(limit) is int and limit > 0 and value(role.pod, "restartPolicy") == "Never":
            report.add(
                RETRIES.at(
                    placement.role_at(role, "template", "spec", "backoffLimit"),
                    f"`{role.name.value}` replaces up to {limit} failed pods inside a gang",
                    effect="once another member has finished, the replacement waits for ever",
                    help="set `runPolicy.backoffLimit: 0`"
                    if placement.bundle.document.kind in NAMES
                    else "set `backoffLimit: 0`, and let `failurePolicy.maxRestarts` restart the whole job",
                )
            )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
