"""How the roles of a PaddleJob become replicatedJobs: the first pod, whose variables differ, stands alone."""

from trainc.kinds.shared.environment import framework
from trainc.kinds.shared.job import NO_REPLICAS, LegacyJob, Replica
from trainc.kinds.shared.layout import JobLayout, ReplicatedJobPlan, one
from trainc.kinds.shared.peers import has, host, peer, port, total
from trainc.kinds.shared.restart import WITHOUT_EFFECT
from trainc.kinds.table import PADDLE
from trainc.model.finding import NOTE, Rule
from trainc.model.patches import POD_IP
from trainc.model.plan import Plan, Role
from trainc.model.sourced import derive
from trainc.model.tree import Tree, get

SHIFTED = Rule("index-shifted", NOTE, differs=("PaddleJob",))


def paddle(job: LegacyJob) -> JobLayout | None:
    """PaddleJob: the replica that starts the rendezvous server stands alone, before those that only join."""
    if get(job.spec, "elasticPolicy") is not None:
        path = ("spec", "elasticPolicy")
        job.say(WITHOUT_EFFECT, path, "`elasticPolicy` of a PaddleJob never had an effect", key=True, help="remove it")
    master, worker = job.role("Master"), job.role("Worker")
    if master is None:
        assert worker is not None
        return JobLayout(_first_alone(job, worker, "leader", "worker", decides=False))
    if not master.count.value:
        message = "the Master has no pods: the workers have no rendezvous, and the job would succeed before it starts"
        help_ = "remove the Master: the workers then use the first worker as rendezvous"
        job.say(NO_REPLICAS, (*master.path, "replicas"), message, help=help_)
        return None
    parts = _first_alone(job, master, "master", "master-rest", decides=True)
    if worker is not None and worker.count.value:
        parts = (*parts, ReplicatedJobPlan("worker", worker, worker.count))
    return JobLayout(parts)


def _first_alone(
    job: LegacyJob, replica: Replica, first: str, rest: str, *, decides: bool
) -> tuple[ReplicatedJobPlan, ...]:
    name = replica.name
    if replica.count.value == 1:
        return (ReplicatedJobPlan(name, replica, replica.count, decides=decides),)
    message = f"`{name}` 0 is a Job of its own: `{name}` i has the completion index i - 1"
    job.say(SHIFTED, replica.path, message, key=True)
    others = derive(f"the other {name}s", lambda count: count - 1, replica.count)
    return (
        ReplicatedJobPlan(first, replica, one(f"{name} 0"), decides=decides),
        ReplicatedJobPlan(rest, replica, others, decides=decides, first=1),
    )


def entries(plan: Plan, role: Role, _: Tree) -> dict[str, object]:
    """The variables of training operator v1.9.0, in its order."""
    own: dict[str, object] = {"PYTHONUNBUFFERED": "1", "PADDLE_JOB_ID": plan.name, "PADDLE_NNODES": total(plan)}
    serving = "master" if has(plan, "master") else "worker"
    server = peer(plan, serving, 0)
    number = port(server.role, PADDLE)
    if role is server.role and role.count.value == 1:
        own["POD_IP_DUMMY"] = POD_IP
        own["PADDLE_MASTER"] = derive("rendezvous", lambda n: f"$(POD_IP_DUMMY):{n}", number)
    else:
        own["PADDLE_MASTER"] = derive("rendezvous", lambda h, n: f"{h}:{n}", host(plan, serving, 0), number)
    if serving == "master":
        own["PADDLE_TRAINER_NUM" if role.name.value == "worker" else "PADDLE_SERVER_NUM"] = 1
    return own


FRAMEWORK = framework(PADDLE.framework, entries, container=PADDLE.container)
