"""The health checks that trainc ships, run by a Lua interpreter and a CEL engine over recorded states."""

from typing import Any

import pytest
import yaml
from cel_expr_python import cel

from tests.compiling import ROOT
from tests.integrations.argocd.engine import run_lua
from tests.integrations.argocd.states import JOBSET, PHASES, SPEC, TRAINJOB, WORKLOAD, jobs

CONFIG = yaml.safe_load((ROOT / "deploy/argocd/health.yaml").read_text("utf-8"))["data"]
STARTED = yaml.safe_load((ROOT / "deploy/argocd/health-started.yaml").read_text("utf-8"))["data"]
FLUX = {
    name: {
        entry["kind"]: entry
        for document in yaml.safe_load_all((ROOT / f"deploy/flux/{name}.yaml").read_text("utf-8"))
        for entry in document["spec"].get("healthCheckExprs", ())
    }
    for name in ("finished", "started")
}
KEYS = {
    "JobSet": "jobset.x-k8s.io_JobSet",
    "TrainJob": "trainer.kubeflow.org_TrainJob",
    "Workload": "kueue.x-k8s.io_Workload",
    "coscheduling": "scheduling.x-k8s.io_PodGroup",
    "volcano": "scheduling.volcano.sh_PodGroup",
}


SHOWN = [
    *(("JobSet", name, {"spec": SPEC}, status, health) for name, (status, health, _) in JOBSET.items()),
    *(("TrainJob", name, {"spec": {}}, status, health) for name, (status, health) in TRAINJOB.items()),
    *(("Workload", name, {"spec": {}}, status, health) for name, (status, health) in WORKLOAD.items()),
    *(
        (kind, str(phase), {"spec": {}}, {"phase": phase} if phase else None, health)
        for kind, phases in PHASES.items()
        for phase, health in phases.items()
    ),
]


@pytest.mark.parametrize(("kind", "name", "tree", "status", "health"), SHOWN, ids=[f"{s[0]} {s[1]}" for s in SHOWN])
def test_lua(kind: str, name: str, tree: dict[str, Any], status: dict[str, Any] | None, health: str) -> None:
    script = CONFIG[f"resource.customizations.health.{KEYS[kind]}"]
    whole = tree if status is None else {**tree, "status": status}
    found, message = run_lua(script, whole)
    assert found == health, name
    assert message not in ("", "None")


@pytest.mark.parametrize("name", JOBSET)
def test_lua_where_a_started_job_is_healthy(name: str) -> None:
    status, health, started = JOBSET[name]
    script = STARTED[f"resource.customizations.health.{KEYS['JobSet']}"]
    tree = {"spec": SPEC} if status is None else {"spec": SPEC, "status": status}
    assert run_lua(script, tree)[0] == ("Healthy" if started else health)


def test_lua_without_replicas_counts_one() -> None:
    script = CONFIG[f"resource.customizations.health.{KEYS['JobSet']}"]
    tree = {"spec": {"replicatedJobs": [{"name": "node"}]}, "status": {"replicatedJobsStatus": [jobs(1)]}}
    assert run_lua(script, tree) == ("Progressing", "1/1 jobs ready, 0 succeeded, 0 restarts")


def current(kind: str, variant: str, tree: dict[str, Any]) -> str:
    """What kustomize-controller concludes: failed before current, none of both is in progress, an error is tried again."""
    entry = FLUX[variant][kind]
    env = cel.NewEnv(variables=dict.fromkeys(("status", "spec", "metadata"), cel.Type.DYN))
    for verdict in ("inProgress", "failed", "current"):
        if verdict in entry and env.compile(entry[verdict]).eval(data=tree).value() is True:
            return verdict
    return "inProgress"


EXPECTED = {"Progressing": "inProgress", "Suspended": "inProgress", "Healthy": "current", "Degraded": "failed"}


@pytest.mark.parametrize("name", JOBSET)
@pytest.mark.parametrize("variant", ["finished", "started"])
def test_cel_of_a_jobset(variant: str, name: str) -> None:
    status, health, started = JOBSET[name]
    tree = {"spec": SPEC, "metadata": {}, **({} if status is None else {"status": status})}
    wanted = "current" if variant == "started" and started else EXPECTED[health]
    assert current("JobSet", variant, tree) == wanted


@pytest.mark.parametrize("name", TRAINJOB)
def test_cel_of_a_trainjob(name: str) -> None:
    status, health = TRAINJOB[name]
    tree = {"spec": {}, "metadata": {}, **({} if status is None else {"status": status})}
    assert current("TrainJob", "finished", tree) == EXPECTED[health]
