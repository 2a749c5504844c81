"""The table of frameworks: what it names is there whole, and a package adds to it from outside."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.compiling import ROOT
from trainc.frameworks import FRAMEWORKS, framework

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

README = (ROOT / "README.md").read_text("utf-8")
SAMPLE = ROOT / "tests" / "sample"


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_framework_is_there_whole(name: str) -> None:
    """Its module, its line in the table, a runtime to start from, cases, an example, and a row in the README."""
    found = framework(name)
    assert found is not None
    assert found.name == name
    assert [path for path in runtimes() if selects(path, name)] != []
    assert list(ROOT.glob(f"tests/cases/{name}/*/input")) != []
    assert name == "plain" or [path for path in ROOT.glob("examples/*/runtimes/*.yaml") if selects(path, name)] != []
    assert f"| {name} |" in README


def runtimes() -> list[Path]:
    return sorted(ROOT.glob("runtimes/*.yaml"))


def selects(path: Path, name: str) -> bool:
    """Whether a runtime's policy, or its label where it has none, selects the framework."""
    runtime = yaml.safe_load(path.read_text("utf-8"))
    if runtime["kind"] not in {"ClusterTrainingRuntime", "TrainingRuntime"}:
        return False
    policies = runtime["spec"].get("mlPolicy", {}).keys() - {"numNodes"}
    return policies == {name} or (not policies and labels(runtime).get("trainer.kubeflow.org/framework") == name)


def labels(tree: Any) -> dict[str, str]:
    found: dict[str, str] = tree["metadata"].get("labels", {})
    return found


@pytest.mark.parametrize("path", sorted(ROOT.glob("trainc/frameworks/*.py")), ids=lambda path: path.stem)
def test_a_module_is_short(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) < 150


@pytest.mark.parametrize("path", runtimes(), ids=lambda path: path.stem)
def test_a_runtime_says_what_it_is_for_and_pins_its_images(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.startswith("# For ")
    assert yaml.safe_load(text)["metadata"]["name"] == path.stem
    images = [line.split("image: ")[1] for line in text.splitlines() if "image: " in line]
    tags = [image.rpartition("/")[2].partition(":")[2] for image in images]
    assert images != []
    assert all(tag not in {"", "latest"} for tag in tags)


def test_a_name_that_nobody_knows() -> None:
    assert framework("nobody-knows-it") is None


@pytest.mark.skipif(find_spec("pip") is None, reason="needs pip to install the sample package")
def test_a_package_adds_a_framework(tmp_path: Path, expected: Callable[[Path, Mapping[str, str]], None]) -> None:
    """Installed beside trainc, and used by a job whose runtime names it."""
    install(wheel(tmp_path), tmp_path / "site")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path / "site")])}
    done = subprocess.run(
        [sys.executable, "-m", "trainc", "build", "input"],
        check=False,
        cwd=SAMPLE / "case",
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    expected(SAMPLE / "case" / "expected", {"manifests.yaml": done.stdout})


def wheel(folder: Path) -> Path:
    """The sample as a wheel, put together by hand: building it would fetch a build backend."""
    built = folder / "trainc_ring-1.0.0-py3-none-any.whl"
    info = "trainc_ring-1.0.0.dist-info"
    files = {
        "trainc_ring.py": (SAMPLE / "trainc_ring.py").read_text("utf-8"),
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: trainc-ring\nVersion: 1.0.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[trainc.frameworks]\nring = trainc_ring:FRAMEWORK\n",
    }
    record = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(built, "w") as archive:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(name, text)
    return built


def install(built: Path, site: Path) -> None:
    target = ["--target", str(site), str(built)]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", *target]
    subprocess.run(command, check=True, capture_output=True)


def test_the_sample_says_in_its_project_what_the_test_installs() -> None:
    assert 'ring = "trainc_ring:FRAMEWORK"' in (SAMPLE / "pyproject.toml").read_text("utf-8")
