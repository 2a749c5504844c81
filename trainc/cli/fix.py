"""`trainc fix`: the edits that findings carry, as a diff or in place."""

from __future__ import annotations

from trainc.changes.compare.immutable import IMMUTABLE_CHANGE
from trainc.changes.fix import diff
from trainc.cli.shared.output import answer, tell
from trainc.cli.shared.projects import across_projects
from trainc.cli.shared.repair import Repair
from trainc.cli.shared.rewriting import write
from trainc.cli.shared.session import Session
from trainc.model.finding import ERROR
from trainc.report.colours import unified

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.cli.shared.options import Options


def fix(options: Options) -> int:
    """Show the edits, or make them, and say how many findings still need a person."""
    return across_projects(options, _fix)


def _fix(options: Options) -> int:
    session = Session(options)
    repair = Repair(session, unsafe=options.has("unsafe"))
    for file, text in repair.after.items():
        before = repair.before[file]
        if options.has("write") and text != before:
            write(session, file, text)
        else:
            changed = unified(diff(before, text, session.shown(file)))
            answer(*changed, color=options.one("color", "auto"), folds=False)
    errors = sum(finding.level == ERROR for finding in repair.left)
    verb = "fixed" if options.has("write") else "could be fixed"
    need = "error needs" if errors == 1 else "errors need"
    if any(finding.rule is IMMUTABLE_CHANGE for finding in repair.left):
        tell("an edit that a run cannot take starts a new run with `trainc fix --unsafe`, or with `trainc run JOB`")
    for (file, line), why in repair.obstacles.items():
        tell(f"{session.shown(file)}:{line}: edits of this document are left to a person: {why}")
    if repair.is_cut:
        tell("a file is too large to try every edit at once: run `trainc fix -w` again to continue")
    tell(f"{len(repair.applied)} {verb}, {errors} {need} a person")
    return 1 if errors else 0
