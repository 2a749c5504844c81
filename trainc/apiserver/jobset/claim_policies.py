"""JobSet's validating webhook on volumeClaimPolicies."""

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
    jobset, namespace = _text(tree.get("metadata", {}), "name"), _text(tree.get("metadata", {}), "namespace")
    pods = [job["template"]["spec"]["template"]["spec"] for job in tree["spec"].get("replicatedJobs", [])]
    mounted = {
        _text(mount, "name")
        for pod in pods
        for field in ("containers", "initContainers")
        for container in _items(pod, field)
        for mount in _items(container, "volumeMounts")
    }
    below = _below(node, "spec")
    jobs = tree["spec"].get("replicatedJobs")
    shown = typed(_below(below, "replicatedJobs"), jobs) if jobs is not None else None
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
            if (live := profile.find(CLAIM, namespace or "default", f"{name}-{jobset}")) is not None:
                claim = f"{name}-{jobset} in namespace {namespace or 'default'}"
                spec = _below(_below(_below(below, "volumeClaimPolicies").item(), "templates").item(), "spec")
                faults += _existing(policy, template, live, spec, at, claim)
    for index, pod in enumerate(pods):
        for number, volume in enumerate(_items(pod, "volumes")):
            if (name := _text(volume, "name")) in seen:
                inner = ("template", "spec", "template", "spec", "volumes", number, "name")
                where = ("spec", "replicatedJobs", index, *inner)
                text = f"volume name conflicts with VolumeClaimPolicy template name: {name}"
                faults.append(of_webhook(invalid(dotted(where), name, text), where, name))
    return faults


def _below(node: SchemaNode | None, name: str) -> SchemaNode:
    child = node.prop(name) if node is not None else None
    if child is None:
        raise LookupError(f"the JobSet schema has no {name}")
    return child


def _text(holder: Tree, name: str) -> str:
    value = bare(holder.get(name))
    return value if type(value) is str else ""


def _items(holder: Tree, name: str) -> list[Tree]:
    """The items of a list; a null, which Go writes for `containers` where there are none, has none."""
    items = holder.get(name)
    return items if type(items) is list else []


def _existing(policy: Tree, template: Tree, live: Tree, node: SchemaNode, at: Path, claim: str) -> Iterator[Fault]:
    wanted: Any = template.get("spec", {})
    stored = {**STORED_DEFAULTS, **live.get("spec", {})}
    if typed(node, wanted, by_value=True) != typed(node, stored, by_value=True):
        place = f"{dotted(at).replace('.templates[', '.template[')}.spec"
        text = f"spec does not match existing PVC {claim}"
        yield of_webhook(invalid(place, typed(node, wanted), text), (*at, "spec"))
    kept = _text(policy.get("retentionPolicy", {}), "whenDeleted")
    if kept != "Retain":
        where = (*at[:3], "retentionPolicy", "whenDeleted")
        text = "retentionPolicy must be retain when PVC exists"
        yield of_webhook(invalid(dotted(where), kept, text), where, kept)
