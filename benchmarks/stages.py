"""Where the time goes: `python benchmarks/stages.py FOLDER` prints `stage seconds` of one build without forms.

They are each stage's own time.
"""

from __future__ import annotations

import contextlib
import io
import sys
import time
from typing import TYPE_CHECKING, Any

from trainc import cli
from trainc.compiler import emit as emitting
from trainc.compiler import load, pipeline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

INSIDE_LOAD = {"read": "known_contents", "parse": "read"}  # loading is lazy: other stages draw from it
STAGES = ("load", "admit", "resolve", "lower", "verify", "emit")


class Clock:
    """Seconds by stage; while one stage waits for another only the other's clock runs."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._running: list[str] = []
        self._since = time.perf_counter()

    def _turn(self) -> None:
        now = time.perf_counter()
        if self._running:
            stage = self._running[-1]
            self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now

    @contextlib.contextmanager
    def on(self, stage: str) -> Iterator[None]:
        """Count the time inside for a stage."""
        self._turn()
        self._running.append(stage)
        try:
            yield
        finally:
            self._turn()
            self._running.pop()

    def timed(self, stage: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, timed; what it yields later is timed too."""

        def wrapped(*args: Any, **more: Any) -> Any:
            with self.on(stage):
                made = call(*args, **more)
            return self._drawn(stage, made) if hasattr(made, "__next__") else made

        return wrapped

    def _drawn(self, stage: str, made: Iterator[Any]) -> Iterator[Any]:
        while True:
            with self.on(stage):
                try:
                    item = next(made)
                except StopIteration:
                    return
            yield item


def main(folder: str) -> None:
    """Build once with a clock at every door."""
    clock = Clock()
    for stage in STAGES:
        room = emitting if stage == "emit" else pipeline
        setattr(room, stage, clock.timed(stage, getattr(room, stage)))
    for stage, name in INSIDE_LOAD.items():
        setattr(load, name, clock.timed(stage, getattr(load, name)))
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())), contextlib.redirect_stderr(io.StringIO()):
        cli.main(["build", folder, "--jobs", "1", "--no-forms"])
    for stage in (*INSIDE_LOAD, *STAGES):
        print(stage, clock.seconds.get(stage, 0.0))


if __name__ == "__main__":
    main(sys.argv[1])
