"""Numbers that are filled in later: they can be copied, but a framework that computes with them has to know them."""

from __future__ import annotations

from trainc.model.finding import place
from trainc.model.patches import PODS, PROCESSES
from trainc.model.plan import TRAINER
from trainc.model.sourced import Sourced
from trainc.schedulers.gang import UNKNOWN_SIZE
from trainc.text.placeholders import is_placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.patches import Framework
    from trainc.model.plan import Plan
    from trainc.model.report import Report
    from trainc.model.tree import Tree


def is_computable(plan: Plan, framework: Framework, report: Report) -> bool:
    """Whether every number is known that the framework computes with; what is not is reported where it is needed."""
    processes = plan.trainer_field("numProcPerNode")
    ok = True
    needs = framework.needs(plan)
    if PODS in needs:
        from trainc.frameworks.base.hosts import own_count  # noqa: PLC0415 (torch computes with none)

        advice = f"write the number: {framework.name} computes addresses and sizes with it"
        trainers = [role for role in plan.roles if role.ancestor == TRAINER]
        own = [own_count(role) for role in trainers] if len(trainers) > 1 else ()  # `numNodes` is for one of them
        sizes = [leaf for role in plan.roles for leaf in (role.count, role.replicas)]
        for leaf in (plan.trainer_field("numNodes"), *sizes, *own):
            ok &= _known(leaf, "how many pods there are", advice, plan, report)
        for leaf in (processes, plan.settings.get("numProcPerNode")):
            ok &= _known(leaf, _PROCESSES, advice, plan, report)
    if PROCESSES in needs and processes is None:
        advice = "write the amount, or set `numProcPerNode`: otherwise the number of processes follows from it"
        for leaf in plan.inferred.counted:
            ok &= _known(leaf, _PROCESSES, advice, plan, report)
    return ok


_PROCESSES = "how many processes a node runs"


def _known(leaf: Tree, what: str, advice: str, plan: Plan, report: Report) -> bool:
    if type(leaf) is not Sourced or type(leaf.value) is not str or not is_placeholder(leaf.value):
        return True
    at = place(leaf.origin) or plan.document.span(("metadata", "name"))
    message = f"{what} is not known here: `{leaf.value}` is filled in later"
    report.add_or_skip(UNKNOWN_SIZE.at(at, message, help=advice))
    return False
