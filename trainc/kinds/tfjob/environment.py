"""TFJob: TF_CONFIG names every process of the cluster and says which one this is."""

from __future__ import annotations

from trainc.kinds.shared.environment import INDEX_REFERENCE, container_called, framework
from trainc.kinds.shared.peers import Peer, address, peers, port, total
from trainc.kinds.tfjob.parameter_server import more
from trainc.model.sourced import derive
from trainc.model.tree import plain, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.plan import Plan, Role
    from trainc.model.tree import Tree

MAIN = "tensorflow"


def entries(plan: Plan, role: Role, _: Tree) -> dict[str, object]:
    """TF_CONFIG as training operator v1.9.0 writes it; none for a job of one process."""
    if total(plan).value == 1 and value(plan.settings, "always") is not True:
        return {}
    text = _dynamic(plan, role) if value(plan.settings, "dynamic") is True else _static(plan, role)
    counts = [r.count for r in plan.roles]
    return {"TF_CONFIG": derive("cluster of the job", lambda *_: text, plan.name, *counts)}


def _static(plan: Plan, role: Role) -> str:
    cluster: dict[str, list[str]] = {name: [] for name in _empty(plan)}
    for p in peers(plan):
        cluster.setdefault(p.type, []).append(endpoint(plan, p))
    listed = ",".join(f'"{kind}":{_list(cluster[kind])}' for kind in sorted(cluster))
    return f'{{"cluster":{{{listed}}},"task":{_task(role)},"environment":"cloud"}}'


def _dynamic(plan: Plan, role: Role) -> str:
    worker, servers = "{}", "[]"
    if role.name.value == "worker":
        own = endpoint(plan, _own(role))
        worker = f'{{"{_index(role)}":"{own}"}}'
        endpoints = [endpoint(plan, p) for p in peers(plan, "ps")]
        # A role of no pods is an empty list to Go, one that is missing is nil.
        servers = _list(endpoints) if endpoints or "ps" in _empty(plan) else "null"
    elif role.name.value == "ps":
        servers = _list([endpoint(plan, _own(role))])
    return f'{{"cluster":{{"worker":{worker},"ps":{servers}}},"task":{_task(role)}}}'


def _empty(plan: Plan) -> list[str]:
    """The roles that ask for no pods."""
    kinds: list[str] = plain(plan.settings.get("empty") or [])
    return kinds


def _own(role: Role) -> Peer:
    """The pod itself, its index left to be filled in when it starts."""
    return Peer(role.name.value, _index(role), role, 0, _index(role))


def _index(role: Role) -> str:
    return INDEX_REFERENCE if role.count.value > 1 else "0"


def _task(role: Role) -> str:
    return f'{{"type":"{role.name.value}","index":{_index(role)}}}'


def _list(hosts: list[str]) -> str:
    return "[" + ",".join(f'"{name}"' for name in hosts) + "]"


def endpoint(plan: Plan, p: Peer) -> str:
    """Host and port of one process."""
    name = address(plan, p)
    if value(plan.settings, "short") is not True and plan.namespace is not None:
        domain = value(plan.settings, "clusterDomain")
        name += f".{plan.namespace.value}.svc" + (f".{domain}" if domain else "")
    return f"{name}:{port(p.role, MAIN, 'tfjob-port', 2222).value}"


FRAMEWORK = framework("tfjob", entries, container_called(MAIN), container=MAIN, more=more)
