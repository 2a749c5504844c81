"""Edits of what exists: refused where it is fixed once it is created, told where a running object changes in place.

A run that becomes another object (in another namespace or cluster, or renamed) is deleted by a GitOps tool.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from trainc.apiserver.served import Served
from trainc.changes.compare.gaps import not_compared, without_base
from trainc.changes.compare.updates import OF_FILES, SERVER_SIDE, Key, Update, key_of, update
from trainc.compiler.emit import path_of
from trainc.compiler.emit.spool.changes import new_run
from trainc.model.bundle import Bundle
from trainc.model.document import Document
from trainc.model.finding import ERROR, NOTE, SAFE, UNSAFE, WARNING, Finding, Label, Rule
from trainc.model.paths import located
from trainc.model.report import Report
from trainc.model.run import RUN, RUN_PATH, run_of
from trainc.model.settings import Project
from trainc.model.sourced import Span
from trainc.model.tree import Tree, value
from trainc.text.counting import counted, few

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.changes.compare.base import Base

IMMUTABLE_CHANGE = Rule("immutable-change", ERROR, verdict=True, compares=True)
CHANGED_IN_PLACE = Rule("changed-in-place", NOTE, admission=True)
_MAX_FIELDS_NAMED = 8  # fields named in one finding
_FEW = 5  # fields named in one line


def judge(
    old: Base,
    new: Iterable[Bundle],
    project: Project,
    report: Report,
    operation: str = SERVER_SIDE,
    *,
    applied: bool = False,
) -> None:
    """Findings for every run that differs, but for runs that keep their committed rendering; also where nothing is compared.

    `applied`: TrainJobs themselves are written to the server as well, and the controller writes what they become.
    """
    before = {
        key_of(bundle, tree): tree for bundle in old.bundles for tree in _objects(bundle, operation, applied=applied)
    }
    usable = old.gaps.project_fault() is None
    alone: list[Bundle] = []  # present jobs of which the base holds no object: new, or another object before
    present: set[Key] = set()
    servers = {cluster.name: Served(cluster) for cluster in project.clusters}

    def updates_by(bundle: Bundle, trees: Iterable[Tree]) -> list[Update]:
        both = [(before[key], tree) for tree in trees if usable and (key := key_of(bundle, tree)) in before]
        return [update(was, tree, servers[bundle.cluster], operation) for was, tree in both]

    for bundle in new:
        written = _objects(bundle, operation, applied=applied)
        updates = updates_by(bundle, written)
        present.update(key_of(bundle, tree) for tree in bundle.objects)
        if not updates:
            alone.append(bundle)
        refused = [one for one in updates if one.refused]
        kept = None
        if refused:
            kept = old.kept(bundle, before[key_of(bundle, updates[0].tree)])
        if kept is not None:
            updates = updates_by(bundle, kept.objects)
            refused = [one for one in updates if one.refused]
        if refused:
            judged_before = report.looking_at(bundle.document)
            effect = "the API server rejects the change; the object in the cluster stays as it was"
            otherwise = "otherwise revert the edit"
            if not applied and operation not in OF_FILES:
                otherwise = f"if it was never applied, `trainc build -w --rerender {bundle.document.name}`; {otherwise}"
            report.add(immutable_change(bundle, refused, effect=effect, otherwise=otherwise))
            report.back_to(judged_before)
        for one in updates:
            if one.changed and not one.refused:
                place = bundle.span(one.tree)
                if kept is not None:  # where the files say what an edit changes in a rendering that stays
                    key = key_of(bundle, one.tree)
                    own = next((tree for tree in bundle.objects if key_of(bundle, tree) == key), None)
                    place = bundle.span(own, located(own, one.changed[0].steps) or ())
                shown = few((f"`{change.shown}`" for change in one.changed), _FEW)
                kind = value(one.tree, "kind")
                report.add(CHANGED_IN_PLACE.at(place, f"{kind} `{bundle.name}` changes in place: {shown}"))
    moves = {} if applied or operation in OF_FILES else moved_from(alone, old.bundles, present)
    for bundle in alone:
        former = moves.get(id(bundle))
        report.add(without_base(bundle, old.gaps) if former is None else moved(former, bundle))


def unknown(now: Report, project: Project, report: Report) -> None:
    """A finding for each job that cannot be compared because trainc does not compile it, whatever a server says of it."""
    for cluster in project.clusters:
        for entry in now.account.refused(cluster.name):
            if entry.cause is not None and not entry.cause.rule.admission:
                report.add(not_compared(entry.place, entry.name, f"it cannot be compiled: {entry.cause.message}"))


def _objects(bundle: Bundle, operation: str, *, applied: bool) -> tuple[Tree, ...]:
    """What is written to the server: the objects of a bundle, or the file that they come from as it is."""
    document = bundle.document
    if operation in OF_FILES:
        return (document.written,)
    return (document.written, *bundle.objects) if applied and document.kind == "TrainJob" else bundle.objects


def immutable_change(
    bundle: Bundle, refused: Sequence[Update], *, effect: str, otherwise: str, notes: Iterable[str] = ()
) -> Finding:
    """The finding for a run with updates that a server refuses; `otherwise` is the help beside starting a new run."""
    fields = [(one, change) for one in refused for change in one.refused]
    places: dict[Span, str] = {}
    for one, change in fields:
        places.setdefault(one.place(change, bundle), change.name)
    own = [span for span in places if span.file in bundle.document.files] or list(places)
    shown = [str(change) for _, change in fields[:_MAX_FIELDS_NAMED]]
    if len(fields) > _MAX_FIELDS_NAMED:
        shown.append(f"and {len(fields) - _MAX_FIELDS_NAMED} more")
    number = run_of(bundle.document.tree) + 1
    # One cluster alone gets a new run where the number stands in its patch.
    alone = f" --cluster {bundle.cluster}" if run_holder(bundle) is not bundle.document else ""
    return IMMUTABLE_CHANGE.at(
        own[0],
        f"run `{bundle.name}` cannot change {counted(len(fields), 'field')} once it is created",
        label=places[own[0]] if len(own) > 1 else "",
        also=[Label(span, places[span]) for span in own[1:_MAX_FIELDS_NAMED]],
        effect=effect,
        help=f'to start a new run set `{RUN}: "{number}"` (`trainc run {bundle.document.name}{alone}`); {otherwise}',
        notes=[*shown, *notes],
        refusal=refused[0].refusal,
        fix=bundle.document.edits(RUN_PATH, str(number), safety=UNSAFE),
    )


def to_run(bundle: Bundle, number: int) -> Finding:
    """A finding that gives the run of a job a number, for who asks for that."""
    place = run_holder(bundle).span(("metadata", "name"))
    edits = bundle.document.edits(RUN_PATH, str(number), safety=SAFE)
    return IMMUTABLE_CHANGE.at(place, f"run `{bundle.name}` gets a number", fix=edits)


def run_holder(bundle: Bundle) -> Document:
    """The document in whose annotations the number of a job's run stands, or will."""
    return bundle.document.place_of(RUN_PATH)[0]


MOVED_RUN = Rule("moved-run", WARNING)


def moved_run(span: Span, job: str, number: int, before: str, after: str) -> Finding:
    """The finding for a run that is one object before and another one after ([CLUSTER/]NAMESPACE/NAME both)."""
    help_ = f'revert the edit; to start a new run there on purpose set `{RUN}: "{number + 1}"` (`trainc run {job}`)'
    if before.rpartition("/")[2] != after.rpartition("/")[2]:
        help_ = "revert the edit; to train both, keep this job as it was and add the new one next to it"
    return MOVED_RUN.at(
        span,
        f"run `{before}` is deleted, and starts again as `{after}`",
        effect="all its pods are deleted, and the work since the last checkpoint is lost; the new run waits for its accelerators",
        help=help_,
    )


def moved(former: Bundle, bundle: Bundle) -> Finding:
    """The finding for a job that becomes another object than in the base."""
    run = new_run(bundle)
    before, after = (path_of(one).removesuffix(".yaml") for one in (former, bundle))
    return moved_run(run.place, run.job, run.number, before, after)


def moved_from(fresh: Iterable[Bundle], former: Iterable[Bundle], present: Container[Key]) -> dict[int, Bundle]:
    """What each new job (by its `id`) was in the base: the only run of its name that its file has lost.

    A job under another name is taken for a new one: somebody wrote that name.
    """
    lost: dict[tuple[str, str], list[Bundle]] = {}
    for one in former:
        if one.jobset is not None and key_of(one, one.jobset) not in present:
            lost.setdefault((one.document.file, one.name), []).append(one)
    pairs = ((bundle, lost.get((bundle.document.file, bundle.name), [])) for bundle in fresh)
    return {id(bundle): runs[0] for bundle, runs in pairs if bundle.jobset is not None and len(runs) == 1}
