"""What gives a pod power over its node."""

from __future__ import annotations

from trainc.model.finding import NOTE, Rule
from trainc.verify.values import flag, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.verify.job import Job

PRIVILEGED = Rule(
    "privileged-pod",
    NOTE,
    "a container is privileged, or a pod shares processes or memory with its node",
    "What runs there has power over the node and all other pods on it, and namespaces that enforce `baseline` refuse it.",
)
# Fields of a pod, what it shares by each, and what to do instead.
_SHARED = {
    "hostPID": ("sees and may end every process of its node", "remove it; `shareProcessNamespace` shares within a pod"),
    "hostIPC": ("shares the memory segments of its node", "mount an `emptyDir` with `medium: Memory` at /dev/shm"),
}
_REFUSED = "a namespace that enforces the Pod Security Standard `baseline` refuses the pod"


def privileged_pod(job: Job) -> None:
    for container in job.containers:
        if flag(table(container.tree, "securityContext"), "privileged"):
            job.report.add(
                PRIVILEGED.at(
                    job.at((*container.path, "securityContext", "privileged")),
                    f"`{container.name}` is privileged: it may do on its node whatever root may",
                    effect=_REFUSED,
                    help="ask for devices by the resource of a device plugin, and add single capabilities",
                )
            )
    for role in job.roles:
        for field, (shares, instead) in _SHARED.items():
            if flag(role.pod, field):
                job.report.add(
                    PRIVILEGED.at(
                        job.at((*role.pod_path, field)),
                        f"with `{field}` each pod of `{role.name}` {shares}",
                        effect=_REFUSED,
                        help=instead,
                    )
                )


CHECKS = (privileged_pod,)
