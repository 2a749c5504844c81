"""Several processes for one run: each compiles its part of the files, one puts the parts together in order."""

from __future__ import annotations

import os
import pickle
import tempfile

from trainc import pipeline
from trainc.load.walk import files
from trainc.model.trouble import Trouble
from trainc.verify.together import Together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any

    from trainc.cli.session import Session
    from trainc.compare.committed import Committed
    from trainc.emit.spool import Spool
    from trainc.model.settings import Project, Selection

_MOST = 16  # a worker more than this finds too little to do


def workers(project: Project, selection: Selection, many: int) -> int:
    """How many workers a selection is worth on this machine."""
    if not hasattr(os, "fork") or len(files(project.root, selection.paths)) < many:
        return 1
    return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, _MOST)


def build_with(count: int, session: Session, spool: Spool, committed: Committed | None = None) -> None:
    """What `pipeline.build` does, by `count` processes: this one takes the first part, and the others' in order.

    The result does not depend on the number: parts are cut in the order of the files.
    """
    together = Together()
    children = [_start(part, count, session, spool, committed) for part in range(1, count)]
    try:
        pipeline.fill(session.project, session.selection.shared(0, count), spool, session.report, together)
    finally:
        results = [_result(child, stream) for child, stream in children]
    for found in results:
        if "trouble" in found:
            raise Trouble(found["trouble"])
        if "bug" in found:
            raise RuntimeError(found["bug"])
        session.report.absorb(found["report"])
        together.absorb(found["together"], session.report)
        spool.absorb(found["spool"])
        if committed is not None:
            committed.absorb(found["kept"])
    pipeline.finish(spool, session.report)


def _start(part: int, parts: int, session: Session, spool: Spool, committed: Committed | None) -> tuple[int, IO[bytes]]:
    """Begin a worker; its process, and the file that its result will be in."""
    stream = tempfile.TemporaryFile()  # noqa: SIM115 (read, and closed, when the worker has ended)
    child = os.fork()
    if child:
        return child, stream
    try:
        pickle.dump(_part(part, parts, session, spool, committed), stream, protocol=pickle.HIGHEST_PROTOCOL)
        stream.flush()
    finally:
        # Whatever happened, a worker goes no further: the rest of the program belongs to its parent.
        os._exit(0)


def _part(part: int, parts: int, session: Session, spool: Spool, committed: Committed | None) -> dict[str, Any]:
    """Everything that one worker has to say."""
    together = Together()
    try:
        pipeline.fill(session.project, session.selection.shared(part, parts), spool, session.report, together)
    except Trouble as trouble:
        return {"trouble": str(trouble)}
    except Exception as error:  # noqa: BLE001 (told by the parent, which knows how)
        return {"bug": f"{type(error).__name__} in a worker: {error}"}
    kept = committed.kept if committed is not None else {}
    return {"report": session.report.portable(), "together": together, "spool": spool.state(), "kept": kept}


def _result(child: int, stream: IO[bytes]) -> dict[str, Any]:
    os.waitpid(child, 0)
    with stream:
        stream.seek(0)
        try:
            found: dict[str, Any] = pickle.load(stream)  # noqa: S301 (written by a process of this run alone)
        except EOFError:
            return {"trouble": "a worker was killed; nothing was written"}
    return found
