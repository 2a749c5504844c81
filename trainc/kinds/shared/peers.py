"""Which pod of the JobSet stands for which replica of an older job, and how its peers call it."""

from collections.abc import Iterator
from typing import NamedTuple

from trainc.kinds.table import Kind
from trainc.model.plan import Plan, Role
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import Tree, value
from trainc.text.object_keys import JOBSET_NAME, POD_INDEX, REPLICATED_JOB, TRAINC_PREFIX

_RENAMED = {"leader": "worker", "master-rest": "master"}


class Peer(NamedTuple):
    """Replica `number` of type `type` (as its operator counted) in pod `pod` of child Job `job` of a role."""

    type: str
    number: int | str
    role: Role
    job: int
    pod: int | str


class ReplicaRange(NamedTuple):
    """Replicas of one type with these numbers, in consecutive pods of a role; `pod` is the first of these."""

    type: str
    numbers: range
    role: Role
    pod: int

    def peer(self, number: int) -> Peer:
        """The replica of that number, which is one of the range's."""
        job, pod = divmod(self.pod + number - self.numbers.start, self.role.count.value)
        return Peer(self.type, number, self.role, job, pod)


def replica_ranges(plan: Plan) -> list[ReplicaRange]:
    """All replicas of the job in the order of the roles: a job of thousands has a few ranges."""
    out: list[ReplicaRange] = []
    for role in plan.roles:
        name, pods = role.name.value, role.replicas.value * role.count.value
        if name == "node":  # Master and Worker in one Job: the master is its first pod
            masters, workers = range(min(pods, 1)), range(pods - 1)
            out += [ReplicaRange("master", masters, role, 0), ReplicaRange("worker", workers, role, 1)]
        else:
            shift = 1 if name == "master-rest" or (name == "worker" and plan.role("leader")) else 0
            out.append(ReplicaRange(_RENAMED.get(name, name), range(shift, shift + pods), role, 0))
    return [replicas for replicas in out if replicas.numbers]


def peers(plan: Plan, *kinds: str) -> Iterator[Peer]:
    """Every replica of the job, or every one of these types, in the order of the roles."""
    for replicas in replica_ranges(plan):
        if not kinds or replicas.type in kinds:
            yield from map(replicas.peer, replicas.numbers)


def peer(plan: Plan, kind: str, number: int) -> Peer:
    ranges = replica_ranges(plan)
    return next(one.peer(number) for one in ranges if one.type == kind and number in one.numbers)


def total(plan: Plan) -> Sourced[int]:
    counts = [node for role in plan.roles for node in (role.replicas, role.count)]
    return derive("number of pods", lambda *n: sum(a * b for a, b in zip(n[::2], n[1::2], strict=True)), *counts)


def has(plan: Plan, kind: str) -> bool:
    return any(replicas.type == kind for replicas in replica_ranges(plan))


def aliased(plan: Plan) -> bool:
    """Whether the names of the operator are kept by Services of their own."""
    return bool(value(plan.job, "metadata", "annotations", f"{TRAINC_PREFIX}compat-names") == "true")


def short(plan: Plan, p: Peer) -> str:
    """The bare host name under which the others know a replica."""
    return alias(plan, p) if aliased(plan) else own_name(plan, p)


def own_name(plan: Plan, p: Peer) -> str:
    """The host name of a replica's pod."""
    return f"{plan.name.value}-{p.role.name.value}-{p.job}-{p.pod}"


def alias(plan: Plan, p: Peer) -> str:
    """The name the operator gave to a replica; the first one named replicas for a runtime identifier."""
    if (runtime := value(plan.settings, "runtimeId")) is None:
        return f"{plan.name.value}-{p.type}-{p.number}"
    job = "" if value(plan.job, "apiVersion").startswith("mlkube.io/") else f"{plan.name.value[:40]}-"
    return f"{job}{p.type}-{runtime}-{p.number}"


def address(plan: Plan, p: Peer) -> str:
    """The name that resolves in the job's namespace."""
    return alias(plan, p) if aliased(plan) else f"{own_name(plan, p)}.{plan.name.value}"


def operator_name(plan: Plan, suffix: str) -> Sourced[str]:
    """The name that the operator gave to an object of the job."""
    return derive("name of its operator", lambda job: f"{job}-{suffix}", plan.name)


def host(plan: Plan, kind: str, number: int) -> Sourced[str]:
    """The address of one replica, resting on the job's name."""
    name = address(plan, peer(plan, kind, number))
    return derive(f"address of {kind} {number}", lambda _: name, plan.name)


def port(role: Role, kind: Kind) -> Sourced[int]:
    """The port that the operator of a kind looks for, as its container names it, else the default."""
    for entry in (role.container(kind.container) or {}).get("ports") or ():
        if value(entry, "name") == kind.port_name:
            number: Sourced[int] = entry["containerPort"]
            return number
    return derive("default port", lambda _: kind.port, role.name)


def services(plan: Plan, container: str) -> list[Tree]:
    """A headless Service under the operator's own name for every replica."""
    out = []
    for p in peers(plan):
        selector = {JOBSET_NAME: plan.name, REPLICATED_JOB: p.role.name, "jobset.sigs.k8s.io/job-index": str(p.job)}
        if p.role.count.value > 1:
            selector[POD_INDEX] = str(p.pod)
        spec = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector}
        listed = (p.role.container(container) or {}).get("ports") or []
        ports = [{"name": entry["name"], "port": entry["containerPort"]} for entry in listed if "name" in entry]
        name = derive("name of its operator", lambda _, p=p: alias(plan, p), plan.name)
        spec |= {"ports": ports} if ports else {}
        out.append({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec})
    return out
