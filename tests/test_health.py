"""The health checks that trainc ships, run by a Lua interpreter and a CEL engine over recorded states."""

from __future__ import annotations

from typing import Any

import lupa.lua51 as lua
import pytest
import yaml
from cel_expr_python import cel

from tests.compiling import ROOT

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


def condition(kind: str, status: str = "True", reason: str = "") -> dict[str, str]:
    return {
        "type": kind,
        "status": status,
        "reason": reason or kind,
        "message": f"{kind} it is",
        "lastTransitionTime": "2026-11-01T10:00:00Z",
    }


def jobs(ready: int, succeeded: int = 0, suspended: int = 0) -> dict[str, Any]:
    return {
        "name": "node",
        "ready": ready,
        "succeeded": succeeded,
        "active": ready,
        "failed": 0,
        "suspended": suspended,
    }


# A JobSet's states as its controller writes them, what each means, and whether it has started.
JOBSET: dict[str, tuple[dict[str, Any] | None, str, bool]] = {
    "not seen yet": (None, "Progressing", False),
    "empty": ({}, "Progressing", False),
    "suspended": (
        {"conditions": [condition("Suspended", reason="SuspendedJobs")], "replicatedJobsStatus": [jobs(0, 0, 2)]},
        "Suspended",
        False,
    ),
    "starting": ({"replicatedJobsStatus": [jobs(0)], "restarts": 0}, "Progressing", False),
    "resumed": (
        {"conditions": [condition("Suspended", "False", "ResumeJobs")], "replicatedJobsStatus": [jobs(2)]},
        "Progressing",
        True,
    ),
    "running": ({"replicatedJobsStatus": [jobs(2)], "restarts": 0}, "Progressing", True),
    "partly done": ({"replicatedJobsStatus": [jobs(1, 1)]}, "Progressing", True),
    "restarting": (
        {"conditions": [condition("StartupPolicyInProgress")], "replicatedJobsStatus": [jobs(0)], "restarts": 1},
        "Progressing",
        False,
    ),
    "succeeded": (
        {
            "conditions": [condition("Completed", reason="AllJobsCompleted")],
            "replicatedJobsStatus": [jobs(0, 2)],
            "terminalState": "Completed",
        },
        "Healthy",
        True,
    ),
    "failed": (
        {
            "conditions": [condition("Failed", reason="ReachedMaxRestarts")],
            "restarts": 3,
            "replicatedJobsStatus": [jobs(0)],
            "terminalState": "Failed",
        },
        "Degraded",
        False,
    ),
}
SPEC = {"replicatedJobs": [{"name": "node", "replicas": 2}]}
TRAINJOB: dict[str, tuple[dict[str, Any] | None, str]] = {
    "not seen yet": (None, "Progressing"),
    "created": ({"conditions": [condition("Created")]}, "Progressing"),
    "suspended": ({"conditions": [condition("Suspended")]}, "Suspended"),
    "resumed": ({"conditions": [condition("Suspended", "False", "Resumed")]}, "Progressing"),
    "succeeded": ({"conditions": [condition("Suspended", "False"), condition("Complete")]}, "Healthy"),
    "failed": ({"conditions": [condition("Failed")]}, "Degraded"),
}
WORKLOAD: dict[str, tuple[dict[str, Any] | None, str]] = {
    "not seen yet": (None, "Progressing"),
    "waiting": ({"conditions": [condition("QuotaReserved", "False", "Pending")]}, "Suspended"),
    "reserved": ({"conditions": [condition("QuotaReserved")]}, "Progressing"),
    "admitted": ({"conditions": [condition("QuotaReserved"), condition("Admitted")]}, "Healthy"),
    "evicted": (
        {"conditions": [condition("Evicted"), condition("QuotaReserved", "False"), condition("Admitted", "False")]},
        "Suspended",
    ),
    "finished": ({"conditions": [condition("Admitted"), condition("Finished", reason="JobFinished")]}, "Healthy"),
    "failed": ({"conditions": [condition("Admitted"), condition("Finished", reason="Failed")]}, "Degraded"),
}
PHASES = {
    "coscheduling": {
        None: "Progressing",
        "Pending": "Progressing",
        "PreScheduling": "Progressing",
        "Scheduling": "Progressing",
        "Scheduled": "Progressing",
        "Running": "Healthy",
        "Unknown": "Progressing",
        "Finished": "Healthy",
        "Failed": "Degraded",
    },
    "volcano": {
        None: "Progressing",
        "Pending": "Progressing",
        "Inqueue": "Progressing",
        "Running": "Healthy",
        "Unknown": "Progressing",
        "Completed": "Healthy",
    },
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


def healthy(script: str, tree: dict[str, Any]) -> tuple[str, str]:
    """What Argo CD shows: the script runs without Lua's libraries but the basic ones, `obj` is the object."""
    runtime = lua.LuaRuntime(register_eval=False)
    for library in ("os", "io", "package", "require", "debug", "string", "math", "python"):
        runtime.globals()[library] = None
    runtime.globals()["obj"] = runtime.table_from(tree, recursive=True)
    answer = runtime.execute(script)
    return str(answer["status"]), str(answer["message"])


@pytest.mark.parametrize(("kind", "name", "tree", "status", "health"), SHOWN, ids=[f"{s[0]} {s[1]}" for s in SHOWN])
def test_lua(kind: str, name: str, tree: dict[str, Any], status: dict[str, Any] | None, health: str) -> None:
    script = CONFIG[f"resource.customizations.health.{KEYS[kind]}"]
    whole = tree if status is None else {**tree, "status": status}
    found, message = healthy(script, whole)
    assert found == health, name
    assert message not in ("", "None")


@pytest.mark.parametrize("name", JOBSET)
def test_lua_where_a_started_job_is_healthy(name: str) -> None:
    status, health, started = JOBSET[name]
    script = STARTED[f"resource.customizations.health.{KEYS['JobSet']}"]
    tree = {"spec": SPEC} if status is None else {"spec": SPEC, "status": status}
    assert healthy(script, tree)[0] == ("Healthy" if started else health)


def test_lua_without_replicas_counts_one() -> None:
    script = CONFIG[f"resource.customizations.health.{KEYS['JobSet']}"]
    tree = {"spec": {"replicatedJobs": [{"name": "node"}]}, "status": {"replicatedJobsStatus": [jobs(1)]}}
    assert healthy(script, tree) == ("Progressing", "1/1 jobs ready, 0 succeeded, 0 restarts")


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
