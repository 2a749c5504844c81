"""Controls that the standard `restricted` adds to `baseline`, or puts in the place of one of its controls."""

from trainc.lint.facts.values import rows, table, text
from trainc.lint.standards.baseline import PROFILES, added
from trainc.lint.standards.baseline import seccomp as baseline_seccomp
from trainc.lint.standards.pod import (
    Owner,
    PodTemplate,
    Violation,
    containers,
    counted,
    forbidden,
    known_texts,
    quoted,
    setters,
)
from trainc.model.tree import value

_NON_ROOT = "runAsNonRoot != true"
_CAPABILITIES = frozenset(("NET_BIND_SERVICE",))
_VOLUMES = frozenset((
    "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected",
    "secret",
))  # fmt: skip


def privilege_escalation(pod: PodTemplate) -> Violation | None:
    """Every container denies its processes more rights than their parent has."""
    field = "allowPrivilegeEscalation"
    owners = [owner for owner in pod.containers if value(owner.security, field) in (None, True)]
    if not owners or pod.is_windows:
        return None
    details = f"{containers(owners)} must set securityContext.allowPrivilegeEscalation=false"
    return Violation("allowPrivilegeEscalation != false", details, owners[0].path)


def capabilities(pod: PodTemplate) -> Violation | None:
    """Every container drops all capabilities, and adds none but NET_BIND_SERVICE."""
    if pod.is_windows:
        return None
    dropped = [(owner, known_texts(table(owner.security, "capabilities"), "drop")) for owner in pod.containers]
    keeping = [owner for owner, names in dropped if "ALL" not in names]
    owners, names = added(pod, _CAPABILITIES)
    details = [f'{containers(keeping)} must set securityContext.capabilities.drop=["ALL"]'] if keeping else []
    if owners:
        details.append(f"{containers(owners)} must not include {quoted(names)} in securityContext.capabilities.add")
    if not details:
        return None
    path = (*owners[0].security_path, "capabilities", "add") if owners else keeping[0].path
    return Violation("unrestricted capabilities", "; ".join(details), path)


def volume_types(pod: PodTemplate) -> Violation | None:
    """No volume but those of these few kinds."""
    bad = []
    for index, volume in enumerate(rows(pod.spec, "volumes")):
        kinds = [key for key in volume if key != "name"]
        if kinds and not _VOLUMES.intersection(kinds):
            bad.append((index, text(volume, "name"), kinds[0]))
    if not bad:
        return None
    kinds = sorted({kind for *_, kind in bad})
    names = quoted(name for _, name, _ in bad)
    kind_word = counted("restricted volume type", kinds)
    details = f"{counted('volume', bad)} {names} {counted('uses', bad, 'use')} {kind_word} {quoted(kinds)}"
    return Violation("restricted volume types", details, ("spec", "volumes", bad[0][0]))


def non_root(pod: PodTemplate) -> Violation | None:
    """Every container, or the pod for them, says that it does not run as root."""
    if pod.is_relaxed:
        return None
    refusing = [owner for owner in pod.owners if value(owner.security, "runAsNonRoot") is False]
    if refusing:
        details = f"{setters(refusing)} must not set securityContext.runAsNonRoot=false"
        return forbidden(_NON_ROOT, refusing, details, "runAsNonRoot")
    if value(pod.owner.security, "runAsNonRoot") is not None:
        return None
    silent = [owner for owner in pod.containers if value(owner.security, "runAsNonRoot") is None]
    details = f"pod or {containers(silent)} must set securityContext.runAsNonRoot=true"
    return Violation(_NON_ROOT, details, silent[0].path) if silent else None


def user(pod: PodTemplate) -> Violation | None:
    """Nothing runs as user 0."""
    owners = [one for one in pod.owners if str(value(one.security, "runAsUser")) == "0" and not pod.is_relaxed]
    return forbidden("runAsUser=0", owners, f"{setters(owners)} must not set runAsUser=0", "runAsUser")


def seccomp(pod: PodTemplate) -> Violation | None:
    """Every container, or the pod for them, names a seccomp profile."""
    if pod.is_windows:
        return None
    if (unconfined := baseline_seccomp(pod)) is not None or _profile(pod.owner):
        return unconfined
    silent = [owner for owner in pod.containers if not _profile(owner)]
    allowed = " or ".join(f'"{profile}"' for profile in PROFILES)
    details = f"pod or {containers(silent)} must set securityContext.seccompProfile.type to {allowed}"
    return Violation("seccompProfile", details, silent[0].path) if silent else None


def _profile(owner: Owner) -> str:
    return text(table(owner.security, "seccompProfile"), "type")
