"""Volcano's admission of a new PodGroup (volcano.sh/volcano pkg/webhooks/admission/podgroups, 1.15)."""

from trainc.apiserver.cel.operators import bare
from trainc.apiserver.fault import Fault, of_webhook
from trainc.apiserver.profile import Profile
from trainc.model.tree import Path, Tree

_BOTH = "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously."


def create_faults(tree: Tree, profile: Profile) -> list[Fault]:
    """What the webhook has against a new PodGroup, one complaint each of its queue and of its topologies."""
    spec = tree.get("spec")
    return [*_queue(bare(spec.get("queue")), profile), *_topologies(spec)] if type(spec) is dict else []


def _queue(name: object, profile: Profile) -> list[Fault]:
    """A queue is looked up only where queues are known; one that Volcano has not seen yet has no state."""
    path: Path = ("spec", "queue")
    if type(name) is not str or not name or "Queue" not in profile.state:
        return []
    queue = profile.find("Queue", "", name)
    if queue is None:
        text = f'unable to find queue: queue.scheduling.volcano.sh "{name}" not found'
        return [of_webhook(text, path, name)]
    status = queue.get("status")
    state = bare(status.get("state")) or "" if type(status) is dict else "Open"
    if state == "Open":
        return []
    text = f"can only submit PodGroup to queue with state `Open`, queue `{name}` status is `{state}`."
    return [of_webhook(text, path, name)]


def _topologies(spec: Tree) -> list[Fault]:
    """Of the parts of a group only the first that says too much is named."""
    topologies: list[tuple[str, Path]] = [("", ("spec",))] if _says_both(spec) else []
    for index, group in enumerate(spec.get("subGroupPolicy", ())):
        if _says_both(group):
            where = f"in subGroupPolicy '{bare(group.get('name')) or ''}': "
            topologies.append((where, ("spec", "subGroupPolicy", index)))
            break
    if not topologies:
        return []
    text = " ".join(where + _BOTH for where, _ in topologies)
    return [of_webhook(text, (*topologies[0][1], "networkTopology", "highestTierName"))]


def _says_both(holder: Tree) -> bool:
    topology = holder.get("networkTopology")
    return type(topology) is dict and "highestTierAllowed" in topology and bool(bare(topology.get("highestTierName")))
