"""What is applied is what the sources compile to, or what the base has: stories, honest and hostile, and edits by chance."""

import random
import re
from pathlib import Path

import pytest

from tests.repository import job
from tests.sampling import sampled
from tests.working_tree import WorkingTree
from trainc.compiler.emit.digest import body_digest

RENDERED = "rendered/research/%s.yaml"
RUNTIME = "runtimes/torch.yaml"
BUILD_CHECK = ("build", "--check", "--no-cache")


@pytest.fixture(scope="module")
def applied(tmp_path_factory: pytest.TempPathFactory) -> WorkingTree:
    """Two runs on the default branch, of which the second keeps its rendering in spite of an edit of the runtime."""
    tree = WorkingTree(tmp_path_factory.mktemp("applied"), "bert")
    tree.git("checkout", "-q", "-b", "main")
    assert tree.run("build", "-w").code == 0
    assert tree.commit("bert").returncode == 0
    tree.change(RUNTIME, "maxRestarts: 3", "maxRestarts: 5")
    assert "keeps its rendering" in tree.run("build", "-w").err
    assert tree.commit("runtime").returncode == 0
    return tree


@pytest.fixture
def tree(applied: WorkingTree, tmp_path: Path) -> WorkingTree:
    return applied.copy(tmp_path)


def forge(tree: WorkingTree, file: str, old: str, new: str) -> None:
    """Edit a rendered file, and its digest with it."""
    head, _, body = tree.read(file).partition("\n")
    assert old in body
    body = body.replace(old, new, 1)
    head = re.sub(r"body=\w+", f"body={body_digest(body.encode())}", head)
    tree.write(file, f"{head}\n{body}")


def forgotten_runtime(tree: WorkingTree) -> str:
    """A new job, rendered from an edit of the runtime that is not in the commit."""
    tree.job("honest")
    tree.change(RUNTIME, "memory: 16Gi", "memory: 32Gi")
    assert tree.run("build", "-w").code == 0
    tree.git("checkout", "-q", RUNTIME)
    return "32Gi"


def forged_new_job(tree: WorkingTree) -> str:
    tree.job("honest")
    assert tree.run("build", "-w").code == 0
    forge(tree, RENDERED % "honest", "registry.example.com/ml/line:1.0.0", "evil.example.com/miner:1")
    return "evil.example.com/miner:1"


def forged_size_of_a_kept_run(tree: WorkingTree) -> str:
    forge(tree, RENDERED % "bert", "parallelism: 2", "parallelism: 60")
    return "parallelism: 60"


def forged_field_that_no_server_fixes(tree: WorkingTree) -> str:
    forge(tree, RENDERED % "bert", "    owner: platform", "    owner: mallory")
    return "owner: mallory"


STORIES = (forgotten_runtime, forged_new_job, forged_size_of_a_kept_run, forged_field_that_no_server_fixes)


@pytest.mark.parametrize("story", sampled(STORIES, [one.__name__ for one in STORIES], quick=("forgotten_runtime",)))
def test_what_nothing_proves_is_found_everywhere(tree: WorkingTree, story: object, tmp_path: Path) -> None:
    assert callable(story)
    line = story(tree)
    ways = [BUILD_CHECK, ("build", "--check", "--only", "rendered"), ("validate", "--against", "main")]

    def check(*more: tuple[str, ...], where: WorkingTree = tree) -> None:
        for words in (*ways, *more):
            done = where.run(*words)
            assert done.code == 1, (words, done.err)
            assert "error[out-of-date]" in done.err + done.out, words
            assert f"-{line.split()[-1]}" in re.sub(r"-\s+\S*?:?\s*(?=\S+$)", "-", done.err, flags=re.MULTILINE), words

    check()
    tree.git("add", "-A")
    check(("build", "--check", "--staged", "--only", "rendered"))
    assert "evil" not in tree.run("diff", "main").out
    tree.git("checkout", "-q", "-b", "branch")
    assert tree.commit("story").returncode == 0
    check()
    tree.git("clone", "-q", str(tree.folder), str(tmp_path / "clone/repository"))
    clone = tree.copy(tmp_path / "there")
    ways = [BUILD_CHECK, ("validate", "--against", "origin/main"), ("build", "--check", "--base", "origin/main")]
    clone.folder = tmp_path / "clone/repository"
    check(where=clone)
    # Straight to the default branch, each commit is judged by the one before.
    tree.git("checkout", "-q", "main")
    tree.git("merge", "-q", "--ff-only", "branch")
    assert tree.run(*BUILD_CHECK).code == 1
    assert tree.run("build", "-w").code == 0
    assert line not in "".join(tree.rendered().values())


@pytest.mark.slow
def test_the_hooks_refuse_a_forged_rendering(tree: WorkingTree) -> None:
    tree.hooks()
    assert tree.commit("hooks").returncode == 0
    forged_new_job(tree)
    done = tree.commit("forged")
    assert done.returncode == 1
    assert "out-of-date" in done.stdout
    assert "evil.example.com" in done.stdout


@pytest.mark.slow
def test_a_run_stays_over_commits_merges_rebases_and_a_squash(tree: WorkingTree, tmp_path: Path) -> None:
    kept = tree.read(RENDERED % "bert")

    def is_green(where: WorkingTree = tree) -> None:
        done = where.run(*BUILD_CHECK)
        assert done.code == 0, done.err
        assert tree.read(RENDERED % "bert") == kept

    for number in range(10):
        tree.change(RUNTIME, f"maxRestarts: {5 + number}", f"maxRestarts: {6 + number}")
        is_green()
        assert tree.commit(f"runtime {number}").returncode == 0
        is_green()
    tree.git("checkout", "-q", "-b", "one")
    tree.job("t5")
    assert tree.run("build", "-w").code == 0
    is_green()
    assert tree.commit("t5").returncode == 0
    is_green()
    tree.git("checkout", "-q", "main")
    tree.change(RUNTIME, "backoffLimit: 0", "backoffLimit: 1")
    is_green()
    assert tree.commit("limit").returncode == 0
    # The new run of the branch takes the edit: nothing has applied it yet.
    tree.git("checkout", "-q", "one")
    tree.git("merge", "-q", "--no-edit", "main")
    assert tree.run(*BUILD_CHECK).code == 1
    assert tree.run("build", "-w").code == 0
    assert "backoffLimit: 1" in tree.read(RENDERED % "t5")
    assert tree.commit("again").returncode == 0
    is_green()
    tree.git("checkout", "-q", "-b", "two", "main")
    tree.git("merge", "-q", "--squash", "one")
    assert tree.commit("squashed").returncode == 0
    is_green()
    tree.git("checkout", "-q", "main")
    tree.git("merge", "-q", "--no-ff", "--no-edit", "two")
    is_green()
    tree.git("checkout", "-q", "-b", "three", "HEAD~1")
    tree.write("note.yaml", "kind: Note\n")
    assert tree.commit("note").returncode == 0
    tree.git("rebase", "-q", "main")
    is_green()
    tree.git("clone", "-q", str(tree.folder), str(tmp_path / "clone/repository"))
    clone = tree.copy(tmp_path / "there")
    clone.folder = tmp_path / "clone/repository"
    is_green(clone)


def test_a_new_run_takes_every_edit_until_it_is_on_the_default_branch(tree: WorkingTree) -> None:
    tree.git("checkout", "-q", "-b", "branch")
    tree.job("t5")
    assert tree.run("build", "-w").code == 0
    assert tree.commit("t5").returncode == 0
    tree.change("jobs/t5.yaml", "numNodes: 2", "numNodes: 4")
    assert tree.run("validate").code == 0
    assert tree.run("build", "-w").code == 0
    assert "parallelism: 4" in tree.read(RENDERED % "t5")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("depth", "branch", "said"),
    [("1", "main", "`fetch-depth: 2`"), ("1", "branch", "`fetch-depth: 0`")],
    ids=["default", "branch"],
)
def test_a_shallow_clone_says_what_it_lacks(
    tree: WorkingTree, depth: str, branch: str, said: str, tmp_path: Path
) -> None:
    if branch != "main":
        tree.git("checkout", "-q", "-b", branch)
        tree.write("note.yaml", "kind: Note\n")
        assert tree.commit("note").returncode == 0
        tree.git("checkout", "-q", "main")
    url = f"file://{tree.folder}"
    tree.git(
        "clone", "-q", "--depth", depth, "--no-single-branch", "-b", branch, url, str(tmp_path / "clone/repository")
    )
    clone = tree.copy(tmp_path / "there")
    clone.folder = tmp_path / "clone/repository"
    done = clone.run(*BUILD_CHECK)
    assert (done.code, said in done.err) == (1, True), done.err
    clone.git("fetch", "-q", "--unshallow")
    assert clone.run(*BUILD_CHECK).code == 0


@pytest.mark.slow
def test_grafts_and_replacements_are_no_history(tree: WorkingTree) -> None:
    """A parent that the repository itself does not name would make any commit the base."""
    forged_size_of_a_kept_run(tree)
    assert tree.commit("forged").returncode == 0
    forged = tree.git("rev-parse", "HEAD").stdout.strip()
    tree.git("commit", "-q", "--allow-empty", "-m", "empty")
    tree.git("reset", "-q", "--hard", forged)
    tree.git("replace", "--graft", forged, "HEAD@{1}")
    assert tree.run(*BUILD_CHECK).code == 1


def _edit(tree: WorkingTree, chance: random.Random) -> None:
    """One edit of an input or of a rendered file, with its digest or without."""
    files = sorted(str(path.relative_to(tree.folder)) for path in (tree.folder / "rendered").rglob("*.yaml"))
    choice = chance.randrange(8)
    if choice == 0 and files:
        file = chance.choice(files)
        text = tree.read(file)
        old = chance.choice([line for line in text.splitlines()[1:] if re.search(r": \S+$", line)])
        forge(tree, file, old, re.sub(r": \S+$", f": {chance.choice(('1', 'x', '9Gi'))}", old))
    elif choice == 1 and files:
        file = chance.choice(files)
        tree.write(file, re.sub(r"(job|body)=\w{4}", r"\1=0000", tree.read(file), count=chance.randint(1, 2)))
    elif choice == 2 and files:
        (tree.folder / chance.choice(files)).unlink()
    elif choice == 3:
        tree.write(RUNTIME, re.sub(r"maxRestarts: \d+", f"maxRestarts: {chance.randint(1, 4)}", tree.read(RUNTIME)))
    elif choice == 4:
        tree.write(RUNTIME, re.sub(r"owner: \w+", f"owner: {chance.choice('abc')}", tree.read(RUNTIME)))
    elif choice == 5:
        name = chance.choice(("bert", "t5"))
        tree.write(f"jobs/{name}.yaml", job(name, nodes=chance.randint(1, 3), run=chance.choice(("", "", "2"))))
    elif choice == 6:
        tree.run("build", "-w", *chance.choice(((), ("--rerender", "all"))))
    else:
        tree.commit()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_edits_by_chance(applied: WorkingTree, seed: int, tmp_path: Path) -> None:
    """`--check` is green exactly where `build -w` changes nothing; every file is compiled from the sources or in the base."""
    tree, chance = applied.copy(tmp_path), random.Random(seed)  # noqa: S311 (the same edits on every run)
    for _ in range(12):
        _edit(tree, chance)
        check = tree.run(*BUILD_CHECK)
        before = tree.rendered()
        written = tree.run("build", "-w", "--no-cache")
        assert (check.code == 0) == (written.code == 0 and tree.rendered() == before), (check.err, written.err)
        if written.code:
            continue
        again = tree.run(*BUILD_CHECK)
        assert again.code == 0, again.err
        compiled = tree.run("build").out
        for file, text in tree.rendered().items():
            body = text.partition("\n")[2]
            if body not in compiled:
                assert any(_has(tree, commit, file, body) for commit in ("HEAD", "HEAD~1")), file


def _has(tree: WorkingTree, commit: str, file: str, body: str) -> bool:
    done = tree.command("git", "show", f"{commit}:rendered/{file}")
    return done.returncode == 0 and done.stdout.partition("\n")[2] == body
