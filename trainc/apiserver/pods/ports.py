"""What is wrong with the ports of containers, and with those of the host that they take."""

from __future__ import annotations

from trainc.apiserver.pods.complaints import Complaints, fields, items, maps
from trainc.model.tree import Path, Tree, plain
from trainc.text.record import Any

_CHARS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_MAX_PORT = 65_535


def port_name(text: str) -> tuple[str, ...]:
    """The reasons why a port cannot be called so."""
    reasons = ["must be no more than 15 characters"] if len(text.encode()) > 15 else []
    if not text or not _CHARS.issuperset(text):
        reasons.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not any("a" <= c <= "z" for c in text):
        reasons.append("must contain at least one letter (a-z)")
    if "--" in text:
        reasons.append("must not contain consecutive hyphens")
    if text[:1] == "-" or text[-1:] == "-":
        reasons.append("must not begin or end with a hyphen")
    return tuple(reasons)


def number_or_name(value: Any, path: Path, log: Complaints) -> None:
    """A port by its number, or by the name that a container gives it."""
    if type(value) is str:
        log.invalid(path, value, *port_name(value))
    else:
        log.between(path, 0 if value is None else value, 1, _MAX_PORT)


def ports(tree: Any, path: Path, log: Complaints) -> None:
    """The ports of one container."""
    taken: set[str] = set()
    for index, port in maps(tree):
        at: Path = (*path, index)
        name = port.get("name")
        if type(name) is str and name:
            reasons = port_name(name)
            log.invalid((*at, "name"), name, *reasons)
            if name in taken:
                log.duplicate((*at, "name"), name)
            if not reasons:
                taken.add(name)
        if not port.get("containerPort"):
            log.required((*at, "containerPort"))
        else:
            log.between((*at, "containerPort"), port["containerPort"], 1, _MAX_PORT)
        if port.get("hostPort"):
            log.between((*at, "hostPort"), port["hostPort"], 1, _MAX_PORT)
        log.one_of((*at, "protocol"), port.get("protocol") or "TCP", _PROTOCOLS)


def with_ports_alone(pod: Tree) -> dict[str, Any]:
    """The containers of a pod with nothing but their ports."""
    return {
        field: [{"ports": plain(fields(container).get("ports"))} for container in items(pod.get(field))]
        for field in ("containers", "initContainers")
    }


def host_network(pod: dict[str, Any], path: Path, log: Complaints) -> None:
    """Ports of the host that differ from those of the container, in the network of the host."""
    for index, container in maps(pod.get("containers")):
        for number, port in maps(container.get("ports")):
            wanted, own = port.get("hostPort") or 0, port.get("containerPort") or 0
            if wanted not in (0, own):
                at: Path = (*path, "containers", index, "ports", number, "hostPort")
                log.invalid(at, wanted, "must match `containerPort` when `hostNetwork` is true")


def host_ports(pod: dict[str, Any], path: Path, log: Complaints, *, filled_in: bool = False) -> None:
    """Ports of the host that are taken twice; a pod in the host's network takes all of its own: `filled_in`."""
    taken: set[str] = set()
    for index, container in maps(pod.get("containers")):
        _taken(container, (*path, "containers", index), (*path, "containers", index), taken, log, filled_in=filled_in)
    for index, container in maps(pod.get("initContainers")):
        # The server looks at each alone, and calls each the first.
        printed: Path = (*path, "initContainers", 0)
        _taken(container, printed, (*path, "initContainers", index), set(), log, filled_in=filled_in)


def _taken(container: Any, path: Path, at: Path, taken: set[str], log: Complaints, *, filled_in: bool) -> None:
    for number, port in enumerate(items(fields(container).get("ports"))):
        held = fields(port)
        wanted = held.get("hostPort") or (held.get("containerPort") if filled_in else 0)
        if type(wanted) is not int or not wanted:
            continue
        key = f"{held.get('protocol') or 'TCP'}/{held.get('hostIP') or ''}/{wanted}"
        if key in taken:
            where = "hostPort" if held.get("hostPort") else "containerPort"
            log.duplicate((*path, "ports", number, "hostPort"), key, at=(*at, "ports", number, where))
        taken.add(key)
