"""What all benchmarks share: the programs that are compared, and the repositories that they read."""

import os
import subprocess
import sys
from collections.abc import Iterable

from benchmarks import tree

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


class Bench:
    """The programs that are compared, and a folder for what they read and write."""

    def __init__(self, place: str, rivals: Iterable[str]) -> None:
        self.place = place
        self.bin = install(place, rivals)
        self.trainc = [f"{self.bin}/trainc"]
        self.python = f"{self.bin}/python"

    def tree(self, count: int, kind: str, *, gangs: bool = False) -> str:
        """A repository of so many jobs, written once."""
        folder = os.path.join(self.place, f"{kind}-{count}{'-gangs' if gangs else ''}")
        if not os.path.isdir(folder):
            tree.write(count, folder, kind, gangs=gangs)
        return folder

    def yardstick(self, folder: str) -> float:
        """Microseconds that PyYAML's `CSafeLoader` takes to parse one of the jobs and do nothing else."""
        command = [self.python, f"{HERE}/yardstick.py", os.path.join(folder, "jobs")]
        runs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(3)]
        return min(map(float, runs))


def install(place: str, rivals: Iterable[str]) -> str:
    """A fresh virtual environment with the wheel of this working tree and its rivals in it; the folder of its programs."""
    venv = os.path.join(place, "venv")
    quiet = ["-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    python = os.path.join(venv, "bin", "python")
    # Scripts of the pip that comes with Python 3.11 import `re`; those of later ones, of uv and of pre-commit do not.
    subprocess.run([python, *quiet, "install", "--upgrade", "pip"], check=False, stderr=subprocess.DEVNULL)
    subprocess.run([python, *quiet, "wheel", "--no-deps", "--wheel-dir", place, ROOT], check=True)
    wheel = next(os.path.join(place, name) for name in os.listdir(place) if name.endswith(".whl"))
    subprocess.run([python, *quiet, "install", "--compile", wheel], check=True)
    for package in rivals:  # each is left out of the comparison where it cannot be had
        subprocess.run([python, *quiet, "install", package], check=False, stderr=subprocess.DEVNULL)
    return os.path.join(venv, "bin")
