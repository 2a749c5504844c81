"""What other tools take for the same objects: overlays of kustomize, a chart of Helm, programs of jsonnet and KCL."""

import json
import os
import shutil
import subprocess

from benchmarks import overlays, templates, tree
from benchmarks.bench import HERE, Bench
from benchmarks.measure import Cost, cost, least, table

SIZES = (100, 1_000)
PACKAGES = {"Helm": "helm-python-sdk", "jsonnet": "rjsonnet", "KCL": "kcl-lib"}  # as pip knows them
MODULES = {"Helm": "helm_python", "jsonnet": "rjsonnet", "KCL": "kcl_lib"}


def measure(bench: Bench) -> None:
    """Measure and print; what cannot be had is left out, and said to be."""
    missing = [name for name in MODULES if not _is_there(bench, name)]
    has_kubectl = shutil.which("kubectl") is not None
    for name in (*missing, *([] if has_kubectl else ["kubectl"])):
        print(f"{name} is not measured: it is not installed here, and cannot be.\n")
    rows = []
    for count, kind, gangs in [(size, tree.MIXED, False) for size in SIZES] + [(SIZES[-1], tree.SWEEP, True)]:
        folder = bench.tree(count, kind, gangs=gangs)
        found = _costs(bench, folder, count, [name for name in MODULES if name not in missing], kubectl=has_kubectl)
        own = found["trainc"].cpu
        for name, one in found.items():
            jobs = f"{count:,} {kind}{' with PodGroups' if gangs else ''}"
            rows.append((jobs, name, f"{one.wall:.2f}", f"{one.cpu:.2f}", f"{one.peak:.0f}", f"{one.cpu / own:.2f}"))
    table(("jobs", "tool", "wall s", "CPU s", "peak MiB", "CPU, times trainc"), *rows)


def _is_there(bench: Bench, name: str) -> bool:
    done = subprocess.run([bench.python, "-c", f"import {MODULES[name]}"], check=False, stderr=subprocess.DEVNULL)
    return done.returncode == 0


def _costs(bench: Bench, folder: str, count: int, names: list[str], *, kubectl: bool) -> dict[str, Cost]:
    rendered = os.path.join(bench.place, "objects.json")
    cost([*bench.trainc, "build", "jobs", "--format", "json"], folder, rendered)
    with open(rendered, encoding="utf-8") as stream:
        items = json.load(stream)["items"]
    each = len(items) // count
    jobs = [items[at : at + each] for at in range(0, len(items), each)]
    into = f"{folder}-templates"
    templates.write(jobs, into)
    build = [*bench.trainc, "build", "jobs", "--quiet", "--jobs", "1"]
    commands = {
        "trainc": (build, folder),
        **{name: ([bench.python, f"{HERE}/render.py", name.lower(), into], folder) for name in names},
    }
    measured = least([command for command, _ in commands.values()], [place for _, place in commands.values()], 3)
    found = dict(zip(commands, measured, strict=True))
    if kubectl:
        overlays.write(jobs, f"{folder}-overlays")
        found["kubectl kustomize"] = cost(["kubectl", "kustomize", "."], f"{folder}-overlays")
    return found
