"""`trainc migrate`: jobs of earlier kinds and spellings as TrainJobs of today."""

from __future__ import annotations

import os

from trainc.changes.compare.refused_edits import renderings
from trainc.changes.migrate import migrate as migrated
from trainc.changes.migrate.compared import by_reason, summary
from trainc.cli.shared.output import data as put_data
from trainc.cli.shared.output import tell
from trainc.cli.shared.projects import across_projects
from trainc.cli.shared.rewriting import put, texts, write
from trainc.cli.shared.session import Session
from trainc.cli.shared.shared_runtime import runtime_text, shared_runtime, write_runtime
from trainc.compiler import pipeline
from trainc.model.report import Report
from trainc.model.settings import STDIN
from trainc.report.dumps import dumps
from trainc.report.lines import text_of
from trainc.report.migration import migration_lines, migration_markdown, new_run_lines
from trainc.text.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.changes.migrate import Migration
    from trainc.cli.shared.options import Options

_FEW = 3  # older jobs that are told one by one without being asked


def migrate(options: Options) -> int:
    """Print the new files, or write them in place, and say what changed in meaning."""
    return across_projects(options, _migrate)


def _migrate(options: Options) -> int:
    session = Session(options)
    form = options.one("report", "text")
    if form != "text" and session.stdin is not None and options.has("write"):
        raise Trouble(
            f"--write prints what it makes of standard input, where --report {form} prints its report; leave out one"
        )
    given = list(texts(session))
    shared = shared_runtime(options.one("runtime"), session, given) if options.has("runtime") else None
    results = [(file, migrated(text, session.project, file, shared)) for file, text in given]
    if shared is not None and shared.is_new and any(one.is_served for _, done in results for one in done.outcomes):
        if options.has("write"):
            tell(f"{write_runtime(shared, session)}: the runtime that the jobs share")
        elif form == "text":
            put(runtime_text(shared))
    for file, done in results:
        if done.touched and options.has("write"):
            write(session, file, done.text)
        elif done.touched and form == "text":
            put(done.text)
    # When all of it is written: a reader that has gone stops nothing half-way.
    ended = _ended_runs(session, results)
    view = summary([(session.shown(file), done) for file, done in results], ended)
    if form != "text":
        put_data(dumps(view) if form == "json" else text_of(migration_markdown(view)))
    elif options.has("details") or len(view["jobs"]) <= _FEW:
        for file, done in results:
            (_tell_all if options.has("details") else _tell)(session.shown(file), done)
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
    return [
        (session.shown(bundle.document.file), bundle.document.name, file)
        for bundle, file, _, decision in renderings(migrated_jobs, session.project, session.selection)
        if decision.refused and not decision.text
    ]


def _tell(file: str, done: Migration) -> None:
    """What became of a file's documents, the gravest first: what stays, what changes, and the fields that differ by reason."""
    _tell_problems(file, done)
    for document in dict.fromkeys(change.document for change in done.changes):
        tell(f"{file}: {document}:", *(f"  {one.message}" for one in done.changes if one.document == document))
    if done.differences:
        number = len(done.differences)
        tell(
            f"{file}: {number} {'field is' if number == 1 else 'fields are'} compiled otherwise (`--details` tells each):"
        )
        tell(*(f"  {line}" for line in by_reason(done.differences)))


def _tell_all(file: str, done: Migration) -> None:
    _tell_problems(file, done)
    for change in done.changes:
        tell(f"{file}: {change.document}: {change.message}")
    for difference in done.differences:
        tell(f"{file}: compiled otherwise: {difference}")


def _tell_problems(file: str, done: Migration) -> None:
    for finding in done.problems:
        tell(f"{file}:{finding.span.line}:{finding.span.column}: not migrated: {finding.message}")
