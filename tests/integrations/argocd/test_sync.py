"""Every sync of what trainc renders ends although no training has begun, and the application says how the training is.

The engine is a model, whose docstring names the version and the rules; the health checks are the shipped ones, run by
Lua; the states are those that controllers write. The world stands still wherever something waits for something else.
"""

import json
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.compiling import ROOT, compile_in
from tests.integrations.argocd.engine import FAILED, SUCCEEDED, WAITING, WAVE, Health, sync
from tests.integrations.argocd.states import JOBSET, PHASES
from tests.repository import Repository, job
from tests.sampling import sampled


def config(name: str) -> dict[str, str]:
    found: dict[str, str] = yaml.safe_load((ROOT / f"deploy/argocd/{name}.yaml").read_text("utf-8"))["data"]
    return found


HEALTH = Health(config("health"))
STARTED = Health({**config("health"), **config("health-started")})
BACK_ENDS = {
    "none": ["scheduler=none"],
    "coscheduling": ["scheduler=coscheduling"],
    "volcano": ["scheduler=volcano", "queue=team"],
    "native 1.36": ["scheduler=native", "kubernetes=1.36", "gates=GenericWorkload"],
    "native 1.37": ["scheduler=native", "kubernetes=1.37", "gates=GenericWorkload"],
    "kueue": ["scheduler=kueue", "queue=team"],
}
# What a gang's group can be before its pods are there, by API group; the native one has no phase.
BEFORE_PODS = {
    "scheduling.x-k8s.io": (None, "Pending", "PreScheduling"),
    "scheduling.volcano.sh": (None, "Pending", "Inqueue"),
    "scheduling.k8s.io": (None,),
}
# What it is at last, once its pods have ended or are gone.
AT_LAST: dict[str, dict[str, tuple[str | None, ...]]] = {
    "scheduling.x-k8s.io": {"succeeded": ("Finished",), "failed": ("Failed", "Running")},
    "scheduling.volcano.sh": {"succeeded": ("Completed", "Pending", "Inqueue"), "failed": ("Running", "Pending")},
    "scheduling.k8s.io": {"succeeded": (None,), "failed": (None,)},
}
GANGS = {"coscheduling": "scheduling.x-k8s.io", "volcano": "scheduling.volcano.sh"}
CLAIM = """\
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: checkpoints
  namespace: research
spec:
  accessModes: [ReadWriteMany]
  resources:
    requests:
      storage: 1Ti
"""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path)
    made.setting("delivery: argocd")
    made.setting("secrets: {mpi: external-secrets}")
    made.write("runtimes/openmpi.yaml", (ROOT / "examples/mpi/runtimes/openmpi.yaml").read_text("utf-8"))
    # A gang starts as a whole, and nothing in it can wait for the rest.
    made.change(
        "runtimes/openmpi.yaml", "          dependsOn:\n            - name: node\n              status: Ready\n", ""
    )
    made.write("jobs/pi.yaml", (ROOT / "examples/mpi/jobs/pi.yaml").read_text("utf-8"))
    made.write("jobs/line.yaml", job("line", image="registry.example.com/ml/line:1.0.0") + CLAIM)
    return made


def rendered(repository: Repository, back_end: str) -> list[Any]:
    run = compile_in(repository.folder, "build", *[word for each in BACK_ENDS[back_end] for word in ("--set", each)])
    assert run.code == 0, run.err
    return run.objects


def group_of(tree: Any) -> str:
    return str(tree["apiVersion"]).rpartition("/")[0]


def live(tree: Any, status: Any) -> Any:
    return json.loads(json.dumps(tree if status is None else {**tree, "status": status}))


class Standstill:
    """A cluster in which groups and claims wait for pods forever, and jobs stay as they are."""

    def __init__(self, jobset: str, phases: Mapping[str, str | None]) -> None:
        self._jobset = JOBSET[jobset][0]
        self._phases = phases

    def __call__(self, tree: Any) -> Any:
        kind = tree["kind"]
        if kind == "JobSet":
            return live(tree, self._jobset)
        if kind == "PodGroup":
            phase = self._phases[group_of(tree)]
            return live(tree, {"phase": phase} if phase else None)
        if kind == "PersistentVolumeClaim":
            return live(tree, {"phase": "Pending"})
        if kind == "ExternalSecret":
            return live(tree, {"conditions": [{"type": "Ready", "status": "True", "message": "synced"}]})
        return tree


STANDSTILLS = [
    (jobset, dict(zip(BEFORE_PODS, phases, strict=True)))
    for jobset, phases in product(("not seen yet", "suspended", "starting", "running"), product(*BEFORE_PODS.values()))
]


@pytest.mark.parametrize("health", [HEALTH, STARTED], ids=["ended", "started"])
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_every_sync_ends(repository: Repository, back_end: str, health: Health) -> None:
    trees = rendered(repository, back_end)
    assert {tree["kind"] for tree in trees} >= {"JobSet", "PersistentVolumeClaim", "ExternalSecret"}
    for jobset, phases in STANDSTILLS:
        observe = Standstill(jobset, phases)
        assert sync(trees, health, observe) == SUCCEEDED, (jobset, phases)
        before = [{**tree, "metadata": {**tree["metadata"], "name": "run-before"}} for tree in trees]
        assert sync(trees, health, observe, pruned=before) == SUCCEEDED, (jobset, phases)


@pytest.mark.parametrize("back_end", ["coscheduling", "volcano"])
def test_a_group_in_an_earlier_wave_of_an_older_rendering_does_not_hold_the_sync_up(
    repository: Repository, back_end: str
) -> None:
    trees = in_waves(rendered(repository, back_end), {"JobSet": "0", "PersistentVolumeClaim": "0"}, "-1")
    for jobset, phases in STANDSTILLS:
        assert sync(trees, HEALTH, Standstill(jobset, phases)) == SUCCEEDED


def in_waves(trees: list[Any], waves: Mapping[str, str], otherwise: str) -> list[Any]:
    """The objects with a wave by kind."""
    return [
        {**tree, "metadata": {**tree["metadata"], "annotations": {WAVE: waves.get(tree["kind"], otherwise)}}}
        for tree in trees
    ]


def test_the_model_knows_what_holds_a_sync_up(repository: Repository) -> None:
    """What trainc does not render, and the shipped applications do not ask for."""
    trees = rendered(repository, "volcano")
    observe = Standstill("running", dict.fromkeys(BEFORE_PODS, None))
    assert sync(in_waves(trees, {"PersistentVolumeClaim": "-1"}, "0"), HEALTH, observe) == WAITING
    assert sync(in_waves(trees, {"Service": "1"}, "0"), HEALTH, observe) == WAITING
    assert sync(trees, HEALTH, observe, pruned=trees[:1], prune_last=True) == WAITING
    assert (
        sync(trees, HEALTH, lambda tree: {**tree, "status": {"conditions": [{"type": "Ready", "status": "False"}]}})
        == FAILED
    )
    for path in sorted((ROOT / "deploy/argocd").glob("*.yaml")):
        assert "PruneLast=true" not in path.read_text("utf-8")


def phases_at(back_end: str, jobset: str) -> tuple[str | None, ...]:
    """What a gang's group can be while its JobSet is in a state."""
    if back_end not in GANGS:
        return (None,)
    group = GANGS[back_end]
    if jobset in AT_LAST[group]:
        return AT_LAST[group][jobset]
    if jobset in ("not seen yet", "empty", "suspended"):
        return BEFORE_PODS[group]
    return tuple(PHASES[back_end])


@pytest.mark.parametrize("jobset", sampled(JOBSET, quick=("empty", "starting")))
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_the_application_says_how_the_training_is(repository: Repository, back_end: str, jobset: str) -> None:
    trees = [tree for tree in rendered(repository, back_end) if tree["kind"] != "PersistentVolumeClaim"]
    for phase in phases_at(back_end, jobset):
        if phase == "Failed" and jobset != "failed":
            continue
        observe = Standstill(jobset, dict.fromkeys(BEFORE_PODS, phase))
        shown = HEALTH.of_application([observe(tree) for tree in trees])
        expected = JOBSET[jobset][1]
        assert shown in ((expected, "Progressing") if expected == "Suspended" else (expected,)), phase


@pytest.mark.slow
def test_every_rendered_kind_is_in_the_model() -> None:
    """A kind that has a health check, and is rendered, has states above."""
    kinds = {
        (group_of(tree), tree["kind"])
        for path in ROOT.glob("examples/*/output/**/*.yaml")
        for tree in yaml.safe_load_all(path.read_text("utf-8"))
    }
    checked = {(group, kind) for group, kind in kinds if HEALTH.of({"apiVersion": f"{group}/v1", "kind": kind})}
    assert checked <= {
        ("jobset.x-k8s.io", "JobSet"),
        ("scheduling.x-k8s.io", "PodGroup"),
        ("scheduling.volcano.sh", "PodGroup"),
        ("external-secrets.io", "ExternalSecret"),
    }
