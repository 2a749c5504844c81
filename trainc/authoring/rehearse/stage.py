"""Running a script: processes start in order, their lines come out as one stream, and nobody is left behind."""

from __future__ import annotations

import atexit
import os
import selectors
import signal
import subprocess
import time

from trainc.text.trouble import Reaching

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trainc.authoring.rehearse.processes import Process, Script

GRACE = 5.0  # seconds between asking a process to end and ending it
_STEP = 0.1


class Ended:
    """How a process ended: its exit code, None for one that was still running when the time was up or never started.

    `is_first` marks the first that failed, which ended the rehearsal.
    """

    __slots__ = ("code", "is_first", "process", "started")

    def __init__(self, process: Process, code: int | None, *, started: bool = True) -> None:
        self.process = process
        self.code = code
        self.started = started
        self.is_first = False

    @property
    def well(self) -> bool:
        """Whether it did what it was there for."""
        return self.code == 0


class _Actor:
    __slots__ = ("child", "process", "rest")

    def __init__(self, process: Process, cwd: str) -> None:
        self.process = process
        self.rest = b""
        self.child = subprocess.Popen(  # noqa: S603 (running what the manifests say is what was asked for)
            process.argv,
            cwd=cwd,
            env=dict(process.env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # its own group: the launcher's children end with it
        )


def perform(script: Script, cwd: str, timeout: float, say: Callable[[Process, str], None]) -> list[Ended]:
    """Run all processes of a script in `cwd` and tell how each ended; `say` hears every line.

    The first that fails ends the rehearsal, as a failed pod ends the training.
    """
    for path, content in script.files.items():
        with Reaching(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "x", encoding="utf-8") as stream:
                stream.write(content)
    waiting = list(script.processes)
    running: list[_Actor] = []
    ended: list[Ended] = []
    deadline = time.monotonic() + timeout
    atexit.register(_stop, running)
    with selectors.DefaultSelector() as selector:
        try:
            while (waiting or running) and time.monotonic() < deadline and all(e.well for e in ended):
                for process in [p for p in waiting if _due(p, script, ended, waiting)]:
                    waiting.remove(process)
                    _start(process, cwd, selector, running, ended, say)
                _listen(selector, say)
                for actor in [a for a in running if a.child.poll() is not None]:
                    running.remove(actor)
                    ended.append(Ended(actor.process, actor.child.returncode))
            _drain(running, ended, deadline)
        finally:
            _stop(running)
            atexit.unregister(_stop)
            while selector.get_map() and _listen(selector, say):
                pass  # what is still in the pipes
            for key in list(selector.get_map().values()):
                _close(selector, key)
    for failed in [end for end in ended if not end.well][:1]:
        failed.is_first = True
    ended += [Ended(actor.process, None) for actor in running]
    ended += [Ended(process, None, started=False) for process in waiting]
    return sorted(ended, key=lambda e: script.processes.index(e.process))


def _due(process: Process, script: Script, ended: Sequence[Ended], waiting: Sequence[Process]) -> bool:
    """Whether everything has happened that the pod's role waits for; roles that are left out count as done."""
    done = {e.process for e in ended if e.well}
    for role, status in process.after:
        others = [other for other in script.processes if other.role == role]
        if any((other not in done) if status == "Complete" else (other in waiting) for other in others):
            return False
    return True


def _start(
    process: Process,
    cwd: str,
    selector: selectors.BaseSelector,
    running: list[_Actor],
    ended: list[Ended],
    say: Callable[[Process, str], None],
) -> None:
    try:
        actor = _Actor(process, cwd)
    except OSError as error:
        say(process, f"cannot start {process.argv[0]}: {error.strerror}")
        ended.append(Ended(process, 127))
        return
    assert actor.child.stdout is not None
    os.set_blocking(actor.child.stdout.fileno(), False)
    selector.register(actor.child.stdout, selectors.EVENT_READ, actor)
    running.append(actor)


def _listen(selector: selectors.BaseSelector, say: Callable[[Process, str], None]) -> bool:
    """Pass on every complete line that has come in; whether anything has."""
    if not selector.get_map():
        time.sleep(_STEP)
        return False
    ready = selector.select(_STEP)
    for key, _ in ready:
        actor: _Actor = key.data
        chunk = os.read(key.fd, 1 << 16)
        if not chunk:
            _close(selector, key)
            chunk = b"\n" if actor.rest else b""
        *lines, actor.rest = (actor.rest + chunk).split(b"\n")
        for line in lines:
            say(actor.process, line.decode("utf-8", "replace").rstrip("\r"))
    return bool(ready)


def _close(selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    selector.unregister(key.fileobj)
    actor: _Actor = key.data
    if actor.child.stdout is not None:
        actor.child.stdout.close()


def _drain(running: list[_Actor], ended: list[Ended], deadline: float) -> None:
    """Give the others a moment to end by themselves once one has failed: their reasons are worth hearing."""
    patience = min(deadline, time.monotonic() + GRACE)
    while running and time.monotonic() < patience:
        for actor in [a for a in running if a.child.poll() is not None]:
            running.remove(actor)
            ended.append(Ended(actor.process, actor.child.returncode))
        time.sleep(_STEP)


def _stop(running: Sequence[_Actor]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        for actor in running:
            if actor.child.poll() is None:
                os.killpg(actor.child.pid, number)
        until = time.monotonic() + GRACE
        while any(actor.child.poll() is None for actor in running) and time.monotonic() < until:
            time.sleep(_STEP)
