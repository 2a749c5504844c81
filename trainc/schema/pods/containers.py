"""What is wrong with the rare fields of a container: ports, probes, hooks, policies."""

from __future__ import annotations

from trainc.schema.pods.said import fields, is_set, items, maps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainc.model.tree import Path
    from trainc.schema.pods.said import Said

_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_COUNTS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_PORT_CHARS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_HEADER = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")
_HEADER_TEXT = (
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for "
    "validation is '[-A-Za-z0-9]+')"
)


def port_name(text: str) -> tuple[str, ...]:
    """The reasons why a port cannot be called so."""
    reasons = ["must be no more than 15 characters"] if len(text.encode()) > 15 else []
    if not text or not _PORT_CHARS.issuperset(text):
        reasons.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not any("a" <= c <= "z" for c in text):
        reasons.append("must contain at least one letter (a-z)")
    if "--" in text:
        reasons.append("must not contain consecutive hyphens")
    if text[:1] == "-" or text[-1:] == "-":
        reasons.append("must not begin or end with a hyphen")
    return tuple(reasons)


def ports(tree: Any, path: Path, said: Said) -> None:
    """Names and protocols of ports."""
    for index, port in maps(tree):
        at: Path = (*path, index)
        if port.get("name"):
            said.invalid((*at, "name"), port["name"], *port_name(str(port["name"])))
        if port.get("protocol"):
            said.one_of((*at, "protocol"), port["protocol"], ("SCTP", "TCP", "UDP"))


def host_ports(containers: list[tuple[Path, dict[str, Any]]], said: Said, *, host_network: bool) -> None:
    """Ports of the host that are taken twice in a pod, or differ from those of the container in its network."""
    taken: set[tuple[str, str, int]] = set()
    for path, container in containers:
        for index, port in maps(container.get("ports")):
            at: Path = (*path, "ports", index)
            number, own = _whole(port.get("hostPort")), _whole(port.get("containerPort"))
            if host_network and number not in (0, own):
                said.invalid((*at, "hostPort"), number, "must match `containerPort` when `hostNetwork` is true")
            key = (
                str(port.get("protocol") or "TCP"),
                str(port.get("hostIP") or ""),
                number or (own if host_network else 0),
            )
            if key[2] and key in taken:
                said.duplicate((*at, "hostPort"), f"{key[0]}/{key[1]}/{key[2]}")
            taken.add(key)


def _whole(value: Any) -> int:
    return value if type(value) is int else 0


def probe(tree: Any, path: Path, said: Said) -> None:
    """A probe of life or of the start, aside from its number of handlers."""
    held = fields(tree)
    _probe(held, path, said)
    if held.get("successThreshold") not in (None, 0, 1):
        said.invalid((*path, "successThreshold"), held["successThreshold"], "must be 1")


def readiness(tree: Any, path: Path, said: Said) -> None:
    """A probe of readiness, aside from its number of handlers."""
    held = fields(tree)
    _probe(held, path, said)
    grace = held.get("terminationGracePeriodSeconds")
    if grace is not None:
        said.invalid((*path, "terminationGracePeriodSeconds"), grace, "must not be set for readinessProbes")


def _probe(held: dict[str, Any], path: Path, said: Said) -> None:
    _handlers(held, path, said)
    for field in _COUNTS:
        said.not_negative((*path, field), held.get(field))
    grace = held.get("terminationGracePeriodSeconds")
    if type(grace) is int and grace <= 0:
        said.invalid((*path, "terminationGracePeriodSeconds"), grace, "must be greater than 0")


def _handlers(held: dict[str, Any], path: Path, said: Said) -> None:
    """The first handler of several, as the others are not looked at."""
    for name in is_set(held, *_HANDLERS)[:1]:
        handler = fields(held[name])
        at: Path = (*path, name)
        if name == "exec" and not items(handler.get("command")):
            said.required((*at, "command"))
        elif name == "httpGet":
            _http(handler, at, said)
        elif name == "tcpSocket":
            _port((*at, "port"), handler.get("port"), said)
        elif name == "grpc":
            said.between((*at, "port"), handler.get("port") or 0, 1, 65535)


def _http(handler: dict[str, Any], path: Path, said: Said) -> None:
    _port((*path, "port"), handler.get("port"), said)
    said.one_of((*path, "scheme"), handler.get("scheme") or "HTTP", ("HTTP", "HTTPS"))
    for index, header in maps(handler.get("httpHeaders")):
        name = str(header.get("name", ""))
        if not name or not _HEADER.issuperset(name):
            said.invalid((*path, "httpHeaders"), name, _HEADER_TEXT, at=(*path, "httpHeaders", index))


def _port(path: Path, value: Any, said: Said) -> None:
    if type(value) is str:
        said.invalid(path, value, *port_name(value))
    else:
        said.between(path, value or 0, 1, 65535)


def lifecycle(tree: Any, path: Path, said: Said, grace: int) -> None:
    """Hooks at the start and before the end of a container; `grace` are the seconds that its pod has to end."""
    held = fields(tree)
    for hook in is_set(held, "postStart", "preStop"):
        at: Path = (*path, hook)
        handlers = is_set(fields(held[hook]), "exec", "httpGet", "tcpSocket", "sleep")
        if not handlers:
            said.required(at, "must specify a handler type")
        for other in handlers[1:]:
            said.forbidden((*at, other), "may not specify more than 1 handler type")
        _handlers(fields(held[hook]), at, said)
        seconds = fields(fields(held[hook]).get("sleep")).get("seconds")
        if handlers == ["sleep"] and type(seconds) is int and not 0 <= seconds <= grace:
            text = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
            said.invalid((*at, "sleep"), seconds, text)
    if held.get("stopSignal") is not None:
        said.forbidden((*path, "stopSignal"), "may not be set for containers with empty `spec.os.name`")


def restart_policy(value: Any, path: Path, said: Said) -> None:
    """When a container is started again apart from its pod."""
    said.one_of(path, value, ("Always", "Never", "OnFailure"))


def resize_policy(tree: Any, path: Path, said: Said, restart: object) -> None:
    """What becomes of a container whose resources change; `restart` is the restart policy of its pod."""
    taken: list[object] = []
    for index, policy in maps(tree):
        resource, act, at = policy.get("resourceName") or "", policy.get("restartPolicy") or "", (*path, index)
        if resource in taken:
            said.duplicate(at, resource)
        taken.append(resource)
        for word, words in ((resource, ("cpu", "memory")), (act, ("NotRequired", "RestartContainer"))):
            if word:
                said.one_of(path, word, words, at=at)
            else:
                said.required(path, at=at)
        if restart == "Never" and act != "NotRequired":
            said.invalid(path, act, "must be 'NotRequired' when `restartPolicy` is 'Never'", at=at)


def termination_message(value: Any, path: Path, said: Said) -> None:
    """Where the last words of a container come from."""
    if value:
        said.one_of(path, value, ("File", "FallbackToLogsOnError"))
