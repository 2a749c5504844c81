"""What can never start, as findings: where a dump has the facts that decide it."""

from collections.abc import Iterator

from trainc.cluster.capacity.facts import ClusterFacts
from trainc.cluster.capacity.fit import Fit, Problem, class_of, unfilled
from trainc.cluster.capacity.groups import group_refusal, groups_of
from trainc.cluster.capacity.jobpods import JobPlacement
from trainc.cluster.capacity.kueue import GATED
from trainc.cluster.capacity.verdict import NO_PLACE, KueueVerdict
from trainc.model.bundle import Bundle
from trainc.model.cluster import Cluster
from trainc.model.finding import ERROR, NOTE, WARNING, Rule
from trainc.model.report import Report
from trainc.model.tree import Path, Tree
from trainc.text.object_keys import KUEUE_QUEUE

QUEUE_NEVER_ADMITS = Rule("queue-never-admits", ERROR)
OVER_QUOTA = Rule("over-quota", ERROR)
OVER_LIMIT_RANGE = Rule("over-limit-range", ERROR)
NO_NODE_FITS = Rule("no-node-fits", NOTE)
GANG_DOES_NOT_FIT = Rule("gang-does-not-fit", NOTE)
_REASONS = {
    "ExceedsMaxQuota": "queue `{}` never has the quota that this job requests",
    "NoMatchingFlavor": "no flavor of queue `{}` accepts this job",
    "Suspended": "queue `{}` accepts no jobs",
    NO_PLACE: "queue `{}` has no place for all pods of this job",
}
_GROUP_QUEUE: Path = ("spec", "queue")
_QUEUE_LABEL: Path = ("metadata", "labels", KUEUE_QUEUE)
_RESOURCES = ("template", "spec", "template", "spec", "containers", 0, "resources")


def look(bundle: Bundle, cluster: Cluster, report: Report) -> None:
    """Report what keeps a job from ever starting on its cluster; equal jobs are judged once."""
    if not cluster.capacity:
        cluster.capacity.append(Fit(ClusterFacts(cluster.objects, closed=cluster.closed), names_nodes=False))
    fit: Fit = cluster.capacity[0]
    if fit.facts.malformed:
        report.skip("what fits on the cluster: an amount in its dump is not a number")
        return
    dated = f"according to the cluster's dump{f' of {fit.facts.date}' if fit.facts.date else ', which has no date'}"
    for group in groups_of(bundle.around):
        refused = group_refusal(fit.facts, bundle.jobset, [group], {})
        if refused and refused.path == _GROUP_QUEUE and refused.is_final:
            span, message = bundle.span(group, refused.path), "Volcano's queue never admits this PodGroup"
            notes: tuple[str, ...] = (refused.reason, dated)
            effect = "the PodGroup stays pending"
            report.add(QUEUE_NEVER_ADMITS.at(span, message, effect=effect, help=refused.change, notes=notes))
    key = class_of(bundle.jobset)
    if key not in fit.problems:
        fit.problems[key] = tuple(_problems(bundle.jobset, fit, fixed=cluster.fixed_nodes))
    for problem in fit.problems[key]:
        if isinstance(problem, str):
            report.skip(problem)
            continue
        path: Path = _QUEUE_LABEL if problem.role < 0 else ("spec", "replicatedJobs", problem.role, *_RESOURCES)
        notes = (*([problem.says] if problem.says else []), dated)
        rule, span, level = problem.rule, bundle.span(bundle.jobset, path), problem.level
        report.add(rule.at(span, problem.message, effect=problem.effect, help=problem.help, level=level, notes=notes))


def _problems(jobset: Tree, fit: Fit, *, fixed: bool) -> Iterator[Problem | str]:
    """What keeps the job from starting; a text for what could not be checked."""
    if unfilled(jobset):
        yield "what fits on the cluster: a value is a placeholder"
        return
    refused = list(_namespace(jobset, fit))
    yield from refused
    if refused:
        return
    if (verdict := fit.verdict(jobset)) and verdict.missing:
        yield f"whether the queue admits the job: {verdict.missing}"
    elif verdict and verdict.is_refused:
        if not verdict.refused_by and verdict.reason != GATED:
            yield from _queue(jobset, verdict, fit, fixed=fixed)
    elif verdict is None or verdict.has_quota:
        if (gang := fit.gang(jobset, verdict)) is None or gang.fits is not False or gang.role is None:
            return
        rule = GANG_DOES_NOT_FIT if gang.rooms[gang.role.name] else NO_NODE_FITS
        effect = f"pods of `{gang.role.name}` stay pending{'' if fixed else ' until nodes are added'}"
        yield Problem(rule, gang.role.index, gang.reason, effect, gang.change, ERROR if fixed else NOTE)


def _namespace(jobset: Tree, fit: Fit) -> Iterator[Problem]:
    """What the limits and quotas of the namespace refuse, whatever else runs there."""
    if not any(fit.facts.objects.get(kind) for kind in ("LimitRange", "ResourceQuota")):
        return
    run = JobPlacement(fit.facts, jobset)
    for index, role in enumerate(run.roles):
        refused = run.namespace.limits.refusal(role.tree) if role.podset.count else ""
        if refused:
            message = f"the API server rejects `{role.name}`: {refused}"
            change = f"change its requests and limits, or the LimitRange of namespace `{run.namespace.name}`"
            yield Problem(OVER_LIMIT_RANGE, index, message, f"no pod of `{role.name}` is created", change, ERROR)
        unstated = run.namespace.unstated(role.tree, role.name) if role.podset.count and not refused else ""
        if unstated:
            message = f"a ResourceQuota rejects pods of `{role.name}`, which do not set the resources that it counts"
            change = "set the requests and limits, or add a LimitRange with defaults"
            effect = f"no pod of `{role.name}` is created"
            yield Problem(OVER_QUOTA, index, message, effect, change, ERROR, f"the API server responds: {unstated}")
    for budget, role, text in run.over_quota():
        message = f"ResourceQuota `{budget}` never allows what this job requests"
        effect = "the API server rejects some pods, and the running ones wait for them"
        change = "request fewer or smaller pods, or raise the quota"
        says = f"the API server responds: {text}"
        yield Problem(OVER_QUOTA, run.roles.index(role), message, effect, change, ERROR, says)


def _queue(jobset: Tree, verdict: KueueVerdict, fit: Fit, *, fixed: bool) -> Iterator[Problem]:
    if verdict.message.startswith("LocalQueue") and verdict.message.endswith("doesn't exist"):
        return  # `unknown-queue` says so
    rule, level = QUEUE_NEVER_ADMITS, ERROR
    message = _REASONS.get(verdict.reason, "queue `{}` rejects this job").format(verdict.queue)
    until = "forever"
    if verdict.reason == NO_PLACE:
        rule, level, until = GANG_DOES_NOT_FIT, ERROR if fixed else NOTE, "" if fixed else "until nodes are added"
    elif verdict.reason == "Suspended" and verdict.detail in {"", "is stopped"}:
        level, until = WARNING, "until the queue is started again"
    effect = f"Kueue keeps the job suspended {until}".rstrip()
    yield Problem(rule, -1, message, effect, fit.change(jobset, verdict), level, f"Kueue reports: {verdict.message}")
