"""Who takes MPI's processes: the number of nodes, the slots of each, and the hostfile that says so."""

from __future__ import annotations

from trainc.frameworks.base.hosts import domain, hosts
from trainc.model.patches import literal
from trainc.model.plan import NODE
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import get, given, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.model.plan import Plan
    from trainc.model.tree import Tree

LAUNCHER = "launcher"
HOSTFILE = "/etc/mpi/hostfile"  # where the controller mounts the hosts that it lists
_STARTERS = ("mpirun", "mpiexec", "horovodrun")
_NAMING = ("hostfile", "machinefile", "-host ", "-H ")
_VARIABLES = (
    "OMPI_MCA_orte_default_hostfile",
    "OMPI_MCA_prte_default_hostfile",
    "I_MPI_HYDRA_HOST_FILE",
    "HYDRA_HOST_FILE",
)


def node_count(plan: Plan) -> dict[int, Sourced[int]]:
    """How many pods the role `node` has: what the job asks for, less the launcher where that is one of the nodes."""
    nodes, role = plan.trainer_field("numNodes"), plan.role(NODE)
    if nodes is None or role is None:
        return {}
    if as_node(plan):
        return {role.index: derive("nodes beside the launcher", lambda n: max(n - 1, 1), nodes)}
    return {role.index: nodes}


def slots_per_node(plan: Plan) -> Sourced[int]:
    """What the job asks for, else the policy's number; where that is 1, the number of GPUs."""
    slots: Sourced[int] | None = plan.trainer_field("numProcPerNode")
    if slots is not None:
        return slots
    policy: Sourced[int] = given(get(plan.settings, "numProcPerNode"), literal(1, "mpi"))
    gpu = plan.inferred.gpus
    return gpu if policy.value == 1 and gpu.value > 1 else policy


def hostfile(plan: Plan, slots: Sourced[int]) -> Sourced[str]:
    """One line for each pod that takes processes, in the order of the runtime; empty but for Open MPI."""
    roles = [(plan.roles[index], count) for index, count in host_counts(plan).items()]

    def lines(each: int, job: str, subdomain: str, *_: int) -> str:
        return "".join(
            f"{host} slots={each}\n"
            for role, count in roles
            for host in hosts(job, subdomain, role.name.value, role.replicas.value, count.value)
        )

    return derive("hostfile", lines, slots, plan.name, domain(plan), *(count for _, count in roles))


def host_counts(plan: Plan) -> dict[int, Sourced[int]]:
    """How many pods of which role (by index) take processes."""
    if value(plan.settings, "mpiImplementation") == "":
        return {}
    counts, names = node_count(plan), (NODE, LAUNCHER) if as_node(plan) else (NODE,)
    return {r.index: counts.get(r.index, r.count) for r in plan.roles if r.name.value in names}


def as_node(plan: Plan) -> bool:
    """Whether the launcher takes processes too."""
    return bool(value(plan.settings, "runLauncherAsNode"))


def brings_hosts(plan: Plan) -> bool:
    """Whether a runtime says itself where mpirun starts processes, so that it needs no role of the controller's names."""
    containers = [container for role in plan.roles for container in role.containers]
    return any(_names_hosts(container) for container in containers if type(container) is dict)


def _names_hosts(container: Mapping[str, Tree]) -> bool:
    lists = [container.get(field) for field in ("command", "args")]
    words = [leaf.value for words in lists if type(words) is list for leaf in words if type(leaf) is Sourced]
    line = f"{' '.join(map(str, words))} "
    if any(starter in line for starter in _STARTERS) and HOSTFILE not in line:
        return any(naming in line for naming in _NAMING)
    env = container.get("env")
    return type(env) is list and any(value(entry, "name") in _VARIABLES for entry in env)
