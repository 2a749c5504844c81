"""What is wrong with pods for Windows: their options, and what only Linux has."""

from collections.abc import Iterator

from trainc.apiserver.names import subdomain
from trainc.apiserver.pods.complaints import CONTAINERS, Field

_MAX_SPEC_KIB = 64
_MAX_DOMAIN, _MAX_USER = 256, 104
_NET_BIOS = r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}'
_DNS = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_BAD_USER = frozenset('"/\\:;|=,+*?<>@[]')
# What a pod for Windows must not have: where the server prints it, by the field of the pod or of a security context.
_POD = ("hostUsers", "hostPID", "hostIPC", "shareProcessNamespace")
_SWITCHES = frozenset(("hostPID", "hostIPC"))
_POD_CONTEXT = (
    "appArmorProfile", "seLinuxOptions", "seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls", "runAsUser",
    "runAsGroup", "supplementalGroups", "supplementalGroupsPolicy", "seLinuxChangePolicy",
)  # fmt: skip
_CONTEXT = (
    "appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged",
    "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup",
)  # fmt: skip


def options(held: Field) -> None:
    """The options of a pod or a container: its credentials and its user."""
    name, spec, user = (held[key] for key in ("gmsaCredentialSpecName", "gmsaCredentialSpec", "runAsUserName"))
    name.fits(subdomain)
    if spec.value == "":
        spec.invalid("gmsaCredentialSpec cannot be an empty string")
    elif type(spec.value) is str and len(spec.value.encode()) > _MAX_SPEC_KIB * 1024:
        spec.invalid(f"gmsaCredentialSpec size must be under {_MAX_SPEC_KIB} KiB")
    if type(user.value) is str:
        user.invalid(*(f"runAsUserName{reason}" for reason in _user(user.value)))


def _user(name: str) -> Iterator[str]:
    """Reasons why nobody is called so, each with the beginning `runAsUserName` left out."""
    import re  # noqa: PLC0415 (hardly any job trains on Windows)

    parts = name.split("\\")
    if not name:
        yield " cannot be an empty string"
    elif re.search(r"[\x00-\x1f\x7f]", name):
        yield " cannot contain control characters"
    elif len(parts) > 2:
        yield " cannot contain more than one backslash"
    else:
        domain, user = parts[0] if len(parts) == 2 else None, parts[-1]
        if domain is not None and len(domain.encode()) >= _MAX_DOMAIN:
            yield f"'s Domain length must be under {_MAX_DOMAIN} characters"
        if domain is not None and not re.fullmatch(rf"{_NET_BIOS}|{_DNS}(?:\.{_DNS})*", domain):
            yield "'s Domain doesn't match the NetBios nor the DNS format"
        if not user:
            yield "'s User cannot be empty"
        elif len(user.encode()) > _MAX_USER:
            yield f"'s User length must not be longer than {_MAX_USER} characters"
        if user and not user.strip(". "):
            yield "'s User cannot contain only periods or spaces"
        if not _BAD_USER.isdisjoint(user):
            yield "'s User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"


def _contexts(pod: Field) -> list[Field]:
    return [item["securityContext"] for field in CONTAINERS for item in pod[field].items()]


def system(pod: Field) -> None:
    """The operating system of a pod, and settings that belong to the other one."""
    name, context = pod["os"].text("name"), pod["securityContext"]
    if not name:
        pod["os"]["name"].required()
    elif name == "linux":
        for held in (context, *_contexts(pod)):
            for windows in held.given("windowsOptions"):
                windows.forbidden("windows options cannot be set for a linux pod")
    elif name == "windows":
        refused = [field for field in pod.given(*_POD) if field.value or field.path[-1] not in _SWITCHES]
        refused += [field for field in context.given(*_POD_CONTEXT) if field.value or field.path[-1] != "sysctls"]
        for held in _contexts(pod):
            refused += held.given(*_CONTEXT)
        for field in refused:
            field.forbidden("cannot be set for a windows pod")
    else:
        pod["os"].reading(name).one_of(("linux", "windows"))


def host_process(pod: Field) -> None:
    """Containers that run as processes of a Windows host: all of a pod or none, and in the network of the host."""
    whole = _is_process(pod["securityContext"])
    seen = []
    for held in _contexts(pod):
        own = _is_process(held)
        if whole is not None and own is not None and whole != own:
            why = f"pod hostProcess value must be identical if both are specified, was {str(whole).lower()}"
            held["windowsOptions"]["hostProcess"].invalid(why)
        seen.append(own if own is not None else whole)
    if True not in seen:
        return
    if not all(seen):
        why = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        pod.reading("").invalid(why)
    if pod.get("hostNetwork") is not True:
        why = "hostNetwork must be true if pod contains any hostProcess containers"
        pod["hostNetwork"].reading(False).invalid(why)


def _is_process(context: Field) -> bool | None:
    flag = context["windowsOptions"].get("hostProcess")
    return flag if type(flag) is bool else None
