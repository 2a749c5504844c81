"""`trainc validate`: compile without writing, and report."""

import os

from trainc.cli.compiling import compiled, judged, rendered_runs
from trainc.cli.findings import write_baseline
from trainc.cli.options import Options
from trainc.cli.output import tell
from trainc.cli.projects import across_projects
from trainc.cli.session import Session
from trainc.compiler import pipeline
from trainc.compiler.load.runtimes import may_hold_runtimes
from trainc.compiler.load.walk import contents, ours
from trainc.compiler.project import find_root
from trainc.model.report import Report
from trainc.model.settings import FILE
from trainc.model.sourced import Span
from trainc.text.counting import counted
from trainc.text.trouble import Trouble, near

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.cli.caching.run_cache import RunCache
    from trainc.compiler.emit.spool import Tally
    from trainc.model.bundle import Bundle


def run(options: Options, run_cache: "RunCache | None" = None) -> int:
    """Compile without writing, and report; a run over folders uses what is known, and adds to it."""
    if options.has("write_baseline"):
        given = [
            f"--{word}" for word in ("against", "ignore", "only", "report", "select", "staged") if options.has(word)
        ]
        if given or options.arguments:
            raise Trouble(f"--write-baseline records all findings of a project; omit {[*given, 'PATH'][0]}")
        return across_projects(options, _accept_project)
    if options.has("staged"):
        from trainc.cli.git_scope import run_staged  # noqa: PLC0415 (Git is read only where it is asked for)

        whole = Options(options.arguments, {**options.values, "whole_project": [""]})
        return run_staged("validate", _validate_whole, whole, touched=True)
    if options.has("whole_project"):
        return _validate_whole(options, run_cache)
    if run_cache is not None and run_cache.known is not None:
        return _validate_project(options, run_cache)
    return across_projects(options, lambda one: _validate_project(one, run_cache))


def _validate_project(options: Options, run_cache: "RunCache | None") -> int:
    session = Session(options, compiles=False)
    if options.has("against"):
        _against(session, options.one("against"))
    if not (options.has("jobs") or any(os.path.isdir(path) for path in options.arguments or ["."])):
        jobs = pipeline.check(session.project, session.selection, session.report, rendered_runs(session))
        return session.finish(jobs)
    return judged(session, _tally(session), run_cache)


def _tally(session: Session) -> "Tally":
    from trainc.compiler.emit.spool import Tally  # noqa: PLC0415 (files that are named need none, and it loads the writer)

    return Tally(rendered_runs(session))


def _against(session: Session, base: str) -> None:
    """Judge the present specs as updates of what a file, a folder or a Git revision compiles to."""
    from trainc.changes.compare.base import base_of, judge, unknown  # noqa: PLC0415 (Git is read where it is asked for)
    from trainc.changes.compare.updates import OF_FILES, SERVER_SIDE  # noqa: PLC0415
    from trainc.cli.process import Orderly  # noqa: PLC0415 (a check of files holds nothing)

    operation = session.options.one("as", SERVER_SIDE)
    # Who asks for admission alone applies the TrainJobs themselves.
    applied = session.project.checks.admission_only
    now = Report(compiles=False)
    present = list(pipeline.bundles(session.project, session.selection, now))
    with Orderly(), base_of(session.project, base, session.selection, of_files=operation in OF_FILES) as old:
        judge(old, present, session.project, session.report, operation, applied=applied)
    if not applied and operation not in OF_FILES and not os.path.exists(base):
        _check_rendered(session, present, base)
    if applied:
        unknown(now, session.project, session.report)


def _check_rendered(session: Session, present: "list[Bundle]", base: str) -> None:
    """A finding for each rendered file that is neither what its job compiles to nor what the base has, and the difference."""
    from trainc.changes.compare.committed import OUT_OF_DATE  # noqa: PLC0415 (Git is read where it is asked for)
    from trainc.changes.compare.decision import Decisions  # noqa: PLC0415
    from trainc.changes.git.base import Base  # noqa: PLC0415
    from trainc.report.diff import differences  # noqa: PLC0415

    decisions = Decisions(session.project, session.selection, Base(session.project.root, base))
    texts = []
    for bundle in present:
        if bundle.jobset is None or (unproven := decisions.unproven(bundle)) is None:
            continue
        file, source = unproven[0], bundle.document.file
        texts.append(unproven)
        message = f"`{file}` is neither what `{source}` compiles to nor what the base has"
        help_ = f"run `trainc build -w {session.shown(source)}` and commit what it writes"
        session.report.add(OUT_OF_DATE.at(Span(file, 1, 1, 1, 1), message, help=help_))
    if texts and not session.options.has("quiet"):
        tell(*differences(texts))


def _validate_whole(options: Options, run_cache: "RunCache | None" = None) -> int:
    """Compile every project that a file belongs to, and report what concerns the files given; the worst exit code.

    What is wrong with one job may show only beside another one, and a runtime is wrong only where a job uses it: a
    tool that passes some files of a commit, in batches, gets the same findings however it cuts them.
    """
    return across_projects(options, lambda one: _validate_files(one, run_cache))


def _validate_files(options: Options, run_cache: "RunCache | None") -> int:
    paths = options.arguments or ["."]
    root = find_root(paths[0])[0]
    files = {os.path.relpath(os.path.abspath(path), root).replace(os.sep, "/") for path in paths}
    session = Session(Options([root], options.values), compiles=False)
    is_shared = any(_is_shared(root, file, session.project.apart) for file in files)
    return judged(session, _tally(session), run_cache, None if is_shared else files)


def _is_shared(root: str, file: str, folders: tuple[str, ...]) -> bool:
    """Whether a change of this file reaches jobs in other files."""
    path = os.path.join(root, file)
    if os.path.isdir(path) or file == FILE:
        return True
    if not os.path.isfile(path):
        return False
    data = contents(root, file)
    if ours(data) and not file.startswith(folders):
        return may_hold_runtimes(data)
    return file.startswith(folders)


def _accept_project(options: Options) -> int:
    root = find_root((options.arguments or ["."])[0])[0]
    session = Session(Options([root], options.values), compiles=False)
    session.applied_twice(os.path.join(root, session.project.output))
    compiled(session, _tally(session))
    path = write_baseline(root, session.report)
    found = session.report.findings
    files = len({finding.span.file for finding in found})
    tell(
        f"wrote {near(path)}: {counted(len(found), 'finding')} in {counted(files, 'file')}; only new findings are reported from now on"
    )
    return 0
