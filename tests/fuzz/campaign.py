"""Many inputs in forked workers: counted, deduplicated by place, slow and large ones confirmed in a fresh process."""

import importlib
import json
import os
import pkgutil
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import trainc
from tests.compiling import ROOT
from tests.effort import PATIENCE, slowness
from tests.fuzz.inputs import Input, corpus
from tests.fuzz.projects import clusters, dumps
from tests.fuzz.run import LARGE, MEMORY, Broken, limit, run
from trainc.cli.cache import VARIABLE

RECYCLED = 3000  # inputs after which a worker is replaced
EVERY = 10_000  # inputs between two lines of progress


class Source(NamedTuple):
    """Where inputs come from: a name for people and for files, and the input of each index."""

    name: str
    make: Callable[[int], Input]


class Worker:
    """A forked process that runs a part of the inputs and writes a line for each broken promise, and for progress."""

    def __init__(self, source: Source, indices: range, folder: Path) -> None:
        self.indices = indices
        self.folder = folder
        self.next = indices.start
        self.heard = time.monotonic()
        self.buffer = b""
        self.stopped = False
        reading, writing = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(reading)
            _work(source, indices, folder, writing)
        os.close(writing)
        self.pipe = reading

    def messages(self) -> list[list[str]] | None:
        """What it wrote since; None when it has ended."""
        data = os.read(self.pipe, 1 << 16)
        if not data:
            return None
        self.heard = time.monotonic()
        *lines, self.buffer = (self.buffer + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def end(self) -> None:
        """Stop it, wherever it is."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.pipe)
        shutil.rmtree(self.folder, ignore_errors=True)


def _work(source: Source, indices: range, folder: Path, pipe: int) -> None:
    os.environ[VARIABLE] = str(folder / "cache")
    os.environ.pop("TRAINC_TRACEBACK", None)
    try:
        for index in indices:
            os.write(pipe, json.dumps(["at", index]).encode() + b"\n")
            given = source.make(index)
            try:
                given.write(folder / "in")
            except (OSError, ValueError, subprocess.CalledProcessError):
                continue  # no file system holds it
            found = run(given, folder / "in")
            for broken in found:
                os.write(pipe, json.dumps(["broken", index, *broken]).encode() + b"\n")
            if any(broken.kind in {"memory", "slow"} for broken in found):
                os.write(pipe, json.dumps(["stopped", index]).encode() + b"\n")
                break
        else:
            os.write(pipe, json.dumps(["at", indices.stop]).encode() + b"\n")
    finally:
        os._exit(0)


def _warm() -> None:
    """Read and import once, before the workers are forked."""
    clusters()
    dumps()
    corpus()
    for module in pkgutil.walk_packages(trainc.__path__, "trainc."):
        if module.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as missing:  # of an extra that is not installed
            if (missing.name or "").startswith("trainc"):
                raise


class Campaign:
    """A run over many inputs; `found` counts inputs by the promise that they broke and its place."""

    def __init__(self, source: Source, indices: range, workers: int, keep: Path) -> None:
        self.source = source
        self.indices = indices
        self.count = workers
        self.keep = keep
        self.done = 0
        self.unconfirmed = 0
        self.found: dict[str, int] = {}
        self._refuted: dict[str, int] = {}
        self._next = indices.start
        self._start = time.monotonic()

    def run(self) -> None:
        """Run all inputs; replace workers that have done their part, break off, or are not heard of any more."""
        _warm()
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as scratch:  # noqa: S108
            workers = [worker for _ in range(self.count) if (worker := self._fresh(Path(scratch)))]
            while workers:
                ready, _, _ = select.select([worker.pipe for worker in workers], [], [], 5)
                for worker in list(workers):
                    ended = worker.pipe in ready and not self._listen(worker)
                    late = time.monotonic() - worker.heard > PATIENCE  # it writes every ten inputs
                    if late:
                        self._count(worker.next, Broken("hang", "a worker"))
                    if ended or late:
                        workers.remove(worker)
                        worker.end()
                        workers += [other] if (other := self._after(worker, Path(scratch), skip=late)) else []

    def _listen(self, worker: Worker) -> bool:
        messages = worker.messages()
        for message in messages or ():
            if message[0] == "at":
                self._progress(int(message[1]) - worker.next)
                worker.next = int(message[1])
            elif message[0] == "stopped":
                worker.stopped = True
            else:
                self._count(int(message[1]), Broken(*message[2:]))
        return messages is not None

    def _fresh(self, scratch: Path) -> Worker | None:
        start = self._next
        self._next = min(start + RECYCLED, self.indices.stop)
        return Worker(self.source, range(start, self._next), scratch / str(start)) if start < self._next else None

    def _after(self, worker: Worker, scratch: Path, *, skip: bool) -> Worker | None:
        """A worker for what this one left undone, or for the next part."""
        if worker.next >= worker.indices.stop:
            return self._fresh(scratch)
        if not (skip or worker.stopped):
            self._count(worker.next, Broken("died", "a worker"))
        self._progress(1)
        rest = range(worker.next + 1, worker.indices.stop)
        return Worker(self.source, rest, scratch / str(rest.start)) if rest else self._fresh(scratch)

    def _progress(self, more: int) -> None:
        before, self.done = self.done, self.done + more
        if before // EVERY != self.done // EVERY:
            sys.stdout.write(self.summary())
            sys.stdout.flush()

    def _count(self, index: int, broken: Broken) -> None:
        """Count a broken promise; one of time or memory counts when a fresh process breaks it as well."""
        given = self.source.make(index)
        key = broken.key
        if broken.kind in {"slow", "memory", "hang"}:
            if given.size > LARGE or self._refuted.get(key, 0) >= 20:
                return
            if not confirmed(given, broken.kind):
                self._refuted[key] = self._refuted.get(key, 0) + 1
                self.unconfirmed += 1
                return
        self.found[key] = self.found.get(key, 0) + 1
        if self.found[key] <= 2:
            self.keep.mkdir(parents=True, exist_ok=True)
            name = "".join(c if c.isalnum() else "-" for c in key)[:80]
            (self.keep / f"{name}-{self.source.name.replace(' ', '-')}-{index}.json").write_text(given.text(), "utf-8")
            if self.found[key] == 1:
                sys.stdout.write(f"{key}: input {index}, {_short(repr(given.argv))} {_short(broken.detail)}\n")
                sys.stdout.flush()

    def summary(self) -> str:
        """Counts so far, most frequent first."""
        seconds = time.monotonic() - self._start
        head = f"{self.done} inputs of {self.source.name} in {seconds:.0f} s: {sum(self.found.values())} broke {len(self.found)} promises"
        rows = [f"  {count:6}  {key}" for key, count in sorted(self.found.items(), key=lambda item: -item[1])]
        return "\n".join([f"{head}; {self.unconfirmed} slow or large ones were not confirmed", *rows]) + "\n"


def _short(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:150]} ... {text[-150:]}"


# Linux counts to a process what it was before it became another program: one of a few MiB starts the fresh one.
_MEASURED = """\
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_maxrss, used.ru_utime + used.ru_stime)
"""


def confirmed(given: Input, kind: str) -> bool:
    """Whether a fresh process breaks the promise of time or memory as well."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "in"
        given.write(folder)
        environment = {**os.environ, **given.env, VARIABLE: f"{scratch}/cache", "PYTHONPATH": str(ROOT)}
        argv = [sys.executable, "-c", _MEASURED, sys.executable, "-m", "trainc", *given.argv]
        done = subprocess.run(argv, check=True, cwd=folder, env=environment, input=given.stdin, stdout=subprocess.PIPE)
    kib, seconds = done.stdout.split()
    return int(kib) > MEMORY << 10 if kind == "memory" else float(seconds) / slowness() > limit(given)
