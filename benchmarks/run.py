"""The table of docs/benchmarks.md, everything side by side in one run: `python -m benchmarks.run [N...]`.

Builds the wheel, installs it into a fresh virtual environment with compiled bytecode, and measures child processes.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from statistics import median

from benchmarks import overlays, tree
from benchmarks.measure import Cost, cost, costs

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
SIZES = (1, 100, 1_000, 10_000)
SLOWEST_KUSTOMIZE = GANGS = 1_000  # its time grows with the square of the number of resources


def main(sizes: tuple[int, ...]) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as place:
        venv = install(place)
        print(f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}, {cpu()}\n")
        start_up(venv, place)
        throughput(venv, place, sizes)
        stages(venv, place, max(sizes))


def cpu() -> str:
    """The processor's name and how many of them this machine has."""
    with open("/proc/cpuinfo", encoding="utf-8") as stream:
        names = [line.partition(": ")[2].strip() for line in stream if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else f"{os.cpu_count()} CPUs"


def install(place: str) -> str:
    """A fresh virtual environment with the wheel of this working tree in it."""
    venv = os.path.join(place, "venv")
    quiet = ["-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    python = os.path.join(venv, "bin", "python")
    subprocess.run([python, *quiet, "wheel", "--no-deps", "--wheel-dir", place, ROOT], check=True)
    wheel = next(os.path.join(place, name) for name in os.listdir(place) if name.endswith(".whl"))
    subprocess.run([python, *quiet, "install", "--compile", wheel], check=True)
    # The rival of the last column; the benchmark does without where no such package can be had.
    subprocess.run([python, *quiet, "install", "yaml-rs"], check=False, stderr=subprocess.DEVNULL)
    return os.path.join(venv, "bin")


def start_up(venv: str, place: str) -> None:
    """One file, cold: the interpreter doing nothing beside trainc doing its work."""
    folder = os.path.join(place, "one")
    tree.write(1, folder)
    commands = [
        [f"{venv}/python", "-c", "pass"],
        [f"{venv}/trainc", "validate", tree.job(0)[0]],
        [f"{venv}/trainc", "build", tree.job(0)[0]],
    ]
    measured = costs(commands, folder, 21)
    print("| one file, median of 21 | wall ms | CPU ms | peak MiB | times `python -c pass` |\n|---|---|---|---|---|")
    for name, found in zip(("`python -c pass`", "`trainc validate`", "`trainc build`"), measured, strict=True):
        times = found.wall / measured[0].wall
        print(f"| {name} | {found.wall * 1e3:.1f} | {found.cpu * 1e3:.1f} | {found.peak:.0f} | {times:.1f} |")
    print()


def throughput(venv: str, place: str, sizes: tuple[int, ...]) -> None:
    """N jobs: trainc, the floor below it, and kustomize where kubectl is present; once with a PodGroup for each job."""
    floor = subprocess.run(
        [f"{venv}/python", f"{HERE}/parse_and_dump.py", "--which"], check=True, capture_output=True, text=True
    ).stdout.strip()
    print(f"Wall s / CPU s / peak MiB. The floor is parse-and-dump with {floor}.\n")
    print("| jobs | `trainc build` | us per job | floor | times the floor | `kubectl kustomize` | times faster |")
    print("|---|---|---|---|---|---|---|")
    for size, gangs in [*((size, False) for size in sizes), *((size, True) for size in sizes if size == GANGS)]:
        folder = os.path.join(place, f"gangs-{size}" if gangs else f"tree-{size}")
        tree.write(size, folder, gangs=gangs)
        times = 5 if size <= 1_000 else 3
        [built, dumped] = costs(rivals(venv, folder, place), folder, times)
        kustomized = kustomize(venv, place, folder, size)
        per_job = "" if size == 1 else f"{(built.wall / size) * 1e6:.0f}"
        faster = f"{kustomized.wall / built.wall:.0f}" if kustomized else ""
        cells = (
            f"{size} with PodGroups" if gangs else size,
            shown(built),
            per_job,
            shown(dumped),
            f"{built.wall / dumped.wall:.2f}",
            shown(kustomized),
            faster,
        )
        print("| " + " | ".join(str(cell) for cell in cells) + " |")
    print()


def rivals(venv: str, folder: str, place: str) -> list[list[str]]:
    """The build, and the floor that dumps the objects of one job for each file."""
    rendered = os.path.join(place, "rendered.yaml")
    cost([f"{venv}/trainc", "build", tree.job(0)[0]], folder, rendered)
    build = [f"{venv}/trainc", "build", "jobs"]
    return [build, [f"{venv}/python", f"{HERE}/parse_and_dump.py", os.path.join(folder, "jobs"), rendered]]


def kustomize(venv: str, place: str, folder: str, size: int) -> Cost | None:
    """An equivalent tree of overlays through kubectl, None where it is absent or would take too long."""
    if not shutil.which("kubectl") or size > SLOWEST_KUSTOMIZE:
        return None
    rendered = os.path.join(place, "objects.json")
    cost([f"{venv}/trainc", "build", "jobs", "--format", "json"], folder, rendered)
    with open(rendered, encoding="utf-8") as stream:
        items = json.load(stream)["items"]
    per_job = len(items) // size
    into = f"{folder}-overlays"
    overlays.write([items[at : at + per_job] for at in range(0, len(items), per_job)], into)
    return costs([["kubectl", "kustomize", "."]], into, 3 if size <= 100 else 1)[0]


def shown(found: Cost | None) -> str:
    """A cost as a cell."""
    return f"{found.wall:.3f} / {found.cpu:.3f} / {found.peak:.0f}" if found else "-"


def stages(venv: str, place: str, size: int) -> None:
    """Where the time of the largest build goes."""
    folder = os.path.join(place, f"tree-{size}", "jobs")
    command = [f"{venv}/python", f"{HERE}/stages.py", folder]
    runs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout.split() for _ in range(3)]
    seconds = {name: median(float(run[at + 1]) for run in runs) for at, name in enumerate(runs[0]) if at % 2 == 0}
    print(f"Each stage's own time in a build of {size} jobs, under a clock that costs a little itself.\n")
    print("| stage | us per job |\n|---|---|")
    for name, found in seconds.items():
        print(f"| {name} | {found / size * 1e6:.1f} |")
    print(f"| all | {sum(seconds.values()) / size * 1e6:.1f} |")
    command = [f"{venv}/python", f"{HERE}/yardstick.py", folder]
    alone = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    print(f"\nPyYAML's `CSafeLoader` takes {alone:.0f} us to parse one of these jobs and do nothing else.")


if __name__ == "__main__":
    main(tuple(int(word) for word in sys.argv[1:]) or SIZES)
