"""What servers have against a JobSet, and against the Jobs and pods that it becomes, as findings."""

from __future__ import annotations

from trainc.apiserver.fault import Fault, Verdict, gate_help, in_words
from trainc.apiserver.jobs.child import CLAIM, CREATION, JOB, POD, ChildFaults
from trainc.lint.facts.job import Job
from trainc.lint.refusal import ServerComplaint, Words, steps_of
from trainc.lint.rules.refusals import EXPLANATIONS
from trainc.model.bundle import Bundle
from trainc.model.finding import ERROR, NOTE, Finding, Label, Refusal, Rule
from trainc.model.report import Report
from trainc.model.tree import Path

TEMPLATE = Rule("pod-template-refused", ERROR)
JOB_REFUSED = Rule("job-refused", ERROR)
CLAIM_REFUSED = Rule("claim-refused", ERROR)
DROPPED = Rule("field-dropped", NOTE)
_RULES = {JOB: JOB_REFUSED, POD: TEMPLATE, CREATION: TEMPLATE, CLAIM: CLAIM_REFUSED}
_EFFECTS = {
    JOB: "the API server accepts the JobSet but rejects its child Job, and no pod is created",
    POD: "the API server accepts the JobSet but rejects every pod of this template: the job never starts",
    CREATION: "the child Job is created, but the API server rejects its pods: the job never starts",
    CLAIM: "the API server accepts the JobSet but rejects its PVC: no Job is created",
}

_GANG_GATE = "GenericWorkload"  # trainc writes fields behind it itself, and says so where it does


class ComplaintGroup:
    """The complaints that one finding is about."""

    __slots__ = ("first", "lines", "rule", "words")

    def __init__(self, rule: Rule, words: Words, first: ServerComplaint) -> None:
        self.rule = rule
        self.words = words
        self.first = first
        self.lines: list[str] = []


def children_refused(job: Job, refusals: ChildFaults) -> None:
    """Add a finding for every mistake that the API server refuses the children of a JobSet for."""
    for fault in refusals.dropped:
        if job.bundle.document.kind == "JobSet" or fault.message != _GANG_GATE:
            job.report.add(_dropped(job, fault))
    groups: dict[object, ComplaintGroup] = {}
    volumes: dict[Path, ComplaintGroup] = {}
    for fault in refusals.faults:
        complaint = ServerComplaint(job, fault)
        place = _volume(complaint)
        if place in volumes and fault.path[: len(place)] != place:
            volumes[place].lines.append(fault.message)  # a mount of a volume that is refused itself
            continue
        rule, words = _explained(complaint)
        group = groups.setdefault((rule, words.group or fault.path), ComplaintGroup(rule, words, complaint))
        if fault.message not in group.lines:
            group.lines.append(fault.message)
        if place:
            volumes.setdefault(place, group)
    for group in groups.values():
        job.report.add(_finding(job, group))


def _volume(complaint: ServerComplaint) -> Path:
    """The volume that a complaint is about: that it stands in, or that of the mount that found none."""
    role, path = complaint.role, complaint.path
    if role is None:
        return ()
    top = len(role.pod_path)
    if path[top : top + 1] == ("volumes",):
        return path[: top + 2]
    if complaint.reason.startswith("Not found: ") and path[-1:] == ("name",):
        names = [str(name) for name in role.volumes]
        if complaint.fault.value in names:
            index = names.index(str(complaint.fault.value))
            return (*role.pod_path, "volumes", index)
    return ()


def _explained(complaint: ServerComplaint) -> tuple[Rule, Words]:
    """The rule of a complaint and the words for it, the server's own where nobody has better ones."""
    steps, reason = steps_of(complaint.path), complaint.reason
    for explanation in EXPLANATIONS:
        if explanation.explains(steps, reason):
            return explanation.rule, explanation.words_for(complaint)
    field = next((step for step in reversed(complaint.path) if type(step) is str), "")
    return _RULES[complaint.fault.kind], Words(f"the API server rejects `{field}`: {reason}")


def _finding(job: Job, group: ComplaintGroup) -> Finding:
    fault, words = group.first.fault, group.words
    return group.rule.at(
        job.at(words.place or fault.path, key=words.key),
        words.message,
        also=words.also,
        effect=_EFFECTS[fault.kind],
        help=words.help,
        refusal=Refusal(fault.kind, "\n".join(group.lines)),
    )


def _dropped(job: Job, fault: Fault) -> Finding:
    gate = fault.message
    return DROPPED.at(
        job.at(fault.path, key=True),
        f"the API server drops `{fault.path[-1]}`: the feature gate {gate} is off",
        effect="the pods run without it",
        help=gate_help(fault),
    )


JOBSET_REFUSED = Rule("jobset-refused", ERROR, verdict=True)

_EFFECT = "the job is accepted, but no pod is ever created"


def jobset_refused(bundle: Bundle, judged: Verdict, report: Report) -> None:
    """A finding for everything that the JobSet server has against a bundle's JobSet, at the place it comes from."""
    barred = bundle.plan is not None and bundle.plan.barred
    for fault in judged.faults:
        if barred and _may_be_known(fault):
            continue
        report.add(_refused(bundle, fault, judged.by))


def _may_be_known(fault: Fault) -> bool:
    """Whether what keeps a plan from being compiled may be this very fault: a name that is too long."""
    from trainc.apiserver.jobset.name_length import is_too_long  # noqa: PLC0415 (only where something is wrong)

    return is_too_long(fault)


def _refused(bundle: Bundle, fault: Fault, by: str) -> Finding:
    from trainc.apiserver.jobset.name_length import is_too_long  # noqa: PLC0415 (only where something is wrong)

    if is_too_long(fault):
        return _long(bundle, fault, by)
    path, reason = in_words(fault)
    return JOBSET_REFUSED.at(
        bundle.span(bundle.jobset, fault.path),
        f"the JobSet server rejects `{path}`: {reason}",
        effect=_EFFECT,
        help=gate_help(fault),
        refusal=Refusal(by, fault.message),
    )


def _long(bundle: Bundle, fault: Fault, by: str) -> Finding:
    """Once for the Jobs and the pods of a role: whose names are too long is the same to the one who shortens them."""
    from trainc.apiserver.jobset.name_length import LIMIT, shorter  # noqa: PLC0415

    run = bundle.name.removeprefix(bundle.document.name)
    return JOBSET_REFUSED.at(
        bundle.document.span(("metadata", "name")),
        f"the JobSet server rejects `{bundle.name}`: names derived from it would exceed {LIMIT} characters",
        also=[Label(bundle.span(bundle.jobset, fault.path), "the name of this role is part of them")],
        effect=_EFFECT,
        help=shorter(bundle.jobset, fault, run),
        refusal=Refusal(by, fault.message),
    )
