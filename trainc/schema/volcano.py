"""Volcano's admission of a new PodGroup (volcano.sh/volcano pkg/webhooks/admission/podgroups, 1.15)."""

from __future__ import annotations

from trainc.schema.celrun import bare
from trainc.schema.fault import Fault, of_webhook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Path, Tree
    from trainc.schema.profile import Profile

_BOTH = "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously."


def create_faults(tree: Tree, profile: Profile) -> list[Fault]:
    """What the webhook has against a new PodGroup; a queue is looked up only where queues are known."""
    spec = tree.get("spec")
    if type(spec) is not dict:
        return []
    faults = [*_queue(bare(spec.get("queue")), profile), *_tiers(spec, ("spec",), "")]
    for index, group in enumerate(spec.get("subGroupPolicy", ())):
        name = bare(group.get("name"))
        faults += _tiers(group, ("spec", "subGroupPolicy", index), f"in subGroupPolicy '{name or ''}': ")
    return faults


def _queue(name: object, profile: Profile) -> list[Fault]:
    path: Path = ("spec", "queue")
    if type(name) is not str or not name or "Queue" not in profile.state:
        return []
    queue = profile.find("Queue", "", name)
    if queue is None:
        text = f'unable to find queue: queues.scheduling.volcano.sh "{name}" not found'
        return [of_webhook(text, path, name)]
    status = queue.get("status")
    state = bare(status.get("state")) if type(status) is dict else None
    if state in (None, "Open"):
        return []
    text = f"can only submit PodGroup to queue with state `Open`, queue `{name}` status is `{state}`."
    return [of_webhook(text, path, name)]


def _tiers(holder: Tree, path: Path, where: str) -> list[Fault]:
    topology = holder.get("networkTopology")
    if type(topology) is dict and "highestTierAllowed" in topology and "highestTierName" in topology:
        return [of_webhook(where + _BOTH, (*path, "networkTopology", "highestTierName"))]
    return []
