"""The names by which back ends and pods know each other, and what a job asks for through them."""

from __future__ import annotations

from trainc.model.patches import Contribution, pod
from trainc.model.sourced import Sourced
from trainc.model.tree import get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.cluster import Cluster
    from trainc.model.plan import Plan, Role
    from trainc.model.tree import Tree

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


_NOTHING = Contribution()


def unbound(role: Role, wanted: Sourced[str] | None = None) -> Contribution:
    """Pods outside any gang: the scheduler `wanted`, none where the template still names a gang scheduler."""
    if wanted is not None:
        return pod(role, schedulerName=wanted)
    scheduler = role.pod.get("schedulerName")
    gang = type(scheduler) is Sourced and scheduler.value in PROFILES.values()
    return pod(role, schedulerName=None) if gang else _NOTHING


def scheduler_name(cluster: Cluster, name: str) -> Sourced[str] | str:
    """The profile that runs a back end in this cluster."""
    return PROFILES[name] if cluster.scheduler_name is None else cluster.scheduler_name


def pod_metadata(role: Role) -> Tree:
    """The metadata of a role's pod template, None where it has none."""
    return get(role.tree, "template", "spec", "template", "metadata")


def common_priority(roles: tuple[Role, ...]) -> Sourced[str] | None:
    """The priority class that all roles share, None where they have none or differ."""
    first = None
    for role in roles:
        leaf = role.pod.get("priorityClassName")
        if type(leaf) is not Sourced or not leaf.value or (first is not None and leaf.value != first.value):
            return None
        first = leaf if first is None else first
    return first
