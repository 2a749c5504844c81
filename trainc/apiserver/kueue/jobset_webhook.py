"""Kueue's webhooks on JobSets (sigs.k8s.io/kueue pkg/controller/jobframework, main branch of August 2026)."""

from trainc.apiserver.cel.operators import bare
from trainc.apiserver.fault import Fault, invalid, of_webhook
from trainc.apiserver.kueue.topology import topology_faults, unreadable
from trainc.apiserver.names import prefixed_path, subdomain
from trainc.apiserver.profile import Profile
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import Tree
from trainc.text.numbers import has_int_syntax, parsed_int
from trainc.text.object_keys import KUEUE_QUEUE

PRIORITY = "kueue.x-k8s.io/priority-class"
SECONDS = "kueue.x-k8s.io/max-exec-time-seconds"
PREBUILT = "kueue.x-k8s.io/prebuilt-workload-name"  # an annotation, of older versions a label
GATES = "kueue.x-k8s.io/admission-gated-by"
ELASTIC = "kueue.x-k8s.io/elastic-job"
_ORIGIN = Origin(None, "Kueue webhook")
_IMMUTABLE = "field is immutable"


def with_defaults(tree: Tree, profile: Profile) -> Tree:
    """The JobSet as Kueue leaves it: in the default queue and class if there are any, and suspended; or the very same tree."""
    added = {}
    if not _label(tree, KUEUE_QUEUE) and profile.find("LocalQueue", _namespace(tree), "default") is not None:
        added[KUEUE_QUEUE] = Sourced("default", _ORIGIN)
    if not _label(tree, PRIORITY) and profile.find("WorkloadPriorityClass", "", "default") is not None:
        added[PRIORITY] = Sourced("default", _ORIGIN)
    out = tree
    if added:
        metadata = tree.get("metadata", {})
        out = {**tree, "metadata": {**metadata, "labels": {**metadata.get("labels", {}), **added}}}
    spec = out.get("spec", {})
    if (_label(out, KUEUE_QUEUE) or profile.unqueued) and bare(spec.get("suspend")) is not True:
        out = {**out, "spec": {**spec, "suspend": Sourced(True, _ORIGIN)}}
    return out


def _namespace(tree: Tree) -> str:
    return bare(tree.get("metadata", {}).get("namespace")) or "default"


def _entry(tree: Tree, part: str, key: str) -> str | None:
    value = bare(tree.get("metadata", {}).get(part, {}).get(key))
    return value if type(value) is str else None


def _label(tree: Tree, key: str) -> str:
    return _entry(tree, "labels", key) or ""


def _annotation(tree: Tree, key: str) -> str:
    return _entry(tree, "annotations", key) or ""


def _fault(part: str, key: str, value: object, reason: str) -> Fault:
    return of_webhook(invalid(f"metadata.{part}[{key}]", value, reason), ("metadata", part, key), value)


def _forbidden(key: str, reason: str) -> Fault:
    return of_webhook(f"metadata.annotations[{key}]: Forbidden: {reason}", ("metadata", "annotations", key))


def create_faults(tree: Tree) -> list[Fault]:
    broken = unreadable(tree)
    return [*_written(tree), *topology_faults(tree)] if broken is None else [broken]


def _written(tree: Tree) -> list[Fault]:
    """The faults of the JobSet's own labels and annotations."""
    prebuilt = "annotations" if _annotation(tree, PREBUILT) else "labels"
    faults = [*_name(tree, "labels", KUEUE_QUEUE), *_name(tree, prebuilt, PREBUILT)]
    if (seconds := _entry(tree, "labels", SECONDS)) is not None:
        number = parsed_int(seconds)
        if number is None:
            reason = "value out of range" if has_int_syntax(seconds) else "invalid syntax"
            faults.append(_fault("labels", SECONDS, seconds, f'strconv.Atoi: parsing "{seconds}": {reason}'))
        elif number <= 0:
            faults.append(_fault("labels", SECONDS, number, "should be greater than 0"))
    if _annotation(tree, ELASTIC) == "true":
        kind = "jobset.x-k8s.io/v1alpha2, Kind=JobSet"
        faults.append(_forbidden(ELASTIC, f'elastic job is not supported for "{kind}"'))
    return [*faults, *_gates(tree)]


def _name(tree: Tree, part: str, key: str) -> list[Fault]:
    value = _entry(tree, part, key)
    reasons = () if value is None else subdomain(value)
    return [_fault(part, key, value, ",".join(reasons))] if reasons else []


def _listed(value: str) -> list[str]:
    return [part.strip() for part in value.split(",")] if value.strip() else []


def _gates(tree: Tree) -> list[Fault]:
    value = _annotation(tree, GATES)
    faults: list[Fault] = []
    seen: set[str] = set()
    for gate in _listed(value):
        if not gate or gate in seen:
            reason = f"duplicate gate name: {gate}" if gate else "cannot contain empty gate names"
            faults.append(_fault("annotations", GATES, value, reason))
            continue
        seen.add(gate)
        faults += [_fault("annotations", GATES, part, reason) for part, reason in prefixed_path(gate)]
        if len(gate.encode()) > 63:
            text = f"metadata.annotations[{GATES}]: Too long: may not be more than 63 bytes"
            faults.append(of_webhook(text, ("metadata", "annotations", GATES), gate))
    return faults


def update_faults(new: Tree, old: Tree, profile: Profile) -> list[Fault]:
    if (broken := unreadable(new)) is not None:
        return [broken]
    suspended = bare(new.get("spec", {}).get("suspend")) is True
    was_suspended = bare(old.get("spec", {}).get("suspend")) is True
    faults: list[Fault] = []
    queue, former = _label(new, KUEUE_QUEUE), _label(old, KUEUE_QUEUE)
    if queue != former and not suspended:
        faults.append(_fault("labels", KUEUE_QUEUE, queue, _IMMUTABLE))
    if former and not queue and profile.find("LocalQueue", _namespace(old), "default") is not None:
        reason = "queue-name must not be empty in namespace with default queue"
        faults.append(_fault("labels", KUEUE_QUEUE, queue, reason))
    if not suspended:
        name, former = (_annotation(tree, PREBUILT) or _label(tree, PREBUILT) for tree in (new, old))
        part = "annotations" if _annotation(new, PREBUILT) else "labels"
        faults += [] if name == former else [_fault(part, PREBUILT, name, _IMMUTABLE)]
    if _label(new, SECONDS) != _label(old, SECONDS) and not (suspended and was_suspended):
        faults.append(_fault("labels", SECONDS, _label(new, SECONDS), _IMMUTABLE))
    priority, former = _label(new, PRIORITY), _label(old, PRIORITY)
    if priority and not former and not suspended:
        reason = "WorkloadPriorityClass cannot be added to a non-suspended workload"
        faults.append(_fault("labels", PRIORITY, priority, reason))
    elif former and not priority:
        faults.append(_fault("labels", PRIORITY, priority, "WorkloadPriorityClass cannot be removed from a workload"))
    elastic = _annotation(new, ELASTIC) == "true"
    if elastic != (_annotation(old, ELASTIC) == "true"):
        faults.append(_fault("annotations", ELASTIC, elastic, _IMMUTABLE))
    gates = _listed(_annotation(old, GATES))
    if not {*_listed(_annotation(new, GATES))}.issubset(gates):
        reason = "can only remove gates, not add new ones" if gates else "cannot add admission gate after creation"
        faults.append(_forbidden(GATES, reason))
    return [*faults, *_written(new), *topology_faults(new)]
