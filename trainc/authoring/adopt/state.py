"""Whether a job of a dump has ended: each kind says so in its own words."""

from __future__ import annotations

from typing import Any

_CONDITIONS = {  # of every kind that has conditions
    "Complete": "succeeded",
    "Completed": "succeeded",
    "Succeeded": "succeeded",
    "JobFinished": "ended",
    "Failed": "failed",
}
_PHASES = {  # of Volcano, and of the ancestors of the TFJob
    "Completed": "succeeded",
    "Terminated": "ended",
    "Failed": "failed",
    "Done": "succeeded",
}
_DEPLOYMENTS = {"Complete": "succeeded", "Failed": "failed"}  # of a RayJob, after its last try


def ending(tree: dict[str, Any]) -> str:
    """How a job has ended (succeeded, failed or just ended), empty for one that has not."""
    status = tree.get("status")
    if not isinstance(status, dict):
        return ""
    if tree.get("kind") == "RayJob":
        return _DEPLOYMENTS.get(str(status.get("jobDeploymentStatus")), "")
    conditions = status.get("conditions")
    for condition in conditions if isinstance(conditions, list) else ():
        if isinstance(condition, dict) and condition.get("status") == "True":
            ended = _CONDITIONS.get(str(condition.get("type")))
            if ended:
                return ended
    state = status.get("state")
    phase = state.get("phase") if isinstance(state, dict) else status.get("phase")
    return _PHASES.get(str(phase), "")
