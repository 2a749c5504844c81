"""A repository with a real Git and the real pre-commit, whose hooks are those that trainc ships."""

import importlib.util
import os
import shutil
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from copy import copy
from pathlib import Path
from unittest.mock import patch

import pytest
import yaml

from tests import warm
from tests.compiling import ROOT, Text
from tests.repository import Repository
from trainc import cli


class WorkingTree(Repository):
    """A Git work tree; nothing of the machine's own configuration reaches it."""

    def __init__(self, folder: Path, *jobs: str) -> None:
        (folder / "repository").mkdir()
        self._home = folder
        self.environment = {
            **{name: text for name, text in os.environ.items() if not name.startswith(("GIT_", "PRE_COMMIT"))},
            "PYTHONPATH": str(ROOT),
            "HOME": str(folder),
            "PRE_COMMIT_HOME": str(folder / "pre-commit"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "a@example.com",
            "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@example.com",
            "NO_COLOR": "1",
        }
        super().__init__(folder / "repository", *jobs)
        self.git("init", "-q", "--template=")  # no files of examples, which cost more than all else

    def copy(self, place: Path) -> "WorkingTree":
        """Another one, in a folder of its own, as this one stands."""
        shutil.copytree(self._home, place, symlinks=True, dirs_exist_ok=True)
        other = copy(self)
        other._home, other.folder = place, place / self.folder.relative_to(self._home)
        moved = {name: text.replace(str(self._home), str(place)) for name, text in self.environment.items()}
        other.environment = moved
        return other

    def git(self, *words: str) -> subprocess.CompletedProcess[str]:
        """One Git command that must succeed."""
        done = self.command("git", *words)
        assert done.returncode == 0, done.stderr
        return done

    def command(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """One command in the work tree."""
        return subprocess.run(
            list(words),
            check=False,
            cwd=self.folder,
            env={**self.environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def trainc(self, *words: str) -> subprocess.CompletedProcess[str]:
        """One command line of trainc in this process, as it would be in one that has the environment of the work tree."""
        both = Text()
        with (
            chdir(self.folder),
            patch.dict(os.environ, self.environment, clear=True),
            patch("sys.stdin", Text()),
            redirect_stdout(both),
            redirect_stderr(both),
        ):
            code = cli.main([*words])
        return subprocess.CompletedProcess([*words], code, both.text())

    def hooks(self, manager: str = "pre-commit", **changes: object) -> None:
        """Install the hooks that trainc ships, forked under pre-commit, else run by this Python like an installed copy."""
        shipped = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
        start = str(warm.program()) if manager == "pre-commit" else f"{sys.executable} -m trainc"
        local = [
            {**hook, "language": "unsupported", "entry": hook["entry"].replace("trainc", start, 1), **changes}
            for hook in shipped
        ]
        self.write(".pre-commit-config.yaml", yaml.safe_dump({"repos": [{"repo": "local", "hooks": local}]}))
        self.git("add", "-A")
        self.environment["PREK_HOME"] = str(self.folder.parent / "prek")
        words = [sys.executable, "-m", "pre_commit"] if manager == "pre-commit" else [program(manager)]
        done = self.command(*words, "install")
        assert done.returncode == 0, done.stdout

    def commit(self, message: str = "change", **environment: str) -> subprocess.CompletedProcess[str]:
        """Stage everything and try to commit it, hooks and all."""
        self.git("add", "-A")
        return self.command("git", "commit", "-qm", message, **environment)


def program(name: str) -> str:
    """Where a hook manager is; the test is skipped where it is not installed."""
    package = importlib.util.find_spec(name)
    folders = [str(Path(sys.executable).parent)]
    if package is not None and package.origin is not None:
        folders.append(str(Path(package.origin).parents[4] / "bin"))
    found = shutil.which(name, path=":".join(folders)) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found
