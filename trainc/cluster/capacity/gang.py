"""Whether the nodes of a dump hold all pods of a job at once, and what keeps them from it.

The search is exact for equal pods, and bounded for mixed ones.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from trainc.cluster.capacity.amounts import Units, pods_in, spelled, taint_text, untolerated
from trainc.cluster.capacity.facts import ClusterFacts
from trainc.cluster.capacity.jobpods import Added, JobPlacement, RolePods, stages_of
from trainc.cluster.capacity.nodes import HOSTNAME, NodeClass
from trainc.cluster.capacity.pods import PendingPod, unknown_of_pod
from trainc.cluster.capacity.scheduler import AFFINITY, TAINT, may_run, static_refusal
from trainc.model.tree import Tree
from trainc.text.counting import counted

MOST_PLACEMENTS = 200_000  # pods times nodes that are placed one by one where the order may decide
FEW_PLACEMENTS = 500  # and where it does not, to say on which nodes
_FIRST_NODES = 10
# Jobs are created at the same time, and the scheduler tries a pod without a place again: these orders stand for all.
_ORDERS: tuple[Callable[[RolePods], int], ...] = (lambda role: not role.key, lambda role: -role.index)
MOST_STEPS = 20_000  # of the search for a packing of mixed pods; beyond it there is no answer
Counts = tuple[int, ...]


class GangPlacement:
    """The scheduler's part of an answer.

    `fits` is None where the search gave up. `run` has placed every pod in the scheduler's own order, where the job is
    small enough. `is_certain` where the scheduler finds the places, in whatever order it goes. `reason` and `change` are
    empty where everything fits.
    """

    def __init__(self, run: JobPlacement, *, is_idle: bool) -> None:
        self.run: JobPlacement | None = run
        self.is_idle = is_idle
        self.roles = run.roles
        self.role: RolePods | None = None  # that does not fit
        self.fits: bool | None = True
        self.is_certain = False
        self.rooms: dict[str, int] = {}
        self.nodes: list[str] = []  # the first that take any of the pods
        self.reason = ""
        self.change = ""


@dataclass(eq=False)
class GangOptions:
    """How a job is asked about: on an idle cluster or not, and whether somebody wants names of nodes.

    Without `names_nodes`, pods of small jobs are not placed where it is plain that they all get a node. What other jobs
    hold meanwhile is in no dump: `queues` and `pods`.
    """

    is_idle: bool
    names_nodes: bool
    queues: dict[str, Units] = field(default_factory=dict)  # what groups hold of Volcano's queues
    pods: list[tuple[PendingPod, str]] = field(default_factory=list)
    are_known: bool = True  # False once a job got places that nobody can name


def gang_of(facts: ClusterFacts, jobset: Tree, added: Mapping[str, Added], options: GangOptions) -> GangPlacement:
    """Look for a place for all pods of a job; `added` is what a queue adds to the pods of its roles, by name.

    Roles that never run at the same time need not fit at the same time.
    """
    stages, are_strict = stages_of(jobset)
    whole = _gang_of(facts, jobset, added, options, None)
    if len(stages) == 1 or (whole.fits is True and whole.is_certain):
        return whole
    parts = [_gang_of(facts, jobset, added, options, names) for names in stages]
    failing = next((part for part in parts if not (part.fits and part.is_certain)), None)
    if failing is not None:
        return failing
    whole.run = whole.role = None
    whole.roles = max(parts, key=lambda part: sum(role.podset.count for role in part.roles)).roles
    whole.fits, whole.is_certain = (True, True) if are_strict else (None, False)
    whole.reason = "" if are_strict else "roles that may run at the same time do not fit at once"
    whole.change = ""
    return whole


def _gang_of(
    facts: ClusterFacts, jobset: Tree, added: Mapping[str, Added], options: GangOptions, only: frozenset[str] | None
) -> GangPlacement:
    is_idle = options.is_idle
    placement = partial(JobPlacement, facts, jobset, added, is_idle=is_idle, only=only, bound=options.pods)
    run = placement()
    gang = GangPlacement(run, is_idle=is_idle)
    roles = [role for role in run.roles if role.podset.count]
    parts = [(role, pod, count) for role in roles for pod, count in role.parts()]
    pods, counts = [pod for _, pod, _ in parts], [count for _, _, count in parts]
    classes = facts.node_classes(is_idle=is_idle)
    kinds = kinds_of(pods, classes)
    free_slots = rooms(pods, kinds)
    for (role, _, count), room in zip(parts, free_slots, strict=True):
        most = min(room, count) if role.shares else room
        gang.rooms[role.name] = gang.rooms.get(role.name, 0) + most
    gang.nodes = sorted(name for kind in kinds for name in kind.nodes[:_FIRST_NODES])[:_FIRST_NODES]
    gang.fits = fits_at_once(pods, counts, kinds)
    in_any_order = _is_roomy(parts, free_slots)
    _run(gang, roles, len(facts.nodes), in_any_order=in_any_order, names_nodes=options.names_nodes)
    if gang.fits is None and gang.run is not None:
        if crowded := _too_few_domains(roles, classes):
            gang.fits, gang.role, gang.reason, gang.change = False, next(r for r in roles if r.key), *crowded
            return gang
        for order in _ORDERS:
            run = placement()
            run.place(order)
            if run.is_placed:
                gang.run, gang.roles, gang.fits, gang.is_certain = run, run.roles, True, True
                break
    unsure = _unsure(roles, classes, facts)
    if gang.fits is True and (unsure or not options.are_known):
        gang.fits, gang.reason = None, unsure or "the nodes of the jobs before it are unknown"
    if gang.fits is not True and not gang.reason:
        _explain(gang, roles, classes, facts)
    return gang


def _run(gang: GangPlacement, roles: Sequence[RolePods], nodes: int, *, in_any_order: bool, names_nodes: bool) -> None:
    """Place the pods one by one where there are not too many, and let that decide where the order may matter."""
    if (run := gang.run) is None:
        return
    depends = any(role.key or role.pod.has_peer_rules for role in roles)
    in_any_order = in_any_order and not depends
    decides = depends or (gang.fits is not False and not in_any_order)
    placements = sum(role.podset.count for role in roles) * max(1, nodes)
    if placements <= (MOST_PLACEMENTS if decides else FEW_PLACEMENTS) and (names_nodes or decides):
        run.place()
        if depends and gang.fits is not False:
            gang.fits = True if run.is_placed else None
        elif run.is_placed and not any(role.pod.spec.get("nodeName") for role in roles):
            gang.fits = True
        gang.is_certain = run.is_placed
        return
    gang.run, gang.is_certain = None, in_any_order
    if gang.fits and depends:
        gang.fits = None


def _too_few_domains(roles: Sequence[RolePods], classes: Iterable[NodeClass]) -> tuple[str, str] | None:
    """Why Jobs with a domain each and the pods of other roles, which no such Job has beside it, never fit, and what to do."""
    alone = [role for role in roles if role.key]
    others = [role for role in roles if not role.key]
    keys = {role.key for role in alone}
    # Pods of another priority may stand beside them.
    priorities = {role.pod.spec.get("priorityClassName") for role in roles}
    if len(keys) != 1 or len(priorities) != 1:
        return None
    key, domains = keys.pop(), set[str]()
    for alike in classes:
        domain = alike.model.labels.get(key)
        if domain is None and any(_room(role.pod, [alike]) for role in others):
            return None  # a node outside all domains
        if domain is not None:
            domains.add(domain)
    jobs = sum(role.podset.replicas for role in alone)
    wanted = jobs + bool(others)
    if key == HOSTNAME or wanted <= len(domains):
        return None
    beside = f", and the pods of `{others[0].name}` cannot share one" if others else ""
    reason = f"{jobs} Jobs of `{alone[0].name}` need a `{key}` each{beside}: {wanted} are needed, and the nodes have {len(domains)}"
    return reason, f"add nodes with another `{key}`, or request {len(domains) - bool(others)} Jobs"


def _unsure(roles: Sequence[RolePods], classes: Iterable[NodeClass], facts: ClusterFacts) -> str:
    """What keeps anybody from saying that the pods get a place although there is room; empty for nothing."""
    for role in roles:
        if role.pod.spec.get("schedulingGates"):
            return f"pods of `{role.name}` wait until a controller removes their scheduling gates"
        if role.is_scripted:
            return f"a script labels the nodes of each Job of `{role.name}`, and the dump does not show which nodes"
        if unknown := unknown_of_pod(facts, role.tree):
            return unknown
        if not role.key:
            continue
        # Where the first pod of an exclusive Job may land although the rest of the Job has no room there.
        rooms_of: Counter[str] = Counter()
        for alike in classes:
            for node, names in alike.nodes(by_name=role.key == HOSTNAME or role.pod.knows_names):
                room = pods_in(alike.free, role.pod.requests)[0] if may_run(role.pod, node) else 0
                if room and (domain := node.labels.get(role.key)) is not None:
                    rooms_of[domain] += room * len(names)
        small = next((one for one in sorted(rooms_of.items()) if one[1] < role.per_job), None)
        if small is not None:
            where = f"{role.key} `{small[0]}`, which holds {small[1]} of its {role.per_job} pods"
            return f"the first pod of a Job of `{role.name}` may land in {where}"
    return ""


def _is_roomy(parts: Sequence[tuple[RolePods, PendingPod, int]], free_slots: Sequence[int]) -> bool:
    """Whether every kind of pods fits in whatever order and wherever the pods of the others are."""

    def displaced(pod: PendingPod, other: PendingPod) -> int:
        """How many pods of one kind at most one pod of another takes the place of."""
        return max(
            -(-other.requests[name] // amount)
            for name, amount in pod.requests.items()
            if amount and name in other.requests
        )

    return all(
        room - sum(others * displaced(pod, other) for at, (_, other, others) in enumerate(parts) if at != index)
        >= count
        for index, ((_, pod, count), room) in enumerate(zip(parts, free_slots, strict=True))
    )


def _explain(gang: GangPlacement, roles: Sequence[RolePods], classes: Iterable[NodeClass], facts: ClusterFacts) -> None:
    for role in roles:
        room, count = gang.rooms[role.name], role.podset.count
        if room >= count:
            continue
        gang.role = role
        if (node_name := role.pod.spec.get("nodeName")) and node_name not in facts.nodes:
            gang.reason = f"pods of `{role.name}` name node `{node_name}`, which is not in the dump"
            gang.change = "remove `nodeName`, or name a node of the cluster"
            return
        requests = [(name, amount) for name, amount in sorted(role.pod.requests.items()) if amount and name != "pods"]
        needs = ", ".join(f"{spelled(name, amount)} {name}" for name, amount in requests) or "no requests"
        gang.reason = f"`{role.name}` needs {counted(count, 'pod')} with {needs} at once, and the nodes hold {room}"
        gang.change = _change(role, classes)
        return
    if gang.fits is None:
        gang.reason = (
            "each role fits alone, and trainc found no place for all pods at once within its limits"
            if gang.run is None or not any(role.pending for role in roles)
            else "placed one by one as the scheduler does, in every order of the roles, some pods find no node"
        )
        return
    gang.role = roles[-1]
    gang.reason = "each role fits alone, but the nodes do not hold all pods at once"
    gang.change = "request fewer or smaller pods, or add a node"


def _change(role: RolePods, classes: Iterable[NodeClass]) -> str:
    """The smallest change that makes room for one role: a toleration, a label less, or fewer pods."""
    pod, count = role.pod, role.podset.count
    options: list[str] = []
    repelling: dict[str, Mapping[str, Any]] = {}
    for alike in classes:
        if static_refusal(pod, alike.model) == TAINT:
            taint = untolerated(alike.model.taints, pod.tolerations)
            # No pod should tolerate that a node is not ready, or short of something.
            if taint is not None and not str(taint.get("key")).startswith("node.kubernetes.io/"):
                repelling.setdefault(
                    taint_text(taint), {k: taint[k] for k in ("key", "value", "effect") if taint.get(k)}
                )
    for words, taint in repelling.items():
        more = pod.like(pod.name, tolerations=[*pod.tolerations, {**taint, "operator": "Equal"}])
        if _room(more, classes) >= count:
            options.append(f"tolerate `{words}`")
    if any(static_refusal(pod, alike.model) == AFFINITY for alike in classes):
        selector = pod.spec.get("nodeSelector") or {}
        for key in sorted(selector):
            fewer = {name: wanted for name, wanted in selector.items() if name != key}
            if _room(pod.like(pod.name, nodeSelector=fewer), classes) >= count:
                options.append(f"remove the node selector `{key}: {selector[key]}`")
    room = _room(pod, classes)
    if 0 < room < count:
        options.append(f"request {room} pods instead of {count}")
    if not options and room == 0:
        nodes = [alike.model for alike in classes if not static_refusal(pod, alike.model)]
        if not nodes:
            return "add nodes that the pods tolerate and select"
        for name, amount in sorted(pod.requests.items()):
            most = max(node.allocatable.get(name, 0) for node in nodes)
            if amount > most and name != "pods":
                return f"request at most {spelled(name, most)} {name} in one pod: no node has more"
        return "add nodes, or wait until others are free"
    return ", or ".join(options) or "add nodes"


def _room(pod: PendingPod, classes: Iterable[NodeClass]) -> int:
    return rooms([pod], kinds_of([pod], classes))[0]


@dataclass(eq=False, slots=True)
class NodeKind:
    """Nodes that are alike for the pods in question: what is free on each, and how many of each kind it takes alone."""

    free: Units
    most: Counts
    nodes: list[str] = field(default_factory=list)

    def holds(self, pods: Sequence[PendingPod], counts: Counts) -> bool:
        """Whether one node holds so many of each kind of pods at once."""
        total: Units = {}
        for pod, count in zip(pods, counts, strict=True):
            for name, amount in pod.requests.items():
                total[name] = total.get(name, 0) + amount * count
        return all(amount <= self.free.get(name, 0) for name, amount in total.items() if amount > 0)


def kinds_of(pods: Sequence[PendingPod], classes: Iterable[NodeClass]) -> list[NodeKind]:
    """The nodes that take any of the pods, alike ones together; also those that have nothing free."""
    by_key: dict[object, NodeKind] = {}
    by_name = any(pod.knows_names for pod in pods)
    for alike in classes:
        for node, names in alike.nodes(by_name=by_name):
            takes = [may_run(pod, node) for pod in pods]
            if any(takes):
                most = [pods_in(alike.free, pod.requests)[0] * take for pod, take in zip(pods, takes, strict=True)]
                key = (*sorted(alike.free.items()), *takes)
                by_key.setdefault(key, NodeKind(alike.free, tuple(most))).nodes.extend(names)
    return list(by_key.values())


def rooms(pods: Sequence[PendingPod], kinds: Iterable[NodeKind]) -> list[int]:
    """How many pods of each kind fit where nothing else of the job runs."""
    return [sum(kind.most[index] * len(kind.nodes) for kind in kinds) for index in range(len(pods))]


def fits_at_once(pods: Sequence[PendingPod], counts: Sequence[int], kinds: Sequence[NodeKind]) -> bool | None:
    """Whether all pods have a place at the same time; None where the search gave up.

    Rules between pods (affinity, spreading, ports) are not looked at: then True means "as far as resources go".
    """
    wanted = [index for index, count in enumerate(counts) if count > 0]
    pods, left = [pods[index] for index in wanted], tuple([counts[index] for index in wanted])
    narrowed = [NodeKind(kind.free, tuple([kind.most[index] for index in wanted]), kind.nodes) for kind in kinds]
    if any(room < count for room, count in zip(rooms(pods, narrowed), left, strict=True)):
        return False
    return True if len(pods) < 2 else _Search(pods, narrowed).run(left)


class _Search:
    """A search over what each node gets; nodes of one kind get less and less, and every node is filled up."""

    def __init__(self, pods: Sequence[PendingPod], kinds: Sequence[NodeKind]) -> None:
        self.pods = pods
        self.nodes = [kind for kind in kinds for _ in kind.nodes]
        self.steps = 0
        self.failed: set[tuple[int, Counts, Counts | None]] = set()

    def run(self, left: Counts) -> bool | None:
        """Whether the pods fit; None after too many steps."""
        if len(self.nodes) > MOST_STEPS:
            return None
        todo: list[tuple[int, Counts, Counts | None]] = [(0, left, None)]
        while todo:
            at, left, before = todo.pop()
            if not any(left):
                return True
            state = (at, left, before)
            if at == len(self.nodes) or state in self.failed:
                continue
            self.failed.add(state)
            self.steps += 1
            if self.steps > MOST_STEPS:
                return None
            kind = self.nodes[at]
            same = at + 1 < len(self.nodes) and self.nodes[at + 1] is kind
            for share in self._shares(kind, left):
                if before is None or share <= before:
                    rest = tuple([have - given for have, given in zip(left, share, strict=True)])
                    todo.append((at + 1, rest, share if same else None))
        return False

    def _shares(self, kind: NodeKind, left: Counts) -> list[Counts]:
        """What one node may get: every combination to which no further pod can be added; the largest last."""
        shares: list[Counts] = []

        def extend(share: list[int], index: int) -> None:
            self.steps += 1
            if self.steps > MOST_STEPS:
                return
            if index == len(self.pods):
                if not any(
                    taken < min(left[at], kind.most[at])
                    and kind.holds(self.pods, (*share[:at], taken + 1, *share[at + 1 :]))
                    for at, taken in enumerate(share)
                ):
                    shares.append(tuple(share))
                return
            for count in range(min(left[index], kind.most[index]) + 1):
                share[index] = count
                if not kind.holds(self.pods, tuple(share)):
                    break
                extend(share, index + 1)
            share[index] = 0

        extend([0] * len(self.pods), 0)
        return shares
