"""Rules about queues and priorities: that they exist, that Kueue reads them, and that only one decides when a job starts."""

from collections.abc import Iterator

from trainc.apiserver.kueue.jobset_webhook import SECONDS
from trainc.apiserver.names import NAME_HELP, subdomain
from trainc.lint.facts.placement import KUEUE_UNREAD, MISPLACED_QUEUE, Group, Placement
from trainc.model.finding import ERROR, WARNING, Finding, Label, Rule
from trainc.model.sourced import Sourced, Span, is_written
from trainc.model.tree import Tree, get, value
from trainc.schedulers.gang import (
    KUEUE,
    KUEUE_PRIORITY,
    PODSET,
    PODSET_GROUP,
    PODSET_PREFERRED,
    PODSET_REQUIRED,
    PODSET_SLICE,
    PODSET_SLICES,
    PODSET_UNCONSTRAINED,
)
from trainc.schedulers.volcano import SYSTEM_CLASSES
from trainc.text.numbers import parsed_int
from trainc.text.object_keys import KUEUE_QUEUE, VOLCANO_QUEUE
from trainc.text.placeholders import is_placeholder
from trainc.text.spelling import meant, nearest

NO_QUEUE = Rule("kueue-queue", WARNING)
_MOST_NAMESPACES = 3  # named in one finding
UNKNOWN_QUEUE = Rule("unknown-queue", ERROR)
UNKNOWN_PRIORITY = Rule("unknown-priority-class", ERROR)
VOLCANO_QUEUES = Rule("volcano-queue", WARNING)
KUEUE_AND_VOLCANO = Rule("kueue-with-volcano", ERROR)
SUSPENDED = Rule("suspend-with-queue", WARNING)
# What people write for Kueue: where it reads each key in a JobSet.
_OF_JOBSET, _OF_PODS = ("jobset", "labels"), ("pod", "annotations")
_READ_AT = {
    **dict.fromkeys((KUEUE_PRIORITY, SECONDS), _OF_JOBSET),
    **dict.fromkeys((PODSET_GROUP, PODSET_PREFERRED, PODSET_REQUIRED, PODSET_SLICE, PODSET_SLICES), _OF_PODS),
    **dict.fromkeys((f"{PODSET}slice-size", PODSET_UNCONSTRAINED), _OF_PODS),
}
_SECTIONS = {
    _OF_JOBSET: "a label of the JobSet, or of the TrainJob if there is one",
    _OF_PODS: "an annotation of the pods",
}
_NAME = KUEUE_QUEUE.removeprefix(KUEUE)
_MEANT = frozenset(("queue", "queue-names", "queues", "local-queue", "local-queue-name", "localqueue", "queuename"))
_PAST_QUOTAS = "Kueue ignores the job: it starts at once, outside all quotas"


def queue_faults(placement: Placement) -> Iterator[Finding]:
    """Report every fault of the queues and priorities of a job."""
    for group in placement.groups:
        if group.back_end == "volcano":
            yield from _volcano_queue(placement, group)
    if placement.queue is not None:
        yield from _both(placement)
        yield from _suspended(placement)
    yield from _misplaced(placement)
    yield from _unread(placement)
    yield from _known(placement)


def _volcano_queue(placement: Placement, group: Group) -> Iterator[Finding]:
    leaf = get(group.tree, "spec", "queue")
    queue = value(leaf)
    if not is_written(leaf):
        plan, path = placement.bundle.plan, ("metadata", "annotations", VOLCANO_QUEUE)
        where = ", or set `queue` for the whole cluster"
        if placement.cluster.scheduler is None and plan is not None:
            where = " on the `template` of the runtime, or choose `scheduler: volcano` for the cluster"
        span = placement.bundle.span(group.tree, ("metadata", "name"))
        message, help_ = "the job names no Volcano queue", f"set one with the annotation `{VOLCANO_QUEUE}`{where}"
        if plan is not None and get(plan.gang, "older", "defaultQueue") is not None:
            help_ = "set one in `spec.queue`"
        own = value(plan.job, *path) if plan is not None else None
        if plan is not None and own:  # of a TrainJob, whose runtime's policy reads only the runtime's template
            span, message = plan.document.span(path), f"Volcano does not read the job's queue `{own}`"
            help_ = f"set the annotation{where}"
        yield VOLCANO_QUEUES.at(span, message, effect="it waits in the queue `default`", help=help_)
    elif queue in {"", "root"}:
        at = placement.bundle.span(group.tree, ("spec", "queue"))
        message = f"jobs cannot use the queue `{queue}`"
        effect = "Volcano rejects the PodGroup, or never starts it"
        yield VOLCANO_QUEUES.at(at, message, effect=effect, help="name a leaf queue", level=ERROR)


def _both(placement: Placement) -> Iterator[Finding]:
    if (queue := placement.queue) is not None and placement.volcano:
        tie = next((t for t in placement.ties if t.back_end == "volcano"), None)
        at = placement.at("metadata", "labels", KUEUE_QUEUE)
        message = f"the job waits in the Kueue queue `{queue.value}` but is scheduled by Volcano"
        also = [Label(placement.at(*tie.path), "Volcano's group")] if tie else ()
        effect = "Kueue reserves the quota while Volcano keeps the pods pending"
        help_ = "remove the label, or choose another scheduler for the cluster"
        yield KUEUE_AND_VOLCANO.at(at, message, also=also, effect=effect, help=help_)


def _suspended(placement: Placement) -> Iterator[Finding]:
    suspend = get(placement.jobset, "spec", "suspend")
    if placement.queue is not None and type(suspend) is Sourced and suspend.value is not None:
        message = "`suspend` is set on a job that waits in a queue"
        also = [Label(placement.at("metadata", "labels", KUEUE_QUEUE), "the queue decides when it runs")]
        effect = "applying the manifest again stops the job that Kueue has started"
        help_ = "remove `suspend`: Kueue sets it when the job is created"
        yield SUSPENDED.at(placement.at("spec", "suspend"), message, also=also, effect=effect, help=help_)


def _misplaced(placement: Placement) -> Iterator[Finding]:
    for spot in placement.spots:
        if KUEUE_QUEUE in spot.keys and (spot.level, spot.section) != ("jobset", "labels"):
            at = placement.at(*spot.path, KUEUE_QUEUE)
            message = f"Kueue does not read `{KUEUE_QUEUE}` here"
            effect = "the job is not queued" if placement.queue is None else ""
            help_ = "remove it: the JobSet has the label"
            if placement.queue is None:
                help_ = "make it a label of the JobSet, or of the TrainJob if there is one"
            level = ERROR if placement.queue is None else WARNING
            yield MISPLACED_QUEUE.at(at, message, effect=effect, help=help_, level=level)


def _unread(placement: Placement) -> Iterator[Finding]:
    """Find keys of Kueue that are misspelt, or written where Kueue does not read them, and a limit that is no number."""
    for spot in placement.spots:
        for key in spot.keys:
            if not key.startswith(KUEUE) or key == KUEUE_QUEUE:
                continue
            place = _READ_AT.get(key)
            near = nearest(key, _READ_AT, cutoff=0.9) if place is None else ""
            is_there = any((one.level, one.section) == place and key in one.keys for one in placement.spots)
            is_told = place == _OF_PODS and spot.section == "annotations"  # by `kueue-topology-misplaced`
            is_elsewhere = place is not None and not is_there and not is_told
            if near or is_elsewhere:
                message = f"Kueue does not read `{key}`{'' if near else ' here'}"
                effect = f"the {spot.section.removesuffix('s')} has no effect"
                help_ = f"did you mean `{near}`?" if near else f"make it {_SECTIONS[place or _OF_PODS]}"
                yield KUEUE_UNREAD.at(placement.at(*spot.path, key), message, effect=effect, help=help_)
    seconds = value(placement.jobset, "metadata", "labels", SECONDS)
    is_text = placement.queue is not None and type(seconds) is str and not is_placeholder(seconds)
    if is_text and ((number := parsed_int(seconds)) is None or number <= 0):
        at = placement.at("metadata", "labels", SECONDS)
        message = f"`{SECONDS}: {seconds}` is not a number of seconds"
        help_ = "write a whole number above 0, in quotes"
        yield KUEUE_UNREAD.at(at, message, effect="Kueue's webhook rejects the JobSet", help=help_, level=ERROR)


def _known(placement: Placement) -> Iterator[Finding]:
    """Compare every queue and priority class with those the cluster's folder lists."""
    namespace = value(placement.jobset, "metadata", "namespace") or "default"
    labels = get(placement.jobset, "metadata", "labels")
    if type(labels) is dict:
        yield from _one_of(placement, UNKNOWN_QUEUE, "LocalQueue", labels.get(KUEUE_QUEUE), namespace)
        yield from _one_of(placement, UNKNOWN_PRIORITY, "WorkloadPriorityClass", labels.get(KUEUE_PRIORITY))
    for group in placement.groups:
        if group.back_end == "volcano" and is_written(get(group.tree, "spec", "queue")):
            yield from _one_of(placement, UNKNOWN_QUEUE, "Queue", get(group.tree, "spec", "queue"))
    for pod in placement.pods:
        leaf = get(pod, "priorityClassName")
        if type(leaf) is Sourced and leaf.value not in SYSTEM_CLASSES:
            yield from _one_of(placement, UNKNOWN_PRIORITY, "PriorityClass", leaf)


def _one_of(placement: Placement, rule: Rule, kind: str, leaf: Tree, namespace: str = "") -> Iterator[Finding]:
    if type(leaf) is not Sourced or not leaf.value:
        return
    span = next(iter(leaf.origin.spans()), None) or placement.bundle.document.span(("metadata", "name"))
    if subdomain(leaf.value) and "$" not in leaf.value:
        # A name that no object can have, unless a server has rejected it already.
        if kind != "PriorityClass" and (kind != "LocalQueue" or "kueue" not in placement.cluster.admission):
            effect = "Kueue rejects the JobSet" if kind == "LocalQueue" else "the job never starts"
            yield rule.at(span, f"no {kind} can have the name `{leaf.value}`", effect=effect, help=NAME_HELP)
        return
    if (known := placement.cluster.has(kind, leaf.value, namespace)) is None:
        placement.report.skip(f"whether the {kind} exists")
    elif not known:
        names = placement.cluster.names(kind, namespace) or []
        help_ = meant(leaf.value, names, f"if the {kind} exists, add its manifest to the cluster's folder")
        everywhere = [one.partition("/") for one in placement.cluster.names(kind) or ()] if namespace else []
        elsewhere = [f"`{place}`" for place, slash, name in everywhere if slash and name == leaf.value]
        if elsewhere:
            places = f"namespace{'s' if len(elsewhere) > 1 else ''} {', '.join(elsewhere[:_MOST_NAMESPACES])}"
            more = f" and {len(elsewhere) - _MOST_NAMESPACES} more" if len(elsewhere) > _MOST_NAMESPACES else ""
            wanted = f"a job uses a {kind} of its own namespace: create one there, or move the job"
            help_ = f"`{leaf.value}` exists in {places}{more}; {wanted}"
        where = f" in namespace `{namespace}`" if namespace else ""
        yield rule.at(span, f"the cluster has no {kind} `{leaf.value}`{where}", help=help_)


def unqueued(placement: Placement) -> Iterator[Finding]:
    """Report a job that waits in no queue of Kueue, or in another one than its label means to name."""
    queue = placement.queue
    if queue is None and any(KUEUE_QUEUE in spot.keys for spot in placement.spots):
        return
    if KUEUE_QUEUE in (get(placement.bundle.document.tree, "metadata", "annotations") or ()):
        return  # reported as misplaced
    document = placement.bundle.document
    keys: list[tuple[str, Span]] = []
    for section in ("labels", "annotations"):
        for key in get(document.tree, "metadata", section) or ():
            keys.append((key, document.span(("metadata", section, key), key=True)))
    for spot in placement.spots:
        for key in spot.keys if spot.level == "jobset" else ():
            keys.append((key, placement.bundle.span(placement.jobset, (*spot.path, key))))
    if (misspelt := next((one for one in keys if _is_almost(one[0])), None)) is not None:
        key, span = misspelt
        message = f"Kueue does not read `{key}`"
        effect = _PAST_QUOTAS if queue is None else f"the job waits in the queue `{queue.value}`"
        yield NO_QUEUE.at(span, message, effect=effect, help=f"write it as a label: `{KUEUE_QUEUE}`", level=ERROR)
    if misspelt is not None or queue is not None:
        return
    namespace = value(placement.jobset, "metadata", "namespace") or "default"
    scheduler = placement.cluster.scheduler
    if scheduler is None or scheduler.value != "kueue" or placement.cluster.has("LocalQueue", "default", namespace):
        return
    message = "the job names no Kueue queue"
    help_ = f"set the label `{KUEUE_QUEUE}`, or `queue` for the whole cluster"
    yield NO_QUEUE.at(placement.bundle.document.span(("metadata", "name")), message, effect=_PAST_QUOTAS, help=help_)


def _is_almost(key: str) -> bool:
    domain, _, name = key.partition("/")
    if "kueue" not in domain or key == KUEUE_QUEUE:
        return False
    return name.lower().replace("_", "-") in _MEANT or nearest(name.lower(), (_NAME,)) == _NAME
