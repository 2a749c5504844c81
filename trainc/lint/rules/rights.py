"""Which user a pod runs as, and what gives it power over its node."""

from __future__ import annotations

from trainc.lint.facts.values import flag, table, text
from trainc.lint.repository import repository
from trainc.model.finding import ERROR, NOTE, Label, Rule
from trainc.model.tree import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Container, Findings, Job
    from trainc.model.sourced import Span
    from trainc.model.tree import Path

ROOT = Rule("root-where-non-root", ERROR)
PRIVILEGED = Rule("privileged-pod", NOTE)
# Public images whose user is root: their Dockerfiles set no other one (read 2026-11).
_ROOT_IMAGES = frozenset(
    (
        "docker.io/library/alpine",
        "docker.io/library/bash",
        "docker.io/library/busybox",
        "docker.io/library/debian",
        "docker.io/library/python",
        "docker.io/library/ubuntu",
        "docker.io/nvidia/cuda",
        "docker.io/paddlepaddle/paddle",
        "docker.io/pytorch/pytorch",
        "docker.io/tensorflow/tensorflow",
        "nvcr.io/nvidia/cuda",
        "nvcr.io/nvidia/jax",
        "nvcr.io/nvidia/pytorch",
        "nvcr.io/nvidia/tensorflow",
    )
)
# Fields of a pod, what it shares by each, and what to do instead.
_SHARED = {
    "hostPID": ("sees and may end every process of its node", "remove it; `shareProcessNamespace` shares within a pod"),
    "hostIPC": ("shares the memory segments of its node", "mount an `emptyDir` with `medium: Memory` at /dev/shm"),
}
_REFUSED = "a namespace that enforces the Pod Security Standard `baseline` refuses the pod"


def privileged_pod(job: Job) -> Findings:
    for container in job.containers:
        if flag(table(container.tree, "securityContext"), "privileged"):
            yield PRIVILEGED.at(
                job.at((*container.path, "securityContext", "privileged")),
                f"`{container.name}` is privileged: it may do on its node whatever root may",
                effect=_REFUSED,
                help="ask for devices by the resource of a device plugin, and add single capabilities",
            )
    for role in job.roles:
        for field, (shares, instead) in _SHARED.items():
            if flag(role.pod, field):
                yield PRIVILEGED.at(
                    job.at((*role.pod_path, field)),
                    f"with `{field}` each pod of `{role.name}` {shares}",
                    effect=_REFUSED,
                    help=instead,
                )


def root_where_non_root(job: Job) -> Findings:
    seen: set[Span] = set()  # what a pod says may count for several containers
    for container in [container for role in job.roles for container in (*role.main, *role.init)]:
        if value(container.role.pod, "os", "name") == "windows":
            continue
        forbids = _effective(container, "runAsNonRoot")
        if not forbids or value(job.tree, *forbids) is not True:
            continue
        user = _effective(container, "runAsUser")
        image = text(container.tree, "image")
        if user:
            number = value(job.tree, *user)
            if type(number) is int and number == 0:
                yield from _add_root(job, container, user, "runs as user 0", forbids, seen)
        elif repository(image, job.cluster)[0] in _ROOT_IMAGES:
            yield from _add_root(
                job, container, (*container.path, "image"), f"runs as root: `{image}` sets no user", forbids, seen
            )
        else:
            job.report.skip("whether an image runs as root")


def _effective(container: Container, field: str) -> Path:
    """Where a setting of the security context stands that counts for a container, which wins over its pod."""
    for tree, path in ((container.tree, container.path), (container.role.pod, container.role.pod_path)):
        if table(tree, "securityContext").get(field) is not None:
            return (*path, "securityContext", field)
    return ()


def _add_root(job: Job, container: Container, path: Path, what: str, forbids: Path, seen: set[Span]) -> Findings:
    span = job.at(path)
    if span in seen:
        return
    seen.add(span)
    yield ROOT.at(
        span,
        f"`{container.name}` {what}, and `runAsNonRoot` forbids it",
        also=[Label(job.at(forbids), "root is forbidden here")],
        effect="the kubelet refuses to start the container: the pod stays in CreateContainerConfigError",
        help="set `runAsUser` to the number of another user, or remove `runAsNonRoot`",
    )


CHECKS = (privileged_pod, root_where_non_root)
