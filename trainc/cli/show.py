"""`trainc show`: what will run."""

from __future__ import annotations

import sys

from trainc import pipeline
from trainc.cli.output import answer, data
from trainc.cli.projects import across_projects
from trainc.cli.session import Session
from trainc.cli.terminal import terminal
from trainc.model.numbers import brief, whole_number
from trainc.model.report import Report
from trainc.model.trouble import Inapplicable, Trouble
from trainc.report.colours import titled
from trainc.report.dumps import dumps
from trainc.verify import expand
from trainc.verify.drawing import (
    lifecycle_lines,
    lifecycle_markdown,
    overview_lines,
    overview_markdown,
    pod_lines,
    pod_markdown,
)
from trainc.verify.show import one_pod, overview

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainc.cli.options import Options
    from trainc.model.bundle import Bundle


def _overview(view: dict[str, Any]) -> list[str]:
    return overview_lines(view, terminal(sys.stdout).width)


_WHOLE = {"text": _overview, "markdown": overview_markdown}
_LIFE = {"text": lifecycle_lines, "markdown": lifecycle_markdown}
_POD = {"text": pod_lines, "markdown": pod_markdown}


def show(options: Options) -> int:
    """Draw every job under the paths, or one pod of each."""
    return across_projects(options, _show)


def _show(options: Options) -> int:
    rank = options.one("rank")
    number = whole_number(rank)
    if rank and number is None:
        raise Trouble(f"--rank is a number from 0 on, not `{brief(rank)}`")
    session = Session(options)
    bundles = list(pipeline.bundles(session.project, session.selection, session.report))
    if session.report.failed and not bundles:
        return session.finish()
    lives = options.has("lifecycle") or options.has("after")
    views = [
        view for bundle in bundles if (view := _life(bundle, options) if lives else _view(bundle, number)) is not None
    ]
    if not views:
        raise Inapplicable(
            f"no job here has a pod of rank {rank}" if rank else "nothing to show: no job under the paths given"
        )
    form = options.one("report", "text")
    if form == "json":
        data(dumps(views))
    else:
        draw = (_LIFE if lives else _POD if rank else _WHOLE)[form]
        for index, view in enumerate(views):
            lines = draw(view)
            drawn = titled(lines) if form == "text" else lines
            answer(*([""] if index else []), *drawn, color=options.one("color", "auto"), folds=not rank)
    return 0


def _view(bundle: Bundle, rank: int | None) -> dict[str, Any] | None:
    job = expand(bundle, None, Report())
    if job is None:
        return None
    return overview(job) if rank is None else one_pod(job, rank)


def _life(bundle: Bundle, options: Options) -> dict[str, Any] | None:
    from trainc.verify.lifecycle import EventError, UndecidedError  # noqa: PLC0415 (nothing else plays a job through)
    from trainc.verify.outcomes import outcomes  # noqa: PLC0415

    job = expand(bundle, None, Report())
    try:
        return None if job is None else outcomes(job, options.all("after"))
    except EventError as error:
        raise Trouble(f"--after: {error}") from error
    except UndecidedError as error:
        raise Inapplicable(f"{bundle.name}: {error}") from error
