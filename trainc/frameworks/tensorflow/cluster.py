"""TensorFlow's cluster: which role is which task, how many of them there are, and TF_CONFIG that says so."""

from __future__ import annotations

from trainc.frameworks.base.hosts import domain, hosts, port_of, shared_counts
from trainc.model.plan import NODE
from trainc.model.sourced import Sourced, derive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.model.plan import Plan, Role

PORT = 2222  # where TensorFlow's gRPC server listens
PORT_NAME = "tfjob-port"
WORKER = "worker"
TASKS = {"chief": "chief", "master": "master", "ps": "ps", WORKER: WORKER, NODE: WORKER, "evaluator": "evaluator"}


def tasks(plan: Plan) -> dict[int, Sourced[int]]:
    """How many pods of which role (by index) are tasks; the job's `numNodes` counts the workers."""
    sized = WORKER if plan.role(WORKER) is not None else NODE
    counts = shared_counts(plan, sized)
    others = {name for name, task in TASKS.items() if task != WORKER}
    return {r.index: counts.get(r.index, r.count) for r in plan.roles if r.name.value in {sized, *others}}


def config(plan: Plan, own: Role, counts: Mapping[int, Sourced[int]]) -> Sourced[str]:
    """The text of TF_CONFIG for the pods of one role: compact JSON, the cluster's keys in order."""
    listed = [(plan.roles[index], count.value) for index, count in counts.items()]
    # Filled in by the kubelet; one pod alone needs no index.
    index = "0" if counts[own.index].value == 1 else "$(JOB_COMPLETION_INDEX)"

    def text(job: str, subdomain: str, *_: int) -> str:
        parts = sorted((TASKS[role.name.value], addresses(job, subdomain, role, count)) for role, count in listed)
        cluster = ",".join(f'"{task}":[{entries}]' for task, entries in parts)
        task = f'"type":"{TASKS[own.name.value]}","index":{index}'
        return f'{{"cluster":{{{cluster}}},"task":{{{task}}},"environment":"cloud"}}'

    return derive("TF_CONFIG", text, plan.name, domain(plan), *counts.values())


def addresses(job: str, subdomain: str, role: Role, count: int) -> str:
    """Host and port of every pod of a role, quoted, with commas between them."""
    port = port_of(role.container(), PORT_NAME, PORT)
    number = port.value if type(port) is Sourced else port
    names = hosts(job, subdomain, role.name.value, role.replicas.value, count)
    return ",".join(f'"{host}:{number}"' for host in names)
