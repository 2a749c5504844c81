"""What is installed and published: the lock knows every dependency, and the packages hold what they should, and no more."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from packaging.metadata import Metadata
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from trove_classifiers import classifiers as known_classifiers

import trainc
from tests.compiling import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LOCK = (ROOT / "requirements-dev.lock").read_text("utf-8")
WANTED = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"]]


def pins() -> dict[str, list[Requirement]]:
    found: dict[str, list[Requirement]] = {}
    for line in LOCK.splitlines():
        requirement = Requirement(line)
        found.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return found


@pytest.mark.parametrize("wanted", WANTED)
def test_the_lock_pins_what_is_asked_for(wanted: str) -> None:
    requirement = Requirement(wanted)
    pinned = pins()[canonicalize_name(requirement.name)]
    versions = [next(iter(pin.specifier)).version for pin in pinned]
    assert all(version in requirement.specifier for version in versions)


def test_the_lock_names_no_host() -> None:
    assert "://" not in LOCK


def test_the_version_is_said_once() -> None:
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["hatch"]["version"] == {"path": "trainc/__init__.py"}
    pattern = re.compile(rf"\btrainc[ =>]*{re.escape(trainc.__version__)}\b")
    said = [path for path in ROOT.glob("trainc/**/*.py") if pattern.search(path.read_text("utf-8"))]
    assert said == []


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The source distribution and the wheel, as hatchling builds them."""
    folder = tmp_path_factory.mktemp("dist")
    (sdist,) = SdistBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    return Path(sdist), Path(wheel)


@pytest.mark.slow
def test_the_source_distribution_holds_what_installing_needs(packages: tuple[Path, Path]) -> None:
    with tarfile.open(packages[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {name.partition("/")[0] for name in names} == {
        "trainc", "schemas", "runtimes", "docs", "deploy", "examples", "action.yml", ".pre-commit-hooks.yaml", "requirements-dev.lock",
        "CHANGELOG.md", "LICENSE", "README.md", "pyproject.toml", "PKG-INFO", ".gitignore",
    }  # fmt: skip
    assert not [name for name in names if name.endswith((".pyc", ".txtar")) or "test" in name.split("/")[-1]]
    assert packages[0].stat().st_size < 2_500_000


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_its_data(packages: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(packages[1]) as archive:
        names = set(archive.namelist())
        metadata = Metadata.from_email(archive.read(f"trainc-{trainc.__version__}.dist-info/METADATA"))
    data = {f"trainc/_data/{path.relative_to(ROOT)}" for top in ("schemas", "runtimes") for path in files(ROOT / top)}
    data |= {f"trainc/_data/argocd/{path.name}" for path in files(ROOT / "deploy/argocd")}
    code = {str(path.relative_to(ROOT)) for path in files(ROOT / "trainc")}
    info = {
        f"trainc-{trainc.__version__}.dist-info/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")
    }
    assert names == data | code | info | {f"trainc-{trainc.__version__}.dist-info/licenses/LICENSE"}
    assert str(metadata.version) == trainc.__version__
    assert metadata.license_expression == "Apache-2.0"
    assert metadata.license_files == ["LICENSE"]
    assert metadata.description_content_type == "text/markdown"
    assert metadata.description
    assert not metadata.project_urls
    assert metadata.home_page is None
    assert set(metadata.classifiers or ()) <= known_classifiers
    assert metadata.keywords


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]


def test_supported_pythons_are_classified() -> None:
    lowest = Requirement(f"python{PROJECT['project']['requires-python']}").specifier
    named = [one.rpartition(" ")[2] for one in PROJECT["project"]["classifiers"] if re.search(r":: 3\.\d+$", one)]
    assert named
    assert all(version in lowest for version in named)


@pytest.mark.parametrize("name", ["argocd", "cli"])
def test_images_run_without_rights_and_hold_no_network(name: str) -> None:
    text = (ROOT / f"deploy/{name}/Containerfile").read_text("utf-8")
    stages = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    assert len(stages) == 2
    assert all(":" in image and not image.endswith(":latest") for image in stages)
    last = text.rpartition("FROM ")[2]
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", last, re.MULTILINE)
    assert "COPY ." not in last
    assert "ENTRYPOINT" in last


def test_the_release_notes_are_those_of_the_changelog() -> None:
    done = subprocess.run([sys.executable, ROOT / ".ci/release-notes"], check=True, capture_output=True, text=True)
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8").partition("## Unreleased\n")[2].partition("\n## ")[0]
    told = [line for line in done.stdout.splitlines() if line.startswith("- ")]
    assert sorted(told) == sorted(line for line in changelog.splitlines() if line.startswith("- "))
    assert done.stdout.index("\n## Changed\n") < done.stdout.index("\n## Added\n")
    missing = subprocess.run(
        [sys.executable, ROOT / ".ci/release-notes", "9.9"], check=False, capture_output=True, text=True
    )
    assert missing.returncode == 1
    assert "no section 9.9" in missing.stderr
