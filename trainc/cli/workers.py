"""Several processes for one run: each compiles its part of the files, one puts the parts together in order."""

import atexit
import os
import pickle
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, Never

from trainc.changes.compare.committed import Committed
from trainc.cli.process import Orderly
from trainc.cli.session import Session
from trainc.compiler import pipeline
from trainc.compiler.emit.spool import Spool
from trainc.compiler.load import load
from trainc.lint.across_jobs import SharedNames
from trainc.model.catalog import Documents
from trainc.text.children import wait_for_children
from trainc.text.trouble import Reaching, Trouble

_FAILED = 255  # the exit code of a worker that failed for no reason that the system has a number for
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def build_with(count: int, session: Session, spool: Spool, committed: Committed | None = None) -> None:
    """What `pipeline.build` does, by `count` processes: this one takes the first part, and the others' in order.

    The result does not depend on the number: parts are cut in the order of the files.
    """
    project, selection, report, together = session.project, session.selection, session.report, SharedNames()
    others: list[_Worker] = []
    wait_for_children()
    documents = load(project, selection, report)
    with Orderly():
        try:
            documents.take_part(0, 1)  # all files are looked through before there are several processes
            for part in range(1, count):
                others.append(_Worker())
                others[-1].start(partial(_part, (part, count), documents, session, spool, committed))
            documents.take_part(0, count)
            catalogs = pipeline.fill(project, selection, spool, report, together, documents)
            results = [worker.result() for worker in others]
        except BaseException:
            for worker in others:
                worker.stop()
            raise
    for worker, result in zip(others, results, strict=True):
        if "trouble" in result:
            raise Trouble(result["trouble"])
        if "bug" in result:
            raise RuntimeError(result["bug"])
        report.absorb(result["report"])
        together.absorb(result["together"], report)
        spool.absorb(result["spool"], worker.texts())
        if committed is not None:
            committed.absorb(result["committed"])
    pipeline.check_unreached(catalogs, report)
    pipeline.finish(project, selection, spool, report, together)


class _Worker:
    """A process of its own, and the temporary file that its result will be in."""

    def __init__(self) -> None:
        self._process = 0  # none yet, or none any more
        with Reaching("temporary file"):
            self._stream = tempfile.TemporaryFile()  # noqa: SIM115 (read, and closed, when the worker has ended)
        atexit.register(self.stop)

    def start(self, work: Callable[[], tuple[dict[str, Any], Iterable[str]]]) -> None:
        """Begin; no signal comes between the process and its number."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
        try:
            self._process = os.fork()
            if self._process == 0:
                # What a signal means for the run is for the parent to say.
                for number in _STOPPING:
                    signal.signal(number, signal.SIG_DFL)
        except OSError as error:
            raise Trouble(f"cannot start workers: {error.strerror}") from error
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if self._process == 0:
            self._work(work)

    def _work(self, work: Callable[[], tuple[dict[str, Any], Iterable[str]]]) -> Never:
        code = _FAILED
        try:
            result, texts = work()
            for part in (result, *texts, None):
                pickle.dump(part, self._stream, protocol=pickle.HIGHEST_PROTOCOL)
            self._stream.flush()
            code = 0
        except OSError as error:
            code = error.errno or _FAILED
        finally:
            # Whatever happened, a worker goes no further: the rest of the program belongs to its parent.
            os._exit(code)

    def result(self) -> dict[str, Any]:
        """What it has to say, when it has ended; `texts` are left to be read."""
        _, status = os.waitpid(self._process, 0)
        self._process = 0
        atexit.unregister(self.stop)
        if code := os.waitstatus_to_exitcode(status):
            self._stream.close()
            why = f"temporary file: {os.strerror(code)}" if 0 < code < _FAILED else "a worker was killed"
            return {"trouble": f"{why}; nothing was written"}
        self._stream.seek(0)
        content: dict[str, Any] = pickle.load(self._stream)  # noqa: S301 (written by a process of this run alone)
        return content

    def texts(self) -> Iterator[str]:
        """The texts that its spool has collected, one at a time: all of them need not lie in memory."""
        with self._stream as stream:
            while (text := pickle.load(stream)) is not None:  # noqa: S301 (as above)
                yield text

    def stop(self) -> None:
        if self._process:
            with suppress(OSError):
                os.kill(self._process, signal.SIGKILL)
                os.waitpid(self._process, 0)
        self._stream.close()


def _part(
    part: tuple[int, int],
    documents: Documents,
    session: Session,
    spool: Spool,
    committed: Committed | None,
) -> tuple[dict[str, Any], Iterable[str]]:
    """Everything that one worker has to say, and the texts that its spool has collected."""
    together = SharedNames()
    try:
        documents.take_part(*part)
        pipeline.fill(session.project, session.selection, spool, session.report, together, documents)
    except Trouble as trouble:
        return {"trouble": str(trouble)}, ()
    except Exception as error:  # noqa: BLE001 (told by the parent, which knows how)
        return {"bug": f"{type(error).__name__} in a worker: {error}"}, ()
    decided = committed.portable() if committed is not None else None
    content = {"report": session.report.portable(), "together": together, "committed": decided}
    return {**content, "spool": spool.state()}, spool.texts()
