"""The roles and main containers of a job under the names that the Trainer knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.changes.migrate.policies import LAUNCHER

if TYPE_CHECKING:
    from trainc.changes.migrate.policies import OlderFacts, Policy


def rename_main(facts: OlderFacts, role: dict[str, Any], policy: Policy) -> dict[str, Any]:
    """Call the main container of a role as the Trainer does, also where its exit code is looked at."""
    main = facts.main(role)
    job = role["template"]["spec"]
    former = main["name"]
    main["name"] = policy.containers[former]
    for rule in job.get("podFailurePolicy", {}).get("rules", []):
        codes = rule.get("onExitCodes", {})
        if codes.get("containerName") == former:
            codes["containerName"] = main["name"]
    return main


def rename_roles(spec: dict[str, Any], policy: Policy) -> None:
    """Call the roles by their new names, wherever the JobSet names them."""
    for role in spec["replicatedJobs"]:
        role["name"] = policy.roles[role["name"]]
        for dependence in role.get("dependsOn", []):
            dependence["name"] = policy.roles[dependence["name"]]
    success = spec.get("successPolicy", {})
    rules = spec.get("failurePolicy", {}).get("rules", [])
    for holder in (success, *rules):
        if "targetReplicatedJobs" in holder:
            holder["targetReplicatedJobs"] = [policy.roles[name] for name in holder["targetReplicatedJobs"]]
    if policy.settings.get("mpi", {}).get("runLauncherAsNode"):  # the first role holds rank 0
        spec["replicatedJobs"].sort(key=lambda role: role["name"] != LAUNCHER)
