"""States of training objects as their controllers write them, and what each means."""

from typing import Any


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
        None: "Healthy",
        "Pending": "Healthy",
        "PreScheduling": "Healthy",
        "Scheduling": "Progressing",
        "Scheduled": "Progressing",
        "Running": "Healthy",
        "Unknown": "Progressing",
        "Finished": "Healthy",
        "Failed": "Degraded",
    },
    "volcano": {
        None: "Healthy",
        "Pending": "Healthy",
        "Inqueue": "Healthy",
        "Running": "Healthy",
        "Unknown": "Progressing",
        "Completed": "Healthy",
    },
}
