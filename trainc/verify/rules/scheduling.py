"""Queues, gangs, topology: whether the pods can be placed together."""

from __future__ import annotations

from trainc.model.finding import ERROR, WARNING, Label, Rule
from trainc.verify.amounts import amount, canonical
from trainc.verify.gangs import Gang, gangs, members
from trainc.verify.order import in_order, waits
from trainc.verify.values import flag, rows, table, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Path, Tree
    from trainc.verify.job import Job
    from trainc.verify.pods import Role

COUNT = Rule(
    "pod-group-count",
    ERROR,
    "a gang waits for another number of pods than it has",
    "A gang is placed all at once or not at all; with a larger count it is never placed, with a smaller one not as a whole.",
)
RESOURCES = Rule(
    "pod-group-resources",
    WARNING,
    "a PodGroup reserves another amount than its pods ask for",
    "Volcano admits the group by this amount: too little admits what does not fit, too much waits for nothing.",
)
SCHEDULER = Rule(
    "scheduler-mismatch",
    ERROR,
    "pods of a gang are left to a scheduler that does not know the gang",
    "Each kind of PodGroup belongs to one scheduler; another one places the pods one by one.",
)
NO_GROUP = Rule(
    "pod-group-missing",
    WARNING,
    "pods name a PodGroup that is not here",
    "Pods of a missing group are never scheduled.",
)
STAGES = Rule(
    "gang-across-stages",
    ERROR,
    "a gang holds roles that start one after the other",
    "The gang waits for all its pods; the later ones are made only after the earlier ones have run.",
)
EXCLUSIVE = Rule(
    "gang-with-exclusive-placement",
    ERROR,
    "a gang together with JobSet's exclusive placement",
    "Followers are made only once their leader is placed, and the leader is placed only with the whole gang.",
)
QUEUE = Rule(
    "queue-in-wrong-place",
    ERROR,
    "the name of the queue stands where Kueue does not look",
    "Kueue reads the label `kueue.x-k8s.io/queue-name` of the JobSet itself; as an annotation or on a pod it is ignored.",
)
SUSPEND = Rule(
    "queued-but-not-suspended",
    WARNING,
    "`suspend: false` in Git for a job that a queue holds back",
    "Kueue suspends and resumes the job; a GitOps controller that keeps `false` fights it.",
)
TAS = Rule(
    "topology-annotation",
    ERROR,
    "annotations of Kueue's topology-aware scheduling that contradict each other",
    "Kueue refuses the workload, or ignores them.",
)
TAS_PLACE = Rule(
    "topology-annotation-in-wrong-place",
    WARNING,
    "a topology annotation stands where Kueue does not look",
    "Kueue reads them on the pod template; on the JobSet or the Job template they are ignored.",
)
TWO_WAYS = Rule(
    "two-placements",
    WARNING,
    "exclusive placement and topology-aware scheduling at once",
    "Both decide where pods go, and the one does not know of the other.",
)
CONTRADICTS = Rule(
    "selector-contradicts-affinity",
    ERROR,
    "the node selector and the node affinity want different nodes",
    "A node must satisfy both; none can.",
)
DEPENDS_QUEUE = Rule(
    "dependency-in-queue",
    WARNING,
    "roles that start one after the other in a queue that may wait for all pods",
    "Where Kueue waits for all pods to be ready it evicts jobs whose later roles have not started yet (kueue #6796).",
)
PRIORITY = Rule(
    "priorities-differ",
    WARNING,
    "roles of one gang have different priority classes",
    "The scheduler may place or evict one part of the job without the other.",
)

_QUEUE = "kueue.x-k8s.io/queue-name"
_EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
_PREFIX = "kueue.x-k8s.io/podset-"
_LEVELS = ("required-topology", "preferred-topology", "unconstrained-topology")


def pod_group_count(job: Job) -> None:
    for gang in gangs(job):
        pods = members(job, gang)
        counts = [role.count for role in pods]
        if gang.count is None or not pods or not all(type(c) is int for c in counts):
            continue
        total = sum(c for c in counts if type(c) is int)
        if gang.count == total:
            continue
        more = gang.count > total
        job.report.add(
            COUNT.at(
                job.at_object(gang.tree, gang.path),
                f"the gang `{gang.name}` waits for {gang.count} pods, but {total} belong to it",
                also=[Label(job.at((*role.spec_path, "parallelism")), f"{role.count} pods") for role in pods[:3]],
                effect="it is never placed: the pods stay pending"
                if more
                else "some pods may run while the others wait, holding accelerators",
                help=f"use {total}",
                level=ERROR if more else WARNING,
            )
        )


def pod_group_resources(job: Job) -> None:
    for gang in gangs(job):
        reserved = table(table(gang.tree, "spec"), "minResources")
        for resource, leaf in reserved.items():
            asked = _sum(members(job, gang), resource)
            held = amount(getattr(leaf, "value", None))
            if asked is None or held is None or asked == held:
                continue
            job.report.add(
                RESOURCES.at(
                    job.at_object(gang.tree, ("spec", "minResources", resource)),
                    f"the group reserves {leaf.value} of {resource}, but its pods ask for {canonical(asked, leaf.value)}",
                    effect="it is admitted before all its pods fit"
                    if held < asked
                    else "it waits for more than it needs",
                    help=f"use {canonical(asked, leaf.value)}",
                )
            )


def _sum(pods: list[Role], resource: str) -> int | None:
    total = 0
    for role in pods:
        count = role.count
        if type(count) is not int:
            return None
        for container in role.main:
            leaf = container.requests.get(resource, container.limits.get(resource))
            each = amount(getattr(leaf, "value", None)) if leaf is not None else 0
            if each is None:
                return None
            total += each * count
    return total if pods else None


def scheduler_mismatch(job: Job) -> None:
    for gang in gangs(job):
        for role in members(job, gang):
            scheduler = text(role.pod, "schedulerName")
            if gang.scheduler == "volcano" and scheduler != "volcano":
                _scheduler(job, gang, role, "Volcano places these gangs", "volcano")
            elif gang.scheduler == "default" and scheduler == "volcano":
                _scheduler(job, gang, role, "Volcano does not know this kind of gang", "")
            elif gang.scheduler == "coscheduling" and scheduler == "volcano":
                _scheduler(job, gang, role, "the coscheduling plugin places these gangs", "")


def _scheduler(job: Job, gang: Gang, role: Role, why: str, wanted: str) -> None:
    said = text(role.pod, "schedulerName")
    job.report.add(
        SCHEDULER.at(
            job.at((*role.pod_path, "schedulerName") if said else role.pod_path),
            f"{why}, but the pods of `{role.name}` are left to `{said or 'default-scheduler'}`",
            also=[Label(job.at_object(gang.tree), "the gang")],
            effect="the pods are placed one by one, or not at all",
            help=f"set `schedulerName: {wanted}`"
            if wanted
            else "remove `schedulerName`, or name the scheduler that knows the gang",
        )
    )


def pod_group_missing(job: Job) -> None:
    if "PodGroup" in job.kinds:
        return
    for role in job.roles:
        label = "scheduling.x-k8s.io/pod-group"
        if label in role.labels:
            job.report.add(
                NO_GROUP.at(
                    job.at((*role.spec_path, "template", "metadata", "labels", label)),
                    f"the pods of `{role.name}` belong to PodGroup `{text(role.labels, label)}`, which is not among these files",
                    effect="unless the cluster has it, the pods stay pending",
                    help="put the PodGroup beside the job",
                )
            )


def gang_across_stages(job: Job) -> None:
    if not in_order(job) and not any("dependsOn" in role.tree for role in job.roles):
        return
    for gang in gangs(job):
        inside = members(job, gang)
        counts = [role.count for role in inside]
        if gang.count is None or not all(type(c) is int for c in counts):
            continue
        for role in inside:
            for wait in waits(role):
                here = sum(r.count for r in inside if r is not role and type(r.count) is int)
                if wait.on in inside and gang.count > here:
                    job.report.add(
                        STAGES.at(
                            job.at(wait.path),
                            f"`{role.name}` starts after `{wait.on.name}`, but the gang `{gang.name}` waits for both",
                            also=[Label(job.at_object(gang.tree, gang.path), f"waits for {gang.count} pods")],
                            effect=f"`{wait.on.name}` is placed only together with pods that do not exist yet: nothing starts",
                            help=f"leave `{wait.on.name}` out of the gang, or start both together",
                        )
                    )
                    return


def gang_with_exclusive_placement(job: Job) -> None:
    path = _exclusive(job)
    if path is None:
        return
    for gang in gangs(job):
        if members(job, gang) and (gang.count or 0) > 1:
            job.report.add(
                EXCLUSIVE.at(
                    job.at(path),
                    f"exclusive placement makes the followers only after their leader is placed, and the gang `{gang.name}` places all or none",
                    also=[Label(job.at_object(gang.tree, gang.path), "all or none")],
                    effect="each waits for the other: no pod is ever placed",
                    help="use one of the two",
                )
            )


def _exclusive(job: Job) -> Path | None:
    if _EXCLUSIVE in table(table(job.tree, "metadata"), "annotations"):
        return ("metadata", "annotations", _EXCLUSIVE)
    for role in job.roles:
        if _EXCLUSIVE in table(table(table(role.tree, "template"), "metadata"), "annotations"):
            return (*role.path, "template", "metadata", "annotations", _EXCLUSIVE)
    return None


def queue_in_wrong_place(job: Job) -> None:
    metadata = table(job.tree, "metadata")
    if _QUEUE in table(metadata, "labels"):
        return
    places: list[Path] = []
    if _QUEUE in table(metadata, "annotations"):
        places.append(("metadata", "annotations", _QUEUE))
    for role in job.roles:
        if _QUEUE in role.labels:
            places.append((*role.spec_path, "template", "metadata", "labels", _QUEUE))
        if _QUEUE in role.annotations:
            places.append((*role.spec_path, "template", "metadata", "annotations", _QUEUE))
        template = table(table(role.tree, "template"), "metadata")
        places += [
            (*role.path, "template", "metadata", side, _QUEUE)
            for side in ("labels", "annotations")
            if _QUEUE in table(template, side)
        ]
    for path in places[:1]:
        job.report.add(
            QUEUE.at(
                job.at(path, key=True),
                "Kueue does not look for its queue here",
                effect="the job starts at once, past the queue and its quota, or is refused",
                help=f"write it as a label of the JobSet: `metadata.labels.{_QUEUE}`",
            )
        )


def queued_but_not_suspended(job: Job) -> None:
    leaf = job.spec.get("suspend")
    if (
        job.settings.gitops
        and leaf is not None
        and not flag(job.spec, "suspend")
        and _QUEUE in table(table(job.tree, "metadata"), "labels")
    ):
        job.report.add(
            SUSPEND.at(
                job.at(("spec", "suspend")),
                "`suspend: false` stands in Git, but the queue decides when the job runs",
                effect="each sync starts what the queue has stopped",
                help="remove it: Kueue suspends the job when it is created",
            )
        )


def topology_annotation(job: Job) -> None:
    for role in job.roles:
        if not role.annotations:
            continue
        path = (*role.spec_path, "template", "metadata", "annotations")
        levels = [_PREFIX + level for level in _LEVELS if _PREFIX + level in role.annotations]
        if len(levels) > 1:
            _tas(job, (*path, levels[1]), f"`{levels[1]}` and `{levels[0]}` exclude each other", "keep one of them")
        size, top = _PREFIX + "slice-size", _PREFIX + "slice-required-topology"
        if (size in role.annotations) != (top in role.annotations):
            there, missing = (size, top) if size in role.annotations else (top, size)
            _tas(job, (*path, there), f"`{there}` needs `{missing}`", f"add `{missing}`")
        number = text(role.annotations, size)
        if number.isdigit() and type(role.count) is int and int(number) and role.count:
            if int(number) > role.count:
                _tas(
                    job,
                    (*path, size),
                    f"a slice has {number} pods, but `{role.name}` has {role.count}",
                    f"use at most {role.count}",
                )
            elif role.count % int(number):
                _tas(
                    job,
                    (*path, size),
                    f"slices of {number} pods do not divide the {role.count} pods of `{role.name}`",
                    "use a divisor",
                )


def _tas(job: Job, path: Path, message: str, help_: str) -> None:
    job.report.add(TAS.at(job.at(path), message, effect="Kueue refuses the job, or leaves pods over", help=help_))


def topology_annotation_in_wrong_place(job: Job) -> None:
    places: list[tuple[Path, Tree]] = [(("metadata", "annotations"), table(table(job.tree, "metadata"), "annotations"))]
    for role in job.roles:
        template = table(table(table(role.tree, "template"), "metadata"), "annotations")
        if template:
            places.append(((*role.path, "template", "metadata", "annotations"), template))
    for path, annotations in places:
        for key in annotations:
            if key.startswith(_PREFIX) and key.endswith("topology"):
                job.report.add(
                    TAS_PLACE.at(
                        job.at((*path, key), key=True),
                        f"Kueue does not look for `{key}` here",
                        effect="the pods are placed without regard to topology",
                        help="write it on the pod template: `template.spec.template.metadata.annotations`",
                    )
                )


def two_placements(job: Job) -> None:
    path = _exclusive(job)
    if path is None:
        return
    for role in job.roles:
        found = next((_PREFIX + level for level in _LEVELS[:2] if _PREFIX + level in role.annotations), "")
        if found:
            job.report.add(
                TWO_WAYS.at(
                    job.at(path),
                    "exclusive placement and topology-aware scheduling both place these pods",
                    also=[
                        Label(
                            job.at((*role.spec_path, "template", "metadata", "annotations", found)),
                            "topology-aware scheduling",
                        )
                    ],
                    effect="pods may be refused again and again, or stay pending",
                    help="use one of the two",
                )
            )
            return


def selector_contradicts_affinity(job: Job) -> None:
    for role in job.roles:
        if "affinity" not in role.pod or "nodeSelector" not in role.pod:
            continue
        selector = table(role.pod, "nodeSelector")
        required = table(
            table(table(role.pod, "affinity"), "nodeAffinity"), "requiredDuringSchedulingIgnoredDuringExecution"
        )
        terms = rows(required, "nodeSelectorTerms")
        for index, expression in enumerate(rows(terms[0], "matchExpressions") if len(terms) == 1 else ()):
            key = text(expression, "key")
            values = [leaf.value for leaf in expression.get("values", ())]
            held = text(selector, key)
            against = (text(expression, "operator") == "In" and held not in values) or (
                text(expression, "operator") == "NotIn" and held in values
            )
            if key in selector and against:
                base = (*role.pod_path, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
                job.report.add(
                    CONTRADICTS.at(
                        job.at((*role.pod_path, "nodeSelector", key)),
                        f"the selector wants `{key}: {held}`, which the affinity excludes",
                        also=[
                            Label(job.at((*base, "nodeSelectorTerms", 0, "matchExpressions", index)), "the affinity")
                        ],
                        effect="no node satisfies both: the pods stay pending",
                        help="keep one of them",
                    )
                )


def dependency_in_queue(job: Job) -> None:
    if _QUEUE not in table(table(job.tree, "metadata"), "labels") or len(job.roles) < 2:
        return
    for role in job.roles:
        for wait in waits(role):
            if wait.status == "Complete":
                job.report.add(
                    DEPENDS_QUEUE.at(
                        job.at(wait.path),
                        f"`{role.name}` starts after `{wait.on.name}` has ended, while the queue reserves for both at once",
                        effect="the quota of the later role lies idle meanwhile; where Kueue waits for all pods to be ready, the job is evicted",
                        help="prepare data and models in a job of their own",
                        level="note",
                    )
                )
                return


def priorities_differ(job: Job) -> None:
    for gang in gangs(job):
        seen: dict[str, Role] = {}
        for role in members(job, gang):
            seen.setdefault(text(role.pod, "priorityClassName"), role)
        if len(seen) > 1:
            (first, one), (second, other) = list(seen.items())[:2]
            job.report.add(
                PRIORITY.at(
                    job.at((*other.pod_path, "priorityClassName") if second else other.pod_path),
                    f"`{one.name}` has priority class `{first or 'none'}`, `{other.name}` has `{second or 'none'}`, in one gang",
                    effect="one part of the job may be evicted while the other holds its accelerators",
                    help="give both the same class",
                )
            )
