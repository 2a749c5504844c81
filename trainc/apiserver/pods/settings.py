"""What is wrong with the settings of a pod: names, DNS, the host, gates, claims."""

from trainc.apiserver.names import SUBDOMAIN_TEXT, is_label, label, qualified, subdomain
from trainc.apiserver.pods.complaints import MAX_INT32, Field, items
from trainc.text.numbers import whole_number
from trainc.text.placeholders import is_placeholder

_IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
_DOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')"
)
_MAX_SEARCH = 2048
_CLAIM = {"resourceClaimName": "ResourceClaimName", "resourceClaimTemplateName": "ResourceClaimTemplateName"}


def names(pod: Field) -> None:
    """Names of other objects that a pod refers to."""
    named = (*pod.filled("serviceAccountName", "nodeName"), pod["runtimeClassName"], *pod.filled("priorityClassName"))
    for name in named:
        name.fits(subdomain)
    if not pod.get("serviceAccountName"):
        for name in pod.filled("serviceAccount"):  # its former spelling
            name.printed((*pod.path, "serviceAccountName")).fits(subdomain)
    for name in pod.filled("hostname", "subdomain"):
        name.fits(label)
    host = pod["hostnameOverride"]  # the host name that replaces the one of the Job
    if host.value is not None and host.has("HostnameOverride"):
        for field in ("setHostnameAsFQDN", "hostNetwork"):
            if pod.get(field) is True:
                host.forbidden(f"may not be specified when {field} is true")
        host.too_long(64)
        host.fits(subdomain)


def dns(pod: Field) -> None:
    """The resolver of a pod."""
    policy, config = pod["dnsPolicy"], pod["dnsConfig"]
    policy.fallback(None).one_of(("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"))
    servers, searches = config["nameservers"], config["searches"]
    if policy.value == "None" and not items(servers.value):
        if config.value is None:
            config.required("must provide `dnsConfig` when `dnsPolicy` is None", at=policy)
        else:
            servers.required("must provide at least one DNS nameserver when `dnsPolicy` is None", at=policy)
        return
    if len(items(servers.value)) > 3:
        servers.invalid("must not have more than 3 nameservers")
    for server in servers.items():
        address(server)
    if len(items(searches.value)) > 32:
        searches.invalid("must not have more than 32 search paths")
    if len(" ".join(map(str, items(searches.value))).encode()) > _MAX_SEARCH:
        searches.invalid(f"must not have more than {_MAX_SEARCH} characters (including spaces) in the search list")
    relaxed = pod.log.features.has("RelaxedDNSSearchValidation")
    for search in searches.items():
        if type(search.value) is str and not (relaxed and search.value == "."):
            name = search.value.removesuffix(".")
            search.reading(name).invalid(*(_domain(name) if relaxed else subdomain(name)))
    for option in config["options"].maps():
        if not option.get("name"):
            option.required("must not be empty")


def _domain(name: str) -> tuple[str, ...]:
    """Why a name is not a search domain, whose parts may begin with an underscore and have more of them inside."""
    # An underscore inside counts as a letter does; nothing else about it differs.
    parts = [part.removeprefix("_") for part in name.split(".")]
    inner = [f"{part[:1]}{part[1:-1].replace('_', 'a')}{part[-1:] if len(part) > 1 else ''}" for part in parts]
    long = tuple(reason for reason in subdomain(name) if reason != SUBDOMAIN_TEXT)
    return long if all(is_label(part) for part in inner) else (*long, _DOMAIN)


def address(field: Field) -> None:
    """An IP address, in the lax spelling of old fields."""
    text = field.value
    if type(text) is not str or is_placeholder(text):
        return
    mapped = None
    if ":" in text:
        from ipaddress import AddressValueError, IPv6Address  # noqa: PLC0415 (few jobs have such addresses)

        try:
            mapped = IPv6Address(text).ipv4_mapped
            is_valid = "%" not in text
        except AddressValueError:
            is_valid = False
    else:
        parts = text.split(".")
        is_valid = len(parts) == 4 and all(whole_number(part, most=255) is not None for part in parts)
    if not is_valid:
        field.invalid(_IP)
    elif field.log.features.has("StrictIPCIDRValidation"):
        if "." in text and any(len(part) > 1 and part[0] == "0" for part in text.rpartition(":")[2].split(".")):
            field.invalid("must not have leading 0s")
        elif mapped is not None:
            field.invalid("must not be an IPv4-mapped IPv6 address")


def aliases(listed: Field) -> None:
    """The host names of further addresses."""
    for alias in listed.maps():
        address(alias["ip"].default(""))
        for name in alias["hostnames"].items():
            name.fits(subdomain)


def host(pod: Field) -> None:
    """What a pod shares with its node, and the system that it expects there."""
    if pod.get("shareProcessNamespace") is True and pod.get("hostPID") is True:
        where = pod["shareProcessNamespace"].printed((*pod.path, "securityContext", "shareProcessNamespace"))
        where.invalid("ShareProcessNamespace and HostPID cannot both be enabled")
    if pod.get("hostUsers") is False and pod["hostUsers"].has("UserNamespacesSupport"):
        for field, shown in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
            allowed = field == "hostNetwork" and pod.log.features.has("UserNamespacesHostNetworkSupport")
            if pod.get(field) is True and not allowed:
                pod.part(field, shown).forbidden("when `hostUsers` is false")


def gates(pod: Field) -> None:
    """Conditions that a pod waits for, its group, and the words of its priority."""
    for gate in pod["readinessGates"].maps():
        gate["conditionType"].default("").fits(qualified)
    taken: list[object] = []
    for gate in pod["schedulingGates"].maps():
        name = gate.reading(gate.text("name"))
        name.invalid(*qualified(name.value), at=gate["name"])
        if name.value in taken:
            name.duplicate()
        taken.append(name.value)
    policy, group = pod["preemptionPolicy"], pod["schedulingGroup"]
    if policy.value == "":
        policy.required()
    else:
        policy.one_of(("PreemptLowerPriority", "Never"))
    if group.value is not None and group.has("GenericWorkload"):  # that the scheduler places a pod with
        if group.get("podGroupName") is None:
            group["podGroupName"].invalid("must specify one of: `podGroupName`", at=group)
        else:
            group["podGroupName"].fits(subdomain)
    pod["activeDeadlineSeconds"].between(1, MAX_INT32)


def claims(pod: Field) -> None:
    """Claims of devices."""
    taken: list[object] = []
    for claim in pod["resourceClaims"].maps():
        name = claim["name"]
        if name.need():
            if name.value in taken:
                name.duplicate()
            else:
                name.fits(label)
                taken.append(name.value)
        given = claim.given(*_CLAIM)
        for one in given:
            one.fits(subdomain)
        if len(given) != 1:
            shown = {"Name": claim.get("name") or "", **{shown: claim.get(field) for field, shown in _CLAIM.items()}}
            claim.reading(shown).invalid(
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
                if given
                else "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            )
