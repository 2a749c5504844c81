"""JAX: `JAX_NUM_PROCESSES`, `JAX_PROCESS_ID` and `JAX_COORDINATOR_ADDRESS` for `jax.distributed.initialize()`, port 29500."""

from trainc.frameworks.base.requirements import check
from trainc.frameworks.base.vocabularies import VOCABULARIES
from trainc.model.inference import PORT
from trainc.model.patches import COMPLETION_INDEX, GPU, TPU, Contribution, Framework, Start, on
from trainc.model.plan import Plan
from trainc.model.report import Report
from trainc.model.sourced import derive

VOCABULARY = VOCABULARIES["jax"]
START = Start(
    "jax-distributed",
    ("python", "train.py"),
    "One process on every node; the program calls jax.distributed.initialize().",
    machines=(GPU, TPU),
    has_shared_memory=True,
)


def lower(plan: Plan) -> Contribution:
    """The number of processes, the rank and the address of process 0; one process for each node."""
    if not plan.wired or plan.trainer is None:
        return Contribution()
    return on(
        plan.trainer,
        env={
            "JAX_NUM_PROCESSES": plan.trainer.count,
            "JAX_PROCESS_ID": COMPLETION_INDEX,
            "JAX_COORDINATOR_ADDRESS": derive("coordinator address", lambda host: f"{host}:{PORT}", plan.host()),
        },
        ports=(PORT,),
    )


def verify(plan: Plan, report: Report) -> None:
    """Findings where the processes would not meet."""
    check(plan, report, VOCABULARY.reserved, infers=False)


FRAMEWORK = Framework(
    "jax", lower, vocabulary=VOCABULARY, env_first=True, verify=verify, computes=(), starts={"jax": START}
)
