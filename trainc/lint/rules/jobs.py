"""What batch/v1 says about the child Jobs once the JobSet controller makes them (Kubernetes 1.36)."""

from __future__ import annotations

from trainc.lint.facts.values import text
from trainc.model.finding import WARNING, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Findings, Job


MANAGED = Rule("job-managed-by-other", WARNING)


def job_managed_by_other(job: Job) -> Findings:
    for role in job.roles:
        manager = text(role.spec, "managedBy")
        if manager and manager != "kubernetes.io/job-controller":
            yield MANAGED.at(
                job.at((*role.spec_path, "managedBy")),
                f"the Jobs of `{role.name}` are left to `{manager}`",
                effect="Kubernetes makes no pods for them; without that controller the job waits for ever",
                help="hand over the whole JobSet instead: `spec.managedBy`",
            )


CHECKS = (job_managed_by_other,)
