"""`trainc show`: what will run."""

import sys
from typing import Any

from trainc.changes.compare.changes import of_run
from trainc.changes.compare.rendering_state import ABSENT, CURRENT, RenderingStates
from trainc.cli.job_rows import has_output, inheritance, job_row, job_view
from trainc.cli.options import Options
from trainc.cli.output import answer, data, terminal
from trainc.cli.page import show_page
from trainc.cli.projects import across_projects
from trainc.cli.session import Session
from trainc.compiler import pipeline
from trainc.lint import expand
from trainc.lint.facts.lifecycle import EventError, UndecidedError
from trainc.lint.facts.scenarios import simulate
from trainc.model.account import REFUSED
from trainc.model.bundle import Bundle
from trainc.model.finding import ERROR
from trainc.model.report import Report
from trainc.report.colours import titled
from trainc.report.diff import shown_changes
from trainc.report.drawing import (
    job_diagrams,
    lifecycle_lines,
    lifecycle_markdown,
    overview_lines,
    overview_markdown,
    pod_lines,
    pod_markdown,
    repository_diagrams,
)
from trainc.report.dumps import dumps
from trainc.report.listing import listing_lines, listing_markdown
from trainc.report.markdown import fenced, prose
from trainc.text.numbers import brief, whole_number
from trainc.text.trouble import Inapplicable, Trouble

_WHOLE = {"text": lambda view: overview_lines(view, terminal(sys.stdout).width), "markdown": overview_markdown}
_LIFE = {"text": lifecycle_lines, "markdown": lifecycle_markdown}
_POD = {"text": pod_lines, "markdown": pod_markdown}


def run(options: Options) -> int:
    """Draw every job under the paths, or one pod of each."""
    if options.one("report") == "html":
        single = [name for name in ("rank", "lifecycle", "after", "details", "rendered", "group") if options.has(name)]
        if single:
            raise Trouble(f"--report html shows everything; omit --{single[0]}")
        return show_page(options)
    if options.has("output"):
        raise Trouble("-o works only with --report html; other reports go to stdout")
    return across_projects(options, _show)


def _show(options: Options) -> int:
    rank = options.one("rank")
    number = whole_number(rank)
    if rank and number is None:
        raise Trouble(f"--rank must be a number of 0 or more, not `{brief(rank)}`")
    if options.one("report") == "mermaid" and (rank or options.has("lifecycle") or options.has("after")):
        raise Trouble("--report mermaid draws whole jobs; omit --rank, --lifecycle and --after")
    session = Session(options)
    bundles = list(pipeline.bundles(session.project, session.selection, session.report))
    # A job that could not be compiled is missing below, and one of a project with errors may differ: findings say so.
    errors = [finding for finding in session.report.findings if finding.level == ERROR]
    misread = any(finding.span.file == session.project.file for finding in errors)
    is_partial = misread or session.report.account.totals()[REFUSED] > 0
    if session.report.failed and (not bundles or (is_partial and options.one("report") == "json")):
        return session.finish()  # a program reads one answer: the findings
    shown = _listed(bundles, session) if _is_listing(bundles, options) else _drawn(bundles, number, session)
    if not shown:
        raise Inapplicable(
            f"no job here has a pod of rank {rank}" if rank else "nothing to show: no job under the paths given"
        )
    return session.finish() if is_partial else 0


def _is_listing(bundles: list[Bundle], options: Options) -> bool:
    """Whether each job is one line: several are asked for, and nothing of one of them."""
    single = ("rank", "lifecycle", "after", "details", "rendered")
    jobs = {(bundle.document.file, bundle.name) for bundle in bundles if bundle.jobset is not None}
    return options.has("group") or (len(jobs) > 1 and not any(options.has(name) for name in single))


def _listed(bundles: list[Bundle], session: Session) -> bool:
    options, form = session.options, session.options.one("report", "text")
    states = RenderingStates(session.project, session.selection) if has_output(session.project) else None
    rows = [row for bundle in bundles if (row := job_row(bundle, states, session.shown)) is not None]
    if form == "json":
        data(dumps(rows))
    elif rows and form == "mermaid":
        runtimes = inheritance(session.project, session.selection.paths, bundles)
        for bundle in bundles:
            runtimes.count(bundle)
        graph = {"nodes": runtimes.nodes, "edges": runtimes.edges}
        answer(*repository_diagrams(rows, session.options.one("group", "cluster"), graph), folds=False)
    elif rows:
        draw = {"text": listing_lines, "markdown": listing_markdown}[form]
        answer(*draw(rows, options.one("group", "cluster")), color=options.one("color", "auto"), folds=False)
    return bool(rows)


def _drawn(bundles: list[Bundle], number: int | None, session: Session) -> bool:
    """Draw each job whole, or one of its pods; with what its rendered file says otherwise."""
    options, form = session.options, session.options.one("report", "text")
    lives = options.has("lifecycle") or options.has("after")
    chosen = [
        (bundle, view)
        for bundle in bundles
        if (view := _life(bundle, options) if lives else job_view(bundle, number)) is not None
    ]
    if form == "json":
        data(dumps([view for _, view in chosen]) if chosen else "")
        return bool(chosen)
    if form == "mermaid":
        answer(*job_diagrams([view for _, view in chosen]), folds=False)
        return bool(chosen)
    whole = not lives and number is None
    draw = (_LIFE if lives else _POD if not whole else _WHOLE)[form]
    for index, (bundle, view) in enumerate(chosen):
        lines = [*draw(view), *(_beside(bundle, session, form) if whole else [])]
        drawn = titled(lines) if form == "text" else lines
        answer(*([""] if index else []), *drawn, color=options.one("color", "auto"), folds=whole or lives)
    return bool(chosen)


def _beside(bundle: Bundle, session: Session, form: str) -> list[str]:
    """What is told of a job's rendered file: where it differs from the text, and with `--rendered` the whole of it."""
    if not has_output(session.project) or bundle.jobset is None:
        return []
    state = RenderingStates(session.project, session.selection).of(bundle)
    if state.state == ABSENT:
        return []
    lines = [f"{'rendering':<12}{session.shown(state.file)}: {state.state}"]
    if state.fault:
        lines.append(f"{'':<12}{state.fault}")
    if state.state != CURRENT:
        lines += shown_changes(state.changes(of_run(bundle, session.project)))
    block = lines if form == "text" else ["", *fenced(lines, "text")]
    view = job_view(state.bundle, None) if session.options.has("rendered") and state.bundle is not None else None
    title = f"as rendered in {session.shown(state.file)}:"
    return [*block, *(["", title if form == "text" else prose(title), "", *_WHOLE[form](view)] if view else [])]


def _life(bundle: Bundle, options: Options) -> dict[str, Any] | None:
    job = expand(bundle, None, Report())
    try:
        return None if job is None else simulate(job, options.all("after"))
    except EventError as error:
        raise Trouble(f"--after: {error}") from error
    except UndecidedError as error:
        raise Inapplicable(f"{bundle.name}: {error}") from error
