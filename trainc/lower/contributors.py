"""Who is asked about a plan: its framework and its scheduler, once both have let it in."""

from __future__ import annotations

from trainc import schedulers
from trainc.frameworks import framework
from trainc.lower.computable import computable
from trainc.model.finding import ERROR, Rule
from trainc.model.report import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.cluster import Cluster
    from trainc.model.patches import Framework
    from trainc.model.plan import Plan
    from trainc.model.settings import Selection

UNKNOWN_FRAMEWORK = Rule(
    "unknown-framework",
    ERROR,
    "a runtime's framework label names nothing that trainc or an installed package knows",
    "Without a policy the label selects the framework; an unknown one would leave the processes unconnected.",
)


def contributor(plan: Plan, cluster: Cluster, selection: Selection, report: Report) -> Framework | None:
    """The framework of a plan, None with findings where it is not known, or somebody refuses the job."""
    found = framework(plan.framework)
    if found is None:
        report.add(
            UNKNOWN_FRAMEWORK.at(
                plan.document.span(("spec", "runtimeRef", "name")),
                f"no framework is called `{plan.framework}`",
                help="correct the runtime's label `trainer.kubeflow.org/framework`, or install the package that adds it",
            )
        )
        return None
    if not computable(plan, found, report) or not _let_in(plan, found, cluster, report):
        return None
    if found.verify is not None and not selection.admission_only:
        found.verify(plan, report)
    return found


def _let_in(plan: Plan, found: Framework, cluster: Cluster, report: Report) -> bool:
    """Whether neither framework nor scheduler refuses the job; what they say is reported."""
    if found.refuse is None and plan.gang is None:
        return True
    heard = Report()
    if found.refuse is not None:
        found.refuse(plan, heard)
    schedulers.refuse(plan, cluster, heard)
    findings = heard.findings
    for finding in findings:
        report.add(finding)
    return not findings or not heard.failed
