"""Which policy of the Trainer wires a job of another operator, if any."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from trainc.changes.migrate.policies import NODE, PLAIN, Policy, clash, tensorflow_policy
from trainc.frameworks.vocabularies import VOCABULARIES

if TYPE_CHECKING:
    from trainc.changes.migrate.policies import OlderFacts

_BY_VARIABLES = ("torch", "jax")  # policies whose variables a person may have written out
_PROCESSES = "PET_NPROC_PER_NODE"
_VOLCANO_COUNTS = "variables and files of Volcano name this number of pods"
_NONE = {
    "MiniCluster": "its scripts start Flux as its operator did, which `mlPolicy.flux` does in another way",
    "RayJob": "a head, groups of workers and a driver make a Ray cluster, and no policy wires one",
}


def policy_of_other(facts: OlderFacts, *, by_variables: bool = True) -> Policy | str:
    """The policy that wires the pods as their operator did, or why there is none.

    Not `by_variables`: one that leaves all variables that a person wrote as they are.
    """
    kind = facts.old["kind"]
    if kind in _NONE:
        return _NONE[kind]
    if not all(facts.main(role) for role in facts.roles):
        return "the pods of a role have no containers"
    plugins = _plugins(facts)
    if "tensorflow" in plugins:
        return tensorflow_policy(facts)
    if "mpi" in plugins:
        return "the master reads `MPI_HOST` or `/etc/volcano`, which `mlPolicy.mpi` does not make"
    if len(facts.roles) != 1:
        return "its roles have different pods, and `numNodes` counts pods that are alike"
    (role,) = facts.roles
    if role.get("replicas", 1) != 1:
        return "each of its parts is a Job of its own, and `numNodes` counts the pods of one"
    clashing = clash(facts, [role["name"]])
    if clashing is not None:
        return clashing
    return (_by_variables(facts, role) if by_variables else None) or _plain(facts, role)


def _plugins(facts: OlderFacts) -> Any:
    """The plugins of a Volcano Job, nothing for all other kinds."""
    spec = facts.old["spec"]
    return (spec.get("plugins") or {}) if facts.old["apiVersion"].startswith("batch.volcano.sh/") else {}


def _by_variables(facts: OlderFacts, role: dict[str, Any]) -> Policy | None:
    """The policy whose variables a container sets itself, None where it sets none, or a part of them."""
    main = facts.main(role)
    given = {entry["name"]: entry.get("value", "") for entry in main.get("env", [])}
    for name in _BY_VARIABLES:
        reserved = VOCABULARIES[name].reserved
        if set(reserved) - {_PROCESSES} <= given.keys():
            match = re.fullmatch(r"[1-9][0-9]{0,3}", given.get(_PROCESSES, ""))
            processes = int(match[0]) if match else None
            return _one_role(facts, role, name, NODE, processes, frozenset(reserved))
    return None


def _plain(facts: OlderFacts, role: dict[str, Any]) -> Policy:
    reason = _VOLCANO_COUNTS if "svc" in _plugins(facts) else ""
    if facts.old["kind"] == "LeaderWorkerSet":
        reason = "`LWS_GROUP_SIZE` and the TPU's variables name this number of pods"
    return _one_role(facts, role, PLAIN, role["name"], None, frozenset(), reason)


def _one_role(
    facts: OlderFacts,
    role: dict[str, Any],
    policy: str,
    name: str,
    processes: int | None,
    without: frozenset[str],
    reason: str = "",
) -> Policy:
    return Policy(
        policy,
        {"numNodes": 1} if policy == PLAIN else {policy: {}},
        {role["name"]: name},
        {facts.main(role)["name"]: NODE},
        (name,),
        name,
        facts.count(role),
        processes,
        without,
        reason,
        own=without,
    )
