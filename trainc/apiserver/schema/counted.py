"""Which faults of a schema count for a server, and for the webhooks and controllers behind it."""

from __future__ import annotations

from trainc.apiserver.schema.log import Log
from trainc.apiserver.schema.walker import walk
from trainc.apiserver.versions import REFUSES_NEGATIVE_REPLICAS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.apiserver.fault import Fault
    from trainc.apiserver.profile import Profile
    from trainc.apiserver.schema.node import SchemaNode
    from trainc.model.tree import Tree


def counted(faults: list[Fault], profile: Profile, *, whole: bool) -> list[Fault]:
    """The faults that this server knows: a status of its own is not looked at, JobSet 0.12 takes negative replicas."""
    if not faults:
        return faults
    kept = faults if whole else [fault for fault in faults if fault.path[:1] != ("status",)]
    if profile.jobset_does(REFUSES_NEGATIVE_REPLICAS):
        return kept
    return [fault for fault in kept if not _is_replicas_minimum(fault)]


def _is_replicas_minimum(fault: Fault) -> bool:
    jobs = fault.path[:2] == ("spec", "replicatedJobs") and len(fault.path) == 4
    return jobs and fault.path[3] == "replicas" and "greater than or equal to" in fault.message


def untyped(typed: SchemaNode, stored: Tree) -> list[Fault]:
    """What keeps webhooks and controllers from reading an object that a cluster's own definition lets through."""
    log = Log()
    walk(typed, stored, log)
    return [fault for fault in log.schema if "must be of type" in fault.message or "Required value" in fault.message]
