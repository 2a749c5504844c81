"""LightGBM: the address of rank 0 and those of the other workers, from which a script builds `machines`."""

from trainc.frameworks.base.hosts import LONGEST, check_length, domain, hosts, length, refuse_length
from trainc.frameworks.base.requirements import check
from trainc.frameworks.base.vocabularies import VOCABULARIES
from trainc.model.inference import PORT
from trainc.model.patches import COMPLETION_INDEX, Contribution, Framework, Start, on
from trainc.model.plan import Plan, Role
from trainc.model.report import Report
from trainc.model.sourced import Sourced, derive

VOCABULARY = VOCABULARIES["lightgbm"]
START = Start(
    "lightgbm-distributed",
    ("python", "train.py"),
    "The program builds its list of machines from WORKER_ADDRS and WORKER_PORT.",
)


def lower(plan: Plan) -> Contribution:
    """Addresses, ranks and the size of the world, as LightGBM's scripts for Kubeflow read them."""
    if (role := plan.trainer) is None or length(plan, members(plan)) > LONGEST:
        return Contribution()
    env = {
        "MASTER_PORT": PORT,
        "MASTER_ADDR": addresses(plan, role).map(lambda names: names.partition(",")[0]),
        "WORLD_SIZE": role.count,
        "RANK": COMPLETION_INDEX,
        "PYTHONUNBUFFERED": 1,
    }
    if role.count.value > 1:
        others = addresses(plan, role).map(lambda names: names.partition(",")[2])
        env |= {"WORKER_PORT": PORT, "WORKER_ADDRS": others}
    return on(role, env=env, ports=(PORT,))


def addresses(plan: Plan, role: Role) -> Sourced[str]:
    """The names of all pods in order, with commas between them; rank 0 has one even in a job without pods."""
    name = role.name.value

    def names(job: str, subdomain: str, count: int) -> str:
        return ",".join(hosts(job, subdomain, name, 1, max(count, 1)))

    return derive("LightGBM's machines", names, plan.name, domain(plan), role.count)


def members(plan: Plan) -> dict[int, Sourced[int]]:
    """How many pods train, by the index of their role."""
    return {plan.trainer.index: plan.trainer.count} if plan.trainer is not None else {}


def refuse_job(plan: Plan, report: Report) -> None:
    """A refusal where the hosts would not fit into an object."""
    refuse_length(plan, report, length(plan, members(plan)))


def verify(plan: Plan, report: Report) -> None:
    """Findings where the workers would not meet."""
    check(plan, report, VOCABULARY.reserved, infers=False)
    check_length(plan, report, "WORKER_ADDRS", length(plan, members(plan)))


FRAMEWORK = Framework(
    "lightgbm", lower, vocabulary=VOCABULARY, refuse=refuse_job, verify=verify, starts={"lightgbm": START}
)
