"""A repository with a real Git and the real pre-commit, whose hooks are those that trainc ships."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.compiling import ROOT
from tests.repository import Repository


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
        """One command line of trainc in a process of its own."""
        return self.command(sys.executable, "-m", "trainc", *words)

    def hooks(self, manager: str = "pre-commit", **changes: object) -> None:
        """Install the hooks that trainc ships under pre-commit or prek, run by this Python instead of an installed copy."""
        shipped = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
        local = [
            {
                **hook,
                "language": "unsupported",
                "entry": hook["entry"].replace("trainc", f"{sys.executable} -m trainc", 1),
                **changes,
            }
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
