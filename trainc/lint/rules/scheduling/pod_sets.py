"""Rules about what Kueue makes of a JobSet: its pod sets, their topology, and how long they may take to get ready."""

from collections.abc import Iterator

from trainc.lint.facts.placement import POD, Placement, pod_annotations
from trainc.model.cluster import Version
from trainc.model.finding import ERROR, WARNING, Finding, Rule
from trainc.model.plan import Role
from trainc.model.sourced import Sourced
from trainc.model.tree import get, leaves, value
from trainc.schedulers.gang import PODSET, PODSET_GROUP, PODSET_PREFERRED, PODSET_REQUIRED, PODSET_SLICE, pods, waits
from trainc.text.object_keys import EXCLUSIVE

POD_SETS = Rule("kueue-pod-sets", ERROR)
LEVEL = Rule("kueue-topology-misplaced", ERROR)
UNKNOWN_LEVEL = Rule("unknown-topology", ERROR)
PODSET_GROUPS = Rule("kueue-podset-group", ERROR)
SLOW = Rule("kueue-slow-start", WARNING)
EXCLUSIVE_AND_QUEUE = Rule("kueue-exclusive-placement", WARNING)

WAIT_FOR_PODS = (0, 19)  # from this version on Kueue evicts what is not ready in time, unless told otherwise
MODES = (PODSET_REQUIRED, PODSET_PREFERRED)
NAMED_LEVELS = (PODSET_REQUIRED, PODSET_PREFERRED, PODSET_SLICE)


def pod_set_faults(placement: Placement) -> Iterator[Finding]:
    """Report every fault in what a queued JobSet asks of Kueue."""
    yield from _misplaced(placement)
    if placement.queue is None:
        return
    yield from _limit(placement)
    if any(key.startswith(PODSET) for spot in placement.spots for key in spot.keys):
        for faults in (_levels, _groups, _exclusive):
            yield from faults(placement)
    if (version := placement.cluster.kueue) is None or version >= WAIT_FOR_PODS:
        yield from _slow(placement)


def most_pod_sets(kueue: Version | None) -> int:
    """How many pod sets a Workload may have; the newest limit where the version is not known."""
    if kueue is None or kueue >= (0, 19):
        return 18
    return 10 if kueue >= (0, 18) else 8


def _limit(placement: Placement) -> Iterator[Finding]:
    most = most_pod_sets(placement.cluster.kueue)
    if len(placement.jobs) > most:
        at = placement.role_at(placement.roles[most], "name")
        message = f"the job has {len(placement.roles)} roles, but Kueue supports at most {most}"
        effect = "Kueue cannot create a Workload for it: the job stays suspended"
        help_ = "merge roles with identical pods into one with more replicas"
        yield POD_SETS.at(at, message, label="exceeds the limit", effect=effect, help=help_)


def _misplaced(placement: Placement) -> Iterator[Finding]:
    for spot in placement.spots:
        if spot.level == "pod" or spot.section != "annotations":
            continue
        for key in spot.keys:
            if key.startswith(PODSET):
                message = f"Kueue does not read `{key}` here"
                help_ = "move it to the annotations of the pod template"
                yield LEVEL.at(placement.at(*spot.path, key), message, effect="the scheduler ignores it", help=help_)


def _levels(placement: Placement) -> Iterator[Finding]:
    known = placement.cluster.topology_levels()
    for role in placement.roles:
        annotations = pod_annotations(role)
        for key in NAMED_LEVELS:
            leaf = annotations.get(key)
            if type(leaf) is not Sourced:
                continue
            if known is None:
                placement.report.skip("whether a Topology has the level")
            elif leaf.value not in known:
                at = placement.role_at(role, *POD, "metadata", "annotations", key)
                help_ = f"use one of {', '.join(f'`{level}`' for level in known)}" if known else ""
                yield UNKNOWN_LEVEL.at(at, f"no Topology of the cluster has the level `{leaf.value}`", help=help_)


def _groups(placement: Placement) -> Iterator[Finding]:
    groups: dict[str, list[Role]] = {}
    for role in placement.roles:
        leaf = pod_annotations(role).get(PODSET_GROUP)
        if type(leaf) is Sourced:
            groups.setdefault(str(leaf.value), []).append(role)
    for name, roles in groups.items():
        wishes = [{key: value(pod_annotations(role), key) for key in MODES} for role in roles]
        fault = ""
        if len(roles) != 2:
            fault = f"has {len(roles)} roles, not two"
        elif min(map(pods, roles)) != 1:
            fault = "has no role of a single pod"
        elif wishes[0] != wishes[1]:
            fault = "requests two different topologies"
        elif not any(wishes[0].values()):
            fault = "requests no topology"
        if fault:
            at = placement.role_at(roles[0], *POD, "metadata", "annotations", PODSET_GROUP)
            help_ = "group the single launcher pod with the pods of its nodes, and set the same topology on both"
            yield PODSET_GROUPS.at(at, f"the group `{name}` {fault}", effect="Kueue rejects the job", help=help_)


def _slow(placement: Placement) -> Iterator[Finding]:
    """Report what may make a job wait for some of its pods."""
    again = "more than 30 minutes, Kueue evicts the job and starts it again"
    for role in placement.members:
        for index, container in enumerate(role.containers):
            # The probes that KubeRay adds, and so trainc, succeed within seconds.
            if any(leaf.origin.at is not None for _, leaf in leaves(get(container, "readinessProbe") or {})):
                at = placement.role_at(role, *POD, "spec", "containers", index, "readinessProbe")
                message = f"container `{value(container, 'name')}` is ready only when its probe succeeds"
                effect = f"if that takes {again}"
                yield SLOW.at(at, message, effect=effect, help="remove the probe: the pods find each other without it")
    for role in placement.members:
        if waits(role):
            message = f"`{role.name.value}` is created later, while Kueue waits for all roles to become ready"
            effect = f"if earlier roles take {again}"
            help_ = "raise `waitForPodsReady.timeout` of the cluster, or move the earlier roles to a job of their own"
            yield SLOW.at(placement.role_at(role, "dependsOn"), message, effect=effect, help=help_)


def _exclusive(placement: Placement) -> Iterator[Finding]:
    wishes = any(key.startswith(PODSET) for role in placement.roles for key in pod_annotations(role))
    path = ("metadata", "annotations", EXCLUSIVE)
    if wishes and get(placement.jobset, *path) is not None:
        message = "the job requests a topology from both Kueue and JobSet"
        yield EXCLUSIVE_AND_QUEUE.at(placement.at(*path), message, help="keep Kueue's annotations, and remove this one")
