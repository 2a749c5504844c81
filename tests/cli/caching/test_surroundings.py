"""What a run rests on besides its jobs: Git's own variables, commits, and what is known of a cluster."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.repository import Repository

pytestmark = pytest.mark.slow

COMMANDS = (("validate",), ("build", "-w"), ("build", "--check"))
CLASSES = """\
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: urgent}
value: 10
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: system-node-critical}
value: 20
"""


def git(folder: Path, *words: str) -> None:
    names = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    person = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.com"]
    clean = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(["git", *person, *words], cwd=folder, env={**clean, **names}, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, cache: Path, settled: None) -> Repository:
    """Six jobs in Git, rendered and committed, of which everything is known; a cluster shows its priority classes."""
    del cache, settled
    folder = tmp_path / "repository"
    folder.mkdir()
    made = Repository(folder, *[f"job-{number}" for number in range(6)])
    made.setting("clusters: {main: {folder: clusters/main}}")
    made.write("clusters/main/classes.yaml", CLASSES)
    made.change(
        "runtimes/torch.yaml",
        "                  containers:\n",
        "                  priorityClassName: urgent\n                  containers:\n",
    )
    git(folder, "init", "--quiet")
    assert made.run("build", "-w").code == 0
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "jobs")
    for words in COMMANDS:
        for _ in range(2):
            made.run(*words)
    return made


def assert_the_same(repository: Repository, code: int) -> str:
    """Every command says with a cache what it says without one, and ends with this code; what they say."""
    said = []
    for words in COMMANDS:
        state = {path: path.read_bytes() for path in repository.folder.glob("rendered/**/*.yaml")}
        cached = repository.run(*words)
        for path, content in state.items():
            path.write_bytes(content)
        plain = repository.run(*words, "--no-cache")
        assert (cached.code, cached.out, cached.err) == (plain.code, plain.out, plain.err), words
        said.append(cached.err)
        assert cached.code == code, words
    return "".join(said)


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"])
def test_variables_of_git_decide_nothing(
    repository: Repository, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook of Git runs with such variables; they may speak of another repository."""
    monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    assert_the_same(repository, 0)
    repository.change("jobs/job-2.yaml", "numNodes: 2", "numNodes: 3")
    assert "immutable-change" in assert_the_same(repository, 1)


def test_a_commit_of_another_rendering_is_seen(repository: Repository) -> None:
    """The files are as they were; what servers run, as far as the last commit says, is another one."""
    state = (repository.folder / "rendered").stat()
    kept = repository.rendered()
    [name] = [path for path in kept if path.endswith("/job-2.yaml")]
    repository.change(f"rendered/{name}", "completions: 2", "completions: 4")
    git(repository.folder, "commit", "--quiet", "--all", "-m", "another")
    for path, text in kept.items():
        repository.write(f"rendered/{path}", text)
    os.utime(repository.folder / "rendered", ns=(state.st_atime_ns, state.st_mtime_ns))
    for words in COMMANDS:
        cached, plain = repository.run(*words), repository.run(*words, "--no-cache")
        assert (cached.code, cached.out, cached.err) == (plain.code, plain.out, plain.err), words


def test_an_edit_of_a_dump_is_seen(repository: Repository) -> None:
    assert_the_same(repository, 0)
    dump = repository.folder / "clusters/main/classes.yaml"
    before = dump.stat()
    dump.write_text(CLASSES.replace("urgent", "urgend"), "utf-8")  # of one size
    os.utime(dump, ns=(before.st_atime_ns, before.st_mtime_ns))  # and as old as before
    assert "`urgent`" in assert_the_same(repository, 1)


def test_a_dump_that_is_replaced_or_added_is_seen(repository: Repository) -> None:
    dump = repository.folder / "clusters/main/classes.yaml"
    older = dump.with_name("older.txt")
    shutil.copy2(dump, older)
    older.write_text(CLASSES.replace("urgent", "urgend"), "utf-8")
    os.utime(older, (1, 1))
    os.replace(older, dump)  # as `git checkout` and editors do, with an older time
    assert_the_same(repository, 1)
    repository.write("clusters/main/more.yaml", CLASSES)
    assert_the_same(repository, 0)
    (repository.folder / "clusters/main/more.yaml").unlink()
    assert_the_same(repository, 1)


def test_a_restored_dump_is_read_again(repository: Repository, tmp_path: Path) -> None:
    shutil.copytree(repository.folder / "clusters", tmp_path / "kept")
    repository.write("clusters/main/classes.yaml", CLASSES.replace("urgent", "later"))
    assert_the_same(repository, 1)
    shutil.rmtree(repository.folder / "clusters")
    shutil.copytree(tmp_path / "kept", repository.folder / "clusters")  # with the times of the files
    assert_the_same(repository, 0)
