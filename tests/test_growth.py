"""Twice the input takes about twice the work: counted in calls, which no other load on the machine changes."""

import contextlib
import cProfile
import gc
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.repository import PROJECT, RUNTIME, Repository
from trainc.cli import main

pytestmark = pytest.mark.slow

LINEAR = 1.2
FEW = 2
MORE = " " * 22  # where the fields of the runtime's container stand
POD = " " * 18


def variables(repository: Repository, number: int) -> None:
    lines = [f"{MORE}- {{name: V_{n}, value: {f'$(V_{n - 1})' if n else ''}x}}\n" for n in range(number)]
    repository.write("runtimes/torch.yaml", f"{RUNTIME}{MORE}env:\n{''.join(lines)}")


def volumes(repository: Repository, number: int) -> None:
    mounts = [f"{MORE}- {{name: v-{n}, mountPath: /mnt/{n}}}\n" for n in range(number)]
    claims = [f"{POD}- {{name: v-{n}, persistentVolumeClaim: {{claimName: c-{n}}}}}\n" for n in range(number)]
    text = f"{RUNTIME}{MORE}volumeMounts:\n{''.join(mounts)}{POD}volumes:\n{''.join(claims)}"
    repository.write("runtimes/torch.yaml", text)


def containers(repository: Repository, number: int) -> None:
    made = [f"{POD}  - {{name: c-{n}, image: registry.example.com/ml/side:1.0.0}}\n" for n in range(number)]
    repository.write("runtimes/torch.yaml", RUNTIME + "".join(made))


def runtimes(repository: Repository, number: int) -> None:
    for n in range(number):
        repository.write(f"runtimes/other-{n}.yaml", RUNTIME.replace("name: torch\n", f"name: torch-{n}\n"))


def documents(repository: Repository, number: int) -> None:
    text = repository.read("jobs/one.yaml")
    made = [text.replace("name: one", f"name: one-{n}") for n in range(number)]
    repository.write("jobs/many.yaml", "---\n".join(made))


def parents(repository: Repository, number: int) -> None:
    """Each of many jobs has a runtime of its own, and all of these extend one."""
    documents(repository, number)
    made = [_extending(f"own-{n}", "torch") for n in range(number)]
    repository.write("runtimes/own.yaml", "---\n".join(made))
    jobs = repository.read("jobs/many.yaml").split("---\n")
    named = [text.replace("name: torch", f"name: own-{n}") for n, text in enumerate(jobs)]
    repository.write("jobs/many.yaml", "---\n".join(named))


def ancestors(repository: Repository, number: int) -> None:
    """One job's runtime extends one that extends another, and so on."""
    made = [_extending(f"level-{n}", f"level-{n - 1}" if n else "torch") for n in range(number)]
    repository.write("runtimes/levels.yaml", "---\n".join(made))
    repository.change("jobs/one.yaml", "name: torch", f"name: level-{number - 1}")


def _extending(name: str, parent: str) -> str:
    return f"apiVersion: trainc.dev/v1alpha1\nkind: Runtime\nmetadata:\n  name: {name}\nspec:\n  extends: {parent}\n"


def comments(repository: Repository, number: int) -> None:
    allow = f"{MORE}# trainc: allow[no-such-rule] a reason\n"
    lines = [f"{allow}{MORE}- {{name: V_{n}, value: x}}\n" for n in range(number)]
    repository.write("runtimes/torch.yaml", f"{RUNTIME}{MORE}env:\n{''.join(lines)}")


def mistakes(repository: Repository, number: int) -> None:
    documents(repository, number)
    repository.change("jobs/many.yaml", "numNodes", "numnodes")


CLAIM = """\
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data-{number}
  namespace: research
spec:
  accessModes: [ReadWriteOnce]
  resources:
    requests:
      storage: 10Gi
"""


def new_files(repository: Repository, number: int) -> None:
    """Jobs that were not there before, each with its claim in its file."""
    text = repository.read("jobs/one.yaml")
    for n in range(number if repository.folder.name == "after" else 1):
        job = text.replace("name: one", f"name: one-{n}")
        repository.write(f"jobs/one-{n}.yaml", job + CLAIM.format(number=n))


def missing(repository: Repository, number: int) -> None:
    """Jobs that name a runtime that went, where there are many of nearly that name."""
    runtimes(repository, 30)
    documents(repository, number)
    repository.change("jobs/many.yaml", "name: torch", "name: torch-4x")


def all_missing(repository: Repository, number: int) -> None:
    """Each of many jobs names a runtime of its own, none of which is there, among as many that are."""
    runtimes(repository, number)
    documents(repository, number)
    texts = repository.read("jobs/many.yaml").split("---\n")
    named = [text.replace("name: torch", f"name: torch-{n}x") for n, text in enumerate(texts)]
    repository.write("jobs/many.yaml", "---\n".join(named))


def clusters(repository: Repository, number: int) -> None:
    """Jobs that each run on every one of many clusters."""
    names = [f"c{n}" for n in range(number)]
    repository.write("trainc.yaml", PROJECT + "  clusters:\n" + "".join(f"    {name}: {{}}\n" for name in names))
    documents(repository, 3)
    annotated = f"  annotations: {{trainc.dev/cluster: '{','.join(names)}'}}\n  namespace: research\n"
    repository.change("jobs/many.yaml", "  namespace: research\n", annotated)
    repository.change("jobs/one.yaml", "  namespace: research\n", annotated)


OPERATOR_JOB = """\
apiVersion: kubeflow.org/v1
kind: {kind}
metadata:
  name: former
spec:
  {replicas}:
"""
OPERATOR_ROLE = """\
    {role}:
      replicas: {count}
      restartPolicy: OnFailure
      template:
        spec:
          containers:
            - name: {container}
              image: registry.example.com/ml/line:1.0.0
              command: [python, /opt/line.py]
"""


def operator_job(kind: str, replicas: str, container: str, workers: int, env: str = "") -> str:
    head = OPERATOR_JOB.format(kind=kind, replicas=replicas)
    roles = [("Master", 1), ("Worker", workers)]
    return head + "".join(OPERATOR_ROLE.format(role=role, count=n, container=container) + env for role, n in roles)


def operator_variables(repository: Repository, number: int) -> None:
    space = " " * 16
    lines = [f"{space}- {{name: V_{n}, value: {f'$(V_{n - 1})' if n else ''}x}}\n" for n in range(number)]
    env = f"{space[2:]}env:\n{''.join(lines)}"
    repository.write("jobs/former.yaml", operator_job("PyTorchJob", "pytorchReplicaSpecs", "pytorch", 2, env))


def workers(repository: Repository, number: int) -> None:
    repository.change("jobs/one.yaml", "numNodes: 2", f"numNodes: {number}")


def peers(repository: Repository, number: int) -> None:
    repository.write("jobs/former.yaml", operator_job("XGBoostJob", "xgbReplicaSpecs", "xgboost", number))


# No two numbers are the same, since a process remembers what it compiled.
SHAPES: dict[str, tuple[Callable[[Repository, int], None], int, tuple[str, ...]]] = {
    "variables": (variables, 300, ("build",)),
    "volumes": (volumes, 200, ("build",)),
    "containers": (containers, 200, ("build",)),
    "runtimes": (runtimes, 150, ("build",)),
    "documents": (documents, 60, ("build",)),
    "documents in a folder": (documents, 60, ("build", "-o", "out")),
    "parents": (parents, 40, ("build",)),
    "ancestors": (ancestors, 40, ("build",)),
    "comments": (comments, 200, ("validate",)),
    "mistakes": (mistakes, 60, ("validate",)),
    "missing": (missing, 60, ("validate",)),
    "all missing": (all_missing, 80, ("validate",)),
    "clusters": (clusters, 40, ("build", "-o", "out")),
    "variables of an operator's job": (operator_variables, 300, ("build",)),
    "peers of an operator's job": (peers, 3000, ("build",)),
    "repairs": (mistakes, 30, ("fix",)),
    "one update": (volumes, 72, ("validate", "--against", "before")),
    "one difference": (volumes, 74, ("diff", "before", "after")),
    "new files": (new_files, 15, ("diff", "before", "after")),
    "many updates": (documents, 15, ("validate", "--against", "before")),
    "one drawing": (volumes, 140, ("show",)),
    "one life": (workers, 2000, ("show", "--lifecycle")),
    "every field": (volumes, 142, ("why", "jobs/one.yaml")),
    "a line that is everywhere": (volumes, 144, ("why", "runtimes/torch.yaml:14")),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_as_much_takes_twice_as_long(shape: str, tmp_path: Path) -> None:
    fill, number, words = SHAPES[shape]
    sizes = [FEW, FEW, number, 2 * number]  # the first run loads what all of them need
    folders = [tmp_path / str(run) for run in range(len(sizes))]
    for folder, size in zip(folders, sizes, strict=True):
        _filled(folder, fill, size, words)
    _, few, one, two = (calls(folder, *words) for folder in folders)
    before, after = (one - few) / (number - FEW), (two - one) / number  # calls for each item
    assert after / before < LINEAR, f"{before:.0f} calls an item, then {after:.0f}"
    assert one > number  # it did look at all of them


def test_a_torch_job_of_many_workers_takes_no_longer_than_a_small_one(tmp_path: Path) -> None:
    for workers in (2, 20, 20_000):
        folder = tmp_path / str(workers)
        folder.mkdir()
        text = operator_job("PyTorchJob", "pytorchReplicaSpecs", "pytorch", workers)
        Repository(folder, "one").write("jobs/former.yaml", text)
    _, few, many = (calls(tmp_path / str(workers), "build") for workers in (2, 20, 20_000))
    assert many / few < 1.1, f"{few} calls, then {many}"


def _filled(folder: Path, fill: Callable[[Repository, int], None], size: int, words: tuple[str, ...]) -> None:
    places = [folder, *(folder / place for place in ("before", "after") if place in words)]
    for place in places:
        place.mkdir()
        fill(Repository(place, "one"), size)
    if "before" in words:
        for path in (folder / "before").rglob("*.yaml"):
            text = path.read_text("utf-8")
            path.write_text(text.replace("line.py", "former.py").replace("/mnt/", "/former/"), "utf-8")


def calls(folder: Path, *words: str) -> int:
    """How many functions `trainc WORDS` calls there."""
    quiet, counter = io.StringIO(), cProfile.Profile()
    with contextlib.chdir(folder), contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet), counter:
        gc.disable()  # finalizers of other tests are calls, too
        main([*words])
        gc.enable()
    return sum(entry.callcount for entry in counter.getstats())
