"""`trainc build` and `trainc validate`."""

from __future__ import annotations

import sys

from trainc import pipeline
from trainc.cli.session import Session
from trainc.emit.spool import Spool, StreamSpool
from trainc.model.report import Report
from trainc.model.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.cli.options import Options


def build(options: Options) -> int:
    """Compile, write everything or nothing, and report."""
    if any(options.has(name) for name in ("output", "write", "check")):
        from trainc.cli.rendered import build_folder  # noqa: PLC0415 (most runs write to stdout)

        return build_folder(options)
    for name in ("rerender", "changed_since"):
        if options.has(name):
            raise Trouble(f"--{name.replace('_', '-')} is for rendered files; add -w, --check or -o DIR")
    session = Session(options)
    spool = _stream(options, session)
    pipeline.build(session.project, session.selection, spool, session.report)
    code = session.finish(spool)
    if spool.objects == 0 and code == 0:
        raise Nothing
    return code


class Nothing(Trouble):
    """There is nothing to compile: an empty success would look like "delete everything" to a GitOps tool."""

    code = 1

    def __init__(self) -> None:
        super().__init__("nothing to compile here: no TrainJob, JobSet or older job under the paths given")


def _stream(options: Options, session: Session) -> Spool:
    one_stream(session)
    return StreamSpool(sys.stdout, json=options.one("format") == "json")


def one_stream(session: Session) -> None:
    """Raise Trouble where one stream would hold the objects of several clusters."""
    clusters = session.selection.clusters or tuple(cluster.name for cluster in session.project.clusters)
    if len(clusters) > 1:
        names = ", ".join(clusters)
        raise Trouble(f"one stream would mix the clusters {names}; add --cluster NAME, or -o DIR for all of them")


def validate(options: Options) -> int:
    """Compile without writing, and report."""
    if options.has("whole_project"):
        from trainc.cli.whole import validate_whole  # noqa: PLC0415 (for tools that pass files)

        return validate_whole(options)
    session = Session(options)
    spool = Spool()
    if options.has("against"):
        _against(session, options.one("against"))
    pipeline.build(session.project, session.selection, spool, session.report)
    return session.finish(spool)


def _against(session: Session, base: str) -> None:
    """Judge the present specs as updates of what a file, a folder or a Git revision compiles to."""
    from trainc.compare.base import base_of  # noqa: PLC0415 (Git is read only where it is asked for)
    from trainc.compare.updates import judge  # noqa: PLC0415

    present = pipeline.bundles(session.project, session.selection, Report())
    with base_of(session.project, base, session.selection) as old:
        judge(old.bundles, present, session.project, session.report)
