"""`trainc fix`: the edits that findings carry, as a diff or in place."""

from __future__ import annotations

from trainc import pipeline
from trainc.cli.migrate import texts, write
from trainc.cli.output import answer, tell
from trainc.cli.projects import across_projects
from trainc.cli.session import Session
from trainc.compare.immutable import IMMUTABLE_CHANGE
from trainc.compare.refused import refused_runs
from trainc.fix import diff
from trainc.fix import fix as fixed
from trainc.model.finding import ERROR
from trainc.model.report import Report
from trainc.report.colours import unified

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.cli.options import Options
    from trainc.model.finding import Finding


def fix(options: Options) -> int:
    """Show the edits, or make them, and say how many findings still need a person."""
    return across_projects(options, _fix)


def _fix(options: Options) -> int:
    session = Session(options)
    pipeline.check(session.project, session.selection, session.report)
    present = pipeline.bundles(session.project, session.selection, Report(compiles=False))
    refused_runs(present, session.project, session.selection, session.report)
    found = session.report.findings
    about: dict[str, list[Finding]] = {}
    for finding in found:
        for file in dict.fromkeys(edit.file for edit in finding.fix):
            about.setdefault(file, []).append(finding)
    applied: set[int] = set()
    for file, text in texts(session):
        done = fixed(text, about.get(file, ()), file, unsafe=options.has("unsafe"))
        applied.update(map(id, done.applied))
        if options.has("write") and done.text != text:
            write(session, file, done.text)
        else:
            changed = unified(diff(text, done.text, session.shown(file)))
            answer(*changed, color=options.one("color", "auto"), folds=False)
    left = [finding for finding in found if id(finding) not in applied]
    errors = sum(finding.level == ERROR for finding in left)
    verb = "fixed" if options.has("write") else "could be fixed"
    need = "error needs" if errors == 1 else "errors need"
    if any(finding.rule is IMMUTABLE_CHANGE for finding in left):
        tell("an edit that a run cannot take starts a new run with `trainc fix --unsafe`, or with `trainc run JOB`")
    tell(f"{len(applied)} {verb}, {errors} {need} a person")
    return 1 if errors else 0
