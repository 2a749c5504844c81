"""What is wrong with pods for Windows: their options, and what only Linux has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainc.apiserver.names import subdomain
from trainc.apiserver.pods.complaints import CONTAINERS, Complaints, fields, items, text
from trainc.model.tree import Path

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
_REFUSED = "cannot be set for a windows pod"


def options(held: dict[str, Any], path: Path, log: Complaints) -> None:
    """The options of a pod or a container: its credentials and its user."""
    name, spec, user = (held.get(key) for key in ("gmsaCredentialSpecName", "gmsaCredentialSpec", "runAsUserName"))
    if type(name) is str:
        log.invalid((*path, "gmsaCredentialSpecName"), name, *subdomain(name))
    at: Path = (*path, "gmsaCredentialSpec")
    if spec == "":
        log.invalid(at, spec, "gmsaCredentialSpec cannot be an empty string")
    elif type(spec) is str and len(spec.encode()) > _MAX_SPEC_KIB * 1024:
        log.invalid(at, spec, f"gmsaCredentialSpec size must be under {_MAX_SPEC_KIB} KiB")
    if type(user) is str:
        log.invalid((*path, "runAsUserName"), user, *(f"runAsUserName{reason}" for reason in _user(user)))


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


def _containers(pod: dict[str, Any], path: Path) -> Iterator[tuple[dict[str, Any], Path]]:
    """The security context of each container, and where it stands."""
    for field in CONTAINERS:
        for index, item in enumerate(items(pod.get(field))):
            yield fields(fields(item).get("securityContext")), (*path, field, index, "securityContext")


def system(pod: dict[str, Any], path: Path, log: Complaints) -> None:
    """The operating system of a pod, and settings that belong to the other one."""
    name, context = text(fields(pod.get("os")), "name"), fields(pod.get("securityContext"))
    if not name:
        log.required((*path, "os", "name"))
    elif name == "linux":
        for held, at in ((context, (*path, "securityContext")), *_containers(pod, path)):
            if held.get("windowsOptions") is not None:
                log.forbidden((*at, "windowsOptions"), "windows options cannot be set for a linux pod")
    elif name == "windows":
        for field in _POD:
            if pod.get(field) if field in _SWITCHES else pod.get(field) is not None:
                log.forbidden((*path, field), _REFUSED)
        for field in _POD_CONTEXT:
            if context.get(field) if field == "sysctls" else context.get(field) is not None:
                log.forbidden((*path, "securityContext", field), _REFUSED)
        for held, at in _containers(pod, path):
            for field in _CONTEXT:
                if held.get(field) is not None:
                    log.forbidden((*at, field), _REFUSED)
    else:
        log.one_of((*path, "os"), name, ("linux", "windows"))


def host_process(pod: dict[str, Any], path: Path, log: Complaints) -> None:
    """Containers that run as processes of a Windows host: all of a pod or none, and in the network of the host."""
    whole = _is_process(fields(pod.get("securityContext")))
    seen = []
    for held, at in _containers(pod, path):
        own = _is_process(held)
        if whole is not None and own is not None and whole != own:
            why = f"pod hostProcess value must be identical if both are specified, was {str(whole).lower()}"
            log.invalid((*at, "windowsOptions", "hostProcess"), own, why)
        seen.append(own if own is not None else whole)
    if True not in seen:
        return
    if not all(seen):
        why = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        log.invalid(path, "", why)
    if pod.get("hostNetwork") is not True:
        why = "hostNetwork must be true if pod contains any hostProcess containers"
        log.invalid((*path, "hostNetwork"), False, why)


def _is_process(context: dict[str, Any]) -> bool | None:
    flag = fields(context.get("windowsOptions")).get("hostProcess")
    return flag if type(flag) is bool else None
