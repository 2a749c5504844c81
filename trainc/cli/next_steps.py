"""`trainc` without a command: what to do next in this folder."""

import os
from collections import Counter

from trainc.cli.compiling import compiled
from trainc.cli.options import Options
from trainc.cli.output import answer
from trainc.cli.session import Session
from trainc.compiler.emit.spool import Tally
from trainc.model.finding import ERROR
from trainc.model.settings import FILE
from trainc.text.counting import counted
from trainc.text.trouble import Trouble

HELP = ("trainc --help", "list all commands")
_FIRST = [
    ("trainc new NAME", "write a first job; it asks for what it needs"),
    ("trainc init", "start a repository with hooks and CI"),
]


def next_steps() -> int:
    """Say how many jobs are here, what is wrong with them, and the three commands that lead on."""
    try:
        session = Session(Options([], {}), compiles=False)
        spool = Tally()
        compiled(session, spool)
    except Trouble as trouble:
        return _say(str(trouble), [("trainc validate", "check the jobs here"), HELP])
    report = session.report
    count = spool.jobs + report.account.refusals
    if not (count or report.findings):
        if session.project.file:
            return _say(f"no jobs below this folder ({FILE} is there)", [*_FIRST[:1], HELP])
        return _say("no project and no jobs here", [*_FIRST, HELP])
    errors = [finding for finding in report.findings if finding.level == ERROR]
    jobs = counted(count, "job")
    if errors:
        rule, _ = Counter(finding.rule.name for finding in errors).most_common(1)[0]
        found = counted(len(errors), "error")
        why = (f"trainc explain {rule}", "why it matters, with an example")
        edits = ("trainc fix", "show the edits that trainc can make")
        return _say(f"{jobs}, {found}", [("trainc validate", "read the findings"), why, edits])
    if not os.path.isdir(os.path.join(session.project.root, session.project.output)):
        render = ("trainc build -w", f"render manifests to {session.project.output}/")
        return _say(f"{jobs}, no errors, nothing rendered yet", [("trainc show", "see what will run"), render, HELP])
    steps = [("trainc build --check", "are the rendered manifests current?"), ("trainc diff", "see what changes")]
    return _say(f"{jobs}, no errors", [*steps, ("trainc run JOB", "start the next run of a job")])


def _say(state: str, steps: list[tuple[str, str]]) -> int:
    width = max(len(command) for command, _ in steps)
    answer(state, "", "next:", *(f"  {command:<{width}}  {about}" for command, about in steps), folds=False)
    return 0
