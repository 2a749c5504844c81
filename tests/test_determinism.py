"""The same tree gives the same bytes, wherever and however it is built."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import tree
from tests.compiling import ROOT

JOBS = 12
OBJECTS = [
    f"apiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: {team}-train, namespace: {team}}}\n"
    for team in tree.TEAMS
]
CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: datasets}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Ti}}}
"""


@pytest.fixture(scope="module")
def plain_output(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return build(planted(tmp_path_factory.mktemp("plain"), seed=0), ["jobs"])


def planted(folder: Path, seed: int) -> Path:
    """The tree, its files created in an order of their own."""
    pattern = folder / "pattern"
    tree.write(JOBS, str(pattern))
    (pattern / "objects.yaml").write_text("---\n".join([*OBJECTS, CLAIM]), "utf-8")
    files = sorted(path for path in pattern.rglob("*") if path.is_file())
    random.Random(seed).shuffle(files)  # noqa: S311 (an order, not a secret)
    for path in files:
        target = folder / "tree" / path.relative_to(pattern)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    return folder / "tree"


def build(place: Path, paths: list[str], **environment: str) -> bytes:
    done = subprocess.run(
        [sys.executable, "-m", "trainc", "build", *paths],
        check=False,
        cwd=place,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1"},
        {"PYTHONHASHSEED": "4242"},
        {"TZ": "Pacific/Kiritimati"},
        {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0"},
        {"LC_ALL": "tr_TR.UTF-8"},
        {"COLUMNS": "20", "TERM": "xterm-256color", "FORCE_COLOR": "1"},
    ],
    ids=lambda environment: " ".join(f"{key}={value}" for key, value in environment.items()),
)
def test_environment(environment: dict[str, str], tmp_path: Path, plain_output: bytes) -> None:
    assert build(planted(tmp_path, seed=0), ["jobs"], **environment) == plain_output


@pytest.mark.parametrize("seed", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_order_of_creation(seed: int, tmp_path: Path, plain_output: bytes) -> None:
    assert build(planted(tmp_path, seed), ["jobs"]) == plain_output


@pytest.mark.slow
def test_working_directory(tmp_path: Path, plain_output: bytes) -> None:
    place = planted(tmp_path, seed=0)
    assert build(place / "jobs", ["."]) == plain_output
    assert build(tmp_path, ["tree/jobs"]) == plain_output
    assert build(Path("/"), [str(place / "jobs")]) == plain_output


@pytest.mark.slow
def test_one_path_or_many(tmp_path: Path, plain_output: bytes) -> None:
    place = planted(tmp_path, seed=0)
    files = [tree.job(number)[0] for number in range(JOBS)]
    random.Random(3).shuffle(files)  # noqa: S311 (an order, not a secret)
    assert build(place, files) == plain_output
    assert build(place, ["jobs", *files, "jobs"]) == plain_output
