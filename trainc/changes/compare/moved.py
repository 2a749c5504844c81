"""Runs that a GitOps tool deletes because their job is another object now: in another namespace, cluster, or renamed."""

from __future__ import annotations

from trainc.changes.compare.updates import key_of
from trainc.compiler.emit import path_of
from trainc.compiler.emit.spool.moves import new_run
from trainc.model.finding import WARNING, Rule
from trainc.model.run import RUN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from trainc.changes.compare.updates import Key
    from trainc.model.bundle import Bundle
    from trainc.model.finding import Finding
    from trainc.model.sourced import Span

MOVED_RUN = Rule(
    "moved-run",
    WARNING,
    "a move of the job deletes its run and starts it again",
    "Namespace, name and cluster identify an object. If one of them changes, the GitOps tool creates a new object "
    "and deletes the old one with all of its pods.",
)


def moved_run(span: Span, job: str, number: int, before: str, after: str) -> Finding:
    """The finding for a run that is one object before and another one after ([CLUSTER/]NAMESPACE/NAME both)."""
    return MOVED_RUN.at(
        span,
        f"run `{before}` is deleted, and starts again as `{after}`",
        effect="all its pods end, and the work since the last checkpoint is lost; the new run waits for its accelerators",
        help=_help(job, number, is_renamed=before.rpartition("/")[2] != after.rpartition("/")[2]),
    )


def _help(job: str, number: int, *, is_renamed: bool) -> str:
    if is_renamed:
        return "take the edit back; to train both, keep this job as it was and write the new one beside it"
    return f'take the edit back; to start a new run there on purpose set `{RUN}: "{number + 1}"` (`trainc run {job}`)'


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
