"""What is wrong with the settings of a pod: names, DNS, the host, gates, claims."""

from __future__ import annotations

from trainc.apiserver.names import SUBDOMAIN_TEXT, is_label, qualified, subdomain
from trainc.apiserver.pods.complaints import MAX_INT32, Complaints, fields, is_set, items, maps, text
from trainc.model.tree import Path
from trainc.text.numbers import whole_number
from trainc.text.placeholders import is_placeholder
from trainc.text.record import Any

_IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
_DOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')"
)
_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_MAX_SEARCH = 2048
_CLAIM = {"resourceClaimName": "ResourceClaimName", "resourceClaimTemplateName": "ResourceClaimTemplateName"}


def names(pod: dict[str, Any], path: Path, log: Complaints) -> None:
    """Names of other objects that a pod refers to."""
    for field in ("serviceAccountName", "nodeName", "runtimeClassName", "priorityClassName"):
        if (value := pod.get(field)) or (value == "" and field == "runtimeClassName"):
            log.name((*path, field), value)
    if not pod.get("serviceAccountName") and pod.get("serviceAccount"):  # its former spelling
        log.name((*path, "serviceAccountName"), pod["serviceAccount"], at=(*path, "serviceAccount"))
    for field in ("hostname", "subdomain"):
        if pod.get(field):
            log.label((*path, field), pod[field])
    if pod.get("hostnameOverride") is not None and log.has("HostnameOverride", (*path, "hostnameOverride")):
        # The host name that replaces the one of the Job.
        at = (*path, "hostnameOverride")
        if pod.get("setHostnameAsFQDN") is True:
            log.forbidden(at, "may not be specified when setHostnameAsFQDN is true")
        if pod.get("hostNetwork") is True:
            log.forbidden(at, "may not be specified when hostNetwork is true")
        log.too_long(at, len(str(pod["hostnameOverride"]).encode()), 64)
        log.name(at, pod["hostnameOverride"])


def dns(pod: dict[str, Any], path: Path, log: Complaints) -> None:
    """The resolver of a pod."""
    if pod.get("dnsPolicy"):
        log.one_of((*path, "dnsPolicy"), pod["dnsPolicy"], _POLICIES)
    config, at = pod.get("dnsConfig"), (*path, "dnsConfig")
    held = fields(config)
    servers, searches = items(held.get("nameservers")), items(held.get("searches"))
    if pod.get("dnsPolicy") == "None":
        if config is None:
            log.required(at, "must provide `dnsConfig` when `dnsPolicy` is None", at=(*path, "dnsPolicy"))
            return
        if not servers:
            why = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            log.required((*at, "nameservers"), why, at=(*path, "dnsPolicy"))
            return
    if len(servers) > 3:
        log.invalid((*at, "nameservers"), servers, "must not have more than 3 nameservers")
    for index, server in enumerate(servers):
        address((*at, "nameservers", index), server, log)
    if len(searches) > 32:
        log.invalid((*at, "searches"), searches, "must not have more than 32 search paths")
    if len(" ".join(map(str, searches)).encode()) > _MAX_SEARCH:
        why = f"must not have more than {_MAX_SEARCH} characters (including spaces) in the search list"
        log.invalid((*at, "searches"), searches, why)
    relaxed = log.features.has("RelaxedDNSSearchValidation")
    for index, search in enumerate(searches):
        if type(search) is str and not (relaxed and search == "."):
            name = search.removesuffix(".")
            log.invalid((*at, "searches", index), name, *(_domain(name) if relaxed else subdomain(name)))
    for index, option in maps(held.get("options")):
        if not option.get("name"):
            log.required((*at, "options", index), "must not be empty")


def _domain(name: str) -> tuple[str, ...]:
    """Why a name is not a search domain, whose parts may begin with an underscore and have more of them inside."""
    # An underscore inside counts as a letter does; nothing else about it differs.
    parts = [part.removeprefix("_") for part in name.split(".")]
    inner = [f"{part[:1]}{part[1:-1].replace('_', 'a')}{part[-1:] if len(part) > 1 else ''}" for part in parts]
    long = tuple(reason for reason in subdomain(name) if reason != SUBDOMAIN_TEXT)
    return long if all(is_label(part) for part in inner) else (*long, _DOMAIN)


def address(path: Path, value: Any, log: Complaints) -> None:
    """An IP address, in the lax spelling of old fields."""
    if type(value) is not str or is_placeholder(value):
        return
    if not _is_ip(value):
        log.invalid(path, value, _IP)
    elif log.features.has("StrictIPCIDRValidation"):
        if any(len(part) > 1 and part[0] == "0" for part in value.rpartition(":")[2].split(".")) and "." in value:
            log.invalid(path, value, "must not have leading 0s")
        elif ":" in value and _is_mapped(value):
            log.invalid(path, value, "must not be an IPv4-mapped IPv6 address")


def _is_ip(text: str) -> bool:
    parts = text.split(".")
    if ":" not in text:
        return len(parts) == 4 and all(whole_number(part, most=255) is not None for part in parts)
    from ipaddress import AddressValueError, IPv6Address  # noqa: PLC0415 (few jobs have such addresses)

    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return "%" not in text


def _is_mapped(text: str) -> bool:
    from ipaddress import IPv6Address  # noqa: PLC0415 (few jobs have such addresses)

    return IPv6Address(text).ipv4_mapped is not None


def aliases(tree: Any, path: Path, log: Complaints) -> None:
    """The host names of further addresses."""
    for index, alias in maps(tree):
        address((*path, index, "ip"), alias.get("ip", ""), log)
        for number, name in enumerate(items(alias.get("hostnames"))):
            log.name((*path, index, "hostnames", number), name)


def host(pod: dict[str, Any], path: Path, log: Complaints) -> None:
    """What a pod shares with its node, and the system that it expects there."""
    if pod.get("shareProcessNamespace") is True and pod.get("hostPID") is True:
        why = "ShareProcessNamespace and HostPID cannot both be enabled"
        where = (*path, "securityContext", "shareProcessNamespace")
        log.invalid(where, True, why, at=(*path, "shareProcessNamespace"))
    if pod.get("hostUsers") is False and log.has("UserNamespacesSupport", (*path, "hostUsers")):
        for field, shown in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
            allowed = field == "hostNetwork" and log.features.has("UserNamespacesHostNetworkSupport")
            if pod.get(field) is True and not allowed:
                log.forbidden((*path, shown), "when `hostUsers` is false", at=(*path, field))


def gates(pod: dict[str, Any], path: Path, log: Complaints) -> None:
    """Conditions that a pod waits for, its group, and the words of its priority."""
    for index, gate in maps(pod.get("readinessGates")):
        log.key((*path, "readinessGates", index, "conditionType"), gate.get("conditionType", ""))
    taken: list[object] = []
    for index, gate in maps(pod.get("schedulingGates")):
        at: Path = (*path, "schedulingGates", index)
        name = text(gate, "name")
        if not is_placeholder(name):
            log.invalid(at, name, *qualified(name), at=(*at, "name"))
        if name in taken:
            log.duplicate(at, name)
        taken.append(name)
    policy = pod.get("preemptionPolicy")
    if policy == "":
        log.required((*path, "preemptionPolicy"))
    elif policy is not None:
        log.one_of((*path, "preemptionPolicy"), policy, ("PreemptLowerPriority", "Never"))
    group = pod.get("schedulingGroup")
    if group is not None and log.has("GenericWorkload", (*path, "schedulingGroup")):
        _group(fields(group).get("podGroupName"), (*path, "schedulingGroup", "podGroupName"), log)
    deadline = pod.get("activeDeadlineSeconds")
    log.between((*path, "activeDeadlineSeconds"), deadline, 1, MAX_INT32)


def _group(name: Any, path: Path, log: Complaints) -> None:
    """The group that the scheduler places a pod with."""
    if name is None:
        log.invalid(path, None, "must specify one of: `podGroupName`", at=path[:-1])
    else:
        log.name(path, name)


def claims(pod: dict[str, Any], path: Path, log: Complaints) -> None:
    """Claims of devices."""
    taken: list[object] = []
    for index, claim in maps(pod.get("resourceClaims")):
        at: Path = (*path, "resourceClaims", index)
        if not claim.get("name"):
            log.required((*at, "name"))
        elif claim["name"] in taken:
            log.duplicate((*at, "name"), claim["name"])
        else:
            log.label((*at, "name"), claim["name"])
            taken.append(claim["name"])
        given = is_set(claim, *_CLAIM)
        for field in given:
            log.name((*at, field), claim[field])
        if len(given) != 1:
            why = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            shown = {"Name": claim.get("name") or "", **{name: claim.get(field) for field, name in _CLAIM.items()}}
            log.invalid(
                at, shown, why if given else "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            )
