"""Numbers that are filled in later: they can be copied, but a framework that computes with them has to know them."""

from __future__ import annotations

from trainc.model.finding import place
from trainc.model.gang import UNKNOWN_SIZE
from trainc.model.inference import gpu_names
from trainc.model.patches import PODS, PROCESSES
from trainc.model.sourced import Sourced
from trainc.model.tree import get
from trainc.schema.fault import is_placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.model.patches import Framework
    from trainc.model.plan import Plan
    from trainc.model.report import Report
    from trainc.model.tree import Tree


def computable(plan: Plan, framework: Framework, report: Report) -> bool:
    """Whether every number is known that the framework computes with; what is not is reported."""
    asked = plan.asked("numProcPerNode")
    found: list[tuple[Tree, str, str]] = []
    if PODS in framework.computes:
        help_ = f"write the number: {framework.name} computes addresses and sizes with it"
        found += [(leaf, "how many pods there are", help_) for leaf in _pods(plan)]
        found += [(leaf, "how many processes a node runs", help_) for leaf in (asked, _default(plan))]
    if PROCESSES in framework.computes and asked is None:
        help_ = "write the amount, or set `numProcPerNode`: otherwise the number of processes follows from it"
        found += [(leaf, "how many processes a node runs", help_) for leaf in _amounts(plan.resources)]
    unknown = [row for row in found if type(row[0]) is Sourced and is_placeholder(row[0].value)]
    for leaf, what, help_ in unknown:
        at = place(leaf.origin) or plan.document.span(("metadata", "name"))
        report.add(UNKNOWN_SIZE.at(at, f"{what} is not known here: `{leaf.value}` is filled in later", help=help_))
    return not unknown


def _pods(plan: Plan) -> Iterator[Tree]:
    for role in plan.roles:
        yield from (role.count, role.replicas)


def _default(plan: Plan) -> Tree:
    return get(plan.policy, plan.framework, "numProcPerNode")


def _amounts(resources: Tree) -> Iterator[Tree]:
    for part in ("requests", "limits"):
        amounts = get(resources, part)
        if type(amounts) is dict:
            yield from (amounts[name] for name in (*gpu_names(amounts), "cpu") if name in amounts)
