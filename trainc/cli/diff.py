"""`trainc diff`: what an edit means for the jobs that it reaches."""

import os
from collections.abc import Iterator

from trainc.apiserver.inventory_kinds import CAPACITY
from trainc.changes.compare.applications import prefix
from trainc.changes.compare.base import base_of, folders
from trainc.changes.compare.diff import Diff, Turned, compare
from trainc.changes.compare.rendered import rendered
from trainc.changes.git.repository import GitRepository
from trainc.cli.options import Options
from trainc.cli.output import answer, data
from trainc.cli.process import Orderly
from trainc.cli.projects import across_projects
from trainc.cli.session import Session
from trainc.cluster.capacity.answers import effects
from trainc.compiler import pipeline
from trainc.model.report import Report
from trainc.report.colours import signed
from trainc.report.diff import diff_json, diff_lines, diff_markdown, mark, refused_lines
from trainc.text.trouble import Trouble


def run(options: Options) -> int:
    """Compare the present specs with a revision, or two folders with each other."""
    if len(options.arguments) > 2:
        raise Trouble("usage: trainc diff [BASE] or trainc diff FOLDER FOLDER")
    base = options.arguments[0] if options.arguments else "HEAD"
    second = options.arguments[1] if len(options.arguments) == 2 else ""
    if second and not (os.path.isdir(base) and os.path.isdir(second)):
        raise Trouble("with two arguments, trainc diff compares two folders")
    if second:
        return _diff(Options([second], options.values), base, second)
    return across_projects(Options(["."], options.values), lambda call: _diff(call, base, ""))


def _diff(options: Options, base: str, second: str) -> int:
    session = Session(options)
    form = options.one("report", "text")
    marker = [mark(prefix(os.path.realpath(".")).rstrip("/"))] if form == "comment" else []
    present = list(pipeline.bundles(session.project, session.selection, session.report))
    pipeline.objects_named(present, session.project, session.selection, session.report)
    if second and not present:
        present = rendered(os.path.abspath(second), session.project, session.selection.clusters, Report())
    account = session.report.account
    is_partial = account.refusals > 0 or bool(account.unread)
    code = 0
    if session.report.failed and form not in ("markdown", "comment") and not second and not os.path.exists(base):
        GitRepository(session.project.root).commit(base)  # a wrong argument is told before the errors of jobs
    if session.report.failed and form == "text" and not is_partial:
        code = session.finish()  # what every job becomes is known, and so is what changes
    elif session.report.failed:
        # A state that does not compile has no meaning to compare; its findings say what is wrong.
        if form in ("markdown", "comment"):
            answer(*marker, *refused_lines(session.report, session.shown, base))
            return 1
        return session.finish()
    if second:
        former = folders(base, second, session.project, session.selection)
        difference = compare(former, present, session.project, session.selection)
    else:
        with Orderly(), base_of(session.project, base, session.selection, falls_back=True) as old:
            difference = compare(old, present, session.project, session.selection)
    if not difference.empty:
        difference = difference._replace(turned=tuple(_turned(session, difference)))
    if form == "json":
        data(diff_json(difference, base))
    elif form == "text":
        text = diff_lines(difference, base, whole=options.has("details"))
        answer(*marker, *signed(text), color=options.one("color", "auto"))
    else:
        answer(*marker, *diff_markdown(difference, base), color=options.one("color", "auto"))
    return 1 if options.has("exit_code") and not difference.empty else code


def _turned(session: Session, difference: Diff) -> Iterator[Turned]:
    """The jobs that a cluster answers differently: those edited, and those beside them."""
    for cluster in session.project.clusters:
        if not CAPACITY.isdisjoint(cluster.objects):
            sides = [{key: one for key, one in side.items() if key[0] == cluster.name} for side in difference.jobsets]
            for one in effects(cluster.objects, *sides):
                yield Turned(one.key, one.old, one.new, one.reason)
