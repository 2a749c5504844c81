"""What is wrong with the rare fields of a pod: names, DNS, the host, gates, claims."""

from __future__ import annotations

from trainc.schema.names import SUBDOMAIN_TEXT, is_label, subdomain
from trainc.schema.pods.said import fields, is_set, items, maps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainc.model.tree import Path
    from trainc.schema.pods.said import Said

_IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
_DOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')"
)
_CLAIM = ("name", "resourceClaimName", "resourceClaimTemplateName")


def names(pod: dict[str, Any], path: Path, said: Said) -> None:
    """Names of other objects that a pod refers to."""
    for field in ("serviceAccountName", "nodeName", "runtimeClassName", "hostnameOverride"):
        value = pod.get(field)
        if value or (value == "" and field == "runtimeClassName"):
            said.name((*path, field), value)


def dns(pod: dict[str, Any], path: Path, said: Said) -> None:
    """The resolver of a pod."""
    config, at = pod.get("dnsConfig"), (*path, "dnsConfig")
    held = fields(config)
    servers, searches = items(held.get("nameservers")), items(held.get("searches"))
    if pod.get("dnsPolicy") == "None":
        if config is None:
            said.required(at, "must provide `dnsConfig` when `dnsPolicy` is None", at=path)
            return
        if not servers:
            text = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            said.required((*at, "nameservers"), text)
            return
    if len(servers) > 3:
        said.invalid((*at, "nameservers"), servers, "must not have more than 3 nameservers")
    for index, server in enumerate(servers):
        address((*at, "nameservers", index), server, said)
    if len(searches) > 32:
        said.invalid((*at, "searches"), searches, "must not have more than 32 search paths")
    for index, search in enumerate(searches):
        if type(search) is str and search != ".":
            said.invalid((*at, "searches", index), search.removesuffix("."), *_domain(search.removesuffix(".")))
    for index, option in maps(held.get("options")):
        if not option.get("name"):
            said.required((*at, "options", index), "must not be empty")


def _domain(name: str) -> tuple[str, ...]:
    """Why a name is no search domain, whose parts may begin with an underscore and have more of them inside."""
    # An underscore inside counts as a letter does; nothing else about it differs.
    parts = [part.removeprefix("_") for part in name.split(".")]
    inner = [f"{part[:1]}{part[1:-1].replace('_', 'a')}{part[-1:] if len(part) > 1 else ''}" for part in parts]
    long = tuple(reason for reason in subdomain(name) if reason != SUBDOMAIN_TEXT)
    return long if all(is_label(part) for part in inner) else (*long, _DOMAIN)


def address(path: Path, value: Any, said: Said) -> None:
    """An IP address, in the lax spelling of old fields."""
    if type(value) is str and not _is_ip(value):
        said.invalid(path, value, _IP)


def _is_ip(text: str) -> bool:
    parts = text.split(".")
    if ":" not in text:
        return len(parts) == 4 and all(part.isascii() and part.isdigit() and int(part) < 256 for part in parts)
    from ipaddress import AddressValueError, IPv6Address  # noqa: PLC0415 (few jobs have such addresses)

    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return "%" not in text


def aliases(tree: Any, path: Path, said: Said) -> None:
    """The host names of further addresses."""
    for index, alias in maps(tree):
        if type(alias.get("ip")) is str and ":" in alias["ip"]:
            address((*path, index, "ip"), alias["ip"], said)
        for number, name in enumerate(items(alias.get("hostnames"))):
            said.name((*path, index, "hostnames", number), name)


def host(pod: dict[str, Any], path: Path, said: Said) -> None:
    """What a pod shares with its node, and the system that it expects there."""
    if pod.get("shareProcessNamespace") is True and pod.get("hostPID") is True:
        text = "ShareProcessNamespace and HostPID cannot both be enabled"
        where = (*path, "securityContext", "shareProcessNamespace")
        said.invalid(where, True, text, at=(*path, "shareProcessNamespace"))
    if pod.get("hostUsers") is False:
        for field, shown in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
            if pod.get(field) is True:
                said.forbidden((*path, shown), "when `hostUsers` is false")
    system = pod.get("os")
    if system is not None:
        name = fields(system).get("name") or ""
        if not name:
            said.required((*path, "os", "name"))
        else:
            said.one_of((*path, "os"), name, ("linux", "windows"))


def gates(pod: dict[str, Any], path: Path, said: Said) -> None:
    """Conditions that a pod waits for, and the containers of a debugger."""
    for index, gate in maps(pod.get("readinessGates")):
        said.key((*path, "readinessGates", index, "conditionType"), gate.get("conditionType", ""))
    taken: list[object] = []
    for index, gate in maps(pod.get("schedulingGates")):
        if gate.get("name") in taken:
            said.duplicate((*path, "schedulingGates", index), gate["name"])
        taken.append(gate.get("name"))
    if items(pod.get("ephemeralContainers")):
        said.forbidden((*path, "ephemeralContainers"), "ephemeral containers not allowed in pod template")
    if pod.get("preemptionPolicy") == "":
        said.required((*path, "preemptionPolicy"))


def claims(pod: dict[str, Any], path: Path, said: Said) -> None:
    """Claims of devices."""
    taken: list[object] = []
    for index, claim in maps(pod.get("resourceClaims")):
        at: Path = (*path, "resourceClaims", index)
        if not claim.get("name"):
            said.required((*at, "name"))
        elif claim["name"] in taken:
            said.duplicate((*at, "name"), claim["name"])
        else:
            said.label((*at, "name"), claim["name"])
            taken.append(claim["name"])
        given = is_set(claim, "resourceClaimName", "resourceClaimTemplateName")
        for field in given:
            said.name((*at, field), claim[field])
        if len(given) != 1:
            text = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            shown = {f"{field[0].upper()}{field[1:]}": claim.get(field) for field in _CLAIM}
            said.invalid(
                at, shown, text if given else "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            )
