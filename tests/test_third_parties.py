"""A package from outside adds a framework, a scheduler and rules; nothing of it is in force unless it is asked for."""

import importlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.compiling import ROOT, compile_in
from trainc.frameworks import framework
from trainc.model.patches import Framework
from trainc.schedulers import find
from trainc.text.plugins import FRAMEWORKS, GROUPS, installed
from trainc.text.trouble import Trouble

pytestmark = pytest.mark.slow

SAMPLE = ROOT / "tests" / "sample"
CASES = sorted(path.name for path in (SAMPLE / "cases").iterdir())
WITHOUT_PIP = find_spec("pip") is None
POINTS = """\
[trainc.frameworks]
ring = trainc_ring:FRAMEWORK

[trainc.schedulers]
pack = trainc_pack:SCHEDULER

[trainc.rules]
ring = trainc_rules:CHECKS
"""


class Said(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sample installed."""
    folder = tmp_path_factory.mktemp("sample")
    target = ["--target", str(folder / "site"), str(wheel(folder))]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", *target]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "site"


def wheel(folder: Path) -> Path:
    """The sample as a wheel, put together by hand: building it would fetch a build backend."""
    built = folder / "trainc_ring-1.0.0-py3-none-any.whl"
    info = "trainc_ring-1.0.0.dist-info"
    files = {path.name: path.read_text("utf-8") for path in sorted(SAMPLE.glob("*.py"))} | {
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: trainc-ring\nVersion: 1.0.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": POINTS,
    }
    record = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(built, "w") as archive:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(name, text)
    return built


def trainc(site: Path, place: Path, *words: str) -> Said:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(site)])}
    command = [sys.executable, "-m", "trainc", *words]
    done = subprocess.run(command, check=False, cwd=place, env=environment, capture_output=True, text=True)
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.mark.skipif(WITHOUT_PIP, reason="needs pip to install the sample package")
@pytest.mark.parametrize("case", CASES)
def test_a_package_adds(case: str, site: Path, expected: Callable[[Path, Mapping[str, str]], None]) -> None:
    place = SAMPLE / "cases" / case
    said = trainc(site, place, "build", "input", "-v")
    texts = {"findings.txt": said.err}
    expected(place / "expected", texts | {"manifests.yaml": said.out} if said.out else texts)
    assert said.code == (1 if "error[" in said.err else 0)


@pytest.mark.skipif(WITHOUT_PIP, reason="needs pip to install the sample package")
def test_no_run_is_answered_from_memory_where_a_package_adds(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code of a package can change in place, which the times of the folder of packages do not tell."""
    monkeypatch.setenv("TRAINC_CACHE_DIR", str(tmp_path / "cache"))
    shutil.copytree(site, tmp_path / "site")
    shutil.copytree(SAMPLE / "cases" / "rules" / "input", tmp_path / "project")
    rules = tmp_path / "site" / "trainc_rules.py"
    for path in (tmp_path / "project").rglob("*"):
        os.utime(path, (1, 1))
    first = [trainc(tmp_path / "site", tmp_path / "project", "validate", ".").err for _ in range(2)]
    assert first[0] == first[1] != ""
    rules.write_text(rules.read_text("utf-8").replace("image-from-elsewhere", "image-out-of-place"), "utf-8")
    assert "image-out-of-place" in trainc(tmp_path / "site", tmp_path / "project", "validate", ".").err


@pytest.mark.skipif(WITHOUT_PIP, reason="needs pip to install the sample package")
def test_the_rules_of_a_project_are_listed_with_ours(site: Path) -> None:
    project = SAMPLE / "cases" / "rules" / "input"
    assert "image-from-elsewhere" in trainc(site, project, "rules").out
    assert "the registry of the house" in trainc(site, project, "rules", "image-from-elsewhere").out
    assert "image-from-elsewhere" not in trainc(site, SAMPLE, "rules").out


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("framework", "unknown framework `ring`"),
        ("scheduler", "unknown scheduler back end `pack`"),
        ("rules", "no installed package provides rules named `ring`"),
    ],
)
def test_a_package_that_is_not_installed_is_missed(case: str, message: str, tmp_path: Path) -> None:
    shutil.copytree(SAMPLE / "cases" / case / "input", tmp_path / "input")
    run = compile_in(tmp_path, "validate", "input")
    assert (run.code, [f.message for f in run.findings if f.level == "error"]) == (1, [message])


def test_nobody_knows_these() -> None:
    assert framework("nobody-knows-it") is None
    assert find("nobody-knows-it") is None


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("no_such_module:FRAMEWORK", "does not load: No module named 'no_such_module'"),
        ("json:FRAMEWORK", "does not load: module 'json' has no attribute 'FRAMEWORK'"),
        ("json:dumps", "which is not a Framework"),
    ],
)
def test_a_broken_package_is_told_apart_from_a_bug(
    value: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(f"[{FRAMEWORKS}]\nbroken = {value}\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    with pytest.raises(Trouble) as trouble:
        installed(FRAMEWORKS, "broken", Framework)
    assert why in str(trouble.value)


def test_the_sample_says_in_its_project_what_the_test_installs() -> None:
    project = (SAMPLE / "pyproject.toml").read_text("utf-8")
    for line in filter(None, POINTS.splitlines()):
        name, _, point = line.partition(" = ")
        written = f'{name} = "{point}"' if point else f'[project.entry-points."{line.strip("[]")}"]'
        assert written in project
    assert [group for group in GROUPS if f"[{group}]" not in POINTS] == []
