"""What becomes of variables that a job sets although its framework sets them, where no server refuses the job."""

from __future__ import annotations

from trainc.frameworks.base.refusals import reserved
from trainc.frameworks.base.requirements import check_overwritten, overwritten
from trainc.model.finding import WARNING, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.patches import Framework
    from trainc.model.plan import Plan
    from trainc.model.report import Report
    from trainc.model.vocabulary import Vocabulary

BEATEN_ENV = Rule(
    "rendezvous-env-replaced",
    WARNING,
    "a job's variable replaces one that its framework sets",
    "JAX's variables are not reserved (Trainer v2.3.0): the job's env is applied last and wins.",
)


def check_reserved(plan: Plan, framework: Framework, report: Report) -> None:
    """Findings for reserved variables of a job: lost to the framework's, or in their place where its env comes first."""
    vocabulary = framework.vocabulary
    if framework.refuses_reserved:
        return
    if framework.verify is None and plan.trainer is not None and not framework.env_first:
        check_overwritten(plan, report, plan.trainer, vocabulary.reserved)
    for at, name in reserved(plan, vocabulary.reserved):
        span = plan.document.span(("spec", "trainer", "env", at, "name"))
        if not framework.env_first:
            report.add(overwritten(plan, name, span))
        elif name not in vocabulary.ranks or "value" not in plan.trainer_field("env")[at]:
            # One rank in all pods shows in any framework's pods alike.
            message = f"`{name}` replaces the value that the `{framework.name}` framework sets"
            report.add(BEATEN_ENV.at(span, message, effect=_effect(name, vocabulary), help="remove it"))


def _effect(name: str, vocabulary: Vocabulary) -> str:
    if name in vocabulary.ranks:
        return "all processes claim this one id, and the coordinator refuses all but one"
    if name in vocabulary.sizes:
        return "process 0 waits for as many processes as this says"
    if name in vocabulary.addresses:
        return "every process waits for a coordinator at this address"
    return "the processes go by this value"
