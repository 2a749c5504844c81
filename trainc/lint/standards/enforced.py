"""The Pod Security Standard that a call or a namespace names, and findings for the pods that violate it."""

from typing import NamedTuple

from trainc.lint.facts.job import Job
from trainc.lint.facts.values import table
from trainc.lint.standards import LEVELS, violations
from trainc.lint.standards.pod import NEWEST
from trainc.model.cluster import version
from trainc.model.finding import ERROR, Label, Rule
from trainc.model.sourced import Span
from trainc.model.tree import get, value

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
    # No server applies a later version than its own.
    parsed, kubernetes = version(enforced.version), job.cluster.kubernetes
    minor = min(NEWEST if parsed is None else parsed[1], NEWEST if kubernetes is None else kubernetes[1])
    for role in job.roles:
        for violation in violations(table(role.spec, "template"), enforced.level, minor):
            at = role.spec_at("template", *violation.path)
            standard = f'"{enforced.level}:{enforced.version}"'
            message = (
                f"the pods of `{role.name}` violate PodSecurity {standard}: {violation.control} ({violation.details})"
            )
            effect = "the API server rejects these pods, and the job never starts"
            job.report.add(VIOLATED.at(at, message, also=also, effect=effect, help=_HELP[violation.control]))


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
