"""The next commit is compiled in a folder that stays: warm answers are those of a run that knows nothing."""

import os
from pathlib import Path

import pytest

from benchmarks import strangers
from tests.working_tree import WorkingTree
from trainc.cli.caching import index_folder
from trainc.compiler.lower import lower
from trainc.model.bundle import Bundle
from trainc.model.plan import Plan
from trainc.model.report import Report
from trainc.model.settings import Project

pytestmark = pytest.mark.slow

COMMANDS = (("validate", "--staged", "-v"), ("build", "--check", "--staged", "-v"))
JOBS = 60  # of every spelling, with findings, and with objects beside them


@pytest.fixture
def tree(tmp_path: Path, cache: Path, settled: None) -> WorkingTree:
    """A repository as strangers write one, rendered, committed, and checked by both hooks once."""
    del settled
    tree = WorkingTree(tmp_path)
    tree.environment["TRAINC_CACHE_DIR"] = str(cache)
    for name in ("trainc.yaml", "jobs", "runtimes"):
        tree.git("rm", "-rq", "--cached", "--ignore-unmatch", name)
    strangers.write(JOBS, str(tree.folder))
    assert tree.trainc("build", "-w", "-q").returncode == 0
    tree.git("add", "-A")
    tree.git("commit", "-qm", "all")
    same(tree)
    return tree


def same(tree: WorkingTree) -> list[str]:
    """What both hooks say; each says the same as without a cache."""
    answers = []
    for words in COMMANDS:
        warm, cold = tree.trainc(*words), tree.trainc(*words, "--no-cache")
        assert (warm.returncode, warm.stdout) == (cold.returncode, cold.stdout), words
        answers.append(warm.stdout)
    return answers


def kept(cache: Path) -> Path:
    (folder,) = cache.glob("trainc-index-*")
    return folder


def job(number: int) -> str:
    return strangers.job(number)[0]


@pytest.mark.parametrize("number", range(0, JOBS, 7))
def test_one_job_changes(tree: WorkingTree, number: int) -> None:
    path = tree.folder / job(number)
    path.write_text(path.read_text().replace(":" + str(number), f":{number}-b"))
    tree.git("add", "-A")
    same(tree)
    tree.trainc("build", "-w", "-q")
    tree.git("add", "-A")
    same(tree)


def test_few_jobs_are_compiled(tree: WorkingTree, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def counted(plan: Plan, project: Project, report: Report) -> Bundle | None:
        compiled.append(plan.document.file)
        return lower(plan, project, report)

    path = tree.folder / job(0)
    path.write_text(path.read_text() + "# a word\n")
    tree.git("add", "-A")
    monkeypatch.setattr("trainc.compiler.pipeline.lower", counted)
    for words in COMMANDS:
        compiled.clear()
        assert tree.trainc(*words).returncode == 0
        # Those that changed, and those beside which other objects stand.
        assert job(0) in compiled
        assert len(compiled) < JOBS / 4


def test_a_runtime_changes_and_files_come_and_go(tree: WorkingTree) -> None:
    tree.change("runtimes/torch-research.yaml", "maxRestarts: 3", "maxRestarts: 4")
    tree.git("add", "-A")
    same(tree)
    tree.git("rm", "-q", job(3))
    tree.write("policies/none.yaml", "")
    tree.git("add", "-A")
    same(tree)
    (tree.folder / "policies/none.yaml").unlink()
    tree.write("jobs/east/more.yaml", strangers.job(JOBS + 20)[1])
    tree.git("add", "-A")
    same(tree)


def test_what_somebody_did_to_the_folder_is_undone(tree: WorkingTree, cache: Path) -> None:
    folder = kept(cache)
    before = same(tree)
    (folder / job(0)).write_text("kind: nonsense\n")
    (folder / job(1)).unlink()
    (folder / "jobs/east/stray.yaml").write_text(strangers.job(99)[1])
    (folder / "empty").mkdir()
    assert same(tree) == before
    assert not (folder / "empty").exists()


def test_nobody_else_has_written_the_folder(tree: WorkingTree, cache: Path) -> None:
    before = same(tree)
    kept(cache).chmod(0o777)
    assert same(tree) == before
    for path in kept(cache).parent.iterdir():  # what is left when the record of the folder is gone
        if path.is_file():
            path.unlink()
    assert same(tree) == before


def test_a_folder_in_use_is_left_alone(tree: WorkingTree, cache: Path) -> None:
    fcntl = pytest.importorskip("fcntl", reason="no locks on this system")
    number = os.open(kept(cache), os.O_RDONLY)
    fcntl.flock(number, fcntl.LOCK_EX)
    try:
        tree.write("jobs/east/more.yaml", strangers.job(JOBS + 20)[1])
        tree.git("add", "-A")
        same(tree)
        assert not (kept(cache) / "jobs/east/more.yaml").exists()
    finally:
        os.close(number)


def test_the_folder_of_a_repository_that_is_gone_goes(
    tree: WorkingTree, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = kept(cache).rename(cache / "trainc-index-0")
    monkeypatch.setattr(index_folder, "_UNUSED", -1)
    same(tree)
    assert not old.exists()
