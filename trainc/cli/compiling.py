"""A selection compiled: into a stream, a count or a folder, with as many workers as it is worth."""

import os

from trainc.cli.session import Session
from trainc.compiler import pipeline
from trainc.compiler.admit.binding import bound
from trainc.compiler.load import SHARED
from trainc.compiler.load.walk import known_contents, known_files
from trainc.kinds.other_operators import is_input_kind
from trainc.kinds.table import NAMES
from trainc.model.report import Report
from trainc.model.settings import Project, Selection
from trainc.text.numbers import brief, whole_number
from trainc.text.trouble import Inapplicable, Trouble
from trainc.yaml.reader import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.changes.compare.committed import Committed, RenderedRuns
    from trainc.cli.caching.run_cache import RunCache
    from trainc.compiler.emit.spool import Spool


EACH = 100  # jobs that a worker is worth
_JOB = 1024  # bytes of a job in a long file
_MAX_WORKERS = 16  # a worker more than this finds too little to do


class Nothing(Inapplicable):
    """There is nothing to compile: an empty success would look like "delete everything" to a GitOps tool."""

    code = 1

    def __init__(self, session: Session) -> None:
        clusters = ", ".join(f"`{name}`" for name in session.selection.clusters)
        which = f" that runs on {clusters}" if clusters else ""
        kinds = session.report.account.others_listed()
        seen = f"; {kinds}" if kinds else ""
        super().__init__(
            f"nothing to compile here: no TrainJob, JobSet or job of another operator under the paths given{which}{seen}"
        )


def one_stream(session: Session) -> None:
    """Raise Trouble where one stream would hold the objects of several clusters; files of one cluster are for that one."""
    clusters = session.selection.clusters or tuple(cluster.name for cluster in session.project.clusters)
    if len(clusters) > 1 and len(names_bound := _of_files(session)) == 1:
        session.selection.clusters = tuple(names_bound)
    elif len(clusters) > 1:
        names = ", ".join(clusters)
        raise Trouble(f"standard output cannot mix the clusters {names}; add --cluster NAME, or -o DIR for all of them")


def _of_files(session: Session) -> set[str]:
    """The clusters that run the jobs of some files, none where folders or standard input are selected as well."""
    project, selection = session.project, session.selection
    names: set[str] = set()
    for path in selection.paths:
        if selection.stdin is not None or not os.path.isfile(os.path.join(project.root, path)):
            return set()
        for document in read(known_contents(project, path), path, Report()):
            if document.kind in ("TrainJob", "JobSet", *NAMES) or is_input_kind(document):
                names |= {cluster.name for cluster in bound(document, project, Report())}
    return names & set(selection.clusters or names)


def compiled(
    session: Session, spool: "Spool", committed: "Committed | None" = None, run_cache: "RunCache | None" = None
) -> None:
    """Compile the selection into a spool, with as many workers as it is worth, but for what is known."""
    known = run_cache.known if run_cache is not None else None
    jobs = session.options.one("jobs")
    number = whole_number(jobs, least=1, most=256)
    if jobs and number is None and known is None:
        raise Trouble(f"--jobs must be a number from 1 to 256, not `{brief(jobs)}`")
    if known is not None:
        pipeline.build(session.project, session.selection, spool, session.report, known=known)
    elif session.report.recording or (count := number or workers(session.project, session.selection, EACH)) == 1:
        pipeline.build(session.project, session.selection, spool, session.report)
    else:
        from trainc.cli.workers import build_with  # noqa: PLC0415 (it loads much that one process does not need)

        build_with(count, session, spool, committed)
    if run_cache is not None:
        run_cache.listen(session, spool, getattr(spool, "folder", ""))


def workers(project: Project, selection: Selection, each: int) -> int:
    """How many workers a selection is worth on this machine: one for each core, and for `each` so many jobs.

    A file counts as one job, a long one as many.
    """
    files = known_files(project, selection.paths)
    jobs = len(files)
    if jobs < 2 * each:
        paths = [os.path.join(project.root, file) for file in files]
        sizes = [os.path.getsize(path) for path in paths if os.path.exists(path)]  # some are in an editor alone
        jobs += sum(size // _JOB for size in sizes if size > SHARED)
    many = jobs // each
    if many < 2 or not hasattr(os, "fork"):
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, many, _MAX_WORKERS)


def judged(session: Session, spool: "Spool", run_cache: "RunCache | None", files: set[str] | None = None) -> int:
    """The exit code of a run that compiles its selection, writes nothing and reports; `files`: what concerns these alone."""
    if run_cache is not None:
        run_cache.begin(session, spool)
    session.applied_twice(os.path.join(session.project.root, session.project.output))
    compiled(session, spool, run_cache=run_cache)
    if files is not None:
        session.report = session.report.only(lambda one: any(label.span.file in files for label in one.labels))
    code = session.finish(spool.jobs)
    if run_cache is not None:
        run_cache.end(session, spool, code)
    return code


def rendered_runs(session: Session) -> "RenderedRuns | None":
    """What judges jobs beside the runs that are rendered in the work tree, None where that is not asked for."""
    output = os.path.join(session.project.root, session.project.output)
    if session.options.has("against") or session.project.checks.admission_only or not os.path.isdir(output):
        return None
    from trainc.changes.compare.committed import RenderedRuns  # noqa: PLC0415
    from trainc.compiler.admit.binding import bound  # noqa: PLC0415 (only where something is rendered)

    return RenderedRuns(session.project, session.selection, bound)
