"""Random histories of a small project of one or two clusters: a commit, and edits of all that it holds after it."""

import json
import random
import re
import shutil
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import yaml

from tests.repository import PROJECT, RUNTIME, job
from tests.working_tree import WorkingTree

Edit = Callable[[WorkingTree, random.Random], None]

TWO = (
    "  clusters:\n    eu: {paths: [jobs/eu]}\n"
    "    us: {namespace: team1, paths: [jobs/us], scheduler: volcano, queue: q1}\n"
)
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared, namespace: research}\ndata: {a: x1}\n"
ENTRY = "    env: [{name: A, valueFrom: {configMapKeyRef: {name: shared, key: a}}}]\n"
DEFAULT = "default"  # the namespace of what names none
NAMES = ("bert", "t5", "vit")
OTHER = RUNTIME.replace("name: torch", "name: other", 1)


def history(folder: Path, seed: int) -> tuple[WorkingTree, random.Random, bool]:
    """A project with a commit, with or without its rendering, and a few edits since."""
    chance = random.Random(seed)  # noqa: S311 (the same history on every run)
    folder.mkdir()
    tree = WorkingTree(folder)
    tree.write("runtimes/other.yaml", OTHER)
    tree.write("config/shared.yaml", CONFIG)
    places = ("jobs/eu", "jobs/us") if chance.random() < 0.5 else ("jobs",)
    if len(places) > 1:
        tree.write("trainc.yaml", f"{PROJECT}{TWO}")
    for name in chance.sample(NAMES, chance.randint(1, 2)):
        text = job(name, nodes=chance.randint(1, 3), run=chance.choice(("", "", "2")))
        text = text.replace("    numNodes", f"{chance.choice((ENTRY, '', ''))}    numNodes")
        text = text.replace("name: torch", chance.choice(("name: torch", "name: other")))
        text = text.replace("  namespace: research\n", chance.choice(("  namespace: research\n", "")))
        tree.write(f"{chance.choice(places)}/{name}.yaml", text)
    rendered = chance.random() < 0.6
    if rendered:
        assert tree.run("build", "-w", "-q").code == 0
    assert tree.commit("first").returncode == 0
    for _ in range(chance.randint(1, 3)):
        chance.choice(EDITS)(tree, chance)
    return tree, chance, rendered


def _job(tree: WorkingTree, chance: random.Random) -> str:
    return chance.choice(_jobs(tree.folder))


def _jobs(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.glob("jobs/**/*.yaml"))


def _runtime(chance: random.Random) -> str:
    return chance.choice(("runtimes/torch.yaml", "runtimes/other.yaml"))


def _substitute(pattern: str, new: str, where: str) -> Edit:
    def edit(tree: WorkingTree, chance: random.Random) -> None:
        shared = {"runtime": _runtime(chance), "project": "trainc.yaml", "config": "config/shared.yaml"}
        path = _job(tree, chance) if where == "job" else shared[where]
        text = new if new.startswith("# ") else new.replace("#", str(chance.randint(1, 4)))
        tree.write(path, re.sub(pattern, text, tree.read(path), count=1))

    return edit


def _new_job(tree: WorkingTree, chance: random.Random) -> None:
    name = chance.choice(NAMES)
    folder = _job(tree, chance).rpartition("/")[0]
    tree.write(f"{folder}/new-{name}.yaml", job(f"new-{name}", nodes=chance.randint(1, 2)))


def _gone(tree: WorkingTree, chance: random.Random) -> None:
    if len(_jobs(tree.folder)) > 1:
        (tree.folder / _job(tree, chance)).unlink()


def _move(tree: WorkingTree, chance: random.Random) -> None:
    path = tree.folder / _job(tree, chance)
    path.rename(path.with_name(f"moved-{path.name}"))


def _rename(tree: WorkingTree, chance: random.Random) -> None:
    path = _job(tree, chance)
    tree.write(path, re.sub(r"^  name: ([a-z0-9-]+)$", r"  name: \1-b", tree.read(path), count=1, flags=re.MULTILINE))


def _to_other_cluster(tree: WorkingTree, chance: random.Random) -> None:
    path = _job(tree, chance)
    other = path.replace("/eu/", "/*/").replace("/us/", "/eu/").replace("/*/", "/us/")
    (tree.folder / other).parent.mkdir(exist_ok=True)
    if not (tree.folder / other).exists():
        (tree.folder / path).rename(tree.folder / other)


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
    _substitute("queue: q.", "queue: q#", "project"),
    _substitute("scheduler: volcano", "scheduler: coscheduling", "project"),
    _substitute("scheduler: [a-z]+", "scheduler: kueue", "project"),
    _substitute(r"eu: {paths: \[jobs/eu\]", "eu: {paths: [jobs/eu], scheduler: kueue, queue: q#", "project"),
    _substitute("(eu|us): {", r"\1-#: {", "project"),
    _substitute(r"(eu|us): {(?!namespace)", r"\1: {namespace: team#, ", "project"),
    _substitute("namespace: team.", "namespace: team#", "project"),
    _substitute("  namespace: research\n", "  namespace: team#\n", "job"),
    _substitute("  namespace: research\n", "", "job"),
    _substitute(r"\Z", "  oldRun: keep\n", "project"),
    _substitute("x[0-9]", "x#", "config"),
    _substitute("^    numNodes", f"{ENTRY}    numNodes", "job"),
    _rename,
    _to_other_cluster,
    _new_job,
    _gone,
    _move,
    _run,
)
assert PROJECT.endswith("output: rendered\n")


def objects(text: str) -> dict[str, Any]:
    """The objects of a YAML stream by kind, namespace and name."""
    loaded = [one for one in yaml.load_all(text, yaml.CSafeLoader) if one]
    return {
        f"{one['kind']}/{one['metadata'].get('namespace', DEFAULT)}/{one['metadata']['name']}": one for one in loaded
    }


def rendered_objects(folder: Path) -> dict[str, Any]:
    """The objects of a folder of rendered files by cluster, kind and name."""
    paths = sorted(folder.rglob("*.yaml"))
    clusters = {path: "/".join(path.relative_to(folder).parts[:-2]) for path in paths}
    return {f"{clusters[path]}:{name}": one for path in paths for name, one in objects(path.read_text("utf-8")).items()}


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
    if not _jobs(copy):
        return {}, set()
    refused = set[str]()
    if rendered:
        done = other.run("build", "-q", "-w")
        if done.code == 0:
            return rendered_objects(copy / "rendered"), set()
        refused = {one.message.split("`")[1] for one in done.findings if one.rule.name == "immutable-change"}
        if not refused:
            return None, set()
    shutil.rmtree(copy / "rendered", ignore_errors=True)
    done = other.run("build", "-q", "-o", "built")
    return (rendered_objects(copy / "built") if done.code == 0 else None), refused


def check(folder: Path, seed: int) -> None:
    """The three laws of `diff` for one history."""
    tree, _, rendered = history(folder, seed)
    scratch = folder / "scratch"
    scratch.mkdir()
    tree.git("stash", "-q", "-u") if tree.git("status", "--short").stdout else None
    before, _ = applied(tree, rendered, scratch)
    if rendered:
        before = rendered_objects(tree.folder / "rendered")
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
    edited = [(f"/{name}".split("/"), one) for one in found["edited"] if not one["kept"] for name in one["jobs"]]
    entries = [(*parts[-3:], one["causes"]) for parts, one in edited]
    changed = [(one, one["causes"]) for one in (*found["added"], *found["removed"], *found["objects"])]
    changed += [(one["new"], one["causes"]) for one in found["renamed"]]
    entries += [
        (one["cluster"], one["namespace"] or DEFAULT, one["name"].rpartition("/")[2], causes) for one, causes in changed
    ]
    for *name, causes in entries:
        assert causes, name
        for size in range(len(causes) + 1):
            for undone in combinations(causes, size):
                now, refused = applied(tree, rendered, scratch, undone=undone)
                is_same = now is not None and _of(now, *name) == _of(before or {}, *name)
                assert is_same == (size == len(causes)), (name, causes, undone, refused)


def _of(found: dict[str, Any], cluster: str, namespace: str, name: str) -> dict[str, Any]:
    start, end = f"{cluster}:", f"/{namespace}/{name}"
    return {key: one for key, one in found.items() if key.startswith(start) and key.endswith(end)}
