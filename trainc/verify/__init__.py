"""Bundle -> Findings: will the servers take these pods, and will the pods find each other and run?"""

from __future__ import annotations

from trainc.schema.profile import Profile
from trainc.verify.accepted import accepted
from trainc.verify.expand import verify as look
from trainc.verify.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.bundle import Bundle
    from trainc.model.report import Report
    from trainc.model.settings import Project


def verify(bundle: Bundle, project: Project, report: Report) -> None:
    """Everything that would go wrong with a bundle after it was compiled: refused, unconnected, or wasted."""
    if bundle.plan is not None and bundle.plan.framework:
        # A JobSet given as input has been judged when it was admitted.
        accepted(bundle, _profile(project), report)
    look(bundle, Settings(kubernetes=project.cluster.kubernetes), report)


def _profile(project: Project) -> Profile:
    cluster = project.cluster
    version = {"jobset": "{}.{}".format(*cluster.jobset)} if cluster.jobset else {}
    return Profile(gates=cluster.gates, **version)
