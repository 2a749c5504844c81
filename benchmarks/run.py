"""The tables of docs/benchmarks.md, everything side by side in one run: `python -m benchmarks.run [TABLE...]`.

The tables are start, bulk, public, repeated, clusters, rivals and stages. Builds the wheel, installs it into a fresh virtual
environment with compiled bytecode, and measures child processes. Ratios are those of CPU time, the least of some runs.
"""

import os
import platform
import subprocess
import sys
import tempfile

from benchmarks import repeated, rivals, tree
from benchmarks.bench import HERE, Bench
from benchmarks.measure import cost, least, table
from tests.board import board

MANY, SOME, FEW = 10_000, 1_000, 300  # jobs
CLUSTERS = 100
GROUPS = ("jobset", "mpijob", "operators", "others", "pytorchjob")  # of public manifests
# The stages of one row, and the most that they may take, in times of `CSafeLoader`.
ROWS = (
    (("read", "parse"), 0.5),
    (("load", "admit", "admission"), 0.5),
    (("merge",), 0.9),
    (("lower", "defaults"), 0.8),
    (("verdict-jobset", "verdict-pods"), 0.4),
    (("facts", "lint"), 2.0),
    (("emit",), 0.5),
    (("rest",), 0.5),
)


def main(names: list[str]) -> None:
    """Measure and print."""
    tables = {
        "start": start,
        "bulk": bulk,
        "public": public,
        "repeated": repeated.measure,
        "clusters": clusters,
        "rivals": rivals.measure,
        "stages": stages,
    }
    for name in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"):
        os.environ.pop(name, None)  # what is installed is measured, and it may keep compiled code, as it does for users
    os.environ["TRAINC_CACHE_DIR"] = ""  # nothing is answered from the run before, where that is not what is measured
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(place, rivals.PACKAGES.values())
        print(f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}, {cpu()}\n")
        for name in names or tables:
            tables[name](bench)


def cpu() -> str:
    """The processor's name and how many of them this machine has."""
    with open("/proc/cpuinfo", encoding="utf-8") as stream:
        names = [line.partition(": ")[2].strip() for line in stream if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else f"{os.cpu_count()} CPUs"


def start(bench: Bench) -> None:
    """One file, cold: the interpreter doing nothing beside trainc doing its work."""
    folder = bench.tree(1, tree.SWEEP)
    commands = {
        "`python -c pass`": [bench.python, "-c", "pass"],
        "`trainc validate FILE`": [*bench.trainc, "validate", tree.job(0)[0]],
        "`trainc build FILE`": [*bench.trainc, "build", tree.job(0)[0]],
    }
    measured = least(list(commands.values()), [folder] * len(commands), 25)
    rows = [
        (name, f"{found.cpu * 1e3:.1f}", f"{found.peak:.0f}", f"{found.cpu / measured[0].cpu:.1f}")
        for name, found in zip(commands, measured, strict=True)
    ]
    table(("one file, cold", "CPU ms", "peak MiB", "times `python -c pass`"), *rows)


def bulk(bench: Bench) -> None:
    """Many jobs, compiled for the first time: what one of them costs, by how similar they are."""
    build = [*bench.trainc, "build", "jobs", "--quiet", "--jobs"]
    cases: list[tuple[str, int, str, list[str], bool]] = [
        ("mixed", SOME, tree.MIXED, ["1"], False),
        ("mixed, two workers", SOME, tree.MIXED, ["2"], False),
        ("mixed", MANY, tree.MIXED, ["1"], False),
        ("mixed, two workers", MANY, tree.MIXED, ["2"], False),
        ("a sweep", MANY, tree.SWEEP, ["1"], False),
        ("a sweep with PodGroups", SOME, tree.SWEEP, ["1"], True),
        ("dissimilar", FEW, tree.DISSIMILAR, ["1"], False),
    ]
    folders = [bench.tree(count, kind, gangs=gangs) for _, count, kind, _, gangs in cases]
    alone = bench.yardstick(folders[0])
    measured = least([[*build, *words] for *_, words, _ in cases], folders, 3)
    rows = []
    for (name, count, *_), found in zip(cases, measured, strict=True):
        each = found.cpu / count * 1e6
        rows.append(
            (name, f"{count:,}", f"{found.wall:.2f}", f"{each:.0f}", f"{each / alone:.2f}", f"{found.peak:.0f}")
        )
    print(f"PyYAML's `CSafeLoader` takes {alone:.0f} us to parse one of these jobs and do nothing else.\n")
    table(("first run", "jobs", "wall s", "CPU us a job", "times `CSafeLoader`", "peak MiB"), *rows)


def public(bench: Bench) -> None:
    """Manifests as people write them, of every kind and each unlike the others, validated with all that is wrong with them."""
    folder = os.path.join(bench.place, "public")
    texts = [one for group in GROUPS for one in board.manifests(group)]
    for one in texts:
        path = os.path.join(folder, "jobs", one.group, f"{one.name}.yaml")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(one.text)
    alone = bench.yardstick(folder)
    command = [*bench.trainc, "validate", "jobs", "--quiet", "--jobs", "1"]
    each = min(cost(command, folder, codes=(0, 1)).cpu for _ in range(3)) / len(texts) * 1e6
    row = (f"{len(texts)}", f"{each:.0f}", f"{each / alone:.2f}")
    table(("public manifests", "CPU us for each", "times `CSafeLoader`"), row)


def clusters(bench: Bench) -> None:
    """Jobs that each run on every cluster of a project, beside the same jobs on one."""
    one = bench.tree(CLUSTERS, tree.MIXED)
    many = os.path.join(bench.place, "clusters")
    tree.write(CLUSTERS, many, clusters=CLUSTERS)
    command = [*bench.trainc, "validate", ".", "--quiet", "--jobs", "1"]
    nothing, *measured = least([[*bench.trainc, "--version"], command, command], [one, one, many], 3)
    rows = []
    for count, found in zip((1, CLUSTERS), measured, strict=True):
        jobs = CLUSTERS * count
        rows.append((f"{count}", f"{jobs:,}", f"{(found.cpu - nothing.cpu) / jobs * 1e6:.0f}", f"{found.peak:.0f}"))
    table((f"clusters of {CLUSTERS} jobs", "jobs out", "CPU us for each", "peak MiB"), *rows)


def stages(bench: Bench) -> None:
    """Where the time of a job goes."""
    for count, kind in ((1_000, tree.MIXED), (FEW, tree.DISSIMILAR)):
        folder = os.path.join(bench.tree(count, kind), "jobs")
        alone = bench.yardstick(os.path.dirname(folder))
        command = [bench.python, f"{HERE}/stages.py", folder]
        runs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout.split() for _ in range(3)]
        seconds = {name: min(float(run[at + 1]) for run in runs) for at, name in enumerate(runs[0]) if at % 2 == 0}
        rows = []
        for names, bound in (*ROWS, ((), sum(bound for _, bound in ROWS))):
            own = [name for name in seconds if not names or name in names or name.startswith(f"{names[-1]}-")]
            each = sum(seconds[name] for name in own) / count * 1e6
            rows.append((", ".join(names) or "all", f"{each:.0f}", f"{each / alone:.2f}", f"{bound:.1f}"))
        table((f"stage, {count:,} {kind}", "CPU us of a job", "times `CSafeLoader`", "bound"), *rows)


if __name__ == "__main__":
    main(sys.argv[1:])
