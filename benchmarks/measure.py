"""What one child process costs."""

import os
import subprocess
import time
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple


class Cost(NamedTuple):
    """Seconds on the wall, seconds of CPU in user and kernel, peak resident memory in MiB."""

    wall: float
    cpu: float
    peak: float


def cost(command: Sequence[str], folder: str, output: str = os.devnull, codes: Sequence[int] = (0,)) -> Cost:
    """One run of a command that must end with one of these codes, its standard output going to a file."""
    with open(output, "wb") as out, open(os.devnull, "rb") as nothing:
        start = time.perf_counter()
        child = subprocess.Popen(command, cwd=folder, stdin=nothing, stdout=out, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in codes:
        raise SystemExit(f"{' '.join(command)} exits {child.returncode}")
    return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def costs(commands: Sequence[Sequence[str]], folder: str, times: int) -> list[Cost]:
    """The medians of several commands, run in turn so that the machine's moods reach all alike."""
    runs = [[cost(command, folder) for command in commands] for _ in range(times)]
    return [Cost(*(median(run[at][field] for run in runs) for field in range(3))) for at in range(len(commands))]


def least(commands: Sequence[Sequence[str]], folders: Sequence[str], times: int) -> list[Cost]:
    """The least that each command costs in its folder, run in turn: what other programs take is not in it."""
    runs = [[cost(command, folder) for command, folder in zip(commands, folders, strict=True)] for _ in range(times)]
    return [Cost(*(min(run[at][field] for run in runs) for field in range(3))) for at in range(len(commands))]


def table(*rows: Sequence[object]) -> None:
    """Print a table, the first row its head."""
    head, *others = rows
    for row in (head, ["---"] * len(head), *others):
        print("| " + " | ".join(map(str, row)) + " |")
    print()
