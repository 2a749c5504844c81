"""What is wrong with the ports of containers, and with those of the host that they take."""

from typing import Any

from trainc.apiserver.pods.complaints import Field, fields, items
from trainc.model.tree import Tree, plain

_CHARS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
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


def number_or_name(port: Field) -> None:
    """A port by its number, or by the name that a container gives it."""
    if type(port.value) is str:
        port.invalid(*port_name(port.value))
    else:
        port.default(0).between(1, _MAX_PORT)


def ports(listed: Field) -> None:
    """The ports of one container."""
    taken: set[str] = set()
    for port in listed.maps():
        if name := port.text("name"):
            reasons = port_name(name)
            port["name"].invalid(*reasons)
            if name in taken:
                port["name"].duplicate()
            if not reasons:
                taken.add(name)
        port["containerPort"].need()
        for number in port.filled("containerPort", "hostPort"):
            number.between(1, _MAX_PORT)
        port["protocol"].fallback("TCP").one_of(("SCTP", "TCP", "UDP"))


def with_ports_alone(pod: Tree) -> dict[str, Any]:
    """The containers of a pod with nothing but their ports."""
    return {
        field: [{"ports": plain(fields(container).get("ports"))} for container in items(pod.get(field))]
        for field in ("containers", "initContainers")
    }


def host_network(pod: Field) -> None:
    """Ports of the host that differ from those of the container, in the network of the host."""
    for container in pod["containers"].maps():
        for port in container["ports"].maps():
            if (port.get("hostPort") or 0) not in (0, port.get("containerPort") or 0):
                port["hostPort"].invalid("must match `containerPort` when `hostNetwork` is true")


def host_ports(pod: Field, *, filled_in: bool = False) -> None:
    """Ports of the host that are taken twice; a pod in the host's network takes all of its own: `filled_in`."""
    taken: set[str] = set()
    for container in pod["containers"].maps():
        _taken(container, taken, filled_in=filled_in)
    for container in pod["initContainers"].maps():
        # The server looks at each alone, and calls each the first.
        _taken(container.printed((*pod.path, "initContainers", 0)), set(), filled_in=filled_in)


def _taken(container: Field, taken: set[str], *, filled_in: bool) -> None:
    for port in container["ports"].items():
        wanted = port.get("hostPort") or (port.get("containerPort") if filled_in else 0)
        if type(wanted) is not int or not wanted:
            continue
        key = f"{port.get('protocol') or 'TCP'}/{port.get('hostIP') or ''}/{wanted}"
        if key in taken:
            at = port["hostPort" if port.get("hostPort") else "containerPort"]
            port["hostPort"].reading(key).duplicate(at=at)
        taken.add(key)
