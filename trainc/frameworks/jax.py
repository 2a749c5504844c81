"""JAX: `jax.distributed.initialize()` meets its peers through three JAX_* variables."""

from __future__ import annotations

from trainc.model.finding import WARNING, Rule
from trainc.model.inference import PORT
from trainc.model.patches import COMPLETION_INDEX, Contribution, Framework, on
from trainc.model.refusals import reserved
from trainc.model.sourced import derive
from trainc.model.wiring import check

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

    from trainc.model.plan import Plan
    from trainc.model.report import Report

VARIABLES = ("JAX_NUM_PROCESSES", "JAX_PROCESS_ID", "JAX_COORDINATOR_ADDRESS")

BEATEN_ENV = Rule(
    "rendezvous-env-replaced",
    WARNING,
    "a job's variable beats the one its framework sets",
    "JAX's variables are not reserved (Trainer v2.3.0): the job's env is laid on last and wins.",
)
EFFECTS = {
    "JAX_NUM_PROCESSES": "process 0 waits for as many processes as this says",
    "JAX_PROCESS_ID": "all processes claim this one id, and the coordinator refuses all but one",
    "JAX_COORDINATOR_ADDRESS": "every process waits for a coordinator at this address",
}


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
    check(plan, report, VARIABLES, infers=False)
    for at, name in reserved(plan, VARIABLES):
        if name == "JAX_PROCESS_ID" and "value" in plan.asked("env")[at]:
            continue  # one rank in all pods: that shows in any framework's pods alike
        report.add(
            BEATEN_ENV.at(
                plan.document.span(("spec", "trainer", "env", at, "name")),
                f"`{name}` replaces the value that the `jax` framework sets",
                effect=EFFECTS[name],
                help="remove it",
            )
        )


def alike(plan: Plan) -> Hashable:
    """The names of its variables, and which of them have a value of their own."""
    return tuple([(entry["name"].value, "value" in entry) for entry in plan.asked("env") or ()])


FRAMEWORK = Framework("jax", lower, env_first=True, verify=verify, computes=(), alike=alike)
