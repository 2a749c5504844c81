"""What pod validation says about the pod itself once the child Job is made (Kubernetes 1.36)."""

from __future__ import annotations

from trainc.model.finding import WARNING, Rule
from trainc.model.sourced import Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Findings, Job


GRACE = Rule("negative-grace-period", WARNING)


def negative_grace_period(job: Job) -> Findings:
    for role in job.roles:
        leaf = role.pod.get("terminationGracePeriodSeconds")
        if type(leaf) is Sourced and type(leaf.value) is int and leaf.value < 0:
            yield GRACE.at(
                job.at((*role.pod_path, "terminationGracePeriodSeconds")),
                f"the pods get {leaf.value} seconds to stop",
                effect="Kubernetes reads it as one second: a checkpoint that is being written is lost",
                help="give the seconds that writing a checkpoint takes, e.g. 120",
            )


CHECKS = (negative_grace_period,)
