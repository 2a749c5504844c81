"""TensorFlow: `TF_CONFIG`, which lists the whole cluster and the task's own place in it."""

from collections.abc import Mapping

from trainc.frameworks.base.hosts import (
    LONGEST,
    around,
    check_length,
    domain,
    hosts,
    length,
    port_of,
    refuse_length,
    shared_counts,
)
from trainc.frameworks.base.requirements import check_container, check_overwritten, role_span, template_span
from trainc.frameworks.base.vocabularies import VOCABULARIES
from trainc.model.finding import ERROR, WARNING, Rule, place
from trainc.model.patches import COMPLETION_INDEX, Contribution, Framework, Start
from trainc.model.plan import NODE, Plan, Role
from trainc.model.report import Report
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import get

VOCABULARY = VOCABULARIES["tensorflow"]
DECIDERS = ("chief", "master")

NO_DECIDER = Rule("no-decider", ERROR)
TWO_CHIEFS = Rule("two-chiefs", ERROR)
REPLICATED_TASK = Rule("replicated-task", ERROR)
ENDLESS_SERVER = Rule("endless-server", WARNING)
START = Start("tensorflow-distributed", ("python", "train.py"), "Every worker reads TF_CONFIG.")
PORT = 2222  # where TensorFlow's gRPC server listens
PORT_NAME = "tfjob-port"
WORKER = "worker"
TASKS = {"chief": "chief", "master": "master", "ps": "ps", WORKER: WORKER, NODE: WORKER, "evaluator": "evaluator"}


def lower(plan: Plan) -> Contribution:
    """TF_CONFIG on every task; none for a job of a single process, which has nobody to meet."""
    counts = tasks(plan)
    out = Contribution(counts=counts)
    if sum(count.value for count in counts.values()) == 1 or length(plan, counts) > LONGEST:
        return out
    for index, count in counts.items():
        role = plan.roles[index]
        # The index stands before all: `$(NAME)` sees only the variables above it.
        rank = {} if count.value == 1 else {"JOB_COMPLETION_INDEX": COMPLETION_INDEX}
        # A port that the container names itself keeps its name.
        ports = (PORT,) if port_of(role.container(), PORT_NAME, 0) == 0 else ()
        out += around(plan, role, rank, {"TF_CONFIG": config(plan, role, counts)}, ports)
    return out


def refuse_job(plan: Plan, report: Report) -> None:
    """A refusal where the hosts would not fit into an object."""
    refuse_length(plan, report, length(plan, tasks(plan)))


def verify(plan: Plan, report: Report) -> None:
    """Findings where the tasks would not form a cluster."""
    counts = tasks(plan)
    roles = [plan.roles[index] for index in counts]
    kinds = [TASKS[role.name.value] for role in roles]
    check_length(plan, report, "TF_CONFIG", length(plan, counts))
    if not {WORKER, *DECIDERS} & set(kinds):
        message = "the runtime has neither a `chief` nor a `worker`"
        effect = "no pod trains: parameter servers and evaluators wait forever"
        report.add(NO_DECIDER.at(template_span(plan), message, effect=effect, help="name a replicatedJob `worker`"))
    for role in roles:
        check_container(plan, report, role, "it gets no TF_CONFIG, and the other tasks wait for it forever")
        if role.replicas.value != 1:
            span = place(role.replicas.origin) or role_span(plan, role)
            message = f"`{role.name.value}` has {role.replicas.value} replicas"
            effect = "several tasks have the same index, and the other tasks are never found"
            report.add(REPLICATED_TASK.at(span, message, effect=effect, help="use `parallelism` instead"))
        check_overwritten(plan, report, role, VOCABULARY.reserved)
    chiefs = [role for role in roles if role.name.value in DECIDERS]
    if (number := sum(counts[role.index].value for role in chiefs)) > 1:
        span = role_span(plan, chiefs[-1])
        report.add(TWO_CHIEFS.at(span, f"the job has {number} chiefs", help="keep one `chief` with one pod"))
    if "ps" in kinds and get(plan.template, "spec", "successPolicy") is None:
        server = roles[kinds.index("ps")]
        message = "`ps` never ends, and the runtime has no `successPolicy`"
        advice = "set `successPolicy` to the role that decides, with `operator: All`"
        effect = "the JobSet is never complete, and its pods stay"
        report.add(ENDLESS_SERVER.at(role_span(plan, server), message, effect=effect, help=advice))


FRAMEWORK = Framework(
    "tensorflow", lower, vocabulary=VOCABULARY, refuse=refuse_job, verify=verify, starts={"tensorflow": START}
)


def tasks(plan: Plan) -> dict[int, Sourced[int]]:
    """How many pods of which role (by index) are tasks; the job's `numNodes` counts the workers."""
    sized = WORKER if plan.role(WORKER) is not None else NODE
    counts = shared_counts(plan, sized)
    others = {name for name, task in TASKS.items() if task != WORKER}
    return {r.index: counts.get(r.index, r.count) for r in plan.roles if r.name.value in {sized, *others}}


def config(plan: Plan, own: Role, counts: Mapping[int, Sourced[int]]) -> Sourced[str]:
    """The text of TF_CONFIG for the pods of one role: compact JSON, the cluster's keys in order."""
    # Filled in by the kubelet; one pod alone needs no index.
    index = "0" if counts[own.index].value == 1 else "$(JOB_COMPLETION_INDEX)"

    def text(job: str, subdomain: str, *_: int) -> str:
        parts = []
        for at, count in counts.items():
            role = plan.roles[at]
            port = port_of(role.container(), PORT_NAME, PORT)
            names = hosts(job, subdomain, role.name.value, role.replicas.value, count.value)
            parts.append((TASKS[role.name.value], ",".join(f'"{host}:{port}"' for host in names)))
        cluster = ",".join(f'"{task}":[{entries}]' for task, entries in sorted(parts))
        task = f'"type":"{TASKS[own.name.value]}","index":{index}'
        return f'{{"cluster":{{{cluster}}},"task":{{{task}}},"environment":"cloud"}}'

    return derive("TF_CONFIG", text, plan.name, domain(plan), *counts.values())
