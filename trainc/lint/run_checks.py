"""The one function of this stage: expand a bundle by role, then let every check look at it."""

from __future__ import annotations

from trainc.lint.facts.job import Job
from trainc.lint.facts.values import table
from trainc.lint.registry import checks_for
from trainc.lint.rules import scheduling
from trainc.lint.standards import LEVELS, violations
from trainc.lint.standards.pod import NEWEST
from trainc.lint.verdicts import refused
from trainc.model.cluster import Cluster, version
from trainc.model.finding import ERROR, Label, Rule
from trainc.model.tree import get, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NamedTuple

    from trainc.lint.check import Check
    from trainc.model.bundle import Bundle
    from trainc.model.catalog import Objects
    from trainc.model.report import Report
    from trainc.model.settings import Project
    from trainc.model.sourced import Span
else:
    from trainc.text.record import NamedTuple


def verify(bundle: Bundle, project: Project, report: Report, objects: Objects | None = None) -> None:
    """Add a finding for every mistake in the pods that a bundle becomes; servers have no opinion on any of it.

    `objects` finds what the job names in other files of the project.
    """
    cluster = project.cluster.seeing(bundle.around, closed=project.checks.closed_world)
    scheduling.verify(bundle, cluster, report)
    extra = _foreign(project) if project.rules_from else ()
    look(bundle, cluster, report, extra, project.checks.pod_security, objects)


def _foreign(project: Project) -> Sequence[Check]:
    """The checks of the installed packages that a project names."""
    from trainc.lint.check import foreign  # noqa: PLC0415 (few projects name any)

    return [check for name in project.rules_from for check in foreign(name.value)]


def look(
    bundle: Bundle,
    cluster: Cluster | None,
    report: Report,
    extra: Sequence[Check] = (),
    pod_security: str = "",
    objects: Objects | None = None,
) -> None:
    """Let every check of this stage look at a bundle, and `extra`, the checks of third parties.

    `pod_security` is the level of the Pod Security Standards that the call names, empty for that of the namespace.
    """
    job = expand(bundle, cluster, report, objects)
    if job is None:
        return
    refused(job)
    for check in checks_for(job):
        for finding in check(job):
            report.add(finding)
    if pod_security or "Namespace" in job.cluster.objects or "Namespace" in job.kinds:
        judge(job, pod_security)
    for added in extra:
        added.look(job)
    job.close()


def expand(bundle: Bundle, cluster: Cluster | None, report: Report, objects: Objects | None = None) -> Job | None:
    """The job that a bundle becomes, by role; None for a bundle without a JobSet."""
    jobset = bundle.jobset
    if type(jobset) is not dict:
        return None
    return Job(bundle, jobset, Cluster() if cluster is None else cluster, report, objects)


VIOLATED = Rule("pod-security", ERROR)
_ENFORCE = "pod-security.kubernetes.io/enforce"
_APP_ARMOR = "remove the profile, or use `RuntimeDefault` or `Localhost`"
_HELP = {
    "host namespaces": "remove the field; `/dev/shm` can be an `emptyDir` with `medium: Memory`",
    "privileged": "remove it, and request devices from a device plugin",
    "non-default capabilities": "remove the capability; set the limit for locked memory in the node's container runtime",
    "unrestricted capabilities": 'set `capabilities: {drop: ["ALL"]}`, and add only `NET_BIND_SERVICE`',
    "hostPath volumes": "mount a PVC or an `emptyDir`",
    "restricted volume types": "mount a PVC or an `emptyDir`",
    "forbidden AppArmor profile": _APP_ARMOR,
    "forbidden AppArmor profiles": _APP_ARMOR,
    "forbidden sysctls": "remove the sysctls; other kernel parameters are set on the node",
    "hostProcess": "remove it, and run the work in a container",
    "probe or lifecycle host": "remove `host`: the probe then targets the pod itself",
    "procMount": "remove `procMount`",
    "seLinuxOptions": "remove `user`, `role` and `type`; the node's container runtime chooses them",
    "hostPort": "remove `hostPort`: pods of a JobSet find each other by name",
    "allowPrivilegeEscalation != false": "set `securityContext.allowPrivilegeEscalation: false`",
    "runAsNonRoot != true": "set `securityContext: {runAsNonRoot: true, runAsUser: 1000}` on the pod",
    "runAsUser=0": "set `runAsUser` to a user that the image has, such as 1000",
    "seccompProfile": "set `securityContext.seccompProfile: {type: RuntimeDefault}` on the pod",
}


class Enforced(NamedTuple):
    """A level, in which version of the standards, and where a namespace says so."""

    level: str
    version: str = "latest"
    at: Span | None = None


def judge(job: Job, level: str) -> None:
    """Add a finding for each control that pods of a role violate; `level` is what the call names, or empty."""
    enforced = Enforced(level) if level else _of_namespace(job)
    if enforced is None:
        return
    also = [Label(enforced.at, f"the namespace enforces `{enforced.level}`")] if enforced.at is not None else []
    minor = _minor(enforced.version, job.cluster)
    for role in job.roles:
        for violation in violations(table(role.spec, "template"), enforced.level, minor):
            job.report.add(
                VIOLATED.at(
                    job.at((*role.spec_path, "template", *violation.path)),
                    f"the pods of `{role.name}` violate PodSecurity "
                    f'"{enforced.level}:{enforced.version}": {violation.control} ({violation.details})',
                    also=also,
                    effect="the API server rejects these pods, and the job never starts",
                    help=_HELP[violation.control],
                )
            )


def _minor(written: str, cluster: Cluster) -> int:
    """The minor version of the standards that the server applies: no later one than its own."""
    parsed = version(written)
    served = cluster.kubernetes[1] if cluster.kubernetes is not None else NEWEST
    return min(parsed[1] if parsed is not None else NEWEST, served)


def _of_namespace(job: Job) -> Enforced | None:
    """What the namespace of the job enforces, None where nobody shows it or it enforces nothing."""
    beside = [tree for tree in job.kinds.get("Namespace", ()) if value(tree, "metadata", "name") == job.namespace]
    dumped = job.cluster.objects.get("Namespace", {}).get(job.namespace)
    for tree in (*beside, dumped):
        label = get(tree, "metadata", "labels", _ENFORCE) if tree is not None else None
        level = value(tree, "metadata", "labels", _ENFORCE) if tree is not None else None
        if type(level) is str and level in LEVELS:
            held = value(tree, "metadata", "labels", f"{_ENFORCE}-version")
            at = getattr(getattr(label, "origin", None), "at", None)
            return Enforced(level, held if type(held) is str else "latest", at)
    return None
