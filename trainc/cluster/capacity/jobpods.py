"""What becomes of all pods of a JobSet: how many are created, how many get a node, and why others wait.

A role that waits until another is complete never runs beside it: each stage of a job is one for itself.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from trainc.apiserver.jobset.labels import written_labels
from trainc.apiserver.pods.complaints import fields
from trainc.apiserver.pods.requests import Amounts
from trainc.cluster.capacity.amounts import all_units
from trainc.cluster.capacity.creation import Budget, Namespace, charge, object_usage, pod_usage
from trainc.cluster.capacity.facts import ClusterFacts
from trainc.cluster.capacity.pods import JOB_KEY, PendingPod, PodSet, bound_pods, host_ports, jobs_of
from trainc.cluster.capacity.scheduler import SimulatedScheduler
from trainc.model.tree import Tree, get, plain, value
from trainc.schedulers.gang import ended_before, roles_of
from trainc.text.object_keys import EXCLUSIVE, JOB_NAME_LABELS, POD_INDEX

_SCRIPTED = "alpha.jobset.sigs.k8s.io/node-selector"


class Share(NamedTuple):
    """So many pods of a role that a queue sends to one topology domain; `selector` are the domain's labels."""

    selector: Mapping[str, str]
    pods: int


class Added(NamedTuple):
    """What a queue adds to the pods of a role when it starts the job."""

    selector: Mapping[str, str]
    tolerations: Sequence[Mapping[str, Any]]
    shares: Sequence[Share] = ()


class RolePods:
    """The pods of one replicatedJob: how many there are, are created and get a node."""

    def __init__(self, job: Tree, jobset: Tree, namespace: Namespace, added: Mapping[str, Added], index: int) -> None:
        self.index = index  # in the JobSet
        self.podset = PodSet(job)
        self.name = self.podset.name
        self.replicated_job: str = value(job, "name") or ""
        self.tree = self.podset.tree
        runtime = fields(plain(get(namespace.facts.runtime_class(self.tree), "scheduling")))
        self._join(runtime.get("nodeSelector") or {}, runtime.get("tolerations") or ())
        mine = added.get(self.name)
        self.shares = mine.shares if mine else ()
        if mine:
            self._join(mine.selector, mine.tolerations)
        annotations = [fields(get(holder, "metadata", "annotations")) for holder in (get(job, "template"), jobset)]
        # The node label whose domains a Job has to itself, empty where it shares them.
        keys = [key for one in annotations if (key := value(one, EXCLUSIVE))]
        self.key: str = keys[0] if keys and type(keys[0]) is str else ""
        # Whether a script labels the nodes of each Job, so that no dump tells where its pods may run.
        self.is_scripted = any(EXCLUSIVE in one and _SCRIPTED in one for one in annotations)
        self.amounts: tuple[Amounts, Amounts] = namespace.amounts_of(self.tree)
        labels = fields(plain(get(job, "template", "spec", "template", "metadata", "labels")))
        requests = {"pods": 1, **all_units(self.amounts[0])}
        self.pod = PendingPod(self.name, namespace.name, labels, self.podset.spec, requests, host_ports(self.tree))
        self.created = self.placed = 0
        self.nodes: Counter[str] = Counter()
        self.pending: Counter[str] = Counter()
        self.refused = ""

    def _join(self, selector: Mapping[str, str], tolerations: Sequence[Mapping[str, Any]]) -> None:
        if selector:
            self.podset.spec["nodeSelector"] = {**(self.podset.spec.get("nodeSelector") or {}), **selector}
        if tolerations:
            self.podset.spec["tolerations"] = [*(self.podset.spec.get("tolerations") or []), *tolerations]

    def parts(self) -> list[tuple[PendingPod, int]]:
        """The equal pods of the role: all of them, or those of each domain that the queue chose."""
        if not self.shares:
            return [(self.pod, self.podset.count)]
        own = self.pod.spec.get("nodeSelector") or {}
        return [
            (self.pod.like(self.pod.name, nodeSelector={**own, **share.selector}), share.pods) for share in self.shares
        ]

    def pods_of_job(self, job: str, index: int) -> list[PendingPod]:
        """The pods of one Job in the order of their ranks, each for the domain that the queue chose for it."""
        first, models = index * self.per_job, [pod for pod, count in self.parts() for _ in range(count)]
        labels = {JOB_KEY: job, **dict.fromkeys(JOB_NAME_LABELS, job)}
        return [
            (models[first + at] if self.shares and first + at < len(models) else self.pod).like(
                f"{job}-{at}", labels={**labels, POD_INDEX: str(at)}
            )
            for at in range(self.per_job)
        ]

    @property
    def per_job(self) -> int:
        return self.podset.count // self.podset.replicas if self.podset.replicas else 0


def _leader(pod: PendingPod, name: str, key: str, job: str) -> PendingPod:
    """The first pod of a Job with a domain of its own: near its Job, away from all others."""
    own = {"key": JOB_KEY, "operator": "In", "values": [job]}
    others = [{"key": JOB_KEY, "operator": "Exists"}, {"key": JOB_KEY, "operator": "NotIn", "values": [job]}]
    affinity = dict(pod.spec.get("affinity") or {})
    for kind, expressions in (("podAffinity", [own]), ("podAntiAffinity", others)):
        term = {"topologyKey": key, "labelSelector": {"matchExpressions": expressions}, "namespaceSelector": {}}
        field = "requiredDuringSchedulingIgnoredDuringExecution"
        rules = dict(affinity.get(kind) or {})
        affinity[kind] = {**rules, field: [*(rules.get(field) or []), term]}
    return pod.like(name, affinity=affinity, labels={JOB_KEY: job})


class JobPlacement:
    """The pods of one JobSet on nodes that fill up."""

    def __init__(
        self,
        facts: ClusterFacts,
        jobset: Tree,
        added: Mapping[str, Added] | None = None,
        *,
        is_idle: bool = True,
        only: frozenset[str] | None = None,
        bound: Iterable[tuple[PendingPod, str]] = (),
    ) -> None:
        self.name = value(jobset, "metadata", "name") or ""
        self.namespace = Namespace(facts, value(jobset, "metadata", "namespace") or "default")
        listed = jobs_of(jobset)
        self.stages = stages_of(jobset)
        self.roles = [
            RolePods(job, jobset, self.namespace, added or {}, index)
            for index, job in enumerate(listed)
            if only is None or value(job, "name") in only
        ]
        labels = list(written_labels(jobset)) if listed else []
        for role in self.roles:
            role.pod.labels |= labels[role.index]
        self.has_network = value(jobset, "spec", "network", "enableDNSHostnames") is not False
        self.placed: list[tuple[PendingPod, str]] = []
        self._facts, self._is_idle, self._bound = facts, is_idle, bound

    @cached_property
    def scheduler(self) -> SimulatedScheduler:
        """The nodes that fill up, with the pods that are there already."""
        running = bound_pods(self._facts.objects.get("Pod", {}).items(), is_idle=self._is_idle)
        return SimulatedScheduler(self._facts.nodes.values(), [*self._bound, *running], is_idle=self._is_idle)

    def refusal(self) -> str:
        """Why no pod of some role is ever created, in the API server's words; empty where all may be."""
        refusals = (self.namespace.refusal(role.tree, self.name) for role in self.roles if role.podset.count)
        return next(filter(None, refusals), "") or next((text for _, _, text in self.over_quota()), "")

    def over_quota(self, *, unused: bool = True) -> Iterator[tuple[str, RolePods, str]]:
        """What quotas refuse, with nothing else in the namespace or beside what is there: quota, role and words."""
        for budget in self.namespace.budgets:
            used = {} if unused else budget.used
            refused, whole = "", budget.with_usage(used)
            if not budget.scopes:  # what it says to the objects that a job is made of, besides its pods
                jobs = sum(role.podset.replicas for role in self.roles)
                counts = {"jobsets.jobset.x-k8s.io": 1, "jobs.batch": jobs, "services": int(self.has_network)}
                refusals = (whole.refusal(object_usage(kind), count) for kind, count in counts.items() if count)
                refused = next(filter(None, refusals), "")
            if refused and self.roles:
                yield budget.name, self.roles[0], refused
                continue
            over = (self._over_in_stage(budget.with_usage(used), names) for names in self.stages.names)
            if (first_over := next(filter(None, over), None)) is not None:
                yield budget.name, *first_over

    def _over_in_stage(self, left: Budget, names: frozenset[str]) -> tuple[RolePods, str] | None:
        """The first role of those that run at the same time whose pods exceed a quota, and the refusal."""
        for role in self.roles:
            count = role.podset.count
            if role.replicated_job in names and count and self.namespace.is_counted(left, role.tree):
                usage = pod_usage(*role.amounts)
                if refused := left.refusal(usage, count):
                    return role, refused
                left.add(usage, count)
        return None

    @property
    def is_placed(self) -> bool:
        return all(role.placed == role.podset.count for role in self.roles)

    def place(self, order: Callable[[RolePods], int] | None = None) -> None:
        """Create and schedule all pods: those that others wait for first, the roles in their own `order` or another."""
        unscoped = [budget for budget in self.namespace.budgets if not budget.scopes]
        followers: list[tuple[RolePods, str]] = []  # Jobs with domains of their own: the first pod of each comes first
        for role in self.roles if order is None else sorted(self.roles, key=order):
            for index in range(role.podset.replicas):
                job = f"{self.name}-{role.name}-{index}"
                if refused := charge(unscoped, object_usage("jobs.batch"), f'jobs.batch "{job}"'):
                    role.refused = role.refused or refused
                elif not role.key:
                    self._create(role, role.pods_of_job(job, index))
                elif role.per_job:
                    self._create(role, [_leader(role.pod, f"{job}-0", role.key, job)])
                    followers.append((role, job))
        for role, job in followers:
            if (count := role.per_job - 1) < 1:
                continue
            domain = ""
            for place in self.scheduler.places.values():
                if any(pod.name == f"{job}-0" and pod.labels.get(JOB_KEY) == job for pod in place.pods):
                    domain = place.node.labels.get(role.key, "")
            if not domain:
                role.pending[f"{count} follower pod(s) of {job} wait for their leader"] = -1
                continue
            selector = {**(role.pod.spec.get("nodeSelector") or {}), role.key: domain}
            model = role.pod.like("", nodeSelector=selector, labels={JOB_KEY: job})
            self._create(role, [model.like(f"{job}-{at}") for at in range(1, count + 1)])

    def _create(self, role: RolePods, pods: Sequence[PendingPod]) -> None:
        for pod in pods:
            refused = self.namespace.refusal(role.tree, pod.name)
            budgets = self.namespace.budgets_of(role.tree)
            if refused := refused or charge(budgets, pod_usage(*role.amounts), f'pods "{pod.name}"'):
                role.refused = role.refused or refused
                return
            role.created += 1
            node, message = self.scheduler.place(pod)
            if node:
                role.placed += 1
                role.nodes[node] += 1
                self.placed.append((pod, node))
            else:
                role.pending[message] += 1


def run_data(run: JobPlacement) -> dict[str, Any]:
    groups = []
    for role in run.roles:
        waits = [message if count < 0 else f"{count}: {message}" for message, count in role.pending.items()]
        data: dict[str, Any] = {"replicatedJob": role.name, "pods": role.podset.count}
        data |= {"created": role.created, "placed": role.placed}
        rest = {"nodes": dict(sorted(role.nodes.items())), "pending": sorted(waits), "refused": role.refused}
        groups.append(data | {name: content for name, content in rest.items() if content})
    return {"allPodsPlaced": run.is_placed, "groups": groups}


class Stages(NamedTuple):
    """Names of roles by stage; `are_strict` where no role of one stage ever meets one of another."""

    names: list[frozenset[str]]
    are_strict: bool


def stages_of(jobset: Tree) -> Stages:
    """The stages of a JobSet, one where no role waits for the end of another."""
    bits, ended = ended_before(roles_of(get(jobset, "spec")))
    stages: list[list[str]] = [[]]
    masks = [0]  # the bits of the roles of each stage
    for name, before in ended.items():
        at = next((index + 1 for index in reversed(range(len(masks))) if masks[index] & before), 0)
        if at == len(stages):
            stages.append([])
            masks.append(0)
        stages[at].append(name)
        masks[at] |= bits[name]
    are_strict, earlier = True, 0
    for stage, mask in zip(stages, masks, strict=True):
        are_strict = are_strict and not any(earlier & ~ended[name] for name in stage)
        earlier |= mask
    return Stages([frozenset(stage) for stage in stages], are_strict)
