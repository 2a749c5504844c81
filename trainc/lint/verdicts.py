"""What servers have against a JobSet, and against the Jobs and pods that it becomes, as findings."""

from typing import NamedTuple

from trainc.apiserver.fault import Verdict, gate_help, in_words, version_help
from trainc.apiserver.jobs.child import CLAIM, CREATION, JOB, POD, ChildFaults
from trainc.lint.facts.job import Job
from trainc.lint.rules.refusals import EXPLANATIONS, ServerComplaint, Words, steps_of
from trainc.model.bundle import Bundle
from trainc.model.finding import ERROR, NOTE, Label, Refusal, Rule
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
JOBSET_REFUSED = Rule("jobset-refused", ERROR, verdict=True)
_EFFECT = "the job is accepted, but no pod is ever created"


class ComplaintGroup(NamedTuple):
    """The complaints that one finding is about."""

    rule: Rule
    words: Words
    first: ServerComplaint
    lines: list[str]


def children_refused(job: Job, refusals: ChildFaults) -> None:
    """Add a finding for every mistake that the API server refuses the children of a JobSet for."""
    for fault in refusals.dropped:
        if job.bundle.document.kind == "JobSet" or fault.message != _GANG_GATE:
            message = f"the API server drops `{fault.path[-1]}`: the feature gate {fault.message} is off"
            span, effect = job.at(fault.path, key=True), "the pods run without it"
            job.report.add(DROPPED.at(span, message, effect=effect, help=gate_help(fault)))
    groups: dict[object, ComplaintGroup] = {}
    volumes: dict[Path, ComplaintGroup] = {}
    for fault in refusals.faults:
        complaint = ServerComplaint(job, fault)
        place = _volume(complaint)
        if place in volumes and fault.path[: len(place)] != place:
            volumes[place].lines.append(fault.message)  # a mount of a volume that is refused itself
            continue
        steps, reason = steps_of(complaint.path), complaint.reason
        explanation = next((one for one in EXPLANATIONS if one.explains(steps, reason)), None)
        if explanation is not None:
            rule, words = explanation.rule, explanation.words_for(complaint)
        else:
            field = next((step for step in reversed(complaint.path) if type(step) is str), "")
            rule, words = _RULES[fault.kind], Words(f"the API server rejects `{field}`: {reason}")
        group = groups.setdefault((rule, words.group or fault.path), ComplaintGroup(rule, words, complaint, []))
        if fault.message not in group.lines:
            group.lines.append(fault.message)
        if place:
            volumes.setdefault(place, group)
    for rule, words, first, lines in groups.values():
        at = job.at(words.place or first.path, key=words.key)
        effect = _EFFECTS[first.fault.kind]
        refusal = Refusal(first.fault.kind, "\n".join(lines))
        job.report.add(rule.at(at, words.message, also=words.also, effect=effect, help=words.help, refusal=refusal))


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
            return (*role.pod_path, "volumes", names.index(str(complaint.fault.value)))
    return ()


def jobset_refused(bundle: Bundle, judged: Verdict, report: Report) -> None:
    """A finding for everything that the JobSet server has against a bundle's JobSet, at the place it comes from."""
    from trainc.apiserver.jobset.name_length import LIMIT, is_too_long, shorter  # noqa: PLC0415 (a name, seldom)

    barred = bundle.plan is not None and bundle.plan.barred
    for fault in judged.faults:
        span, refusal = bundle.span(bundle.jobset, fault.path), Refusal(judged.by, fault.message)
        if not is_too_long(fault):
            path, reason = in_words(fault)
            message, help_ = f"the JobSet server rejects `{path}`: {reason}", version_help(fault) or gate_help(fault)
            report.add(JOBSET_REFUSED.at(span, message, effect=_EFFECT, help=help_, refusal=refusal))
        elif not barred:  # what keeps a plan from being compiled may be this very fault
            # Once for the Jobs and the pods of a role: which names are too long is the same to those who shorten them.
            at = bundle.document.span(("metadata", "name"))
            message = (
                f"the JobSet server rejects `{bundle.name}`: names derived from it would exceed {LIMIT} characters"
            )
            also = [Label(span, "the name of this role is part of them")]
            help_ = shorter(bundle.jobset, fault, bundle.name.removeprefix(bundle.document.name))
            report.add(JOBSET_REFUSED.at(at, message, also=also, effect=_EFFECT, help=help_, refusal=refusal))
