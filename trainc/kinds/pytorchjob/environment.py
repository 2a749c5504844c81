"""PyTorchJob: MASTER_* and RANK for plain programs, PET_* for torchrun, in every container."""

from __future__ import annotations

from trainc.kinds.shared.environment import NAMESPACE_REFERENCE, framework, rank, search_domains
from trainc.kinds.shared.peers import aliased, has, host, peer, port, short, total
from trainc.kinds.table import processes
from trainc.model.patches import Contribution
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import get, plain, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.plan import Plan, Role
    from trainc.model.tree import Tree


def entries(plan: Plan, role: Role, _: Tree) -> dict[str, object]:
    """The variables of training operator v1.9.0, in its order."""
    own: dict[str, object] = {"PYTHONUNBUFFERED": "1"}
    if has(plan, "master"):
        own.update(_master(plan, role))
    procs = plan.settings.get("nprocPerNode")
    if procs is not None:
        own["PET_NPROC_PER_NODE"] = procs
    elastic = plan.settings.get("elasticPolicy")
    if elastic is None:
        own["PET_NNODES"] = total(plan)
    else:
        own.update(_elastic(plan, elastic))
    return own


def _master(plan: Plan, role: Role) -> dict[str, object]:
    address = host(plan, "master", 0)
    number = _port(plan, "master")
    return {
        "MASTER_PORT": number,
        "PET_MASTER_PORT": number,
        "MASTER_ADDR": address,
        "PET_MASTER_ADDR": address,
        "WORLD_SIZE": _world(plan),
        "RANK": rank(role),
        "PET_NODE_RANK": rank(role),
    }


def _world(plan: Plan) -> Sourced[int]:
    procs = plan.settings.get("nprocPerNode")
    each = processes(procs.value) if procs is not None else None
    if each is None:
        return total(plan)
    return derive("pods x processes", lambda n, _: n * each, total(plan), procs)


def _port(plan: Plan, kind: str) -> Sourced[int]:
    return port(peer(plan, kind, 0).role, "pytorch", "pytorchjob-port", 23456)


def _elastic(plan: Plan, elastic: Tree) -> dict[str, object]:
    given = get(elastic, "rdzvPort")
    number = given if type(given) is Sourced else _port(plan, "worker")
    low, high = elastic["minReplicas"], elastic["maxReplicas"]
    out: dict[str, object] = {
        "PET_RDZV_ENDPOINT": derive("rendezvous", lambda h, p: f"{h}:{p}", _rendezvous(plan, elastic), number),
        "PET_RDZV_BACKEND": elastic["rdzvBackend"] if value(elastic, "rdzvBackend") else "c10d",
        "PET_NNODES": derive("range of nodes", lambda a, b: f"{a}:{b}", low, high),
    }
    for name, field in (("MAX_RESTARTS", "maxRestarts"), ("NPROC_PER_NODE", "nProcPerNode"), ("RDZV_ID", "rdzvId")):
        if value(elastic, field) is not None:
            out[f"PET_{name}"] = elastic[field]
    pairs = plain(get(elastic, "rdzvConf") or [])
    if pairs:
        # Both are plain texts in Go, so one that is missing is empty.
        out["PET_RDZV_CONF"] = ",".join(f"{pair.get('key', '')}={pair.get('value', '')}" for pair in pairs)
    if value(elastic, "standalone") is True:
        out["PET_STANDALONE"] = ""
    return out


def _rendezvous(plan: Plan, elastic: Tree) -> Sourced[str]:
    given = get(elastic, "rdzvHost")
    if type(given) is Sourced and given.value:
        return given
    kind, index = value(elastic, "rdzvRole") or "worker", value(elastic, "rdzvIndex") or 0
    address = short(plan, peer(plan, kind, index))
    if plan.namespace is None and not aliased(plan):
        # torch also knows itself by its full name, in which the pod fills in the namespace it runs in.
        address += f".{plan.name.value}.{NAMESPACE_REFERENCE}.svc.{plan.settings['clusterDomain'].value}"
    return derive("rendezvous host", lambda _: address, plan.name)


def searches(plan: Plan) -> Contribution:
    """The job's own subdomain among the search domains: torch compares short host names with its own.

    Without a known namespace the rendezvous host is a full name, which needs none.
    """
    elastic = plan.settings.get("elasticPolicy")
    if elastic is None or value(elastic, "rdzvHost") or aliased(plan) or plan.namespace is None:
        return Contribution()
    return search_domains(plan, plan.settings["clusterDomain"].value)


FRAMEWORK = framework("pytorchjob", entries, container="pytorch", more=searches)
