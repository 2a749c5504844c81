"""Rules about belonging: every member is tied to one group of one back end, by the right key in the right place."""

from collections.abc import Iterator

from trainc.lint.facts.placement import POD, Group, Placement
from trainc.model.finding import ERROR, WARNING, Finding, Label, Rule
from trainc.model.plan import Role
from trainc.model.tree import value
from trainc.schedulers.gang import DEFAULT_PROFILE, PROFILES, pods
from trainc.text.object_keys import COSCHEDULING_LABEL, NATIVE_FIELD, VOLCANO_GROUP
from trainc.text.placeholders import is_placeholder

TWO_BACK_ENDS = Rule("two-gang-schedulers", ERROR)
UNTIED = Rule("gang-tie-missing", ERROR)
NO_GROUP = Rule("podgroup-missing", WARNING)
MISPLACED = Rule("gang-tie-misplaced", ERROR)
SCHEDULER_NAME = Rule("gang-scheduler-name", WARNING)
PRIORITY = Rule("gang-priority", ERROR)
GROUP_NAME = Rule("podgroup-name", ERROR)

_KEYS = {
    "coscheduling": f"the label `{COSCHEDULING_LABEL}`",
    "volcano": f"the annotation `{VOLCANO_GROUP}`",
    "native": f"the field `{NATIVE_FIELD}.podGroupName`",
}


def tie_faults(placement: Placement) -> Iterator[Finding]:
    """Report every fault in how the pods of a job belong to their group."""
    yield from _misplaced(placement)
    if placement.back_ends:
        for faults in (_two, _untied, _groupless, _scheduler_names, _priorities, _names):
            yield from faults(placement)


def _two(placement: Placement) -> Iterator[Finding]:
    first = next(iter(placement.ties), None)
    other = next((t for t in placement.ties if first and t.back_end != first.back_end), None)
    if first is None or other is None:
        return
    message = f"the job is a gang of both `{first.back_end}` and `{other.back_end}`"
    label = f"`{first.back_end}`"
    also = [Label(placement.at(*other.path), f"`{other.back_end}`")]
    effect = "each scheduler waits for pods that the other holds back"
    help_ = "keep one, or choose one with the cluster's `scheduler:`"
    yield TWO_BACK_ENDS.at(placement.at(*first.path), message, label=label, also=also, effect=effect, help=help_)


def _untied(placement: Placement) -> Iterator[Finding]:
    for group in placement.groups:
        ties = [tie for tie in placement.ties if tie.back_end == group.back_end]
        names = [tie for tie in ties if tie.group.value == group.name]
        # A group to which no pod is tied is meant for them if it has the job's name.
        is_own = placement.back_ends == [group.back_end] and group.name == placement.bundle.name
        if not _writable(group) or not (names or is_own):
            continue
        tied = {tie.role.index for tie in names}
        short = group.minimum is not None and group.minimum > sum(pods(tie.role) for tie in names)
        for role in placement.members if len(tied) < len(placement.roles) else ():
            is_elsewhere = any(tie.role is role and tie.group.value != group.name for tie in ties)
            if role.index not in tied and not is_elsewhere:
                message = f"the pods of `{role.name.value}` are not members of the PodGroup `{group.name}`"
                effect = "they are scheduled separately: the others may run, at a cost, while these wait for a node"
                if short:
                    effect = "they are scheduled separately and do not count toward the group's minimum"
                help_ = f"add {_KEYS[group.back_end]} to the pod template"
                level = ERROR if short else WARNING
                yield UNTIED.at(placement.role_at(role, "name"), message, effect=effect, help=help_, level=level)


def _groupless(placement: Placement) -> Iterator[Finding]:
    here = {(group.back_end, group.name) for group in placement.groups}
    for tie in placement.ties:
        if (tie.back_end, tie.group.value) not in here:
            here.add((tie.back_end, tie.group.value))
            message = f"the pods belong to the {tie.back_end} PodGroup `{tie.group.value}`, which is not in these files"
            effect = "unless it exists in the cluster, they stay pending"
            help_ = "add the PodGroup to the job's file, or set the cluster's `scheduler:`, which creates it"
            yield NO_GROUP.at(placement.at(*tie.path), message, effect=effect, help=help_)


def _misplaced(placement: Placement) -> Iterator[Finding]:
    for spot in placement.spots:
        for key, section in ((COSCHEDULING_LABEL, "labels"), (VOLCANO_GROUP, "annotations")):
            if key in spot.keys and (spot.level != "pod" or spot.section != section):
                message = f"no scheduler reads `{key}` here"
                effect = "the pods belong to no group"
                help_ = f"make it {'a label' if section == 'labels' else 'an annotation'} of the pod template"
                yield MISPLACED.at(placement.at(*spot.path, key), message, effect=effect, help=help_)


def _scheduler_names(placement: Placement) -> Iterator[Finding]:
    if len({tie.back_end for tie in placement.ties}) > 1:
        return  # no name can be right for two
    for gang in placement.gangs():
        back_end, tied = gang.back_end, gang.roles
        written = {str(value(role.pod, "schedulerName") or "") for role in tied}
        names = {"" if name == DEFAULT_PROFILE else name for name in written}
        # Where the coscheduling plugin runs in the cluster's one scheduler, its name is written on purpose.
        meant = back_end == "coscheduling" and DEFAULT_PROFILE in written
        if len(names) > 1:
            yield _differing(placement, tied, names)
        elif back_end == "native" and names & set(PROFILES.values()):
            yield _foreign(placement, tied[0], back_end)
        elif names == {""} and back_end in PROFILES and not meant:
            yield _unnamed(placement, tied[0], back_end)
        elif back_end in PROFILES and names & (set(PROFILES.values()) - {PROFILES[back_end]}):
            yield _foreign(placement, tied[0], back_end)


def _differing(placement: Placement, tied: list[Role], names: set[str]) -> Finding:
    listed = ", ".join(f"`{name or DEFAULT_PROFILE}`" for name in sorted(names))
    at = placement.role_at(tied[0], *POD, "spec", "schedulerName")
    message = f"the pods of one gang use different schedulers: {listed}"
    also = [Label(placement.role_at(role, *POD, "spec", "schedulerName"), "differs") for role in tied[1:]]
    help_ = "set the same `schedulerName` on all"
    return SCHEDULER_NAME.at(at, message, also=also, effect="no scheduler sees the whole gang", help=help_, level=ERROR)


def _unnamed(placement: Placement, role: Role, back_end: str) -> Finding:
    scheduler = value(role.pod, "schedulerName")
    at = placement.role_at(role, *POD, "spec", *(("schedulerName",) if scheduler else ()))
    message = f"the pods are members of a {back_end} group but use {f'`{scheduler}`' if scheduler else 'the default scheduler'}"
    effect = "kube-scheduler places the pods one by one, without a gang"
    if back_end == "coscheduling":
        effect = "unless kube-scheduler runs the plugin itself, it places the pods one by one, without a gang"
    help_ = f"set `schedulerName: {PROFILES[back_end]}`, or the name in your cluster"
    return SCHEDULER_NAME.at(at, message, effect=effect, help=help_)


def _foreign(placement: Placement, role: Role, back_end: str) -> Finding:
    name = value(role.pod, "schedulerName")
    at = placement.role_at(role, *POD, "spec", "schedulerName")
    message = f"the pods are members of a {back_end} group but use `{name}`"
    help_ = f"set `schedulerName: {PROFILES[back_end]}`" if back_end in PROFILES else "remove `schedulerName`"
    return SCHEDULER_NAME.at(at, message, effect=f"`{name}` ignores the group: no gang", help=help_, level=ERROR)


def _priorities(placement: Placement) -> Iterator[Finding]:
    for gang in placement.gangs():
        classes = {value(role.pod, "priorityClassName") or "" for role in gang.roles}
        group, by_volcano = gang.group, gang.back_end == "volcano"
        if len(classes) > 1:
            path = (*POD, "spec", "priorityClassName")
            listed = ", ".join(f"`{name}`" if name else "none" for name in sorted(classes))
            at, message = (
                placement.role_at(gang.roles[0], *path),
                f"the pods of one gang have different priority classes: {listed}",
            )
            also = [Label(placement.role_at(role, *path), "differs") for role in gang.roles[1:]]
            effect = "the pods of higher priority hold their nodes while the others wait behind other jobs"
            if by_volcano:
                effect = "Volcano schedules the pods of higher priority first, and evicts the others first"
            help_ = "set the same `priorityClassName` on all members"
            yield PRIORITY.at(at, message, also=also, effect=effect, help=help_, level=WARNING if by_volcano else ERROR)
        elif group is not None:
            own = value(group.tree, "spec", "priorityClassName")
            if own is not None and own not in classes:
                at = placement.bundle.span(group.tree, ("spec", "priorityClassName"))
                message = f"the PodGroup has the priority class `{own}`, but its pods have `{classes.pop() or 'none'}`"
                effect = "kube-scheduler rejects the group"
                if by_volcano:
                    effect = "the group is queued with one priority, and its pods are evicted with the other"
                help_ = "set the same class on both"
                yield PRIORITY.at(at, message, effect=effect, help=help_, level=WARNING if by_volcano else ERROR)


def _names(placement: Placement) -> Iterator[Finding]:
    for group in placement.groups:
        if not _writable(group):
            at = placement.bundle.span(group.tree, ("metadata", "name"))
            message = f"`{group.name}` is not a valid value for the label that makes pods its members"
            help_ = "shorten it to at most 63 characters, alphanumeric at both ends"
            yield GROUP_NAME.at(at, message, effect="no pod can belong to the group", help=help_)


def _writable(group: Group) -> bool:
    """Whether pods can name the group: the coscheduling plugin reads a label, the others take any object's name."""
    if group.back_end != "coscheduling" or is_placeholder(group.name):
        return True
    bare = group.name.replace("-", "").replace("_", "").replace(".", "")
    ends = group.name[:1] + group.name[-1:]
    return len(group.name) <= 63 and bare.isalnum() and ends.isalnum()
