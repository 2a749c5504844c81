"""Repositories of strangers: nothing that their configuration or attributes name is started, nothing is fetched.

Each trap is real: Git itself, asked as people ask it, sets it off, and a file shows it.
"""

import os
import subprocess
from pathlib import Path

import pytest

from tests.effort import PATIENCE
from tests.hostile.attempts import attempt
from tests.repository import Repository
from trainc.changes.git import repository as reading
from trainc.text.trouble import Trouble

COMMANDS = (
    ("diff", "HEAD"),
    ("diff", "HEAD", "--report", "markdown"),
    ("validate", "--against", "HEAD"),
    ("build", "-w", "--changed-since", "HEAD"),
    ("build", "-w"),
)
NOBODY = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


class Stranger:
    """A repository of jobs, committed, whose owner wants to run a program on the machine of a reader."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "theirs"
        self.folder.mkdir()
        self.mark = folder / "mark"
        self.program = folder / "evil.sh"
        self.program.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{self.mark}'\nexit 1\n", "utf-8")
        self.program.chmod(0o755)
        Repository(self.folder, "good")
        self.git("init", "-q")
        self.commit()

    def git(self, *words: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Git as people call it."""
        environment = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")} | NOBODY
        who = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "protocol.file.allow=always")
        where = folder or self.folder
        return subprocess.run(
            ["git", *who, *words],
            check=False,
            cwd=where,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    def commit(self) -> None:
        self.git("add", "-A")
        assert self.git("commit", "-qm", "x").returncode == 0

    def touch(self) -> Path:
        """Change when a job was written, not what it says: Git has to look into it."""
        [job] = (self.folder / "jobs").glob("*.yaml")
        os.utime(job, (1, 1))
        return job

    def sprung(self) -> bool:
        """Whether the trap went off since the last time."""
        found = self.mark.exists()
        self.mark.unlink(missing_ok=True)
        return found


@pytest.fixture
def stranger(tmp_path: Path) -> Stranger:
    return Stranger(tmp_path)


def clean_filter(theirs: Stranger, driver: str) -> None:
    theirs.git("config", f"filter.a=b.c.{driver}", str(theirs.program))
    (theirs.folder / ".git" / "info" / "attributes").write_text("*.yaml filter=a=b.c\n", "utf-8")


def committed_attributes(theirs: Stranger) -> None:
    (theirs.folder / ".gitattributes").write_text("*.yaml filter=x diff=x\n", "utf-8")
    theirs.commit()
    theirs.git("config", "filter.x.clean", str(theirs.program))
    theirs.git("config", "diff.x.textconv", str(theirs.program))
    theirs.git("config", "diff.external", str(theirs.program))


def file_system_monitor(theirs: Stranger) -> None:
    theirs.git("config", "core.fsmonitor", str(theirs.program))


def included(theirs: Stranger) -> None:
    (theirs.folder / ".git" / "more").write_text(f'[filter "y"]\n\tclean = "{theirs.program}"\n', "utf-8")
    theirs.git("config", "include.path", "more")
    (theirs.folder / ".git" / "info" / "attributes").write_text("*.yaml filter=y\n", "utf-8")


def submodule(theirs: Stranger) -> None:
    inner = theirs.folder / "inner"
    inner.mkdir()
    theirs.git("init", "-q", folder=inner)
    (inner / "a").write_text("a", "utf-8")
    theirs.git("add", "a", folder=inner)
    theirs.git("commit", "-qm", "x", folder=inner)
    theirs.commit()
    theirs.git("config", "core.fsmonitor", str(theirs.program), folder=inner)


TRAPS = {
    "clean filter": lambda theirs: clean_filter(theirs, "clean"),
    "filter process": lambda theirs: clean_filter(theirs, "process"),
    "committed attributes": committed_attributes,
    "file system monitor": file_system_monitor,
    "included configuration": included,
    "submodule": submodule,
}


@pytest.mark.slow
@pytest.mark.parametrize("trap", TRAPS)
def test_no_program_of_the_repository_runs(trap: str, stranger: Stranger) -> None:
    TRAPS[trap](stranger)
    stranger.sprung()
    stranger.touch()
    stranger.git("status")
    assert stranger.sprung(), "the trap is none"
    for command in COMMANDS:
        stranger.touch()
        found = attempt(stranger.folder, *command)
        assert not stranger.sprung(), f"{command}\n{found.err}"
        assert found.code == 0, found.err


def partial_clone(theirs: Stranger) -> Path:
    """A clone that has the trees of every commit and the files of the last one alone."""
    [job] = (theirs.folder / "jobs").glob("*.yaml")
    job.write_text(job.read_text("utf-8") + "# later\n", "utf-8")
    theirs.commit()
    theirs.git("config", "uploadpack.allowFilter", "true")
    theirs.git("config", "uploadpack.allowAnySHA1InWant", "true")
    words = ("clone", "-q", "--filter=blob:none", theirs.folder.as_uri(), "partial")
    done = theirs.git(*words, folder=theirs.folder.parent)
    assert done.returncode == 0, done.stderr
    return theirs.folder.parent / "partial"


@pytest.mark.slow
def test_a_partial_clone_is_told_what_to_fetch(stranger: Stranger) -> None:
    clone = partial_clone(stranger)
    for command in (
        ("diff", "HEAD~1"),
        ("validate", "--against", "HEAD~1"),
        ("build", "-w", "--changed-since", "HEAD~1"),
    ):
        found = attempt(clone, *command)
        assert found.code == 2
        assert "git archive -o /dev/null" in found.err, found.err
    assert stranger.git("archive", "-o", os.devnull, "HEAD~1", folder=clone).returncode == 0
    assert attempt(clone, "diff", "HEAD~1").code == 0


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["ext", "helper", "upload pack", "ssh"])
def test_nothing_is_fetched_by_a_program_of_the_repository(transport: str, stranger: Stranger) -> None:
    clone = partial_clone(stranger)
    match transport:
        case "ext":
            stranger.git("config", "protocol.ext.allow", "always", folder=clone)
            stranger.git("config", "remote.origin.url", f"ext::{stranger.program} %S", folder=clone)
        case "helper":
            stranger.git("config", "remote.origin.vcs", "ext", folder=clone)
            stranger.git("config", "protocol.ext.allow", "always", folder=clone)
            stranger.git("config", "remote.origin.url", f"{stranger.program} %S", folder=clone)
        case "upload pack":
            stranger.git("config", "protocol.file.allow", "always", folder=clone)
            stranger.git("config", "remote.origin.uploadpack", str(stranger.program), folder=clone)
        case _:
            stranger.git("config", "core.sshCommand", str(stranger.program), folder=clone)
            stranger.git("config", "remote.origin.url", "ssh://nobody@localhost/x", folder=clone)
    stranger.sprung()
    stranger.git("show", "HEAD~1", folder=clone)
    assert stranger.sprung(), "the trap is none"
    found = attempt(clone, "diff", "HEAD~1")
    assert not stranger.sprung(), found.err
    assert (found.code, "trainc fetches nothing" in found.err) == (2, True), found.err


def crafted(theirs: Stranger, *, name: bytes, data: bytes = b"kind: X\n", mode: bytes = b"100644") -> str:
    """A commit with one file of a name that Git itself would never give it."""

    def stored(kind: str, content: bytes) -> str:
        words = ["git", "hash-object", "-t", kind, "-w", "--stdin", "--literally"]
        return subprocess.run(words, check=True, cwd=theirs.folder, input=content, capture_output=True).stdout.decode()

    entry = mode + b" " + name + b"\0" + bytes.fromhex(stored("blob", data).strip())
    tree = stored("tree", entry).strip()
    return theirs.git("commit-tree", "-m", "x", tree).stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["{tmp}/escaped.yaml", "../escaped.yaml", ".git/x.yaml", "a/../../x.yaml"])
def test_no_path_of_a_commit_leads_out_of_it(name: str, stranger: Stranger, tmp_path: Path) -> None:
    commit = crafted(stranger, name=name.format(tmp=tmp_path).encode())
    before = {path for path in tmp_path.rglob("*") if ".git" not in path.parts}
    found = attempt(stranger.folder, "diff", commit)
    assert (found.code, "which is outside the repository" in found.err) == (2, True), found.err
    assert {path for path in tmp_path.rglob("*") if ".git" not in path.parts} == before


@pytest.mark.slow
def test_what_a_commit_holds_is_bounded(stranger: Stranger, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = reading.GitRepository(str(stranger.folder))
    commit = repository.commit("HEAD")
    objects = [name for _, name in repository.files(commit)]
    assert list(repository.contents(objects))
    monkeypatch.setattr(reading, "FILES", 1)
    with pytest.raises(Trouble, match="more than 1 files"):
        list(repository.files(commit))
    monkeypatch.setattr(reading, "LARGEST", 8)
    with pytest.raises(Trouble, match="larger than"):
        list(repository.contents(objects))


def test_a_work_tree_elsewhere_shows_nothing_of_it(stranger: Stranger, tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text("apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n", "utf-8")
    stranger.git("config", "core.worktree", str(tmp_path))
    for command in COMMANDS:
        assert "secret.yaml" not in attempt(stranger.folder, *command).err
