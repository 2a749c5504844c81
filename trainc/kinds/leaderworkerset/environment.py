"""LeaderWorkerSet: the address of the leader, the size of the group and the index in it; and those of TPU hosts."""

from __future__ import annotations

from trainc.kinds.leaderworkerset.plan import ALL, LEADER, WORKER
from trainc.kinds.shared.environment import GLOBAL_INDEX, JOB_INDEX
from trainc.model.patch import Patch
from trainc.model.patches import COMPLETION_INDEX, Contribution, Framework, variable
from trainc.model.sourced import derive
from trainc.model.tree import value
from trainc.text.object_keys import TPU_RESOURCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.plan import Plan, Role
    from trainc.model.tree import Tree

_POD_NAME = {"valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
_TPU, _TPU_PORT = TPU_RESOURCE, 8476


def lower(plan: Plan) -> Contribution:
    """The set's own variables at the head of every container, the user's of the same name dropped; TPU variables behind."""
    patches = []
    for role in plan.roles:
        own = {
            "LWS_LEADER_ADDRESS": derive("address of the leader", lambda _: _leader(plan), plan.name),
            "LWS_GROUP_SIZE": plan.settings["size"],
            "LWS_WORKER_INDEX": _index(role),
        }
        for container in (*role.init_containers, *role.containers):
            users = [entry for entry in container.get("env") or [] if value(entry, "name") not in own]
            env = [*(variable(name, content) for name, content in own.items()), *users]
            if _asks_for_tpus(container) and container in role.containers:
                env += _tpu_variables(plan, role, users)
            patches.append(Patch(role.index, value(container, "name"), sets={"env": env}))
    return Contribution(patches)


def _index(role: Role) -> object:
    """The index of a pod in its group: the leader is 0, a worker the number of its Job, which comes after the leader's."""
    return {ALL: COMPLETION_INDEX, LEADER: "0", WORKER: GLOBAL_INDEX}[role.name.value]


def _hosts(plan: Plan) -> list[tuple[Role, str]]:
    """The name of every pod of the group, by its index."""
    return [
        (role, _host(plan, role, number, index))
        for role in plan.roles
        for number in range(role.replicas.value)
        for index in range(role.count.value)
    ]


def _host(plan: Plan, role: Role, number: int, index: int) -> str:
    job = plan.name.value
    return f"{job}-{role.name.value}-{number}-{index}.{job}"


def _leader(plan: Plan) -> str:
    host = _host(plan, plan.roles[0], 0, 0)
    return host if plan.namespace is None else f"{host}.{plan.namespace.value}"


def _asks_for_tpus(container: Tree) -> bool:
    amounts = [value(container, "resources", section, _TPU) for section in ("limits", "requests")]
    return any(amount not in {None, 0, "0"} for amount in amounts)


def _tpu_variables(plan: Plan, role: Role, users: list[Tree]) -> list[Tree]:
    """The hosts of the slice and the number of this one, counted among the pods that have TPUs; none where people say it."""
    if {"TPU_WORKER_HOSTNAMES", "TPU_WORKER_ID"} & {value(entry, "name") for entry in users}:
        return []
    hosts = [host for other, host in _hosts(plan) if any(map(_asks_for_tpus, other.containers))]
    leads = any(map(_asks_for_tpus, plan.roles[0].containers))
    number = _index(role) if leads else JOB_INDEX
    own = {
        "TPU_WORKER_HOSTNAMES": ",".join(hosts),
        "TPU_WORKER_ID": number,
        "TPU_NAME": _POD_NAME,
        "TPU_PROCESS_ADDRESSES": ",".join(f"{host}:{_TPU_PORT}" for host in hosts),
        "TPU_PROCESS_PORT": str(_TPU_PORT),
    }
    return [variable(name, content) for name, content in own.items()]


FRAMEWORK = Framework("leaderworkerset", lower)
