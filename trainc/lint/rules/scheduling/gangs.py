"""Rules about gangs: that they can start, what they wait for, and whether the cluster serves their API."""

from collections.abc import Iterable, Iterator

from trainc.apiserver.pods.complaints import fields
from trainc.apiserver.pods.requests import pod_requests, quantity_of, total
from trainc.kinds.table import NAMES
from trainc.lint.facts.placement import Gang, Group, Placement
from trainc.lint.facts.timing import in_order
from trainc.model.finding import ERROR, WARNING, Finding, Label, Rule
from trainc.model.plan import Role
from trainc.model.sourced import Sourced
from trainc.model.tree import Path, Tree, get, value
from trainc.schedulers.gang import COMPLETE, NODE_SELECTOR, REQUESTS, pods, waits
from trainc.schedulers.native import API_NOT_SERVED, GROUP, version_served
from trainc.text.object_keys import EXCLUSIVE, NATIVE_FIELD

START_ORDER = Rule("gang-start-order", ERROR)
INITIALIZER = Rule("initializer-in-gang", ERROR)
EXCLUSIVE_PLACEMENT = Rule("gang-exclusive-placement", ERROR)
MIXED_RESTART = Rule("gang-restart-strategy", WARNING)
RETRIES = Rule("gang-retries", WARNING)
SIZE = Rule("gang-size", ERROR)
RESOURCES = Rule("gang-resources", WARNING)
TASKS = Rule("gang-task-minima", ERROR)
UNEVEN = Rule("gang-uneven-job", WARNING)
BEST_EFFORT = Rule("gang-best-effort-member", WARNING)
_KINDS = ("Workload", "PodGroup")


def order_faults(placement: Placement) -> Iterator[Finding]:
    """Report every way in which the gangs of a job cannot start, or not start again."""
    for gang in placement.gangs():
        yield from _start_order(placement, gang)
        yield from _exclusive(placement, gang.roles)
        if gang.back_end != "volcano":
            yield from _retries(placement, gang.roles)
    if placement.ties:
        yield from _restart_strategy(placement)


def _start_order(placement: Placement, gang: Gang) -> Iterator[Finding]:
    """A gang waits for itself where fewer pods than its minimum are there from the start."""
    names = {role.name.value: role for role in gang.roles if pods(role)}
    if gang.group is not None and at_first(placement, gang.roles) >= (gang.group.minimum or 0):
        return
    level = ERROR if gang.group is not None else WARNING  # nobody knows for how many pods a group elsewhere waits
    for here, role in names.items():
        for index, (there, status) in enumerate(waits(role)):
            if there not in names:
                continue
            rule, done = START_ORDER, "ready"
            help_ = f"remove the dependency, and make the processes of `{here}` wait for `{there}`"
            if status == COMPLETE:
                rule, done = INITIALIZER, "finished"
                counted = "with the cluster's `scheduler:` a gang counts only pods that run together"
                help_ = f"remove `{there}` from the gang: {counted}"
            at = placement.role_at(role, "dependsOn", index)
            message = f"`{here}` is created after `{there}` is {done}, but both are one gang"
            also = [Label(placement.role_at(names[there], "name"), "waits for the whole gang")]
            effect = f"`{there}` waits for the pods of `{here}`, which do not exist yet: nothing starts"
            yield rule.at(at, message, label="waits here", also=also, effect=effect, help=help_, level=level)
    if len(names) > 1 and in_order(placement.job):
        at = placement.at("spec", "startupPolicy", "startupPolicyOrder")
        message = f"the roles start in order, but {', '.join(f'`{name}`' for name in names)} are one gang"
        effect = "the first role waits for pods that are created only after it is ready: nothing starts"
        help_ = "remove `startupPolicy`, and make the processes wait for each other"
        yield START_ORDER.at(at, message, effect=effect, help=help_, level=level)


def at_first(placement: Placement, roles: Iterable[Role]) -> int:
    """How many pods of these roles are created without waiting for others of them."""
    live = [role for role in roles if pods(role)]
    names = {role.name.value for role in live}
    first = [role for role in live if names.isdisjoint(name for name, _ in waits(role))]
    return sum(map(pods, first[:1] if in_order(placement.job) else first))


def _exclusive(placement: Placement, tied: list[Role]) -> Iterator[Finding]:
    everywhere = _one_by_one(get(placement.jobset, "metadata", "annotations"))
    for role in tied:
        if everywhere or _one_by_one(get(role.tree, "template", "metadata", "annotations")):
            above: Path = () if everywhere else ("spec", "replicatedJobs", role.index, "template")
            path = (*above, "metadata", "annotations", EXCLUSIVE)
            message = f"the pods of `{role.name.value}` are a gang with exclusive placement"
            effect = "the first pod is not scheduled before the others exist, and they are not created before it is scheduled"
            help_ = "remove the annotation, and set the topology in the gang's scheduler"
            yield EXCLUSIVE_PLACEMENT.at(placement.at(*path), message, effect=effect, help=help_)


def _one_by_one(annotations: Tree) -> bool:
    """Whether pods follow their leader to its domain; with nodes labelled beforehand all are created at once."""
    return type(annotations) is dict and EXCLUSIVE in annotations and NODE_SELECTOR not in annotations


def _restart_strategy(placement: Placement) -> Iterator[Finding]:
    policy = get(placement.jobset, "spec", "failurePolicy")
    if value(policy, "maxRestarts") and value(policy, "restartStrategy") in {None, "Recreate"}:
        at = placement.at("spec", "failurePolicy", "restartStrategy")
        message = "the job is a gang, but its restarts do not wait for the pods of the last run"
        effect = "pods that are still terminating count toward the new gang, and a part of it can start alone"
        yield MIXED_RESTART.at(at, message, effect=effect, help="set `restartStrategy: BlockingRecreate`")


def _retries(placement: Placement, tied: list[Role]) -> Iterator[Finding]:
    for role in tied:
        limit = value(role.tree, "template", "spec", "backoffLimit")
        if type(limit) is int and limit > 0 and value(role.pod, "restartPolicy") == "Never":
            at = placement.role_at(role, "template", "spec", "backoffLimit")
            message = f"`{role.name.value}` replaces up to {limit} failed pods inside a gang"
            effect = "once another member has finished, the replacement never starts"
            help_ = "set `backoffLimit: 0`, and use `failurePolicy.maxRestarts`, which restarts the whole job"
            if placement.bundle.document.kind in NAMES:
                help_ = "set `runPolicy.backoffLimit: 0`"
            yield RETRIES.at(at, message, effect=effect, help=help_)


def size_faults(placement: Placement) -> Iterator[Finding]:
    """Report every number of a group that its pods do not bear out."""
    for group in placement.groups:
        tied = [t.role for t in placement.ties if t.back_end == group.back_end and t.group.value == group.name]
        if not tied:
            continue
        yield from _size(placement, group, tied)
        yield from _resources(placement, group, tied)
        yield from _tasks(placement, group)
    for tie in placement.ties:
        yield from _uneven(placement, tie.role)
        yield from _best_effort(placement, tie.back_end, tie.role)


def _size(placement: Placement, group: Group, tied: list[Role]) -> Iterator[Finding]:
    count = sum(map(pods, tied))
    if group.minimum in {None, count} or group.minimum == sum(map(pods, placement.members)):
        return  # right for the members: where some are not tied, that is the mistake
    field, name = group.minimum_path[-1], placement.bundle.name
    more = group.minimum > count
    alone = group.name == name or group.name.startswith(f"{name}-")  # one of another name may count several jobs' pods
    if group.minimum == at_first(placement, tied):
        return  # the others come once these are ready: to wait for them as well would be forever
    at, level = placement.bundle.span(group.tree, group.minimum_path), ERROR if more and alone else WARNING
    message = f"`{field}` is {group.minimum}, but the group has {count} pod{'s' * (count != 1)}"
    effect = f"{group.minimum} of {count} pods may start without the others"
    help_ = f"set it to {count}, unless fewer pods are enough to train"
    if more:
        effect = "the group never starts" if alone else "unless pods of other jobs belong to it, the group never starts"
        help_ = f"set it to {count}; with the cluster's `scheduler:` trainc computes it"
    yield SIZE.at(at, message, effect=effect, help=help_, level=level)


def _resources(placement: Placement, group: Group, tied: list[Role]) -> Iterator[Finding]:
    written = get(group.tree, "spec", "minResources")
    if type(written) is not dict:
        return
    people = {name: leaf for name, leaf in written.items() if type(leaf) is Sourced and leaf.by != REQUESTS}
    overhead, injected = placement.cluster.overhead, placement.cluster.injected
    beside = [(role, overhead(value(role.pod, "runtimeClassName"))) for role in tied if people]
    there = total((pod_requests(role.pod, overhead=over, injected=injected), pods(role), ()) for role, over in beside)
    for name, leaf in people.items():
        quantity = quantity_of(leaf)
        own = there.get(name)
        if quantity is not None and (own is None or own.quantity < quantity):
            at = placement.bundle.span(group.tree, ("spec", "minResources", name))
            requested = own.quantity if own else 0
            message = f"`minResources` requires {leaf.value} of `{name}`, but the pods request {requested}"
            help_ = "remove `minResources`, which trainc computes, or set what the pods request"
            yield RESOURCES.at(at, message, effect="the group stays pending although its pods would fit", help=help_)


def _tasks(placement: Placement, group: Group) -> Iterator[Finding]:
    minima = get(group.tree, "spec", "minTaskMember")
    plan = placement.bundle.plan
    if type(minima) is not dict or (plan is not None and get(plan.gang, "older", "minTaskMember") is not None):
        return  # Volcano's controller itself writes minima of its own Jobs that do not add up
    span = placement.bundle.span(group.tree, ("spec", "minTaskMember"))
    counted = sum(leaf.value for leaf in minima.values() if type(leaf) is Sourced and type(leaf.value) is int)
    if group.minimum is not None and counted != group.minimum:
        message = f"`minTaskMember` adds up to {counted}, but `minMember` is {group.minimum}"
        yield TASKS.at(span, message, help=f"set `minMember: {counted}`, or correct the minima")
    if get(group.tree, "spec", "subGroupPolicy") is not None:
        message = "`minTaskMember` and `subGroupPolicy` are both set"
        yield TASKS.at(span, message, help="keep `subGroupPolicy`, which replaces the other")


def _uneven(placement: Placement, role: Role) -> Iterator[Finding]:
    job = get(role.tree, "template", "spec")
    width, finish = value(job, "parallelism"), value(job, "completions")
    if type(width) is int and type(finish) is int and width < finish:
        message = f"`{role.name.value}` runs {finish} completions with {width} pod{'s' * (width != 1)} at a time"
        effect = "pods that start later may wait for members that have finished"
        help_ = "make `parallelism` and `completions` equal, or remove the role from the gang"
        yield UNEVEN.at(placement.role_at(role, "template", "spec", "completions"), message, effect=effect, help=help_)


def _best_effort(placement: Placement, back_end: str, role: Role) -> Iterator[Finding]:
    holders = (role.pod, *role.containers, *role.init_containers)
    asks = any(fields(get(holder, "resources", part)) for holder in holders for part in ("requests", "limits"))
    if back_end == "volcano" and pods(role) and not asks:
        message = f"the pods of `{role.name.value}` request nothing"
        effect = "Volcano counts them as ready before they run, and places them last"
        help_ = "set a small request, such as `cpu: 100m`"
        yield BEST_EFFORT.at(placement.role_at(role, "name"), message, effect=effect, help=help_)


def version_faults(placement: Placement) -> Iterator[Finding]:
    """Report groups in a version that the cluster's Kubernetes does not serve, and pods whose tie it does not know."""
    if (kubernetes := placement.cluster.kubernetes) is None:
        return
    newest, called = version_served(kubernetes), f"Kubernetes {kubernetes[0]}.{kubernetes[1]}"
    older = "use `coscheduling` or `volcano` below Kubernetes 1.36"
    for kind in _KINDS:
        served = [newest] if newest else []
        if newest == "v1beta1":
            served.append("v1alpha3")
        elif not newest and kind == "Workload" and kubernetes == (1, 35):
            served = ["v1alpha1"]  # 1.35 had Workloads alone, with their groups inside
        for tree in placement.bundle.of_kind(kind):
            group, _, version = str(value(tree, "apiVersion") or "").partition("/")
            if group == GROUP and version not in served:
                listed = " or ".join(f"`{GROUP}/{each}`" for each in served)
                at = placement.bundle.span(tree, ("apiVersion",))
                message = f"{called} does not serve {kind} in `{GROUP}/{version}`"
                effect = "the API server rejects the object, and its pods wait for it"
                yield API_NOT_SERVED.at(at, message, effect=effect, help=f"use {listed}" if served else older)
    first = next((tie for tie in placement.ties if tie.back_end == "native"), None)
    if first is not None and not newest:
        message = f"the pods of {called} have no field `{NATIVE_FIELD}`"
        effect = "the API server drops it, and the job runs without a gang"
        yield API_NOT_SERVED.at(placement.at(*first.path), message, effect=effect, help=older)
