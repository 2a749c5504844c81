"""JobSet's validating webhook on volumeClaimPolicies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainc.apiserver.cel.operators import bare
from trainc.apiserver.fault import Fault, invalid, of_webhook
from trainc.apiserver.golang.decoding import typed
from trainc.apiserver.names import size, subdomain
from trainc.apiserver.profile import Profile
from trainc.apiserver.schema.node import SchemaNode
from trainc.model.tree import Path, Tree, dotted

CLAIM = "PersistentVolumeClaim"
# The API server writes this into every claim that it stores; a file that stands for a stored claim may leave it out.
STORED_DEFAULTS = {"volumeMode": "Filesystem"}


def claim_faults(tree: Tree, node: SchemaNode, profile: Profile) -> list[Fault]:
    """What the webhook has against the claims of a new JobSet, and against existing claims of the same names."""
    jobset = _text(tree.get("metadata", {}), "name")
    namespace = _text(tree.get("metadata", {}), "namespace") or "default"
    jobs = tree["spec"].get("replicatedJobs", [])
    mounted = {name for job in jobs for name in _mounts(job)}
    below = _below(node, "spec")
    shown = typed(_below(below, "replicatedJobs"), jobs) if "replicatedJobs" in tree["spec"] else None
    seen: set[str] = set()
    faults: list[Fault] = []
    for index, policy in enumerate(tree["spec"]["volumeClaimPolicies"]):
        for number, template in enumerate(policy.get("templates", ())):
            name = _text(template.get("metadata", {}), "name")
            at: Path = ("spec", "volumeClaimPolicies", index, "templates", number)
            place = f"{dotted(at).replace('.templates[', '.template[')}.name"
            where = (*at, "metadata", "name")
            reasons = ["names must be unique for VolumeClaimPolicies template"] if name in seen else []
            reasons += subdomain(name)
            if size(f"{name}-{jobset}") > 63:
                reasons.append("VolumeClaimPolicies template name is too long")
            faults += [of_webhook(invalid(place, name, reason), where, name) for reason in reasons]
            if name not in mounted:
                text = f"replicatedJob containers don't have a matching volumeMount: {name} from VolumeClaimPolicies"
                faults.append(of_webhook(invalid("spec.replicatedJobs", shown, text), at, name))
            seen.add(name)
            if (live := profile.find(CLAIM, namespace, f"{name}-{jobset}")) is not None:
                faults += _existing(policy, template, live, _template_spec(below), at, f"{name}-{jobset}", namespace)
    return [*faults, *_conflicts(jobs, seen)]


def _below(node: SchemaNode | None, name: str) -> SchemaNode:
    child = node.prop(name) if node is not None else None
    if child is None:
        raise LookupError(f"the JobSet schema has no {name}")
    return child


def _template_spec(spec: SchemaNode) -> SchemaNode:
    policy = _below(spec, "volumeClaimPolicies").item()
    return _below(_below(policy, "templates").item(), "spec")


def _text(holder: Tree, name: str) -> str:
    value = bare(holder.get(name))
    return value if type(value) is str else ""


def _items(holder: Tree, name: str) -> list[Tree]:
    """The items of a list; a null, which Go writes for `containers` where there are none, has none."""
    items = holder.get(name)
    return items if type(items) is list else []


def _mounts(job: Tree) -> Iterator[str]:
    pod = job["template"]["spec"]["template"]["spec"]
    for field in ("containers", "initContainers"):
        for container in _items(pod, field):
            for mount in _items(container, "volumeMounts"):
                yield _text(mount, "name")


def _existing(
    policy: Tree, template: Tree, live: Tree, node: SchemaNode, at: Path, claim: str, namespace: str
) -> list[Fault]:
    faults: list[Fault] = []
    wanted: Any = template.get("spec", {})
    stored = {**STORED_DEFAULTS, **live.get("spec", {})}
    if typed(node, wanted, by_value=True) != typed(node, stored, by_value=True):
        text = f"spec does not match existing PVC {claim} in namespace {namespace}"
        place = f"{dotted(at).replace('.templates[', '.template[')}.spec"
        faults.append(of_webhook(invalid(place, typed(node, wanted), text), (*at, "spec")))
    kept = _text(policy.get("retentionPolicy", {}), "whenDeleted")
    if kept != "Retain":
        where = (*at[:3], "retentionPolicy", "whenDeleted")
        text = "retentionPolicy must be retain when PVC exists"
        faults.append(of_webhook(invalid(dotted(where), kept, text), where, kept))
    return faults


def _conflicts(jobs: list[Tree], names: set[str]) -> list[Fault]:
    faults: list[Fault] = []
    for index, job in enumerate(jobs):
        pod = job["template"]["spec"]["template"]["spec"]
        for number, volume in enumerate(_items(pod, "volumes")):
            name = _text(volume, "name")
            if name in names:
                below = ("template", "spec", "template", "spec", "volumes", number, "name")
                where = ("spec", "replicatedJobs", index, *below)
                text = f"volume name conflicts with VolumeClaimPolicy template name: {name}"
                faults.append(of_webhook(invalid(dotted(where), name, text), where, name))
    return faults
