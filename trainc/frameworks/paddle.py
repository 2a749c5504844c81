"""PaddlePaddle: the `PADDLE_*` variables of `paddle.distributed.launch`, which assigns the ranks."""

from trainc.frameworks.base.hosts import around, domain, port_of, shared_counts
from trainc.frameworks.base.requirements import check_container, check_overwritten, role_span, template_span
from trainc.frameworks.base.vocabularies import VOCABULARIES
from trainc.model.finding import ERROR, Rule
from trainc.model.patches import POD_IP, Contribution, Framework, Start
from trainc.model.plan import NODE, TRAINER, Plan, Role
from trainc.model.report import Report
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import given

VOCABULARY = VOCABULARIES["paddle"]
(PORT,) = VOCABULARY.ports
SERVER, LEADER, WORKER = "master", "leader", "worker"
ROLES = (SERVER, LEADER, WORKER, NODE)

NO_HEAD = Rule("no-rendezvous-server", ERROR)
START = Start(
    "paddle-distributed",
    ("python", "-m", "paddle.distributed.launch", "train.py"),
    "The launcher of Paddle starts one process per GPU and reads PADDLE_*.",
    has_shared_memory=True,
)


def lower(plan: Plan) -> Contribution:
    """The address of the head's server: by IP on the head itself, which thereby starts it, by name elsewhere."""
    counts, head = members(plan), head_of(plan)
    if head is None:
        return Contribution()
    total = derive("number of Paddle nodes", lambda *each: sum(each), *counts.values())
    common = {"PYTHONUNBUFFERED": 1, "PADDLE_JOB_ID": plan.name, "PADDLE_NNODES": total}
    out = Contribution(counts=counts)
    name, port = head.name.value, port_of(head.container(), SERVER, PORT)
    server = derive("Paddle's server", lambda job, sub: f"{job}-{name}-0-0.{sub}:{port}", plan.name, domain(plan))
    for index, count in counts.items():
        role = plan.roles[index]
        own = role is head and count.value == 1
        first = {"POD_IP_DUMMY": POD_IP} if own else {}  # the kubelet fills it in
        last = {**common, "PADDLE_MASTER": f"$(POD_IP_DUMMY):{port}" if own else server}
        if plan.role(SERVER) is not None:  # with parameter servers, what this pod counts as
            last["PADDLE_SERVER_NUM" if role.name.value == SERVER else "PADDLE_TRAINER_NUM"] = 1
        out += around(plan, role, first, last)
    return out


def members(plan: Plan) -> dict[int, Sourced[int]]:
    """How many pods each role has; where leader and worker are one trainer, the leader is one of its nodes."""
    leader, worker = plan.role(LEADER), plan.role(WORKER)
    counts = {r.index: r.count for r in plan.roles if r.name.value in ROLES}
    if plan.role(SERVER) is not None:
        return counts | {at: n for at, n in shared_counts(plan, WORKER).items() if at in counts}
    if leader is not None and worker is not None and leader.ancestor == worker.ancestor == TRAINER:
        nodes = given(plan.trainer_field("numNodes"), leader.count)
        rest = derive("nodes beside the leader", lambda n: max(n - 1, 0), nodes)
        return {leader.index: derive("the leader is one node", lambda n: min(n, 1), nodes), worker.index: rest}
    return counts


def head_of(plan: Plan) -> Role | None:
    """The role whose first pod starts the server: the master, else the leader, else whoever trains."""
    return plan.role(SERVER) or plan.role(LEADER) or plan.role(WORKER) or plan.role(NODE)


def verify(plan: Plan, report: Report) -> None:
    """Findings where the launchers would not meet."""
    counts, head = members(plan), head_of(plan)
    for index in counts:
        check_container(plan, report, plan.roles[index], "it gets no address, and the others wait for it forever")
        check_overwritten(plan, report, plan.roles[index], VOCABULARY.reserved)
    if head is None or counts[head.index].value > 1:
        at = role_span(plan, head) if head is not None else template_span(plan)
        effect = "every launcher waits forever for a server that does not start"
        help_ = f"add a replicatedJob `{LEADER}` for the first pod, separate from `{WORKER}`"
        report.add(NO_HEAD.at(at, "no replicatedJob of a single pod starts Paddle's server", effect=effect, help=help_))


FRAMEWORK = Framework("paddle", lower, vocabulary=VOCABULARY, verify=verify, starts={"paddle": START})
