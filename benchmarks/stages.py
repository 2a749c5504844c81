"""Where the time goes: `python benchmarks/stages.py FOLDER` prints `stage seconds` of one build.

They are each stage's own processor time; what lint does is told by group of rules.
"""

import contextlib
import gc
import io
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from typing import Any

from trainc import cli
from trainc import lint as verify
from trainc.apiserver.schema.node import Table
from trainc.compiler import admit, emit, load, pipeline
from trainc.lint import registry as table

DOORS: tuple[tuple[str, Any, str], ...] = (  # each stage, and the function that is its door
    ("read", load, "known_contents"),
    ("parse", load, "read"),
    ("load", pipeline, "load"),
    ("admission", admit, "admit_object"),
    ("admit", pipeline, "admit"),
    ("merge", pipeline, "resolve"),
    ("lower", pipeline, "lower"),
    ("defaults", Table, "completed"),
    ("verdict-jobset", verify, "accepted"),
    ("verdict-pods", verify, "refused"),
    ("facts", verify, "expand"),
    ("lint", pipeline, "verify"),
    ("emit", emit, "emit"),
)


class Clock:
    """Seconds of processor time by stage; while one stage waits for another only the other's clock runs."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._running: list[str] = []
        self._since = time.process_time()

    def _turn(self) -> None:
        now = time.process_time()
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


def time_lint(clock: Clock) -> None:
    """Let each group of rules have its own time."""
    choose = vars(verify)["checks_for"]
    groups = {check: f"lint-{module}" for module in table.MODULES for check in table.checks_of(module)}
    timed: dict[int, list[Callable[..., Any]]] = {}

    def checks_for(job: Any) -> list[Callable[..., Any]]:
        with clock.on("lint-choice"):
            chosen = choose(job)
        if id(chosen) not in timed:
            by_group = groupby(chosen, groups.__getitem__)
            timed[id(chosen)] = [clock.timed(name, partial(call_all, [*checks])) for name, checks in by_group]
        return timed[id(chosen)]

    vars(verify)["checks_for"] = checks_for


def call_all(checks: list[Callable[..., Any]], job: Any) -> Iterator[Any]:
    """What the checks of a group find in a job."""
    for check in checks:
        yield from check(job)


def main(folder: str) -> None:
    """Build once with a clock at every door."""
    clock = Clock()
    time_lint(clock)
    for stage, room, name in DOORS:
        setattr(room, name, clock.timed(stage, getattr(room, name)))
    gc.set_threshold(100_000, 20, 50)  # as the program sets it
    out, err = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), clock.on("rest"):
        cli.main(["build", folder, "--jobs", "1"])
    for stage, seconds in clock.seconds.items():
        print(stage, seconds)


if __name__ == "__main__":
    main(sys.argv[1])
