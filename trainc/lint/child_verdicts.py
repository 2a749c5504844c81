"""What the API server says of the Jobs and pods that a JobSet becomes, as findings."""

from __future__ import annotations

from trainc.apiserver.fault import gate_help
from trainc.apiserver.jobs.child import CLAIM, CREATION, JOB, POD, children
from trainc.apiserver.schema.features import features_of
from trainc.lint.refusal import ServerComplaint, Words, steps_of
from trainc.model.finding import ERROR, NOTE, Refusal, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.apiserver.fault import Fault
    from trainc.lint.facts.job import Job
    from trainc.model.finding import Finding
    from trainc.model.tree import Path

TEMPLATE = Rule("pod-template-refused", ERROR)
JOB_REFUSED = Rule("job-refused", ERROR)
CLAIM_REFUSED = Rule("claim-refused", ERROR)
DROPPED = Rule("field-dropped", NOTE)
_RULES = {JOB: JOB_REFUSED, POD: TEMPLATE, CREATION: TEMPLATE, CLAIM: CLAIM_REFUSED}
_EFFECTS = {
    JOB: "the JobSet is accepted, its child Job is refused again and again, and no pod ever appears",
    POD: "the JobSet is accepted, but no pod can be made from this template: the job never starts",
    CREATION: "the child Job is made, but each of its pods is refused: the job never starts",
    CLAIM: "the JobSet is accepted, but its claim is refused: no Job is made",
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


def refused(job: Job) -> None:
    """Add a finding for every mistake that the API server refuses the children of a JobSet for."""
    refusals = children(job.tree, features_of(job.cluster), job.cluster.objects)
    for fault in refusals.dropped:
        if job.bundle.document.kind == "JobSet" or fault.message != _GANG_GATE:
            job.report.add(_dropped(job, fault))
    if not refusals.faults:
        return
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
    from trainc.lint.rules.refusals import EXPLANATIONS  # noqa: PLC0415 (few jobs are refused)

    steps, reason = steps_of(complaint.path), complaint.reason
    for explanation in EXPLANATIONS:
        if explanation.explains(steps, reason):
            return explanation.rule, explanation.words_for(complaint)
    field = next((step for step in reversed(complaint.path) if type(step) is str), "")
    return _RULES[complaint.fault.kind], Words(f"`{field}` is refused: {reason}")


def _finding(job: Job, group: ComplaintGroup) -> Finding:
    fault, words = group.first.fault, group.words
    return group.rule.at(
        job.at(fault.path, key=words.key),
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
