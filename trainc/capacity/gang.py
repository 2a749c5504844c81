"""Whether the nodes of a dump hold all pods of a job at once, and what keeps them from it."""

from __future__ import annotations

from trainc.capacity.amounts import spelled
from trainc.capacity.filters import AFFINITY, TAINT, static_refusal
from trainc.capacity.jobpods import Run
from trainc.capacity.matching import taint_text, untolerated
from trainc.capacity.packing import fits_at_once, kinds_of, rooms
from trainc.capacity.scheduler import Scheduler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from trainc.capacity.facts import Facts
    from trainc.capacity.jobpods import Role
    from trainc.capacity.pods import Pod
    from trainc.model.tree import Tree

MOST_PLACEMENTS = 200_000  # pods times nodes that are placed one by one where the order may decide
FEW_PLACEMENTS = 2_000  # and where it does not, to say on which nodes
_FIRST_NODES = 10


class Gang:
    """The scheduler's part of an answer.

    `fits` is None where the search gave up. `run` has placed every pod in the scheduler's own order, where the job is
    small enough. `reason` and `change` are empty where everything fits.
    """

    __slots__ = ("change", "fits", "nodes", "reason", "role", "roles", "rooms", "run")

    def __init__(self, run: Run) -> None:
        self.run: Run | None = run
        self.roles = run.roles
        self.role: Role | None = None  # that does not fit
        self.fits: bool | None = True
        self.rooms: dict[str, int] = {}
        self.nodes: list[str] = []  # the first that take any of the pods
        self.reason = ""
        self.change = ""


def gang_of(facts: Facts, jobset: Tree, added: Sequence[Mapping[str, Any]], *, is_idle: bool) -> Gang:
    """Look for a place for all pods of a job; `added` is what a queue adds to each role's pods."""
    run = Run(facts, jobset, added, is_idle=is_idle)
    gang = Gang(run)
    roles = [role for role in run.roles if role.podset.count]
    pods, counts = [role.pod for role in roles], [role.podset.count for role in roles]
    empty = Scheduler(facts.nodes.values(), is_idle=is_idle)
    kinds = kinds_of(pods, empty.places.values())
    found = rooms(pods, kinds)
    gang.rooms = {role.name: room for role, room in zip(roles, found, strict=True)}
    gang.nodes = sorted(name for kind in kinds for name in kind.nodes)[:_FIRST_NODES]
    gang.fits = fits_at_once(pods, counts, kinds)
    depends = any(role.key or role.pod.has_peer_rules for role in roles)
    placements = sum(counts) * max(1, len(run.scheduler.places))
    in_any_order = not depends and _is_roomy(roles, found)
    if placements <= (FEW_PLACEMENTS if in_any_order else MOST_PLACEMENTS):
        run.place()
        if depends and gang.fits is not False:
            gang.fits = True if run.is_placed else None
        elif run.is_placed:
            gang.fits = True
    else:
        gang.run = None
        gang.fits = True if in_any_order and gang.fits else None if depends and gang.fits else gang.fits
    if gang.fits is not True:
        _explain(gang, roles, empty)
    return gang


def _is_roomy(roles: Sequence[Role], found: Sequence[int]) -> bool:
    """Whether every role fits in whatever order and wherever the pods of the others are."""
    for role, room in zip(roles, found, strict=True):
        lost = sum(other.podset.count * _displaced(role, other) for other in roles if other is not role)
        if room - lost < role.podset.count:
            return False
    return True


def _displaced(role: Role, other: Role) -> int:
    """How many pods of one role at most one pod of another takes the place of."""
    mine, theirs = role.pod.asked, other.pod.asked
    return max([1, *(-(-theirs[name] // amount) for name, amount in mine.items() if amount and name in theirs)])


def _explain(gang: Gang, roles: Sequence[Role], empty: Scheduler) -> None:
    for role in roles:
        room = gang.rooms[role.name]
        if room < role.podset.count:
            gang.role = role
            gang.reason = f"{_needs(role)} at once, and the nodes hold {room}"
            gang.change = _change(role, empty)
            return
    if gang.fits is None:
        gang.reason = "each role fits alone, but trainc found no place for all pods at once within its limits"
        return
    gang.role = roles[-1]
    gang.reason = "each role fits alone, but the nodes do not hold all pods at once"
    gang.change = "ask for fewer or smaller pods, or add a node"


def _needs(role: Role) -> str:
    asked = ", ".join(f"{spelled(name, amount)} {name}" for name, amount in sorted(role.pod.asked.items()) if amount)
    count = role.podset.count
    return f"`{role.name}` needs {count} {'pod' if count == 1 else 'pods'} with {asked or 'no requests'}"


def _change(role: Role, empty: Scheduler) -> str:
    """The smallest change that makes room for one role: a toleration, a label less, or fewer pods."""
    pod, count = role.pod, role.podset.count
    options: list[str] = []
    for taint in _repelling(pod, empty):
        more = pod.like(pod.name, tolerations=[*pod.tolerations, {**taint, "operator": "Equal"}])
        if _room(more, empty) >= count:
            options.append(f"tolerate `{taint_text(taint)}`")
    if any(static_refusal(pod, place.node) == AFFINITY for place in empty.places.values()):
        selector = pod.spec.get("nodeSelector") or {}
        for key in sorted(selector):
            fewer = {name: wanted for name, wanted in selector.items() if name != key}
            if _room(pod.like(pod.name, nodeSelector=fewer), empty) >= count:
                options.append(f"drop the node selector `{key}: {selector[key]}`")
    room = _room(pod, empty)
    if 0 < room < count:
        options.append(f"ask for {room} pods instead of {count}")
    if not options and room == 0:
        return _too_large(pod, empty)
    return ", or ".join(options) or "add nodes"


def _room(pod: Pod, empty: Scheduler) -> int:
    return rooms([pod], kinds_of([pod], empty.places.values()))[0]


def _repelling(pod: Pod, empty: Scheduler) -> list[Mapping[str, Any]]:
    """The taints that keep a pod off nodes, each once."""
    found: dict[str, Mapping[str, Any]] = {}
    for place in empty.places.values():
        if static_refusal(pod, place.node) == TAINT:
            taint = untolerated(place.node.taints, pod.tolerations)
            if taint is not None:
                kept = {key: taint[key] for key in ("key", "value", "effect") if taint.get(key)}
                found.setdefault(taint_text(taint), kept)
    return list(found.values())


def _too_large(pod: Pod, empty: Scheduler) -> str:
    """What to do about a pod that no node can hold."""
    nodes = [place.node for place in empty.places.values() if not static_refusal(pod, place.node)]
    if not nodes:
        return "add nodes that the pods tolerate and select"
    for name, amount in sorted(pod.asked.items()):
        most = max(node.allocatable.get(name, 0) for node in nodes)
        if amount > most:
            return f"ask for at most {spelled(name, most)} {name} in one pod: no node has more"
    return "add nodes, or wait until others are free"
