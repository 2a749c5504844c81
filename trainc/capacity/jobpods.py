"""What becomes of all pods of a JobSet: how many are created, how many get a node, and why others wait."""

from __future__ import annotations

from collections import Counter

from trainc.capacity.creation import Namespace
from trainc.capacity.pods import JOB_KEY, bound_pods, exclusive_key, follower, leader, pod_of
from trainc.capacity.requests import PodSet
from trainc.capacity.resourcequota import pod_usage
from trainc.capacity.scheduler import Scheduler
from trainc.model.tree import get, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from trainc.capacity.facts import Facts
    from trainc.capacity.nodes import Node
    from trainc.capacity.pods import Pod
    from trainc.model.requests import Amounts
    from trainc.model.tree import Tree


class Role:
    """The pods of one replicatedJob: how many there are, are created and get a node."""

    def __init__(self, job: Tree, jobset: Tree, namespace: Namespace, added: Mapping[str, Any] | None) -> None:
        self.podset = PodSet(job)
        self.name = self.podset.name
        self.tree = self.podset.tree
        for field, content in (added or {}).items():
            before = self.podset.spec.get(field)
            empty = before or type(content)()
            joined = {**empty, **content} if isinstance(content, dict) else [*empty, *content]
            self.podset.spec = {**self.podset.spec, field: joined}
        self.key = exclusive_key(jobset, job)
        self.asked: tuple[Amounts, Amounts] = namespace.asked(self.tree)
        self.pod: Pod = pod_of(self.podset, get(job, "template", "spec", "template"), namespace.name, self.asked[0])
        self.created = self.placed = 0
        self.nodes: Counter[str] = Counter()
        self.pending: Counter[str] = Counter()
        self.refused = ""

    @property
    def per_job(self) -> int:
        """The pods of one Job."""
        return self.podset.count // self.podset.replicas if self.podset.replicas else 0


class Run:
    """The pods of one JobSet on nodes that fill up."""

    def __init__(
        self,
        facts: Facts,
        jobset: Tree,
        added: Sequence[Mapping[str, Any]] = (),
        *,
        is_idle: bool = True,
        nodes: Iterable[Node] | None = None,
    ) -> None:
        self.name = value(jobset, "metadata", "name") or ""
        self.namespace = Namespace(facts, value(jobset, "metadata", "namespace") or "default")
        jobs = get(jobset, "spec", "replicatedJobs")
        listed = jobs if type(jobs) is list else []
        self.roles = [
            Role(job, jobset, self.namespace, added[index] if index < len(added) else None)
            for index, job in enumerate(listed)
        ]
        bound = bound_pods(facts.objects.get("Pod", {}).items(), is_idle=is_idle) if nodes is None else ()
        self.scheduler = Scheduler(facts.nodes.values() if nodes is None else nodes, bound, is_idle=is_idle)

    def over_quota(self) -> Iterator[tuple[str, Role, str]]:
        """What quotas refuse even with nothing else in the namespace: quota, role and the API server's words."""
        for budget in self.namespace.budgets:
            alone = budget.unused()
            for role in self.roles:
                if not role.podset.count or not budget.counts(role.tree):
                    continue
                usage = pod_usage(*role.asked)
                refused = alone.refusal(usage, role.podset.count)
                if refused:
                    yield budget.name, role, refused
                    break
                alone.add(usage, role.podset.count)

    def place(self) -> None:
        """Create and schedule all pods: those that others wait for first."""
        waiting = [self._start(role, index) for role, index in self._jobs()]
        for role, job, domain in [one for one in waiting if one is not None]:
            self._follow(role, job, domain)

    @property
    def is_placed(self) -> bool:
        """Whether every pod has a node."""
        return all(role.placed == role.podset.count for role in self.roles)

    def _jobs(self) -> Iterator[tuple[Role, int]]:
        for role in self.roles:
            for index in range(role.podset.replicas):
                yield role, index

    def _start(self, role: Role, index: int) -> tuple[Role, str, str] | None:
        """Create a Job and its pods; with a domain of its own only the first pod, and what the others wait for."""
        job = f"{self.name}-{role.name}-{index}"
        refused = self.namespace.create_object("jobs.batch", job)
        if refused:
            role.refused = role.refused or refused
            return None
        if not role.key:
            self._create(role, [role.pod.like(f"{job}-{at}", labels={JOB_KEY: job}) for at in range(role.per_job)])
            return None
        if role.per_job:
            self._create(role, [leader(role.pod, f"{job}-0", role.key, job)])
        return role, job, ""

    def _follow(self, role: Role, job: str, domain: str) -> None:
        """Create the other pods of a Job with a domain of its own, where its first pod is."""
        count = role.per_job - 1
        for place in self.scheduler.places.values():
            if any(pod.name == f"{job}-0" and pod.labels.get(JOB_KEY) == job for pod in place.pods):
                domain = place.node.labels.get(role.key, "")
        if count < 1:
            return
        if not domain:
            role.pending[f"{count} follower pod(s) of {job} wait for their leader"] = -1
            return
        self._create(role, [follower(role.pod, f"{job}-{at}", role.key, domain, job) for at in range(1, count + 1)])

    def _create(self, role: Role, pods: Sequence[Pod]) -> None:
        for pod in pods:
            refused = self.namespace.refusal(role.tree, pod.name) or self.namespace.create_pod(
                role.tree, role.asked, pod.name
            )
            if refused:
                role.refused = role.refused or refused
                return
            role.created += 1
            node, message = self.scheduler.place(pod)
            if node:
                role.placed += 1
                role.nodes[node] += 1
            else:
                role.pending[message] += 1


def run_data(run: Run) -> dict[str, Any]:
    """What becomes of the pods, as plain data for JSON."""
    return {"allPodsPlaced": run.is_placed, "groups": [_role_data(role) for role in run.roles]}


def _role_data(role: Role) -> dict[str, Any]:
    data: dict[str, Any] = {"replicatedJob": role.name, "pods": role.podset.count}
    data |= {"created": role.created, "placed": role.placed}
    if role.nodes:
        data["nodes"] = dict(sorted(role.nodes.items()))
    if role.pending:
        data["pending"] = sorted(
            message if count < 0 else f"{count}: {message}" for message, count in role.pending.items()
        )
    if role.refused:
        data["refused"] = role.refused
    return data
