"""Who takes MPI's processes: the number of nodes, the slots of each, and the hostfile that says so."""

from __future__ import annotations

from trainc.model.inference import gpus
from trainc.model.patches import literal
from trainc.model.plan import NODE
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import get, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.plan import Plan, Role

LAUNCHER = "launcher"


def node_count(plan: Plan) -> dict[int, Sourced[int]]:
    """How many pods the role `node` has: what the job asks for, less the launcher where that is one of the nodes."""
    asked, role = plan.asked("numNodes"), plan.role(NODE)
    if asked is None or role is None:
        return {}
    if as_node(plan):
        return {role.index: derive("nodes beside the launcher", lambda n: max(n - 1, 1), asked)}
    return {role.index: asked}


def slots_per_node(plan: Plan) -> Sourced[int]:
    """What the job asks for, else the policy's number; where that is 1, the number of GPUs."""
    asked: Sourced[int] | None = plan.asked("numProcPerNode")
    if asked is not None:
        return asked
    policy: Sourced[int] = get(plan.settings, "numProcPerNode") or literal(1, "mpi")
    gpu = gpus(plan.resources)
    return gpu if policy.value == 1 and gpu.value > 1 else policy


def hostfile(plan: Plan, slots: Sourced[int]) -> Sourced[str]:
    """One line for each pod that takes processes, in the order of the runtime; empty but for Open MPI."""
    domain = get(plan.template, "spec", "network", "subdomain") or plan.name
    counts = node_count(plan)
    roles = [(role, counts.get(role.index, role.count)) for role in _hosts(plan)]

    def lines(job: str, subdomain: str, each: int, *_: int) -> str:
        return "".join(
            f"{job}-{role.name.value}-{replica}-{index}.{subdomain} slots={each}\n"
            for role, count in roles
            for replica in range(role.replicas.value)
            for index in range(count.value)
        )

    return derive("hostfile", lines, plan.name, domain, slots, *(count for _, count in roles))


def size(plan: Plan) -> int:
    """About how many bytes the hostfile has, found without writing it."""
    counts = node_count(plan)
    pods = sum(role.replicas.value * max(counts.get(role.index, role.count).value, 0) for role in _hosts(plan))
    return int(pods * (2 * len(plan.name.value) + 24))


def as_node(plan: Plan) -> bool:
    """Whether the launcher takes processes too."""
    return bool(value(plan.settings, "runLauncherAsNode"))


def _hosts(plan: Plan) -> list[Role]:
    if value(plan.settings, "mpiImplementation") == "":
        return []
    names = (NODE, LAUNCHER) if as_node(plan) else (NODE,)
    return [role for role in plan.roles if role.name.value in names]
