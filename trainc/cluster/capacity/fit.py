"""The whole answer for one job on one cluster: queue, flavors, nodes; or the first reason and what would help.

Without values that are filled in later, nobody can say where its pods run.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from trainc.apiserver.pods.complaints import fields, items
from trainc.cluster.capacity.advice import change_for
from trainc.cluster.capacity.amounts import added, times, units_of
from trainc.cluster.capacity.cluster import PROVISIONING
from trainc.cluster.capacity.facts import ClusterFacts
from trainc.cluster.capacity.gang import GangOptions, GangPlacement, gang_of
from trainc.cluster.capacity.groups import back_end, group_refusal, queue_of
from trainc.cluster.capacity.jobpods import Added, JobPlacement, Share
from trainc.cluster.capacity.kueue import GATED, Kueue
from trainc.cluster.capacity.nodes import HOSTNAME
from trainc.cluster.capacity.own import OwnObjects, RunningJobs, holds_quota, without
from trainc.cluster.capacity.pods import PendingPod, jobs_of
from trainc.cluster.capacity.scheduler import SimulatedScheduler
from trainc.cluster.capacity.verdict import NO_PLACE, KueueVerdict
from trainc.model.finding import Rule
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree, get, plain, value
from trainc.text.object_keys import KUEUE_QUEUE, MULTIKUEUE
from trainc.text.placeholders import is_placeholder

FITS, ADMITTED, WAITS, NO_NODES, NEVER, UNKNOWN = "fits", "admitted", "waits", "needs nodes", "never", "unknown"
GOOD = frozenset((FITS, ADMITTED))
_ANNOTATIONS = ("metadata", "annotations")
_POD_PARTS = ("containers", "initContainers")
_OF_CONTAINERS = ("resources", "restartPolicy", "ports")
_UNINTERESTING = frozenset({"volumes", "imagePullSecrets", "hostname", "subdomain", "serviceAccountName"})


@dataclass(eq=False)
class FitAnswer:
    """What becomes of one job.

    `status` is fits; admitted (by its queue, and the dump does not tell on which nodes it runs); waits (others hold the
    quota or the nodes); needs nodes (there are not enough, an autoscaler may add them); never (as things are
    configured); or unknown (the dump does not tell).
    """

    verdict: KueueVerdict | None
    status: str = UNKNOWN
    reason: str = ""
    change: str = ""
    gang: GangPlacement | None = None
    headroom: int | None = None


class Fit:
    """Answers for the jobs of one cluster; equal jobs are judged once.

    With `alone`, the same cluster with nothing running, what fits there waits here.
    """

    def __init__(
        self, facts: ClusterFacts, *, is_idle: bool = True, alone: "Fit | None" = None, names_nodes: bool = True
    ) -> None:
        self.facts = facts
        self.options = GangOptions(is_idle=is_idle, names_nodes=names_nodes)
        self.alone = alone
        self.running = RunningJobs(facts.objects)
        self.kueue = Kueue(facts, is_idle=is_idle) if facts.is_listed("ClusterQueue") else None
        self._known: dict[str, FitAnswer] = {}
        self._gangs: dict[str, GangPlacement] = {}
        self.problems: dict[str, tuple[Problem | str, ...]] = {}  # what rules found, by class of jobs

    def answer(self, jobset: Tree, groups: Sequence[Tree] = ()) -> FitAnswer:
        """The answer for one JobSet; `groups` are the PodGroups that go with it.

        What the cluster holds already for this very job is not counted against it.
        """
        own = self.running.of(jobset)
        if (own.workloads or own.pods) and (not self.options.is_idle or self.facts.objects.get("ResourceQuota")):
            answer = self.without([own]).answer(jobset, groups)
            if answer.status == WAITS and self.holds_quota(jobset):
                answer = replace(answer, status=ADMITTED, reason="its Workload has its quota already", change="")
            return answer
        # Refusals by quotas name the pods.
        name = value(jobset, "metadata", "name") if self.facts.objects.get("ResourceQuota") else ""
        wanted = [plain(get(group, "spec")) for group in groups]
        key = f"{name}{class_of(jobset)}{wanted or ''}"
        if key in self._known:
            return self._known[key]
        answer = self._answer(jobset, groups)
        if self.alone is not None and answer.status in (NEVER, NO_NODES, WAITS):
            undisturbed = self.alone.answer(jobset, groups)
            if undisturbed.status in GOOD:  # others are in the way
                answer.status, answer.change = WAITS, "wait until others finish"
            else:
                answer = undisturbed
        self._known[key] = answer
        return answer

    def without_jobs(self, jobsets: Iterable[Tree]) -> "Fit":
        """Answers for the same cluster without what it holds for these jobs, which are then asked about one by one."""
        own = [self.running.of(jobset) for jobset in jobsets]
        return self.without(own) if any(part.workloads or part.pods for part in own) else self

    def without(self, own: Iterable[OwnObjects]) -> "Fit":
        """Answers for the same cluster without some of its Workloads and pods."""
        facts, options = without(self.facts, own), self.options
        alone = self.alone
        if alone is not None:
            alone = Fit(facts.changed(facts.objects, facts.nodes), names_nodes=options.names_nodes)
        return Fit(facts, is_idle=options.is_idle, alone=alone, names_nodes=options.names_nodes)

    def reserve(self, answer: FitAnswer, groups: Sequence[Tree] = ()) -> None:
        """Let a job hold its quota and its nodes while others are asked about."""
        verdict, gang, facts, options = answer.verdict, answer.gang, self.facts, self.options
        if answer.status not in GOOD:
            return
        for group in groups:
            if back_end(group) == "volcano":
                name, least = queue_of(group), units_of(get(group, "spec", "minResources"))
                options.queues[name] = added(options.queues.get(name, {}), least)
        snapshot = self.kueue.snapshot if self.kueue else None
        if snapshot is not None and verdict is not None:
            snapshot.reserve(verdict)
        self._known.clear()
        self._gangs.clear()
        if gang is None:
            # The nodes that Kueue chose by their host name.
            by_hostname = {node.labels.get(HOSTNAME): name for name, node in facts.nodes.items()}
            for member in verdict.assigned if verdict is not None else ():
                for values, count in member.domains or ():
                    if values[-1] in by_hostname:
                        facts.occupy(by_hostname[values[-1]], times(member.pods.placed, count))
            return
        if gang.run is not None:
            placed = [(pod, name, 1) for pod, name in gang.run.placed]
        else:
            placed = list(_filled(facts, gang))
            options.are_known = sum(count for *_, count in placed) == sum(role.podset.count for role in gang.roles)
        is_placed_by_queue = any(role.shares for role in gang.roles)
        for pod, name, count in placed:
            requests = times(pod.requests, count)
            facts.occupy(name, requests)
            options.pods.append((pod, name))
            if snapshot is not None and not is_placed_by_queue:
                snapshot.take(facts.nodes[name], requests)

    def holds_quota(self, jobset: Tree) -> bool:
        """Whether the dump shows that Kueue has admitted the job."""
        return holds_quota(self.facts, self.running.of(jobset), jobset)

    def verdict(self, jobset: Tree) -> KueueVerdict | None:
        """What Kueue answers, None for a job that it does not manage; nothing is known of a queue without queues."""
        if self.kueue is None:
            if not (name := value(jobset, "metadata", "labels", KUEUE_QUEUE)):
                return None
            verdict = KueueVerdict()
            verdict.queue, verdict.missing = name, "no ClusterQueue is in the dump"
            return verdict
        verdict = self.kueue.judge(jobset)
        return verdict if verdict.is_managed else None

    def priority(self, jobset: Tree) -> int:
        verdict = self.verdict(jobset)
        return (verdict.priority or 0) if verdict else 0

    def gang(self, jobset: Tree, verdict: KueueVerdict | None) -> GangPlacement | None:
        """Whether the nodes hold the job's pods, with what its queue adds to them; None where nodes do not decide."""
        if not self.facts.has_nodes or self.elsewhere(verdict):
            return None
        if verdict is not None and is_on_hosts(verdict):
            # Pods may have rules that Kueue does not look at when it chooses their nodes.
            roles = JobPlacement(self.facts, jobset).roles
            if not any(
                role.key or role.is_scripted or role.pod.has_peer_rules or role.pod.spec.get("schedulingGates")
                for role in roles
            ):
                return None
        added = added_by_queue(verdict, self.facts)
        own = [value(jobset, "metadata", part) for part in ("namespace", "name")]
        apart = own if any(map(self.facts.objects.get, ("ResourceQuota", "LimitRange"))) else []
        holders = [jobset, *jobs_of(jobset)]
        exclusive = [plain(get(one, *path)) for one in holders for path in (_ANNOTATIONS, ("template", *_ANNOTATIONS))]
        key = f"{apart}{_pods_of(jobset)}{exclusive}{added}"
        if key not in self._gangs:
            self._gangs[key] = gang_of(self.facts, jobset, added, self.options)
        return self._gangs[key]

    def elsewhere(self, verdict: KueueVerdict | None) -> str:
        """Who provides the nodes of an admitted job, empty where those of the dump have to do."""
        for check in verdict.checks if verdict and self.kueue else ():
            controller = self.kueue.snapshot.controller(check) if self.kueue else ""
            if controller == MULTIKUEUE:
                return f"it runs on a worker cluster of MultiKueue (check `{check}`), which the dump does not show"
            if controller == PROVISIONING:
                return f"check `{check}` asks the autoscaler for its nodes"
        return ""

    def change(self, jobset: Tree, verdict: KueueVerdict) -> str:
        return change_for(self.kueue, jobset, verdict) if self.kueue else ""

    def _answer(self, jobset: Tree, groups: Sequence[Tree]) -> FitAnswer:
        if later := unfilled(jobset):
            return FitAnswer(None, UNKNOWN, f"`{later}` is a placeholder", "check the manifests after substitution")
        if refused := group_refusal(self.facts, jobset, groups, self.options.queues):
            return FitAnswer(None, NEVER if refused.is_final else NO_NODES, refused.reason, refused.change)
        verdict = self.verdict(jobset)
        if verdict is not None and not verdict.has_quota:
            return self._refused(jobset, verdict)
        gang = self.gang(jobset, verdict)
        creation = JobPlacement(self.facts, jobset)
        if never := creation.refusal():
            change = "change the requests, or the limits and quotas of the namespace"
            return FitAnswer(verdict, NEVER, never, change, gang)
        if full := next((text for _, _, text in creation.over_quota(unused=False)), ""):
            return FitAnswer(verdict, WAITS, full, "wait until others free the namespace's quota, or raise it", gang)
        if gang is not None:
            if gang.fits and gang.is_certain:
                return FitAnswer(verdict, FITS, gang=gang)
            if gang.fits:
                order = "the scheduler places them one by one and may not find that placement"
                change = "use a gang scheduler, or create the larger pods first"
                return FitAnswer(verdict, UNKNOWN, f"the nodes hold all pods, but {order}", change, gang)
            return FitAnswer(verdict, UNKNOWN if gang.fits is None else NO_NODES, gang.reason, gang.change, gang)
        if verdict is None:
            return FitAnswer(None, reason="the dump shows neither Kueue queues for this job nor nodes")
        reason = self.elsewhere(verdict)
        if not reason and not is_on_hosts(verdict):
            reason = "the dump shows no nodes, so trainc cannot tell whether its pods fit"
        return FitAnswer(verdict, ADMITTED if reason else FITS, reason)

    def _refused(self, jobset: Tree, verdict: KueueVerdict) -> FitAnswer:
        if verdict.missing:
            reason = f"{verdict.missing}, so trainc cannot tell whether it is admitted"
            change = "add it to the dump (`trainc inventory --help` prints the command)"
            return FitAnswer(verdict, UNKNOWN, reason, change)
        reason = verdict.refusal or verdict.message
        if verdict.reason == GATED:
            return FitAnswer(verdict, WAITS, reason, "wait until the gate is removed from the job's annotation")
        change = self.change(jobset, verdict) if self.alone is None else ""
        return FitAnswer(verdict, NO_NODES if verdict.reason == NO_PLACE else NEVER, reason, change)


def without_claims(answer: FitAnswer, facts: ClusterFacts, jobset: Tree) -> FitAnswer:
    """The answer for a job, which never starts where its pods mount a PVC that does not exist."""
    if not facts.is_listed("PersistentVolumeClaim"):
        return answer
    namespace = value(jobset, "metadata", "namespace") or "default"
    for job in jobs_of(jobset):
        for volume in items(get(job, "template", "spec", "template", "spec", "volumes")):
            name = value(volume, "persistentVolumeClaim", "claimName")
            if type(name) is not str or is_placeholder(name):
                continue
            if facts.find("PersistentVolumeClaim", name, namespace) is None:
                reason = f'persistentvolumeclaim "{name}" not found'  # kube-scheduler's words
                return FitAnswer(answer.verdict, NEVER, reason, "create the PVC, or correct its name")
    return answer


def is_on_hosts(verdict: KueueVerdict) -> bool:
    """Whether Kueue itself chose the node of every pod."""
    hosts = [member.levels == [HOSTNAME] for member in verdict.assigned if member.pods.count]
    return bool(hosts) and all(hosts)


def added_by_queue(verdict: KueueVerdict | None, facts: ClusterFacts) -> dict[str, Added]:
    """What Kueue adds to the pods of each role when it starts the job: what its flavors say, and topology domains."""
    out = {}
    for member in verdict.assigned if verdict else ():
        flavors = [facts.flavors[name] for name in sorted({choice.flavor for choice in member.choices.values()})]
        labels = {key: text for flavor in flavors for key, text in flavor.labels.items()}
        tolerations = [one for flavor in flavors for one in flavor.tolerations]
        shares = [Share(dict(zip(member.levels, values, strict=True)), n) for values, n in member.domains or ()]
        out[member.pods.name] = Added(labels, tolerations, shares)
    return out


def class_of(jobset: Tree) -> str:
    """A text that jobs share for which the same answer holds."""
    metadata = get(jobset, "metadata")
    own = [value(metadata, "namespace"), plain(get(metadata, "labels")), plain(get(metadata, "annotations"))]
    return f"{own}{_pods_of(jobset)}"


def _pods_of(jobset: Tree) -> str:
    """A text that jobs share whose pods are equal in number and in all that decides where they may run."""
    parts: list[Any] = []
    for job in jobs_of(jobset):
        spec = get(job, "template", "spec")
        pod = get(spec, "template", "spec")
        parts += [value(job, "name"), value(job, "replicas"), value(spec, "parallelism"), value(spec, "completions")]
        parts += [plain(get(job, "dependsOn")), *(plain(get(one, "template", "metadata")) for one in (job, spec))]
        if type(pod) is not dict:
            continue
        for field, node in pod.items():
            if field in _POD_PARTS and type(node) is list:
                kept = ("name", "resources", "restartPolicy", "ports")
                parts += [[plain(get(one, part)) for part in kept] for one in node]
            elif field != "volumes":
                parts += [field, plain(node)]
    return repr(parts)


class Problem(NamedTuple):
    """What keeps jobs of one class from starting; `role` is the index of the replicatedJob, -1 for the queue's label."""

    rule: Rule
    role: int
    message: str
    effect: str
    help: str
    level: str
    says: str = ""  # a server's own words


def _filled(facts: ClusterFacts, gang: GangPlacement) -> Iterator[tuple[PendingPod, str, int]]:
    """Places for all pods of a large job, found role by role without asking which node is best."""
    scheduler = SimulatedScheduler(facts.nodes.values(), is_idle=gang.is_idle)
    for role in gang.roles:
        for pod, count in role.parts():
            left = count
            for name, room in scheduler.room(pod).items():
                share = min(room, left)
                scheduler.places[name].take(pod, share)
                left -= share
                yield pod, name, share
                if not left:
                    break


def unfilled(jobset: Tree) -> str:
    """The first such value, empty where everything that decides is known."""
    todo = list(_deciding(jobset))
    while todo:
        node = todo.pop()
        if type(node) is dict:
            todo += node.values()
        elif type(node) is list:
            todo += node
        elif type(node) is Sourced and is_placeholder(node.value):
            return str(node.value)
    return ""


def _deciding(jobset: Tree) -> Iterator[Tree]:
    yield get(jobset, "metadata", "namespace")
    yield from _keys(get(jobset, "metadata"))
    for job in jobs_of(jobset):
        spec = get(job, "template", "spec")
        yield from (get(job, "replicas"), get(spec, "parallelism"), get(spec, "completions"))
        yield from _keys(get(job, "template", "metadata"))
        yield from _keys(get(spec, "template", "metadata"))
        for field, node in fields(get(spec, "template", "spec")).items():
            if field in _POD_PARTS:
                yield from (get(container, part) for container in items(node) for part in _OF_CONTAINERS)
            elif field not in _UNINTERESTING:
                yield node


def _keys(metadata: Tree) -> Iterator[Tree]:
    """Labels and annotations that queues and JobSet read."""
    for part in ("labels", "annotations"):
        for key, leaf in fields(get(metadata, part)).items():
            if "kueue" in key or "jobset.sigs" in key:
                yield leaf
