"""How long the example of three teams and two clusters takes when it grows: `python -m benchmarks.estate [TIMES...]`.

Every job file stands there TIMES times under its own name; the runtimes, components and clusters stay as they are. The
processor time is that of compiling alone; the wall time is what a person waits for `trainc build -o`, from the start of
the program to the last file.
"""

import gc
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import cost
from trainc.compiler import pipeline
from trainc.compiler.emit.spool import Spool
from trainc.compiler.project import open_project
from trainc.model.report import Report
from trainc.model.settings import Selection

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "platform"
ROUNDS = 3


def grown(folder: Path, times: int) -> None:
    """The example in a folder, each of its jobs `times` times."""
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("output"))
    for file in sorted(folder.glob("jobs/*/*.yaml")):
        text = file.read_text("utf-8")
        for number in range(1, times):
            copy = text.replace(f"  name: {file.stem}\n", f"  name: {file.stem}-{number}\n", 1)
            file.with_name(f"{file.stem}-{number}.yaml").write_text(copy, "utf-8")


def build(folder: Path) -> int:
    """Compile the folder without writing; the number of jobs that came out.

    Raises:
        SystemExit: where the example does not compile.
    """
    report, spool = Report(), Spool()
    project = open_project((str(folder),), report)
    pipeline.build(project, Selection((".",)), spool, report)
    if report.failed:
        raise SystemExit("\n".join(finding.message for finding in report.findings))
    return spool.jobs


def compiled(folder: Path) -> float:
    """The least processor time of several rounds in microseconds."""
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        build(folder)
        best = min(best, time.process_time() - started)
    return best * 1e6


def waited(folder: Path, *options: str) -> float:
    """The least wall time of several rounds in microseconds, with every file written anew."""
    command = [sys.executable, "-m", "trainc", "build", ".", "-o", "output", "--quiet", *options]
    best = float("inf")
    for _ in range(ROUNDS):
        shutil.rmtree(folder / "output", ignore_errors=True)
        best = min(best, cost(command, str(folder)).wall)
    return best * 1e6


def main(sizes: list[int]) -> None:
    """Print a row for each size: jobs, and the time for each of them in three ways."""
    os.environ["PYTHONPATH"] = str(ROOT)
    gc.set_threshold(100_000, 20, 50)  # as the command line has it
    print("| times | jobs out | us of processor time | us of wall time, one worker | us of wall time |")
    print("|---:|---:|---:|---:|---:|")
    for times in sizes:
        with tempfile.TemporaryDirectory(prefix="trainc-") as name:
            folder = Path(name) / "platform"
            grown(folder, times)
            jobs = build(folder)
            spent = [compiled(folder), waited(folder, "--jobs", "1"), waited(folder)]
            print(f"| {times} | {jobs} | {' | '.join(f'{each / jobs:.0f}' for each in spent)} |")


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [10, 25, 50, 100])
