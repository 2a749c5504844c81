"""Random histories of a small project: a commit, and edits of jobs, runtimes and trainc.yaml after it."""

from __future__ import annotations

import json
import random
import re
import shutil
from itertools import combinations
from typing import TYPE_CHECKING, Any

import yaml

from tests.repository import PROJECT, RUNTIME, job
from tests.working_tree import WorkingTree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Edit = Callable[[WorkingTree, random.Random], None]
    Objects = dict[tuple[str, str], dict[str, Any]]  # by job, then by kind and name

NAMES = ("bert", "t5", "vit")
OTHER = RUNTIME.replace("name: torch", "name: other", 1)


def history(folder: Path, seed: int) -> tuple[WorkingTree, random.Random, bool]:
    """A project with a commit, with or without its rendering, and a few edits since."""
    chance = random.Random(seed)  # noqa: S311 (the same history on every run)
    folder.mkdir()
    tree = WorkingTree(folder)
    tree.write("runtimes/other.yaml", OTHER)
    for name in chance.sample(NAMES, chance.randint(1, 2)):
        text = job(name, nodes=chance.randint(1, 3), run=chance.choice(("", "", "2")))
        tree.write(f"jobs/{name}.yaml", text.replace("name: torch", chance.choice(("name: torch", "name: other"))))
    rendered = chance.random() < 0.6
    if rendered:
        assert tree.run("build", "-w", "-q").code == 0
    assert tree.commit("first").returncode == 0
    for _ in range(chance.randint(1, 3)):
        chance.choice(EDITS)(tree, chance)
    return tree, chance, rendered


def _job(tree: WorkingTree, chance: random.Random) -> str:
    return chance.choice(sorted(str(path.relative_to(tree.folder)) for path in tree.folder.glob("jobs/*.yaml")))


def _runtime(chance: random.Random) -> str:
    return chance.choice(("runtimes/torch.yaml", "runtimes/other.yaml"))


def _substitute(pattern: str, new: str, where: str) -> Edit:
    def edit(tree: WorkingTree, chance: random.Random) -> None:
        path = _job(tree, chance) if where == "job" else _runtime(chance) if where == "runtime" else "trainc.yaml"
        text = new if new.startswith("# ") else new.replace("#", str(chance.randint(1, 4)))
        tree.write(path, re.sub(pattern, text, tree.read(path), count=1))

    return edit


def _new_job(tree: WorkingTree, chance: random.Random) -> None:
    name = chance.choice(NAMES)
    tree.write(f"jobs/new-{name}.yaml", job(f"new-{name}", nodes=chance.randint(1, 2)))


def _gone(tree: WorkingTree, chance: random.Random) -> None:
    if len(list(tree.folder.glob("jobs/*.yaml"))) > 1:
        (tree.folder / _job(tree, chance)).unlink()


def _move(tree: WorkingTree, chance: random.Random) -> None:
    path = tree.folder / _job(tree, chance)
    path.rename(path.with_name(f"moved-{path.name}"))


def _run(tree: WorkingTree, chance: random.Random) -> None:
    path = _job(tree, chance)
    text = tree.read(path)
    if "trainc.dev/run" in text:
        tree.write(path, re.sub('run: "[0-9]+"', f'run: "{chance.randint(2, 4)}"', text))
    else:
        tree.write(path, text.replace("spec:", '  annotations: {trainc.dev/run: "3"}\nspec:', 1))


EDITS: tuple[Edit, ...] = (
    _substitute(r"numNodes: \d", "numNodes: #", "job"),
    _substitute("^", "# comment\n", "job"),
    _substitute("spec:", "  labels: {team: x#}\nspec:", "job"),
    _substitute(r"spec:\n", "spec:\n  suspend: true\n", "job"),
    _substitute("name: (torch|other)", "name: other", "job"),
    _substitute(r"line\.py", "line.py, --seed=#", "job"),
    _substitute("^", "# comment\n", "runtime"),
    _substitute(r"torch:2\.\d", "torch:2.#", "runtime"),
    _substitute("owner: .*", "owner: team#", "runtime"),
    _substitute("maxRestarts: .*", "maxRestarts: #", "runtime"),
    _substitute(r"memory: \d+Gi", "memory: #Gi", "runtime"),
    _substitute(r"\Z", "  delivery: argocd\n", "project"),
    _substitute("^", "# comment\n", "project"),
    _new_job,
    _gone,
    _move,
    _run,
)
assert PROJECT.endswith("output: rendered\n")


def objects(text: str) -> dict[str, Any]:
    """The objects of a YAML stream by kind and name."""
    found = [one for one in yaml.load_all(text, yaml.CSafeLoader) if one]
    return {f"{one['kind']}/{one['metadata']['name']}": one for one in found}


def applied(
    tree: WorkingTree, rendered: bool, scratch: Path, *, undone: tuple[str, ...] = ()
) -> tuple[dict[str, Any] | None, set[str]]:
    """What is applied of the work tree with some edits undone, and the runs that `build -w` refuses to change.

    Where runs are refused, what their jobs compile to; None where nothing can be built.
    """
    copy = scratch / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(tree.folder, copy)
    other = WorkingTree.__new__(WorkingTree)
    other.folder, other.environment = copy, tree.environment
    for name in undone:
        if other.command("git", "checkout", "-q", "HEAD", "--", name).returncode:
            (copy / name).unlink(missing_ok=True)
    if not list(copy.glob("jobs/*.yaml")):
        return {}, set()
    if rendered:
        done = other.run("build", "-w", "-q")
        if done.code == 0:
            texts = [path.read_text("utf-8") for path in sorted((copy / "rendered").rglob("*.yaml"))]
            return {name: one for text in texts for name, one in objects(text).items()}, set()
        refused = {
            finding.message.split("`")[1] for finding in done.findings if finding.rule.name == "immutable-change"
        }
        if not refused:
            return None, set()
        return objects(other.run("build").out), refused
    done = other.run("build")
    return (objects(done.out) if done.code == 0 else None), set()


def check(folder: Path, seed: int) -> None:
    """The three laws of `diff` for one history."""
    tree, _, rendered = history(folder, seed)
    scratch = folder / "scratch"
    scratch.mkdir()
    tree.git("stash", "-q", "-u") if tree.git("status", "--short").stdout else None
    before, _ = applied(tree, rendered, scratch)
    if rendered:
        texts = [path.read_text("utf-8") for path in sorted((tree.folder / "rendered").rglob("*.yaml"))]
        before = {name: one for text in texts for name, one in objects(text).items()}
    tree.command("git", "stash", "pop", "-q")
    after, refused = applied(tree, rendered, scratch)
    if after is None:
        return  # what does not compile has no meaning to compare
    done = tree.run("diff", "--exit-code", "--report", "json")
    assert done.err == ""
    found = json.loads(done.out)
    said = {
        name.rpartition("/")[2] for one in found["edited"] if not one["kept"] and one["refused"] for name in one["jobs"]
    }
    if not refused:
        assert done.code == (0 if before == after else 1), (before, after, done.out)
    assert not refused or said == refused, (said, refused)
    judged = tree.run("validate", "--against", "HEAD")
    against = {one.message.split("`")[1] for one in judged.findings if one.rule.name == "immutable-change"}
    assert against == said, (against, said, judged.err)
    if rendered:
        assert refused == said
    _causes(tree, rendered, scratch, found, before)


def _causes(tree: WorkingTree, rendered: bool, scratch: Path, found: Any, before: dict[str, Any] | None) -> None:
    entries = [
        (name.rpartition("/")[2], one["causes"]) for one in found["edited"] if not one["kept"] for name in one["jobs"]
    ]
    entries += [(one["name"], one["causes"]) for one in (*found["added"], *found["removed"])]
    for name, causes in entries:
        assert causes
        for size in range(len(causes) + 1):
            for undone in combinations(causes, size):
                now, refused = applied(tree, rendered, scratch, undone=undone)
                is_same = now is not None and _of(now, name) == _of(before or {}, name)
                assert is_same == (size == len(causes)), (name, causes, undone, refused)


def _of(found: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: one for key, one in found.items() if key.partition("/")[2] == name}
