"""`trainc migrate`: jobs of earlier kinds and spellings as TrainJobs of today."""

import os
from collections.abc import Iterable

from trainc.changes.compare.committed import refusals
from trainc.changes.compare.rendered import file_of
from trainc.changes.git.base import Base
from trainc.changes.migrate import Migration, migrate, summary
from trainc.changes.migrate.compared import by_reason
from trainc.changes.migrate.placed_text import Writer
from trainc.changes.migrate.target import Shared, shared_by
from trainc.cli.options import Options
from trainc.cli.output import data as put_data
from trainc.cli.output import tell
from trainc.cli.projects import across_projects
from trainc.cli.rewriting import put, texts, write
from trainc.cli.session import Session
from trainc.compiler import pipeline
from trainc.compiler.emit.spool.disk import create
from trainc.model.report import Report
from trainc.model.settings import STDIN, Project, Selection
from trainc.model.tree import plain
from trainc.report.dumps import dumps
from trainc.report.lines import text_of
from trainc.report.migration import migration_lines, migration_markdown, new_run_lines
from trainc.text.suppress import Suppress
from trainc.text.trouble import Trouble

_FEW = 3  # older jobs, or files, that are told one by one without being asked


def run(options: Options) -> int:
    """Print the new files, or write them in place, and say what changed in meaning."""
    return across_projects(options, _migrate)


def _migrate(options: Options) -> int:
    session = Session(options)
    form = options.one("report", "text")
    if form != "text" and session.stdin is not None and options.has("write"):
        raise Trouble(f"--write and --report {form} both print to standard output if the input is -; omit one of them")
    given = list(texts(session.project, session.selection))
    shared = _shared_runtime(options.one("runtime"), session.project, given) if options.has("runtime") else None
    results = [(file, migrate(text, session.project, file, shared)) for file, text in given]
    wants = [one.want for _, done in results for one in done.outcomes if one.want is not None]
    if shared is not None and shared.is_new and any(want.served_by for want in wants):
        if options.has("write"):
            target = _target(shared.name, session.project)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            create(target, _runtime_text(shared))
            shown = session.shown(os.path.relpath(target, session.project.root))
            tell(f"wrote {shown}: the runtime that the jobs share")
        elif form == "text":
            put(_runtime_text(shared))
    for file, done in results:
        if done.touched and options.has("write"):
            write(session.project.root, file, done.text)
        elif done.touched and form == "text":
            put(done.text)
    # When all of it is written: a reader that has gone stops nothing half-way.
    if options.has("write") and form == "text":
        wrote = [session.shown(file) for file, done in results if done.touched and file != STDIN]
        tell(*([f"wrote {file}" for file in wrote] if len(wrote) <= _FEW else [f"wrote {len(wrote)} files"]))
    ended = _ended_runs(session, results)
    view = summary([(session.shown(file), done) for file, done in results], ended)
    if form != "text":
        put_data(dumps(view) if form == "json" else text_of(migration_markdown(view)))
    elif options.has("details") or len(view["jobs"]) <= _FEW:
        for file, done in results:
            _tell(session.shown(file), done, in_full=options.has("details"))
        tell(*new_run_lines(view))
        if not any(done.touched or done.problems for _, done in results):
            tell("nothing to migrate")
    else:
        tell(*migration_lines(view))
    return 1 if any(done.has_failed for _, done in results) else 0


def _ended_runs(session: Session, results: list[tuple[str, Migration]]) -> list[tuple[str, str, str]]:
    """The jobs whose rendered run cannot become what they are now: the file, the name, and the rendered file."""
    touched = {file: done.text for file, done in results if done.touched and file != STDIN}
    if not touched or not os.path.isdir(os.path.join(session.project.root, session.project.output)):
        return []
    for file, text in touched.items():
        session.project.texts.replace(file, text.encode("utf-8", "surrogateescape"))
    compiled = pipeline.bundles(session.project, session.selection, Report(compiles=False))
    migrated_jobs = (bundle for bundle in compiled if bundle.document.file in touched)
    edited = Base(session.project.root, is_commit=False)
    return [
        (session.shown(bundle.document.file), bundle.document.name, file_of(bundle, session.project))
        for bundle, _ in refusals(migrated_jobs, session.project, session.selection, edited)
    ]


def _tell(file: str, done: Migration, *, in_full: bool) -> None:
    """What became of a file's documents, the gravest first: what stays, what changes, and the fields that differ by reason."""
    for finding in done.problems:
        tell(f"{file}:{finding.span.line}:{finding.span.column}: not migrated: {finding.message}")
    if in_full:
        tell(*(f"{file}: {change.document}: {change.message}" for change in done.changes))
        tell(*(f"{file}: compiled differently: {difference}" for difference in done.differences))
        return
    for document in dict.fromkeys(change.document for change in done.changes):
        tell(f"{file}: {document}:", *(f"  {one.message}" for one in done.changes if one.document == document))
    if done.differences:
        number = len(done.differences)
        tell(
            f"{file}: {number} {'field is' if number == 1 else 'fields are'} compiled differently (`--details` lists each):"
        )
        tell(*(f"  {line}" for line in by_reason(done.differences)))


def _shared_runtime(name: str, project: Project, files: Iterable[tuple[str, str]]) -> Shared | None:
    """The runtime that migrated jobs are to name; None where no two jobs could share one."""
    with Suppress(Trouble):
        known = pipeline.flattening(project, Selection((".",)), report := Report())(name, report)
        if known is not None:
            return Shared(plain(known.tree), is_new=False)
    outcomes = (one for file, text in files for one in migrate(text, project, file).outcomes)
    shared = shared_by([one.want for one in outcomes if one.want is not None], name)
    if shared is not None and os.path.lexists(_target(name, project)):
        raise Trouble(f"{_target(name, project)} already exists, and contains no readable runtime `{name}`")
    return shared


def _runtime_text(shared: Shared) -> str:
    lines = Writer({}, deeper=False).document(shared.runtime, None)
    return "".join(f"{line}\n" for line in ("# Settings that the migrated jobs share.", *lines))


def _target(name: str, project: Project) -> str:
    folders = project.runtimes or ("runtimes",)
    return os.path.join(project.root, folders[0], f"{name}.yaml")
