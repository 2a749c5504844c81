"""Pods that ask for a gang scheduler, and for no gang."""

from __future__ import annotations

from trainc.lint.facts.values import text
from trainc.lint.facts.world import collective
from trainc.model.finding import WARNING, Rule
from trainc.text.object_keys import VOLCANO_GROUP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Findings, Job

NO_GROUP = Rule("scheduler-without-group", WARNING)
_GROUP_KEYS = (VOLCANO_GROUP, "scheduling.volcano.sh/group-name")


def scheduler_without_group(job: Job) -> Findings:
    if "PodGroup" in job.kinds:
        return
    for role in job.roles:
        if text(role.pod, "schedulerName") != "volcano" or not role.several or not collective(role):
            continue
        if any(key in role.annotations for key in _GROUP_KEYS):
            continue
        yield NO_GROUP.at(
            job.at((*role.pod_path, "schedulerName")),
            f"the {role.count} pods of `{role.name}` are scheduled by Volcano without a group",
            effect="they are placed one by one: some may hold accelerators while the others wait",
            help="set `podGroupPolicy: {volcano: {}}` in the runtime, or `scheduler: volcano` for the cluster",
        )
        return


CHECKS = (scheduler_without_group,)
