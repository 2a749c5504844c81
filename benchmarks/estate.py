"""How long the example of three teams and two clusters takes when it grows: `python -m benchmarks.estate [TIMES...]`.

Every job file stands there TIMES times under its own name; the runtimes, components and clusters stay as they are.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

from trainc import pipeline
from trainc.emit.spool import Spool
from trainc.emit.spool.folder import FolderSpool
from trainc.model.report import Report
from trainc.model.settings import Selection
from trainc.project import open_project

EXAMPLE = Path(__file__).parent.parent / "examples" / "platform"
ROUNDS = 3


def grown(folder: Path, times: int) -> None:
    """The example in a folder, each of its jobs `times` times."""
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("output"))
    for file in sorted(folder.glob("jobs/*/*.yaml")):
        text = file.read_text("utf-8")
        for number in range(1, times):
            copy = text.replace(f"  name: {file.stem}\n", f"  name: {file.stem}-{number}\n", 1)
            file.with_name(f"{file.stem}-{number}.yaml").write_text(copy, "utf-8")


def build(folder: Path, spool: Spool) -> int:
    """Compile the folder; the number of jobs that came out.

    Raises:
        SystemExit: where the example does not compile.
    """
    report = Report()
    project = open_project((str(folder),), report)
    pipeline.build(project, Selection((".",)), spool, report)
    if report.failed:
        raise SystemExit("\n".join(finding.message for finding in report.findings))
    return spool.jobs


def fresh(target: Path) -> FolderSpool:
    """A spool for a folder in which nothing stands."""
    return FolderSpool(str(target), reaches=lambda *_: True, settle=lambda *_: False)


def measured(folder: Path, target: Path | None) -> tuple[int, float]:
    """Jobs, and the least processor time of several rounds in seconds; with a target, the files are written anew each time."""
    best, jobs = float("inf"), 0
    for _ in range(ROUNDS):
        if target is not None:
            shutil.rmtree(target, ignore_errors=True)
        started = time.process_time()
        jobs = build(folder, Spool() if target is None else fresh(target))
        best = min(best, time.process_time() - started)
    return jobs, best


def main(sizes: list[int]) -> None:
    """Print a row for each size: jobs, and microseconds for each without and with writing."""
    print("| times | jobs out | us per job | with files written |")
    print("|---:|---:|---:|---:|")
    for times in sizes:
        with tempfile.TemporaryDirectory(prefix="trainc-") as name:
            folder = Path(name) / "platform"
            grown(folder, times)
            jobs, bare = measured(folder, None)
            _, whole = measured(folder, Path(name) / "out")
        print(f"| {times} | {jobs} | {bare / jobs * 1e6:.0f} | {whole / jobs * 1e6:.0f} |")


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [10, 25, 50, 100])
