"""How the roles of a JAXJob become replicatedJobs."""

from trainc.kinds.shared.environment import framework
from trainc.kinds.shared.job import LegacyJob
from trainc.kinds.shared.layout import JobLayout, ReplicatedJobPlan
from trainc.kinds.shared.peers import host, port, total
from trainc.kinds.table import JAX
from trainc.model.patches import COMPLETION_INDEX
from trainc.model.plan import Plan, Role
from trainc.model.sourced import derive
from trainc.model.tree import Tree, value
from trainc.text.object_keys import TRAINC_PREFIX


def jax(job: LegacyJob) -> JobLayout:
    """JAXJob: one Indexed Job; every process counts."""
    worker = job.role("Worker")
    assert worker is not None
    return JobLayout((ReplicatedJobPlan("worker", worker, worker.count),))


def entries(plan: Plan, role: Role, _: Tree) -> dict[str, object]:
    """The variables of training operator v1.9.0, in its order."""
    address, number = host(plan, "worker", 0), port(role, JAX)
    own: dict[str, object] = {
        "PYTHONUNBUFFERED": "1",
        "COORDINATOR_PORT": number,
        "COORDINATOR_ADDRESS": address,
        "NUM_PROCESSES": total(plan),
        "PROCESS_ID": COMPLETION_INDEX,
    }
    if value(plan.job, "metadata", "annotations", f"{TRAINC_PREFIX}jax-variables") == "true":
        own["JAX_COORDINATOR_ADDRESS"] = derive("coordinator", lambda a, n: f"{a}:{n}", address, number)
        own["JAX_NUM_PROCESSES"] = total(plan)
        own["JAX_PROCESS_ID"] = COMPLETION_INDEX
    return own


FRAMEWORK = framework(JAX.framework, entries, container=JAX.container)
