"""Which pods of a job have to run at the same time, and how many they are."""

from collections.abc import Sequence

from trainc.model.cluster import Cluster
from trainc.model.finding import ERROR, Rule
from trainc.model.patches import Contribution, pod
from trainc.model.plan import TRAINER, Plan, Role
from trainc.model.sourced import Origin, Sourced, derive, known
from trainc.model.tree import Tree, filled, get, value
from trainc.text.placeholders import is_placeholder

NO_PODS = Rule("no-pods", ERROR)
UNKNOWN_SIZE = Rule("unknown-size", ERROR)
COMPLETE = "Complete"
SUBMITTER_LABEL = "ray.io/originated-from-crd"  # of the pod that submits a RayJob's program; it waits for all others
INITIALIZERS = ("dataset-initializer", "model-initializer")
_DEFAULT = Origin(by="batch/v1 default")
VOLCANO_QUEUE_LABEL = "volcano.sh/queue-name"
VOLCANO_TOPOLOGY_MODE = "volcano.sh/network-topology-mode"
VOLCANO_TOPOLOGY_TIER = "volcano.sh/network-topology-highest-tier"
KUEUE = "kueue.x-k8s.io/"
KUEUE_PRIORITY = f"{KUEUE}priority-class"
PODSET = f"{KUEUE}podset-"
PODSET_GROUP = f"{PODSET}group-name"
PODSET_REQUIRED = f"{PODSET}required-topology"
PODSET_PREFERRED = f"{PODSET}preferred-topology"
PODSET_UNCONSTRAINED = f"{PODSET}unconstrained-topology"
PODSET_SLICE = f"{PODSET}slice-required-topology"
PODSET_SLICES = f"{PODSET}slice-required-topology-constraints"
NODE_SELECTOR = "alpha.jobset.sigs.k8s.io/node-selector"  # exclusive placement on nodes that are labelled beforehand
# The profiles that the charts of scheduler-plugins and Volcano install; a pod that asks for one belongs to it.
PROFILES = {"coscheduling": "scheduler-plugins-scheduler", "volcano": "volcano"}
DEFAULT_PROFILE = "default-scheduler"  # what the API server writes where a pod asks for none
REQUESTS = "requests of the gang"  # who sums up what the pods of a gang ask for


def roles_of(spec: Tree) -> tuple[Role, ...]:
    """The roles of a JobSet's spec as it stands, each with the pods that one child Job runs at a time."""
    jobs = get(spec, "replicatedJobs")
    if type(jobs) is not list:
        return ()
    return tuple(Role(i, tree, at_once(tree)) for i, tree in enumerate(jobs) if type(get(tree, "name")) is Sourced)


def at_once(replicated_job: Tree) -> Sourced[int]:
    """How many pods one child Job runs at a time: `parallelism`, never more than `completions`.

    Where either is a placeholder, the answer is that placeholder: `uncounted` finds it.
    """
    job = get(replicated_job, "template", "spec")
    width, finish = get(job, "parallelism"), get(job, "completions")
    for leaf in (width, finish):
        if type(leaf) is Sourced and is_placeholder(leaf.value):
            return leaf
    parallel = width if _is_number(width) else Sourced(1, _DEFAULT)
    if not _is_number(finish) or finish.value == parallel.value:
        return parallel
    return derive("pods at once", min, parallel, finish)


def _is_number(node: Tree) -> bool:
    return type(node) is Sourced and type(node.value) is int


def pods(role: Role) -> int:
    """How many pods of a role are alive at once, over all its replicas."""
    total = 1
    for leaf in (role.count, role.replicas):
        # A placeholder stands for some pods: whoever needs to know how many asks `uncounted` first.
        total *= max(leaf.value, 0) if type(leaf.value) is int else 1
    return total


def uncounted(roles: Sequence[Role]) -> tuple[Role, Sourced[int]] | None:
    """The first role whose number of pods is filled in later, with the placeholder; None where all are known."""
    leaves = ((role, leaf) for role in roles for leaf in (role.count, role.replicas))
    return next(((role, leaf) for role, leaf in leaves if type(leaf.value) is not int), None)


def size(roles: Sequence[Role], by: str) -> Sourced[int]:
    """How many pods of these roles are alive at once, derived from every count."""
    leaves = tuple([leaf for role in roles for leaf in (role.count, role.replicas)])
    return known(sum(map(pods, roles)), by, leaves)


def members(roles: Sequence[Role]) -> tuple[Role, ...]:
    """The roles whose pods run together from start to end.

    Not among them: what has finished before the trainers start (initializers, whoever is waited for with
    `Complete`), what starts after they have finished, and roles without pods.
    """
    # The pods that submit a program to the others, which must be there before, are none of them.
    labels = [get(role.tree, "template", "spec", "template", "metadata", "labels") for role in roles]
    submits = [type(held) is dict and SUBMITTER_LABEL in held for held in labels]
    live = [role for role, is_submitter in zip(roles, submits, strict=True) if pods(role) and not is_submitter]
    if len(live) == 1 and "dependsOn" not in live[0].tree:
        return tuple(live)
    if not [role for role in live if "dependsOn" in role.tree]:
        return tuple([role for role in live if role.ancestor not in INITIALIZERS]) or tuple(live)
    core = [role for role in live if role.ancestor == TRAINER] or ([max(reversed(live), key=pods)] if live else [])
    bits, ended = ended_before(roles)
    core_bits = sum(bits[role.name.value] for role in core)
    there = [role for role in live if role in core or not ended[role.name.value] & core_bits]
    early = 0
    for role in there:
        early |= ended[role.name.value]
    kept = tuple(role for role in there if not early & bits[role.name.value] and role.ancestor not in INITIALIZERS)
    return kept or tuple(live)


def waits(role: Role) -> list[tuple[str, str]]:
    """The roles that one waits for, each with the status that it waits for."""
    dependencies = get(role.tree, "dependsOn")
    items = dependencies if type(dependencies) is list else []
    return [(name, value(item, "status") or "") for item in items if type(name := value(item, "name")) is str]


def ended_before(roles: Sequence[Role]) -> tuple[dict[str, int], dict[str, int]]:
    """The bit of each role, by name, and the bits of those that have finished, or have been left behind, when it starts.

    Bits, because thousands of roles that wait for each other would make millions of names. A role waits for those before
    it alone, or JobSet refuses it.
    """
    bits = {role.name.value: 1 << index for index, role in enumerate(roles)}
    started: dict[str, int] = {}
    ended: dict[str, int] = {}
    for role in roles:
        reached = finished = 0
        for name, status in waits(role):
            behind = bits.get(name, 0) | started.get(name, 0)
            reached |= behind
            finished |= behind if status == COMPLETE else ended.get(name, 0)
        started[role.name.value], ended[role.name.value] = reached, finished
    return bits, ended


def concerns(keys: str) -> bool:
    """Whether any of these keys of labels or annotations is about a scheduler or a queue: none has another name."""
    return "kueue" in keys or "scheduling." in keys or "volcano" in keys


def metadata_value(plan: Plan, section: str, key: str) -> Sourced[str] | None:
    """A label or annotation (`section`) of the job itself, else of its runtime's template; None where neither has it."""
    for keys in (plan.job["metadata"].get(section), plan.template["metadata"].get(section)):
        leaf = keys.get(key) if type(keys) is dict else None
        if type(leaf) is Sourced and type(leaf.value) is str:
            return leaf
    return None


def unbound(role: Role, wanted: Sourced[str] | None = None) -> Contribution:
    """Pods outside any gang: the scheduler `wanted`, none where the template still names a gang scheduler."""
    if wanted is not None:
        return pod(role, schedulerName=wanted)
    scheduler = role.pod.get("schedulerName")
    gang = type(scheduler) is Sourced and scheduler.value in PROFILES.values()
    return pod(role, schedulerName=None) if gang else Contribution()


def scheduler_name(cluster: Cluster, name: str) -> Sourced[str] | str:
    """The profile that runs a back end in this cluster."""
    return PROFILES[name] if cluster.scheduler_name is None else cluster.scheduler_name


def pod_metadata(role: Role) -> Tree:
    """The metadata of a role's pod template, None where it has none."""
    return get(role.tree, "template", "spec", "template", "metadata")


def common_priority(roles: tuple[Role, ...]) -> Sourced[str] | None:
    """The priority class that all roles share, None where they have none or differ."""
    leaves = [filled(role.pod, "priorityClassName") for role in roles]
    names = {None if leaf is None else leaf.value for leaf in leaves}
    return leaves[0] if len(names) == 1 else None
