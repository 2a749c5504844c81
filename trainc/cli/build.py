"""`trainc build` and `trainc validate`."""

from __future__ import annotations

import os
import sys

from trainc.cli.compiling import Nothing, judged, one_stream, rendered_runs, run
from trainc.cli.shared import baseline
from trainc.cli.shared.options import Options
from trainc.cli.shared.output import tell
from trainc.cli.shared.projects import across_projects
from trainc.cli.shared.session import Session
from trainc.compiler import pipeline
from trainc.compiler.emit.spool import Tally
from trainc.compiler.project import find_root
from trainc.model.report import Report
from trainc.report.text import counted
from trainc.text.trouble import Trouble, near

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.cli.caching.memory import Memory
    from trainc.compiler.emit.spool import Spool


def build(options: Options, memory: Memory | None = None) -> int:
    """Compile, write everything or nothing, and report; a run into a folder heeds what is known, and adds to it."""
    if options.has("staged"):
        if options.has("write") or (options.has("output") and not options.has("check")):
            raise Trouble("--staged reads the next commit; use it with --check, not with -w or -o")
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


def _stream(options: Options, session: Session) -> Spool:
    from trainc.compiler.emit.spool import StreamSpool  # noqa: PLC0415 (to validate is to write nothing)

    one_stream(session)
    return StreamSpool(sys.stdout, json=options.one("format") == "json")


def validate(options: Options, memory: Memory | None = None) -> int:
    """Compile without writing, and report; a run over folders heeds what is known, and adds to it."""
    if options.has("write_baseline"):
        return write_baseline(options)
    if options.has("staged") or options.has("whole_project"):
        from trainc.cli.whole import validate_whole  # noqa: PLC0415 (for tools that pass files)

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
            raise Trouble(f"--write-baseline records all findings of a project; omit --{word}")
    if options.arguments:
        raise Trouble("--write-baseline records all findings of a project; omit PATH")
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
    tell(
        f"wrote {near(path)}: {counted(len(found), 'finding')} in {counted(files, 'file')}; only new findings are reported from now on"
    )
    return 0


def _validate_project(options: Options, memory: Memory | None) -> int:
    session = Session(options, compiles=False)
    if options.has("against"):
        _against(session, options.one("against"))
    if not (options.has("jobs") or any(os.path.isdir(path) for path in options.arguments or ["."])):
        jobs = pipeline.check(session.project, session.selection, session.report, rendered_runs(session))
        return session.finish(jobs)
    return judged(session, Tally(rendered_runs(session)), memory)


def _against(session: Session, base: str) -> None:
    """Judge the present specs as updates of what a file, a folder or a Git revision compiles to."""
    from trainc.changes.compare.base import base_of  # noqa: PLC0415 (Git is read only where it is asked for)
    from trainc.changes.compare.immutable import judge, unknown  # noqa: PLC0415
    from trainc.changes.compare.updates import OF_FILES, SERVER_SIDE  # noqa: PLC0415
    from trainc.cli.shared.process import Orderly  # noqa: PLC0415 (a check of files holds nothing)

    operation = session.options.one("as", SERVER_SIDE)
    # Who asks for admission alone applies the TrainJobs themselves.
    applied = session.project.checks.admission_only
    now = Report(compiles=False)
    present = pipeline.bundles(session.project, session.selection, now)
    with Orderly(), base_of(session.project, base, session.selection, of_files=operation in OF_FILES) as old:
        judge(old, present, session.project, session.report, operation, applied=applied)
    if applied:
        unknown(now, session.project, session.report)
