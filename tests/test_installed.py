"""trainc as it is installed, in an environment with nothing else, by a user who owns nothing and may write nothing."""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.compiling import ROOT
from tests.repository import Repository

NOBODY = 999  # the user of Argo CD's plugins


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that everybody can look into, and that nobody can change once it is shut."""
    folder = Path(tempfile.mkdtemp(prefix="trainc-installed-"))
    folder.chmod(0o755)
    yield folder
    for path in (folder, *folder.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    shutil.rmtree(folder)


def install(folder: Path) -> str:
    """A virtual environment with what the wheel holds and the one package that compiling needs; its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (site,) = folder.glob("lib/python3*/site-packages")
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    places = {**{name: name for name in wheel["packages"]}, **wheel["force-include"]}
    for source, target in places.items():
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, site / target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / source, site / target)
    shutil.copytree(Path(yaml.__file__).parent, site / "yaml")
    return str(folder / "bin/python")


def shut(folder: Path) -> dict[str, bytes]:
    """Take the right to write away from everybody; every file with its content."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o555 if path.is_dir() or os.access(path, os.X_OK) else 0o444)
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def reachable(folder: Path) -> bool:
    """Whether everybody may look into a folder: an interpreter in somebody's home starts for nobody else."""
    return all(path.stat().st_mode & 0o001 for path in (folder, *folder.parents))


@pytest.mark.slow
def test_a_plugin_needs_no_rights(place: Path) -> None:
    python = install(place / "venv")
    (place / "repository").mkdir()
    repository = Repository(place / "repository", "bert", "line")
    repository.setting("delivery: argocd")
    built = repository.run("build", "jobs").out
    assert built
    before = shut(place)
    changes_user = os.geteuid() == 0 and reachable(Path(sys.base_prefix))
    done = subprocess.run(
        [python, "-m", "trainc", "cmp", "generate"],
        check=False,
        capture_output=True,
        cwd=repository.folder / "jobs",
        env={
            "HOME": str(place),
            "ARGOCD_APP_SOURCE_PATH": "jobs",
            "ARGOCD_APP_PARAMETERS": "null",
            **({} if changes_user or os.geteuid() else {"PYTHONDONTWRITEBYTECODE": "1"}),  # nothing stops root
        },
        user=NOBODY if changes_user else None,
    )
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, built, b"")
    assert {str(path): path.read_bytes() for path in place.rglob("*") if path.is_file()} == before
