"""The smallest change of a JobSet that would make Kueue admit it, found by asking again with the change made."""

from collections.abc import Callable
from typing import Any

from trainc.cluster.capacity.amounts import taint_text
from trainc.cluster.capacity.kueue import Kueue
from trainc.cluster.capacity.pods import count_of, jobs_of, pods_of
from trainc.cluster.capacity.verdict import NO_FLAVOR, NO_PLACE, KueueVerdict
from trainc.model.plan import ANCESTOR_LABEL
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import Tree, get, stamp, value
from trainc.text.spelling import meant

MOST_PODS = 65_536  # that a search for a larger number of pods ends at
_BY = Origin(None, "what if")


def change_for(kueue: Kueue, jobset: Tree, verdict: KueueVerdict) -> str:
    """What to do about a job that Kueue does not admit; empty where nothing small helps."""
    if verdict.refusal:
        return "correct what the webhook rejects"
    if not verdict.podsets or not verdict.assigned:
        message, namespace = verdict.message, value(jobset, "metadata", "namespace") or "default"
        if message.startswith("LocalQueue") and message.endswith("doesn't exist"):
            names = [name for name, _ in kueue.facts.in_namespace("LocalQueue", namespace)]
            listed = ", ".join(f"`{name}`" for name in names)
            otherwise = f"name one of {listed}" if names else f"create a LocalQueue in namespace `{namespace}`"
            return meant(verdict.queue, names, otherwise)
        if message.startswith("LocalQueue"):
            return f"remove `stopPolicy` from LocalQueue `{verdict.queue}`"
        if verdict.detail:
            return f"ClusterQueue `{verdict.cluster_queue}` {verdict.detail}: repair the queue, or name another one"
        if message.startswith("ClusterQueue"):
            return f"create the ClusterQueue, or point LocalQueue `{verdict.queue}` at another one"
        if "selector" in message:
            queue = verdict.cluster_queue
            return f"let the `namespaceSelector` of ClusterQueue `{queue}` match namespace `{namespace}`, or use another queue"
        if verdict.refused_by:
            return "create the missing object, or remove its name from the job"
        return "change the requests and limits of the container"
    lacks_flavor = verdict.reason == NO_FLAVOR or "unavailable in ClusterQueue" in verdict.message
    if lacks_flavor and (text := _other_nodes(kueue, jobset, verdict) or _undeclared(verdict)):
        return text
    # The largest number of pods that is admitted, where it is smaller than the one asked for.
    pods = trainer_pods(jobset)
    most = largest(0, pods, lambda count: kueue.judge(with_pods(jobset, count)).has_quota)
    if 0 < most < pods:
        return f"request {most} nodes instead of {pods}"
    if verdict.reason == NO_PLACE:
        return "request smaller slices or pods, or a wider topology level"
    return "request less in each pod, or raise the quota"


def _other_nodes(kueue: Kueue, jobset: Tree, verdict: KueueVerdict) -> str:
    """A toleration, or the removal of a node selector, with which the job is admitted."""
    flavors = kueue.facts.flavors
    for name in kueue.facts.queues[verdict.cluster_queue].flavors:
        for taint in flavors[name].taints if name in flavors else ():
            kept = {key: taint[key] for key in ("key", "value", "effect") if taint.get(key)}
            tried = with_pod_field(jobset, "tolerations", [{**kept, "operator": "Equal"}])
            if kueue.judge(tried).has_quota:
                return f"tolerate `{taint_text(taint)}`, the taint of flavor `{name}`"
    selects = any(pods.spec.get("nodeSelector") for pods in verdict.podsets)
    if selects and kueue.judge(with_pod_field(jobset, "nodeSelector", {})).has_quota:
        return "remove the node selector, or select nodes of a flavor of this queue"
    return ""


def _undeclared(verdict: KueueVerdict) -> str:
    reasons = (reason for member in verdict.assigned for reason in member.reasons)
    reason = next((one for one in reasons if one.endswith("unavailable in ClusterQueue")), "")
    how = f"a quota in ClusterQueue `{verdict.cluster_queue}`, or exclude it with Kueue's `excludeResourcePrefixes`"
    return f"give `{reason.split()[1]}` {how}" if reason else ""


def largest(low: int, high: int, works: Callable[[int], bool]) -> int:
    """The largest number from `low` on, below `high`, that works; `low` works, and so does all below one that does."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if works(middle) else (low, middle)
    return low


def headroom(works: Callable[[int], bool], pods: int) -> int:
    """How many pods more than those asked for would still be admitted; never more than a bound of ours."""
    step = 1
    while pods + step < MOST_PODS and works(pods + step):
        step *= 2
    return largest(pods, pods + step, works) - pods


def trainer_index(jobset: Tree) -> int:
    """Which replicatedJob trains: the one that says so, else the one with the most pods."""
    label = ("template", "metadata", "labels", ANCESTOR_LABEL)
    numbered = list(enumerate(jobs_of(jobset)))
    most = max(numbered, key=lambda one: pods_of(one[1]), default=(0, None))
    return next((index for index, job in numbered if value(job, *label) == "trainer"), most[0])


def trainer_pods(jobset: Tree) -> int:
    jobs = jobs_of(jobset)
    return pods_of(jobs[trainer_index(jobset)]) if jobs else 0


def with_pods(jobset: Tree, count: int) -> Tree:
    """The JobSet with another number of pods in the role that trains: in its Job, or by more equal Jobs."""
    jobs, at = jobs_of(jobset), trainer_index(jobset)
    if not jobs:
        return jobset
    place, number = ("spec", "replicatedJobs", at), Sourced(count, _BY)
    spec = get(jobs[at], "template", "spec")
    if count_of(jobs[at], "replicas", 1) > 1 and count_of(spec, "parallelism", 1) == 1:
        return _with(jobset, number, *place, "replicas")
    changed = _with(jobset, {**spec, "parallelism": number, "completions": number}, *place, "template", "spec")
    return _with(changed, Sourced(1, _BY), *place, "replicas")


def with_pod_field(jobset: Tree, field: str, content: Any) -> Tree:
    """The JobSet with one more toleration in every pod, or with another node selector."""
    for at, job in enumerate(jobs_of(jobset)):
        path = ("template", "spec", "template", "spec")
        if type(pod := get(job, *path)) is dict:
            changed = [*pod[field], *content] if type(pod.get(field)) is list else content
            jobset = _with(jobset, stamp(changed, "what if"), "spec", "replicatedJobs", at, *path, field)
    return jobset


def _with(tree: Tree, node: Tree, *path: str | int) -> Tree:
    if not path:
        return node
    out: Tree = list(tree) if type(tree) is list else dict(tree)
    out[path[0]] = _with(get(tree, path[0]), node, *path[1:])
    return out
