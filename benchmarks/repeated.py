"""What a run costs over 10,000 files that another one has read: none of them changed, or one did."""

import os
import time
from collections.abc import Sequence

from benchmarks import tree
from benchmarks.bench import Bench
from benchmarks.measure import cost, table

JOBS = 10_000
SETTLED = 3  # seconds after which a file that did not change is believed not to have
UNCHANGED, CHANGES = 5, 3  # runs, of which the least counts


def measure(bench: Bench) -> None:
    """Measure and print."""
    folder = bench.tree(JOBS, tree.SWEEP)
    os.environ["TRAINC_CACHE_DIR"] = os.path.join(bench.place, "cache")
    nothing = min(cost([bench.python, "-c", "pass"], folder).cpu for _ in range(15))
    rows = []
    for words in (["build", "-w"], ["build", "--check"], ["validate"]):
        first, unchanged, changed = _runs([*bench.trainc, *words, "jobs", "--quiet"], folder, words)
        shown = [f"{first:.2f}", f"{unchanged * 1e3:.0f}", f"{unchanged / nothing:.1f}"]
        rows.append((f"`{' '.join(words)}`", *shown, f"{changed * 1e3:.0f}", f"{changed / nothing:.1f}"))
    os.environ["TRAINC_CACHE_DIR"] = ""
    head = (f"{JOBS:,} files", "first run, CPU s", "unchanged, CPU ms", "times `python -c pass`")
    table((*head, "one file changed, CPU ms", "times `python -c pass`"), *rows)


def _runs(command: list[str], folder: str, words: Sequence[str]) -> tuple[float, float, float]:
    """Seconds of CPU of a first run, of one over unchanged files, and of one with a changed file."""
    first = cost(command, folder).cpu
    for _ in range(2):  # what a run has just written is believed by the one after the next
        time.sleep(SETTLED)
        cost(command, folder)
    unchanged = min(cost(command, folder).cpu for _ in range(UNCHANGED))
    changed = []
    for number in range(CHANGES):
        _edit(os.path.join(folder, tree.job(number * 3_001, tree.SWEEP)[0]))
        if "--check" in words:
            write = [word for word in command if word != "--check"]
            cost([*write, "-w"], folder)  # a check of what is out of date fails
        time.sleep(SETTLED)
        changed.append(cost(command, folder).cpu)
    return first, unchanged, min(changed)


def _edit(path: str) -> None:
    """Change an annotation of a job: its objects stay, and nobody knows that before the job is compiled."""
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text.replace("ticket: ML", "ticket: MLX"))
