"""The plugin of Argo CD: `python -m benchmarks.delivery` prints a table of docs/benchmarks.md.

Runs the working tree with the interpreter that runs this, everything side by side.
"""

import json
import os
import shutil
import sys
import tempfile

from benchmarks.measure import Cost, costs

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TRAINC = [sys.executable, "-m", "trainc"]
CLUSTER = "eu"


def main() -> None:
    """Measure and print."""
    os.environ["PYTHONPATH"] = ROOT
    with tempfile.TemporaryDirectory(prefix="trainc-") as place:
        plugin(os.path.join(place, "platform"))


def plugin(folder: str) -> None:
    """What the plugin of Argo CD costs beside the same build on the command line."""
    shutil.copytree(os.path.join(ROOT, "examples", "platform"), folder, ignore=shutil.ignore_patterns("output"))
    os.environ["ARGOCD_APP_PARAMETERS"] = json.dumps([{"name": "cluster", "string": CLUSTER}])
    os.environ["ARGOCD_APP_NAMESPACE"] = "research"
    build = [*TRAINC, "build", ".", "--cluster", CLUSTER, "--include-other", "--quiet"]
    table(
        "the platform example, one cluster",
        {"`build`": build, "`cmp generate`": [*TRAINC, "cmp", "generate"]},
        folder,
        15,
    )


def table(title: str, commands: dict[str, list[str]], folder: str, times: int) -> None:
    """A row for each command: its cost, and its time as a share of the first one's."""
    for command in commands.values():
        costs([command], folder, 1)  # the first run of each writes what it has to
    measured = costs(list(commands.values()), folder, times)
    print(f"| {title} | wall s / CPU s / peak MiB | times the first |\n|---|---|---|")
    for name, found in zip(commands, measured, strict=True):
        print(f"| {name} | {shown(found)} | {found.wall / measured[0].wall:.2f} |")
    print()


def shown(found: Cost) -> str:
    """A cost as a cell."""
    return f"{found.wall:.3f} / {found.cpu:.3f} / {found.peak:.0f}"


if __name__ == "__main__":
    main()
