"""Kueue's webhooks on JobSets (sigs.k8s.io/kueue pkg/controller/jobframework, August 2026)."""

from __future__ import annotations

from trainc.model.sourced import Origin, Sourced
from trainc.schema.celrun import bare
from trainc.schema.fault import Fault, invalid, of_webhook
from trainc.schema.kueue_topology import topology_faults
from trainc.schema.names import prefixed_path, subdomain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Path, Tree
    from trainc.schema.profile import Profile

QUEUE = "kueue.x-k8s.io/queue-name"
PRIORITY = "kueue.x-k8s.io/priority-class"
SECONDS = "kueue.x-k8s.io/max-exec-time-seconds"
PREBUILT = "kueue.x-k8s.io/prebuilt-workload-name"
GATES = "kueue.x-k8s.io/admission-gated-by"
_ORIGIN = Origin(None, "Kueue webhook")


def with_defaults(tree: Tree, profile: Profile) -> Tree:
    """The JobSet as Kueue leaves it: in the default queue if there is one, and suspended; or the very same tree."""
    metadata = tree.get("metadata", {})
    out = tree
    if QUEUE not in metadata.get("labels", {}) and profile.find("LocalQueue", _namespace(tree), "default") is not None:
        labels = {**metadata.get("labels", {}), QUEUE: Sourced("default", _ORIGIN)}
        out = {**tree, "metadata": {**metadata, "labels": labels}}
    spec = out.get("spec", {})
    if (_label(out, QUEUE) or profile.unqueued) and bare(spec.get("suspend")) is not True:
        out = {**out, "spec": {**spec, "suspend": Sourced(True, _ORIGIN)}}
    return out


def _namespace(tree: Tree) -> str:
    return bare(tree.get("metadata", {}).get("namespace")) or "default"


def _entry(tree: Tree, part: str, key: str) -> str | None:
    found = tree.get("metadata", {}).get(part, {}).get(key)
    value = bare(found)
    return value if type(value) is str else None


def _label(tree: Tree, key: str) -> str:
    return _entry(tree, "labels", key) or ""


def _fault(part: str, key: str, value: object, reason: str) -> Fault:
    return of_webhook(invalid(f"metadata.{part}[{key}]", value, reason), ("metadata", part, key), value)


def create_faults(tree: Tree) -> list[Fault]:
    """What Kueue has against a new JobSet."""
    faults: list[Fault] = []
    for part, key in (("labels", QUEUE), ("labels", PREBUILT), ("annotations", PREBUILT)):
        value = _entry(tree, part, key)
        if value is not None:
            faults += [_fault(part, key, value, reason) for reason in subdomain(value)]
    return [*faults, *_seconds(tree), *_gates(tree), *topology_faults(tree)]


def _seconds(tree: Tree) -> list[Fault]:
    value = _entry(tree, "labels", SECONDS)
    if value is None:
        return []
    digits = value[1:] if value[:1] in ("+", "-") else value
    if not (digits.isascii() and digits.isdigit()):
        return [_fault("labels", SECONDS, value, f'strconv.Atoi: parsing "{value}": invalid syntax')]
    return [_fault("labels", SECONDS, int(value), "should be greater than 0")] if int(value) <= 0 else []


def _gates(tree: Tree) -> list[Fault]:
    value = _entry(tree, "annotations", GATES)
    faults: list[Fault] = []
    for gate in (value or "").split(",") if value else ():
        faults += [_fault("annotations", GATES, part, reason) for part, reason in prefixed_path(gate.strip())]
        if len(gate.strip()) > 63:
            text = f"metadata.annotations[{GATES}]: Too long: may not be more than 63 bytes"
            faults.append(of_webhook(text, ("metadata", "annotations", GATES), gate))
    return faults


def update_faults(new: Tree, old: Tree, profile: Profile) -> list[Fault]:
    """What Kueue has against a change of a JobSet."""
    suspended = bare(new.get("spec", {}).get("suspend")) is True
    was_suspended = bare(old.get("spec", {}).get("suspend")) is True
    faults = create_faults(new)
    queue, former = _label(new, QUEUE), _label(old, QUEUE)
    if queue != former and not suspended:
        faults.append(_fault("labels", QUEUE, queue, "field is immutable"))
    elif former and not queue and profile.find("LocalQueue", _namespace(new), "default") is not None:
        faults.append(_fault("labels", QUEUE, queue, "queue-name must not be empty in namespace with default queue"))
    if _label(new, SECONDS) != _label(old, SECONDS) and not (suspended and was_suspended):
        faults.append(_fault("labels", SECONDS, _label(new, SECONDS), "field is immutable"))
    priority, former = _label(new, PRIORITY), _label(old, PRIORITY)
    if priority and not former and not suspended:
        faults.append(
            _fault("labels", PRIORITY, priority, "WorkloadPriorityClass cannot be added to a non-suspended workload")
        )
    elif former and not priority:
        faults.append(_fault("labels", PRIORITY, priority, "WorkloadPriorityClass cannot be removed from a workload"))
    return [*faults, *_gate_changes(_gate_names(new), _gate_names(old))]


def _gate_names(tree: Tree) -> frozenset[str]:
    value = _entry(tree, "annotations", GATES)
    return frozenset(gate.strip() for gate in value.split(",")) if value else frozenset()


def _gate_changes(new: frozenset[str], old: frozenset[str]) -> list[Fault]:
    if new <= old:
        return []
    reason = "can only remove gates, not add new ones" if old else "cannot add admission gate after creation"
    path: Path = ("metadata", "annotations", GATES)
    return [of_webhook(f"metadata.annotations[{GATES}]: Forbidden: {reason}", path)]
