"""What is wrong with the rights of a pod and of its containers, and with the kernel's settings."""

from __future__ import annotations

from typing import Any

from trainc.apiserver.pods.complaints import Complaints, fields, is_set, items, maps
from trainc.apiserver.pods.windows import options
from trainc.model.tree import Path

_MAX_ID = 2**31 - 1
_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_ONLY_LOCAL = "can only be set when {} type is Localhost"
_ENUMS = {
    "fsGroupChangePolicy": ("Always", "OnRootMismatch"),
    "supplementalGroupsPolicy": ("Merge", "Strict"),
    "seLinuxChangePolicy": ("MountOption", "Recursive"),
}
_GATED = {"supplementalGroupsPolicy": "SupplementalGroupsPolicy", "seLinuxChangePolicy": "SELinuxChangePolicy"}
_SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL = rf"^({_SEGMENT}[\./])*{_SEGMENT}$"
_LONGEST = 253
_LONGEST_PATH = 4095
_OF_IPC = frozenset((
    "kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced", "kernel.shm",
    "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg",
))  # fmt: skip
_PROFILE = {"type": "Type", "localhostProfile": "LocalhostProfile"}
_WINDOWS = {
    "gmsaCredentialSpecName": "GMSACredentialSpecName", "gmsaCredentialSpec": "GMSACredentialSpec",
    "runAsUserName": "RunAsUserName", "hostProcess": "HostProcess",
}  # fmt: skip
# Fields of a container's security context in the order of Kubernetes' own structure, with the parts of those that have
# some; the server prints all of them.
_CONTEXT: dict[str, tuple[str, dict[str, str]]] = {
    "capabilities": ("Capabilities", {"add": "Add", "drop": "Drop"}),
    "privileged": ("Privileged", {}),
    "seLinuxOptions": ("SELinuxOptions", {"user": "User", "role": "Role", "type": "Type", "level": "Level"}),
    "windowsOptions": ("WindowsOptions", _WINDOWS),
    "runAsUser": ("RunAsUser", {}),
    "runAsGroup": ("RunAsGroup", {}),
    "runAsNonRoot": ("RunAsNonRoot", {}),
    "readOnlyRootFilesystem": ("ReadOnlyRootFilesystem", {}),
    "allowPrivilegeEscalation": ("AllowPrivilegeEscalation", {}),
    "procMount": ("ProcMount", {}),
    "seccompProfile": ("SeccompProfile", _PROFILE),
    "appArmorProfile": ("AppArmorProfile", _PROFILE),
}
_TEXTS = ("user", "role", "type", "level")  # empty rather than absent


def _rights(tree: Any, path: Path, log: Complaints) -> None:
    """What a pod and a container have in common."""
    held = fields(tree)
    for name in is_set(held, "runAsUser", "runAsGroup", "fsGroup"):
        log.between((*path, name), held[name], 0, _MAX_ID)
    for index, group in enumerate(items(held.get("supplementalGroups"))):
        log.between((*path, "supplementalGroups", index), group, 0, _MAX_ID)
    for name in is_set(held, *_ENUMS):
        if name not in _GATED or log.has(_GATED[name], (*path, name)):
            log.one_of((*path, name), held[name], _words(name, log))
    if held.get("procMount") is not None and log.has("ProcMountType", (*path, "procMount")):
        log.one_of((*path, "procMount"), held["procMount"], ("Default", "Unmasked"))
    if held.get("seccompProfile") is not None:
        _seccomp(fields(held["seccompProfile"]), (*path, "seccompProfile"), log)
    if held.get("windowsOptions") is not None:
        options(fields(held["windowsOptions"]), (*path, "windowsOptions"), log)
    if held.get("appArmorProfile") is not None:
        _app_armor(fields(held["appArmorProfile"]), (*path, "appArmorProfile"), log)


def _words(name: str, log: Complaints) -> tuple[str, ...]:
    """The words that a field can hold."""
    if name == "seLinuxChangePolicy" and not log.features.has("SELinuxMount"):
        return ("Recursive",)
    return _ENUMS[name]


def _seccomp(held: dict[str, Any], path: Path, log: Complaints) -> None:
    kind, local, at = held.get("type") or "", held.get("localhostProfile"), (*path, "localhostProfile")
    if not kind:
        log.required((*path, "type"), "type is required when seccompProfile is set")
    else:
        log.one_of((*path, "type"), kind, _PROFILES)
    if kind == "Localhost" and local is None:
        log.required(at, "must be set when seccomp type is Localhost")
    elif kind == "Localhost":
        log.below(at, local)
    elif local is not None:
        log.invalid(at, {"Type": kind, "LocalhostProfile": local}, _ONLY_LOCAL.format("seccomp"))


def _app_armor(held: dict[str, Any], path: Path, log: Complaints) -> None:
    kind, local, at = held.get("type") or "", held.get("localhostProfile"), (*path, "localhostProfile")
    name = local if type(local) is str else ""
    if not kind:
        log.required((*path, "type"), "type is required when appArmorProfile is set")
    elif kind == "Localhost":
        if name != name.strip():
            log.invalid(at, name, "must not be padded with whitespace")
        elif not name:
            log.required(at, "must be set when AppArmor type is Localhost")
        log.too_long(at, len(name.encode()), _LONGEST_PATH)
    elif kind in _PROFILES and local is not None:
        log.invalid(at, local, _ONLY_LOCAL.format("AppArmor"))
    else:
        log.one_of((*path, "type"), kind, _PROFILES)


def of_pod(tree: Any, path: Path, log: Complaints) -> None:
    """The security context of a pod."""
    _rights(tree, path, log)
    names: set[str] = set()
    for index, sysctl in maps(fields(tree).get("sysctls")):
        at: Path = (*path, "sysctls", index, "name")
        name = str(sysctl.get("name") or "")
        if not name:
            log.required(at)
        elif not _is_sysctl(name):
            log.invalid(at, name, f"must have at most {_LONGEST} characters and match regex {_SYSCTL}")
        elif name in names:
            log.duplicate(at, name)
        names.add(name)


def _is_sysctl(name: str) -> bool:
    import re  # noqa: PLC0415 (few jobs set any)

    return len(name) <= _LONGEST and re.fullmatch(_SYSCTL, name) is not None


def of_container(tree: Any, path: Path, log: Complaints) -> None:
    """The security context of a container."""
    _rights(tree, path, log)
    held = fields(tree)
    if held.get("allowPrivilegeEscalation") is not False:
        return
    begin = "cannot set `allowPrivilegeEscalation` to false and "
    if held.get("privileged") is True:
        log.invalid(path, _whole(held), f"{begin}`privileged` to true")
    for capability in items(fields(held.get("capabilities")).get("add")):
        if capability == "CAP_SYS_ADMIN":
            log.invalid(path, _whole(held), f"{begin}`capabilities.Add` CAP_SYS_ADMIN")


def _whole(held: dict[str, Any]) -> dict[str, Any]:
    """A security context with all of its fields, as Kubernetes' own structure names them."""
    return {name: _part(held.get(field), parts) for field, (name, parts) in _CONTEXT.items()}


def _part(value: Any, parts: dict[str, str]) -> Any:
    if type(value) is not dict:
        return value
    return {name: value.get(field, "" if field in _TEXTS else None) for field, name in parts.items()}


def sysctls_of_host(pod: dict[str, Any], path: Path, log: Complaints) -> None:
    """Settings of a part of the kernel that a pod shares with its host, so that they would be the host's."""
    for index, sysctl in maps(fields(pod.get("securityContext")).get("sysctls")):
        name = str(sysctl.get("name") or "")
        for field, shared in (("hostNetwork", _of_network), ("hostIPC", _of_ipc)):
            if pod.get(field) is True and shared(_dotted(name)):
                at: Path = (*path, "securityContext", "sysctls", index, "name")
                log.invalid(at, name, f"may not be specified when '{field}' is true")


def _dotted(name: str) -> str:
    """A setting in the spelling with dots; in that with slashes a dot belongs to a name."""
    first = next((c for c in name if c in "./"), ".")
    dotted = name if first == "." else name.translate({ord("."): "/", ord("/"): "."})
    return dotted.partition("*")[0]


def _of_network(name: str) -> bool:
    return name.startswith("net.")


def _of_ipc(name: str) -> bool:
    return name in _OF_IPC or name.startswith("fs.mqueue.")
