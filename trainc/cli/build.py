"""`trainc build` and `trainc validate`."""

from __future__ import annotations

import os
import sys

from trainc.cli.shared import baseline
from trainc.cli.shared.output import tell
from trainc.cli.shared.projects import across_projects
from trainc.cli.shared.session import Session
from trainc.cli.table.options import Options
from trainc.compiler import pipeline
from trainc.compiler.emit.spool import Tally
from trainc.compiler.project import find_root
from trainc.model.report import Report
from trainc.text.numbers import brief, whole_number
from trainc.text.trouble import Inapplicable, Trouble, near

EACH = 100  # files that a worker is worth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.changes.compare.committed import Committed
    from trainc.changes.compare.refused_edits import RenderedRuns
    from trainc.cli.caching.memory import Memory
    from trainc.compiler.emit.spool import Spool


def build(options: Options, memory: Memory | None = None) -> int:
    """Compile, write everything or nothing, and report; a run into a folder heeds what is known, and adds to it."""
    if options.has("staged"):
        if options.has("write") or (options.has("output") and not options.has("check")):
            raise Trouble("--staged reads what the next commit holds; it goes with --check, not with -w or -o")
        from trainc.cli.shared.staged import run_staged  # noqa: PLC0415 (Git is read only where it is asked for)

        return run_staged(options, build)
    if memory is not None and memory.known is not None:
        return _build_project(options, memory)
    own_folders = (options.has("write") or options.has("check")) and not options.has("output")
    return across_projects(options, lambda one: _build_project(one, memory), one_output=not own_folders)


def _build_project(options: Options, memory: Memory | None) -> int:
    if any(options.has(name) for name in ("output", "write", "check")):
        from trainc.cli.rendered import build_folder  # noqa: PLC0415 (most runs write to stdout)

        return build_folder(options, memory)
    for name in ("rerender", "changed_since"):
        if options.has(name):
            raise Trouble(f"--{name.replace('_', '-')} is for rendered files; add -w, --check or -o DIR")
    session = Session(options)
    spool = _stream(options, session)
    run(session, spool)
    code = session.finish(spool.jobs, streams=spool.streams)
    if spool.objects == 0 and code == 0:
        raise Nothing(session)
    return code


class Nothing(Inapplicable):
    """There is nothing to compile: an empty success would look like "delete everything" to a GitOps tool."""

    code = 1

    def __init__(self, session: Session) -> None:
        clusters = ", ".join(f"`{name}`" for name in session.selection.clusters)
        which = f" that runs on {clusters}" if clusters else ""
        sighted = session.report.account.sighted()
        seen = f"; {sighted}" if sighted else ""
        super().__init__(
            f"nothing to compile here: no TrainJob, JobSet or older job under the paths given{which}{seen}"
        )


def _stream(options: Options, session: Session) -> Spool:
    from trainc.compiler.emit.spool import StreamSpool  # noqa: PLC0415 (to validate is to write nothing)

    one_stream(session)
    return StreamSpool(sys.stdout, json=options.one("format") == "json")


def one_stream(session: Session) -> None:
    """Raise Trouble where one stream would hold the objects of several clusters."""
    clusters = session.selection.clusters or tuple(cluster.name for cluster in session.project.clusters)
    if len(clusters) > 1:
        names = ", ".join(clusters)
        raise Trouble(f"one stream would mix the clusters {names}; add --cluster NAME, or -o DIR for all of them")


def run(session: Session, spool: Spool, committed: Committed | None = None, memory: Memory | None = None) -> None:
    """Compile the selection into a spool, with as many workers as it is worth, but for what is known."""
    if memory is None:
        _compile(session, spool, committed)
        return
    if memory.known is not None:
        pipeline.build(session.project, session.selection, spool, session.report, known=memory.known)
    else:
        _compile(session, spool, committed)
    memory.listen(session, spool, getattr(spool, "folder", ""))


def _compile(session: Session, spool: Spool, committed: Committed | None) -> None:
    jobs = session.options.one("jobs")
    number = whole_number(jobs, least=1, most=256)
    if jobs and number is None:
        raise Trouble(f"--jobs takes a number of workers from 1 to 256, not `{brief(jobs)}`")
    folders = any(os.path.isdir(path) for path in session.options.arguments or ["."])
    if not (jobs or folders or len(session.options.arguments) >= 2 * EACH) or session.report.recording:
        pipeline.build(session.project, session.selection, spool, session.report)
        return
    from trainc.cli.shared.workers import build_with, workers  # noqa: PLC0415 (one file needs none)

    count = number or workers(session.project, session.selection, EACH)
    if count == 1:
        pipeline.build(session.project, session.selection, spool, session.report)
    else:
        build_with(count, session, spool, committed)


def validate(options: Options, memory: Memory | None = None) -> int:
    """Compile without writing, and report; a run over folders heeds what is known, and adds to it."""
    if options.has("write_baseline"):
        return write_baseline(options)
    if options.has("staged") or options.has("whole_project"):
        from trainc.cli.shared.whole import validate_whole  # noqa: PLC0415 (for tools that pass files)

        if not options.has("staged"):
            return validate_whole(options, memory)
        from trainc.cli.shared.staged import run_staged  # noqa: PLC0415 (Git is read only where it is asked for)

        return run_staged(options, validate_whole, touched=True)
    if memory is not None and memory.known is not None:
        return _validate_project(options, memory)
    return across_projects(options, lambda one: _validate_project(one, memory))


def write_baseline(options: Options) -> int:
    """Accept what is found in each project today: from now on only new findings are reported."""
    for word in ("against", "ignore", "only", "select", "staged"):
        if options.has(word):
            raise Trouble(f"--write-baseline keeps all findings of a project; leave out --{word}")
    if options.arguments:
        raise Trouble("--write-baseline keeps all findings of a project; leave out PATH")
    return across_projects(options, _write_baseline)


def _write_baseline(options: Options) -> int:
    root = find_root((options.arguments or ["."])[0])[0]
    session = Session(Options([root], options.values), compiles=False)
    spool = Tally(rendered_runs(session))
    session.applied_twice(os.path.join(root, session.project.output))
    run(session, spool)
    path = baseline.write(root, session.report)
    found = session.report.findings
    files = len({finding.span.file for finding in found})
    tell(f"wrote {near(path)}: {len(found)} findings in {files} files; from now on new ones alone are reported")
    return 0


def _validate_project(options: Options, memory: Memory | None) -> int:
    session = Session(options, compiles=False)
    if options.has("against"):
        _against(session, options.one("against"))
    if not (options.has("jobs") or any(os.path.isdir(path) for path in options.arguments or ["."])):
        jobs = pipeline.check(session.project, session.selection, session.report, rendered_runs(session))
        return session.finish(jobs)
    return judged(session, Tally(rendered_runs(session)), memory)


def judged(session: Session, spool: Spool, memory: Memory | None) -> int:
    """The exit code of a run that compiles its selection, writes nothing and reports."""
    if memory is not None:
        memory.begin(session, spool)
    session.applied_twice(os.path.join(session.project.root, session.project.output))
    run(session, spool, memory=memory)
    code = session.finish(spool.jobs)
    if memory is not None:
        memory.end(session, spool, code)
    return code


def rendered_runs(session: Session) -> RenderedRuns | None:
    """What judges jobs beside the runs that are rendered in the work tree, None where that is not asked for."""
    output = os.path.join(session.project.root, session.project.output)
    if session.options.has("against") or session.selection.admission_only or not os.path.isdir(output):
        return None
    from trainc.changes.compare.refused_edits import RenderedRuns  # noqa: PLC0415
    from trainc.compiler.admit.binding import bound  # noqa: PLC0415 (only where something is rendered)

    return RenderedRuns(session.project, session.selection, bound)


def _against(session: Session, base: str) -> None:
    """Judge the present specs as updates of what a file, a folder or a Git revision compiles to."""
    from trainc.changes.compare.base import base_of  # noqa: PLC0415 (Git is read only where it is asked for)
    from trainc.changes.compare.immutable import judge, unknown  # noqa: PLC0415
    from trainc.changes.compare.operations import OF_FILES, SERVER_SIDE  # noqa: PLC0415
    from trainc.cli.shared.process import Orderly  # noqa: PLC0415 (a check of files holds nothing)

    operation = session.options.one("as", SERVER_SIDE)
    # Who asks for admission alone applies the TrainJobs themselves.
    applied = session.selection.admission_only
    now = Report(compiles=False)
    present = pipeline.bundles(session.project, session.selection, now)
    with Orderly(), base_of(session.project, base, session.selection, of_files=operation in OF_FILES) as old:
        judge(old, present, session.project, session.report, operation, applied=applied)
    if applied:
        unknown(now, session.project, session.report)
