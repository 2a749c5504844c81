"""What Volcano's plugins give to the pods of a job: variables, host files, keys, ports and Services."""

from __future__ import annotations

from trainc.frameworks.base.hosts import length, refuse_length
from trainc.kinds.shared.environment import GLOBAL_INDEX, INDEX_REFERENCE, JOB_INDEX, framework
from trainc.kinds.volcanojob import plugin_objects
from trainc.kinds.volcanojob.pods import claims
from trainc.kinds.volcanojob.spec import FRAMEWORK as NAME
from trainc.kinds.volcanojob.spec import plugins
from trainc.kinds.volcanojob.wiring import Wiring, lists
from trainc.model.patches import COMPLETION_INDEX, Contribution
from trainc.model.tree import get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.kinds.volcanojob.spec import Task
    from trainc.model.plan import Plan, Role
    from trainc.model.report import Report
    from trainc.model.tree import Tree

_NAMES = 100  # bytes that two variables of a task take beside its addresses
_CLUSTER = ("ps", "worker", "chief", "evaluator")


def entries(wiring: Wiring, role: Role, container: Tree) -> dict[str, object]:
    """The variables of Volcano 1.16 for one container, in one order; Volcano's own is random."""
    is_init = all(container is not other for other in role.containers)
    own: dict[str, object] = {}
    if "env" in wiring.plugins:
        own.update(dict.fromkeys(("VK_TASK_INDEX", "VC_TASK_INDEX"), _index(role)))
    own.update(_service(wiring))
    own.update(_mpi(wiring, role))
    if not is_init:
        own.update(_pytorch(wiring, role))
        own.update(_tensorflow(wiring, role))
    return own


def _index(role: Role) -> object:
    return JOB_INDEX if role.count.value == 1 and role.replicas.value > 1 else COMPLETION_INDEX


def _service(wiring: Wiring) -> dict[str, object]:
    service = wiring.plugins.get("svc")
    return lists(wiring) if service is not None and service.is_on("inject-hosts-env") else {}


def _mpi(wiring: Wiring, role: Role) -> dict[str, object]:
    mpi = wiring.plugins.get("mpi")
    worker = wiring.task(mpi.text("worker")) if mpi is not None else None
    if mpi is None or worker is None or role.name.value != mpi.text("master"):
        return {}
    return {"MPI_HOST": wiring.text("hosts of the workers", ",".join(wiring.hosts(worker)))}


def _pytorch(wiring: Wiring, role: Role) -> dict[str, object]:
    torch = wiring.plugins.get("pytorch")
    master = wiring.task(torch.text("master")) if torch is not None else None
    if torch is None or master is None or not master.count.value:
        return {}
    worker = wiring.task(torch.text("worker"))
    world = master.count.value + (worker.count.value if worker is not None and worker is not master else 0)
    own: dict[str, object] = {
        "MASTER_ADDR": wiring.text("address of the master", wiring.hosts(master)[0]),
        "MASTER_PORT": str(torch.number("port")),
        "WORLD_SIZE": wiring.text("masters + workers", str(world)),
    }
    if worker is not None and role.name.value == worker.role:
        own["RANK"] = "1" if role.replicas.value == 1 else GLOBAL_INDEX
    elif role.name.value == master.role:
        own["RANK"] = "0"
    return own


def _tensorflow(wiring: Wiring, role: Role) -> dict[str, object]:
    tensorflow = wiring.plugins.get("tensorflow")
    if tensorflow is None or (len(wiring.tasks) == 1 and wiring.tasks[0].count.value == 1):
        return {}
    names = {tensorflow.text(name): name for name in reversed(_CLUSTER)}
    port = tensorflow.number("port")
    cluster = {names[task.role]: task for task in wiring.tasks if task.role in names and task.count.value}
    listed = ",".join(f'"{name}":{_endpoints(wiring, cluster[name], port)}' for name in _CLUSTER if name in cluster)
    index = INDEX_REFERENCE if role.count.value > 1 else "0"
    kind = names.get(role.name.value, role.name.value)
    text = f'{{"cluster":{{{listed}}},"task":{{"type":"{kind}","index":{index}}}}}'
    return {"TF_CONFIG": wiring.text("cluster of the job", text)}


def _endpoints(wiring: Wiring, task: Task, port: int) -> str:
    hosts = wiring.hosts(task)
    hosts *= task.count.value if task.has_one_host else 1
    return "[" + ",".join(f'"{host}:{port}"' for host in hosts) + "]"


def every(role: Role) -> list[Tree]:
    """All containers, those that run first too."""
    return [*role.containers, *role.init_containers]


def more(plan: Plan) -> Contribution:
    """What the plugins add beside variables, and the claims that the job describes."""
    return plugin_objects.more(Wiring(plan)) + Contribution(objects=claims(plan.name, get(plan.job, "spec")))


def refuse(plan: Plan, report: Report) -> None:
    """A refusal where the addresses of all tasks, in each container, are more than one object holds."""
    service = plugins(plan.job).get("svc")
    if service is not None and service.is_on("inject-hosts-env"):
        counts = {role.index: role.count for role in plan.roles}
        size = length(plan, counts) + _NAMES * len(counts)
        refuse_length(plan, report, size * sum(len(every(role)) for role in plan.roles))


def check(plan: Plan, report: Report) -> None:
    """Say which Secret must exist; no key is ever made here."""
    plugin_objects.check(Wiring(plan), report)


FRAMEWORK = framework(NAME, entries, every, more=more, check=check, wired=Wiring, refuse=refuse)
