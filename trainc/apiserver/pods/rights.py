"""What is wrong with the rights of a pod and of its containers, and with the kernel's settings."""

from trainc.apiserver.pods.complaints import MAX_INT32, Field, fields, items
from trainc.apiserver.pods.windows import options

_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_ONLY_LOCAL = "can only be set when {} type is Localhost"
# The words that a field can hold, and the gate that it is behind.
_ENUMS = {
    "fsGroupChangePolicy": ("", ("Always", "OnRootMismatch")),
    "supplementalGroupsPolicy": ("SupplementalGroupsPolicy", ("Merge", "Strict")),
    "seLinuxChangePolicy": ("SELinuxChangePolicy", ("MountOption", "Recursive")),
    "procMount": ("ProcMountType", ("Default", "Unmasked")),
}
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


def _rights(held: Field) -> None:
    """What a pod and a container have in common."""
    for number in [*held.given("runAsUser", "runAsGroup", "fsGroup"), *held["supplementalGroups"].items()]:
        number.between(0, MAX_INT32)
    for name, (gate, words) in _ENUMS.items():
        if held.get(name) is not None and (not gate or held[name].has(gate)):
            only = name == "seLinuxChangePolicy" and not held.log.features.has("SELinuxMount")
            held[name].one_of(words[1:] if only else words)
    for profile in held.given("seccompProfile"):
        _seccomp(profile)
    for windows in held.given("windowsOptions"):
        options(windows)
    for profile in held.given("appArmorProfile"):
        _app_armor(profile)


def _seccomp(profile: Field) -> None:
    kind, local = profile["type"], profile["localhostProfile"]
    if kind.need("type is required when seccompProfile is set"):
        kind.one_of(_PROFILES)
    if kind.value != "Localhost":
        if local.value is not None:
            shown = {"Type": kind.value or "", "LocalhostProfile": local.value}
            local.reading(shown).invalid(_ONLY_LOCAL.format("seccomp"))
    elif local.value is None:
        local.required("must be set when seccomp type is Localhost")
    else:
        local.below()


def _app_armor(profile: Field) -> None:
    kind, local = profile["type"], profile["localhostProfile"]
    if not kind.need("type is required when appArmorProfile is set"):
        return
    if kind.value == "Localhost":
        name = local.reading(profile.text("localhostProfile"))
        if name.value != name.value.strip():
            name.invalid("must not be padded with whitespace")
        else:
            name.need("must be set when AppArmor type is Localhost")
        name.too_long(_LONGEST_PATH)
    elif kind.value in _PROFILES and local.value is not None:
        local.invalid(_ONLY_LOCAL.format("AppArmor"))
    else:
        kind.one_of(_PROFILES)


def of_pod(held: Field) -> None:
    """The security context of a pod."""
    _rights(held)
    if not held.get("sysctls"):
        return
    import re  # noqa: PLC0415 (few jobs set any)

    names: set[str] = set()
    for sysctl in held["sysctls"].maps():
        name = sysctl["name"].reading(str(sysctl.get("name") or ""))
        if name.need():
            if len(name.value) > _LONGEST or not re.fullmatch(_SYSCTL, name.value):
                name.invalid(f"must have at most {_LONGEST} characters and match regex {_SYSCTL}")
            elif name.value in names:
                name.duplicate()
        names.add(name.value)


def of_container(held: Field) -> None:
    """The security context of a container."""
    _rights(held)
    if held.get("allowPrivilegeEscalation") is not False:
        return
    # The server prints all fields, as Kubernetes' own structure names them.
    shown = {}
    for field, (name, parts) in _CONTEXT.items():
        value = held.get(field)
        if type(value) is dict:
            value = {part: value.get(key, "" if key in _TEXTS else None) for key, part in parts.items()}
        shown[name] = value
    whole, begin = held.reading(shown), "cannot set `allowPrivilegeEscalation` to false and "
    if held.get("privileged") is True:
        whole.invalid(f"{begin}`privileged` to true")
    for capability in items(fields(held.get("capabilities")).get("add")):
        if capability == "CAP_SYS_ADMIN":
            whole.invalid(f"{begin}`capabilities.Add` CAP_SYS_ADMIN")


def sysctls_of_host(pod: Field) -> None:
    """Settings of a part of the kernel that a pod shares with its host, so that they would be the host's."""
    for sysctl in pod["securityContext"]["sysctls"].maps():
        name = sysctl["name"].reading(str(sysctl.get("name") or ""))
        # In the spelling with slashes a dot belongs to a name.
        first = next((c for c in name.value if c in "./"), ".")
        dotted = name.value if first == "." else name.value.translate({ord("."): "/", ord("/"): "."})
        setting = dotted.partition("*")[0]
        of_ipc = setting in _OF_IPC or setting.startswith("fs.mqueue.")
        for field, is_shared in (("hostNetwork", setting.startswith("net.")), ("hostIPC", of_ipc)):
            if pod.get(field) is True and is_shared:
                name.invalid(f"may not be specified when '{field}' is true")
