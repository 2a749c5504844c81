"""Whether a ClusterQueue takes any job: what it refers to exists, and nothing stops it."""

from __future__ import annotations

from trainc.cluster.capacity.cluster import PROVISIONING
from trainc.model.tree import get, value
from trainc.text.object_keys import MULTIKUEUE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.cluster.capacity.cluster import Snapshot
    from trainc.cluster.capacity.queues import ClusterQueue
    from trainc.model.tree import Tree


def inactive_reason(snapshot: Snapshot, queue: ClusterQueue) -> tuple[str, str]:
    """Why a queue is inactive, and what the dump would have to tell to say so; both empty for an active queue."""
    if queue.is_stopped:
        return "is stopped", ""
    if queue.name in snapshot.pools.cyclic:
        return "is in a cycle of cohorts", ""
    for reasons in (_missing_flavors, _checks, _topologies):
        reason, unknown = reasons(snapshot, queue)
        if reason or unknown:
            return reason, unknown
    return "", ""


def _flavors(queue: ClusterQueue) -> list[str]:
    return list(dict.fromkeys(name for group in queue.groups for name in group.flavors))


def _missing_flavors(snapshot: Snapshot, queue: ClusterQueue) -> tuple[str, str]:
    missing = [name for name in _flavors(queue) if name not in snapshot.facts.flavors]
    if missing and not snapshot.facts.is_listed("ResourceFlavor"):
        return "", f"ResourceFlavor {_listed(missing)} of ClusterQueue {queue.name} is not in the dump"
    return (f"references missing ResourceFlavor(s): {','.join(missing)}" if missing else ""), ""


def _checks(snapshot: Snapshot, queue: ClusterQueue) -> tuple[str, str]:
    facts = snapshot.facts
    missing = sorted(check for check in queue.checks if facts.find("AdmissionCheck", check) is None)
    if missing and not facts.is_listed("AdmissionCheck"):
        return "", f"AdmissionCheck {_listed(missing)} of ClusterQueue {queue.name} is not in the dump"
    if missing:
        return f"references missing AdmissionCheck(s): {','.join(missing)}", ""
    silent = sorted(check for check in queue.checks if not _conditions(snapshot, check))
    if silent and not facts.closed:
        return "", f"AdmissionCheck {_listed(silent)} of ClusterQueue {queue.name} has no conditions in the dump"
    inactive = sorted(check for check in queue.checks if not _is_active(snapshot, check))
    if inactive:
        return f"references inactive AdmissionCheck(s): {','.join(inactive)}", ""
    remote = snapshot.checks_of(queue, MULTIKUEUE)
    if len(remote) > 1:
        return f"uses several MultiKueue AdmissionChecks: {','.join(remote)}", ""
    everywhere = frozenset(_flavors(queue))
    partial = [check for check in remote if queue.checks[check] and queue.checks[check] != everywhere]
    if partial:
        return f"uses a MultiKueue AdmissionCheck for some flavors only: {','.join(partial)}", ""
    if remote and snapshot.checks_of(queue, PROVISIONING):
        return "uses both MultiKueue and ProvisioningRequest AdmissionChecks", ""
    return "", ""


def _is_active(snapshot: Snapshot, check: str) -> bool:
    return any(
        value(one, "type") == "Active" and value(one, "status") == "True" for one in _conditions(snapshot, check)
    )


def _conditions(snapshot: Snapshot, check: str) -> list[Tree]:
    conditions = get(snapshot.facts.find("AdmissionCheck", check), "status", "conditions")
    return conditions if type(conditions) is list else []


def _topologies(snapshot: Snapshot, queue: ClusterQueue) -> tuple[str, str]:
    """Flavors whose topology is missing; with MultiKueue that is the business of the worker clusters."""
    facts, is_remote = snapshot.facts, bool(snapshot.checks_of(queue, MULTIKUEUE))
    for name in _flavors(queue):
        topology = facts.flavors[name].topology
        if topology and facts.levels(topology) is None:
            if not facts.is_listed("Topology"):
                return "", f"Topology {topology} of flavor {name} is not in the dump"
            if not is_remote:
                return f'there is no Topology "{topology}" for TAS flavor "{name}"', ""
        if topology and not facts.has_nodes and not is_remote:
            return "", f"no Node is in the dump, and flavor {name} places pods by topology"
    return "", ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
