"""What a run cannot become: another form that the server refuses, or another object, for which a GitOps tool deletes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trainc.changes.compare.updates import Update
from trainc.model.bundle import Bundle
from trainc.model.document import Document
from trainc.model.finding import ERROR, SAFE, UNSAFE, WARNING, Finding, Label, Rule
from trainc.model.run import RUN, RUN_PATH, run_of
from trainc.model.sourced import Span
from trainc.text.counting import counted

IMMUTABLE_CHANGE = Rule("immutable-change", ERROR, verdict=True, compares=True)
_MAX_FIELDS_NAMED = 8  # fields named in one finding


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
