"""XGBoost: the `DMLC_*` variables of the tracker that rank 0 starts."""

from trainc.frameworks.base.refusals import forbidden, reserved, reserved_env
from trainc.frameworks.base.requirements import check
from trainc.frameworks.base.vocabularies import VOCABULARIES
from trainc.model.inference import PORT
from trainc.model.patches import COMPLETION_INDEX, Contribution, Framework, Start, on
from trainc.model.plan import Plan
from trainc.model.report import Report
from trainc.model.sourced import derive

VOCABULARY = VOCABULARIES["xgboost"]
START = Start("xgboost-distributed", ("python", "train.py"), "Workers connect to the tracker in DMLC_*.")


def lower(plan: Plan) -> Contribution:
    """The tracker's address, the rank of the node and the number of workers: one for each GPU, or for each node."""
    if not plan.wired or plan.trainer is None:
        return Contribution()
    workers = derive("one worker for each GPU", lambda n, g: n * max(g, 1), plan.trainer.count, plan.inferred.gpus)
    return on(
        plan.trainer,
        env={
            "DMLC_TRACKER_URI": plan.host(),
            "DMLC_TRACKER_PORT": PORT,
            "DMLC_TASK_ID": COMPLETION_INDEX,
            "DMLC_NUM_WORKER": workers,
        },
        ports=(PORT,),
    )


def refuse_job(plan: Plan, report: Report) -> None:
    """The TrainJob webhook's refusal of each variable that belongs to the tracker."""
    for at, name in reserved(plan, VOCABULARY.reserved):
        text = forbidden(f"spec.trainer.env[{at}]", f"{name} is reserved for the XGBoost runtime")
        report.add(reserved_env(plan, at, name, text, ""))


def verify(plan: Plan, report: Report) -> None:
    """Findings where the workers would not meet."""
    check(plan, report, VOCABULARY.reserved)


FRAMEWORK = Framework(
    "xgboost",
    lower,
    vocabulary=VOCABULARY,
    refuse=refuse_job,
    refuses_reserved=True,
    verify=verify,
    starts={"xgboost": START},
)
