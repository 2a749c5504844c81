"""The Pod Security Standards: which fields of a pod each control restricts, in the words of Kubernetes' own admission.

Controls and words are those of the admission plugin PodSecurity of Kubernetes 1.36, policy version `latest`.
"""

from __future__ import annotations

from trainc.model.tree import value
from trainc.verify.data.security import (
    CONTAINER_TYPES,
    DEFAULT_CAPABILITIES,
    RESTRICTED_CAPABILITIES,
    RESTRICTED_VOLUMES,
    SAFE_SYSCTLS,
)
from trainc.verify.values import flag, rows, table, templated, text, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import NamedTuple

    from trainc.model.tree import Path, Tree

    Containers = Sequence[tuple[Path, Tree]]  # where each stands in the pod's spec
else:
    from trainc.model.record import NamedTuple

BASELINE, RESTRICTED = "baseline", "restricted"
LEVELS = (BASELINE, RESTRICTED)
_PROFILES = ("RuntimeDefault", "Localhost")


class Violation(NamedTuple):
    """What a control forbids in a pod: its name, the details, and the first place of it in the pod's spec."""

    control: str
    details: str
    path: Path


def violations(pod: Tree, level: str) -> Iterator[Violation]:
    """Every violation of a pod's spec, in the order of the standards; a value that is filled in later violates none."""
    containers = [
        ((field, index), container)
        for field in ("initContainers", "containers")
        for index, container in enumerate(rows(pod, field))
    ]
    checks = _RESTRICTED if level == RESTRICTED else _BASELINE
    for check in checks:
        violation = check(pod, containers)
        if violation is not None:
            yield violation


def _security(tree: Tree) -> Tree:
    return table(tree, "securityContext")


def _named(word: str, names: Sequence[str]) -> str:
    """`container "a"` or `containers "a", "b"`."""
    return f"{word}{'s' if len(names) > 1 else ''} {_quoted(names)}"


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _about(containers: Containers) -> str:
    return _named("container", [text(container, "name") for _, container in containers])


def _host_namespaces(pod: Tree, _: Containers) -> Violation | None:
    used = [field for field in ("hostNetwork", "hostPID", "hostIPC") if flag(pod, field)]
    details = ", ".join(f"{field}=true" for field in used)
    return Violation("host namespaces", details, (used[0],)) if used else None


def _privileged(_: Tree, containers: Containers) -> Violation | None:
    bad = [(path, one) for path, one in containers if flag(_security(one), "privileged")]
    details = f"{_about(bad)} must not set securityContext.privileged=true"
    return Violation("privileged", details, (*bad[0][0], "securityContext", "privileged")) if bad else None


def _added(containers: Containers, allowed: frozenset[str]) -> tuple[Containers, list[str]]:
    """The containers that add other capabilities than these, and those capabilities."""
    bad, names = [], set()
    for path, container in containers:
        written = texts(table(_security(container), "capabilities"), "add")
        more = {name for name in written if not templated(name)} - allowed
        if more:
            bad.append((path, container))
            names |= more
    return bad, sorted(names)


def _capabilities(_: Tree, containers: Containers) -> Violation | None:
    bad, names = _added(containers, DEFAULT_CAPABILITIES)
    if not bad:
        return None
    details = f"{_about(bad)} must not include {_quoted(names)} in securityContext.capabilities.add"
    return Violation("non-default capabilities", details, (*bad[0][0], "securityContext", "capabilities", "add"))


def _host_path(pod: Tree, _: Containers) -> Violation | None:
    bad = [(index, text(volume, "name")) for index, volume in enumerate(rows(pod, "volumes")) if "hostPath" in volume]
    details = _named("volume", [name for _, name in bad])
    return Violation("hostPath volumes", details, ("volumes", bad[0][0])) if bad else None


def _host_ports(pod: Tree, containers: Containers) -> Violation | None:
    """Ports of the host; in the host's network every port is one, because the server fills `hostPort` in."""
    field = "containerPort" if flag(pod, "hostNetwork") else "hostPort"
    bad: list[tuple[Path, Tree]] = []
    ports: list[str] = []
    first: Path = ()
    for path, container in containers:
        used = [(at, value(port, field)) for at, port in enumerate(rows(container, "ports")) if value(port, field)]
        if used:
            bad.append((path, container))
            first = first or (*path, "ports", used[0][0], field)
            ports += [str(number) for _, number in used]
    many = len(bad) > 1
    details = f"{_about(bad)} use{'' if many else 's'} hostPort{'s' if len(ports) > 1 else ''} {', '.join(ports)}"
    return Violation("hostPort", details, first) if bad else None


def _app_armor(pod: Tree, containers: Containers) -> Violation | None:
    owners = [("pod", (), pod), *((_about([one]), *one) for one in containers)]
    for who, path, owner in owners:
        kind = text(table(_security(owner), "appArmorProfile"), "type")
        if kind == "Unconfined":
            details = f'{who} must not set AppArmor profile type to "{kind}"'
            return Violation(
                "forbidden AppArmor profile", details, (*path, "securityContext", "appArmorProfile", "type")
            )
    return None


def _selinux(pod: Tree, containers: Containers) -> Violation | None:
    owners = [("pod", (), pod), *((_about([one]), *one) for one in containers)]
    for who, path, owner in owners:
        options = table(_security(owner), "seLinuxOptions")
        kind = text(options, "type")
        bad = [f'type "{kind}"'] if kind not in CONTAINER_TYPES else []
        bad += [f"{field} may not be set" for field in ("user", "role") if text(options, field)]
        if bad:
            details = f"{who} set forbidden securityContext.seLinuxOptions: {'; '.join(bad)}"
            return Violation("seLinuxOptions", details, (*path, "securityContext", "seLinuxOptions"))
    return None


def _proc_mount(_: Tree, containers: Containers) -> Violation | None:
    bad = [(path, one) for path, one in containers if text(_security(one), "procMount") not in ("", "Default")]
    if not bad:
        return None
    kinds = sorted({text(_security(one), "procMount") for _, one in bad})
    details = f"{_about(bad)} must not set securityContext.procMount to {_quoted(kinds)}"
    return Violation("procMount", details, (*bad[0][0], "securityContext", "procMount"))


def _seccomp(pod: Tree, containers: Containers) -> Violation | None:
    """No seccomp profile `Unconfined` anywhere."""
    owners = [((), pod), *containers]
    bad = [(path, one) for path, one in owners if _profile(one) == "Unconfined"]
    if not bad:
        return None
    who = "pod" if not bad[0][0] else _about(bad)
    details = f'{who} must not set securityContext.seccompProfile.type to "Unconfined"'
    return Violation("seccompProfile", details, (*bad[0][0], "securityContext", "seccompProfile", "type"))


def _profile(owner: Tree) -> str:
    return text(table(_security(owner), "seccompProfile"), "type")


def _sysctls(pod: Tree, _: Containers) -> Violation | None:
    bad = [
        (index, text(one, "name"))
        for index, one in enumerate(rows(_security(pod), "sysctls"))
        if text(one, "name") not in SAFE_SYSCTLS
    ]
    details = ", ".join(name for _, name in bad)
    return Violation("forbidden sysctls", details, ("securityContext", "sysctls", bad[0][0], "name")) if bad else None


def _restricted_volumes(pod: Tree, _: Containers) -> Violation | None:
    bad = []
    for index, volume in enumerate(rows(pod, "volumes")):
        kinds = [key for key in volume if key != "name"]
        if kinds and not RESTRICTED_VOLUMES.intersection(kinds):
            bad.append((index, text(volume, "name"), kinds[0]))
    if not bad:
        return None
    kinds = sorted({kind for *_, kind in bad})
    verb = "use restricted volume type" if len(bad) > 1 else "uses restricted volume type"
    details = f"{_named('volume', [name for _, name, _ in bad])} {verb}{'s' if len(kinds) > 1 else ''} {_quoted(kinds)}"
    return Violation("restricted volume types", details, ("volumes", bad[0][0]))


def _escalation(_: Tree, containers: Containers) -> Violation | None:
    bad = [(path, one) for path, one in containers if not _denies(one)]
    details = f"{_about(bad)} must set securityContext.allowPrivilegeEscalation=false"
    return Violation("allowPrivilegeEscalation != false", details, bad[0][0]) if bad else None


def _denies(container: Tree) -> bool:
    written = value(_security(container), "allowPrivilegeEscalation")
    return written is not None and written is not True


def _non_root(pod: Tree, containers: Containers) -> Violation | None:
    of_pod = value(_security(pod), "runAsNonRoot")
    asked = [(path, one, value(_security(one), "runAsNonRoot")) for path, one in containers]
    refusing = [(path, one) for path, one, written in asked if written is False]
    missing = [(path, one) for path, one, written in asked if written is None and not of_pod]
    control = "runAsNonRoot != true"
    if refusing:
        details = f"{_about(refusing)} must not set securityContext.runAsNonRoot=false"
        return Violation(control, details, (*refusing[0][0], "securityContext", "runAsNonRoot"))
    if of_pod is False and missing:
        details = "pod must not set securityContext.runAsNonRoot=false"
        return Violation(control, details, ("securityContext", "runAsNonRoot"))
    details = f"pod or {_about(missing)} must set securityContext.runAsNonRoot=true"
    return Violation(control, details, missing[0][0]) if missing else None


def _user(pod: Tree, containers: Containers) -> Violation | None:
    if value(_security(pod), "runAsUser") == 0:
        return Violation("runAsUser=0", "pod must not set runAsUser=0", ("securityContext", "runAsUser"))
    bad = [(path, one) for path, one in containers if value(_security(one), "runAsUser") == 0]
    details = f"{_about(bad)} must not set runAsUser=0"
    return Violation("runAsUser=0", details, (*bad[0][0], "securityContext", "runAsUser")) if bad else None


def _default_seccomp(pod: Tree, containers: Containers) -> Violation | None:
    unconfined = _seccomp(pod, containers)
    if unconfined is not None or _profile(pod) != "":
        return unconfined
    bad = [(path, one) for path, one in containers if _profile(one) == ""]
    allowed = " or ".join(f'"{profile}"' for profile in _PROFILES)
    details = f"pod or {_about(bad)} must set securityContext.seccompProfile.type to {allowed}"
    return Violation("seccompProfile", details, bad[0][0]) if bad else None


def _dropped_capabilities(_: Tree, containers: Containers) -> Violation | None:
    missing = [
        (path, one) for path, one in containers if "ALL" not in texts(table(_security(one), "capabilities"), "drop")
    ]
    bad, names = _added(containers, RESTRICTED_CAPABILITIES)
    details = [f'{_about(missing)} must set securityContext.capabilities.drop=["ALL"]'] if missing else []
    if bad:
        details.append(f"{_about(bad)} must not include {_quoted(names)} in securityContext.capabilities.add")
    if not details:
        return None
    first = (*bad[0][0], "securityContext", "capabilities", "add") if bad else missing[0][0]
    return Violation("unrestricted capabilities", "; ".join(details), first)


_BASELINE: tuple[Callable[[Tree, Containers], Violation | None], ...] = (
    _app_armor,
    _capabilities,
    _host_namespaces,
    _host_path,
    _host_ports,
    _privileged,
    _proc_mount,
    _selinux,
    _seccomp,
    _sysctls,
)
_RESTRICTED: tuple[Callable[[Tree, Containers], Violation | None], ...] = (
    _app_armor,
    _host_namespaces,
    _host_ports,
    _privileged,
    _proc_mount,
    _selinux,
    _sysctls,
    _escalation,
    _dropped_capabilities,
    _restricted_volumes,
    _non_root,
    _user,
    _default_seccomp,
)
