"""Plain: processes that need no introduction; a job's own image, command and env are all there is."""

from __future__ import annotations

from trainc.model.patches import Contribution, Framework
from trainc.model.wiring import check_nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.plan import Plan
    from trainc.model.report import Report


def lower(_plan: Plan) -> Contribution:
    """Nothing: node counts and the job's own settings are laid on for every framework alike."""
    return Contribution()


def verify(plan: Plan, report: Report) -> None:
    """Findings where no process would ever start."""
    check_nodes(plan, report)


FRAMEWORK = Framework("plain", lower, verify=verify)
