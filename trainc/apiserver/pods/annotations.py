"""What is wrong with annotations: their keys, their size, and those that once were settings of the pod."""

from __future__ import annotations

from collections.abc import Mapping

from trainc.apiserver.names import qualified
from trainc.apiserver.pods.complaints import CONTAINERS, Complaints, fields, items, text
from trainc.apiserver.pods.placement import tolerations
from trainc.model.tree import Path
from trainc.text.numbers import whole_number
from trainc.text.record import Any

MAX_SIZE = 256 * 1024
_MIRROR = "kubernetes.io/config.mirror"
_TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations"
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
_SECCOMP = ("runtime/default", "docker/default", "unconfined")
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_APP_ARMOR_NAMES = {"RuntimeDefault": "runtime/default", "Unconfined": "unconfined"}
_LOCAL = "localhost/"


def annotation_keys(
    held: dict[str, Any], path: Path, log: Complaints, *, at: Path = (), own: Mapping[str, str] | None = None
) -> None:
    """Keys and size of annotations; `own` are those that a controller adds."""
    size = sum(len(f"{key}{value}".encode()) for key, value in own.items()) if own and held else 0
    for key, value in held.items():
        size += len(f"{key}{value}".encode())
        if reasons := qualified(key.lower()):
            log.invalid(path, key, *reasons, at=(*(at or path), key))
    log.too_long(path, size, MAX_SIZE, at=at)


def annotation_settings(held: dict[str, Any], pod: dict[str, Any], path: Path, at: Path, log: Complaints) -> None:
    """Annotations that the server reads as settings of a pod."""
    if _MIRROR in held and not pod.get("nodeName"):
        why = "must set spec.nodeName if mirror pod annotation is set"
        log.invalid((*path, f"[{_MIRROR}]"), held[_MIRROR], why, at=(*at, _MIRROR))
    if held.get(_TOLERATIONS):
        _tolerations(str(held[_TOLERATIONS]), path, (*at, _TOLERATIONS), log)
    cost = held.get(_DELETION_COST)
    if type(cost) is str and not _is_int32(cost):
        log.invalid((*path, f"[{_DELETION_COST}]"), cost, "must be a 32bit integer", at=(*at, _DELETION_COST))
    for key, value in held.items():
        if key == _SECCOMP_POD or key.startswith(_SECCOMP_CONTAINER):
            _seccomp(str(value), (*path, key), (*at, key), log)
    names = [text(fields(item), "name") for field in CONTAINERS for item in items(pod.get(field))]
    for key, value in held.items():
        if key.startswith(_APP_ARMOR):
            profile, name = str(value), key.removeprefix(_APP_ARMOR)
            where, place = (*path, f"[{key}]"), (*at, key)
            if name not in names:
                log.invalid(where, name, "container not found", at=place)
            if profile not in ("", *_APP_ARMOR_NAMES.values()) and not profile.startswith(_LOCAL):
                log.invalid(where, profile, f'invalid AppArmor profile name: "{profile}"', at=place)


def _tolerations(written: str, path: Path, at: Path, log: Complaints) -> None:
    from trainc.text.embedded_json import json_value  # noqa: PLC0415 (nearly nobody writes tolerations so)

    try:
        listed = json_value(written)
    except ValueError:
        log.invalid(path, _TOLERATIONS, "must be a JSON list of tolerations", at=at)
        return
    inner = Complaints(log.features, log.kind)
    tolerations(listed, (*path, _TOLERATIONS), inner)
    for fault in inner.faults:
        log.faults.append(type(fault)(at, fault.kind, fault.message, fault.value))


def _is_int32(written: str) -> bool:
    """Whether Go's strconv reads a 32-bit number that is not padded."""
    digits = written.removeprefix("-")
    number = whole_number(digits, most=2**31 if digits != written else 2**31 - 1)
    return number is not None and (written[0] != "0" or written == "0")


def _seccomp(profile: str, path: Path, at: Path, log: Complaints) -> None:
    if profile.startswith(_LOCAL):
        log.below(path, profile.removeprefix(_LOCAL), at=at)
    elif profile not in _SECCOMP:
        log.invalid(path, profile, "must be a valid seccomp profile", at=at)


def annotation_matches(held: dict[str, Any], pod: dict[str, Any], path: Path, log: Complaints) -> None:
    """Annotations that contradict the fields that replaced them."""
    whole = fields(pod.get("securityContext"))
    _same_seccomp(held.get(_SECCOMP_POD), whole.get("seccompProfile"), (*path, "securityContext"), log)
    windows = fields(pod.get("os")).get("name") == "windows"
    for field in CONTAINERS:
        for index, item in enumerate(items(pod.get(field))):
            at: Path = (*path, field, index, "securityContext")
            context = fields(fields(item).get("securityContext"))
            name = text(fields(item), "name")
            _same_seccomp(held.get(f"{_SECCOMP_CONTAINER}{name}"), context.get("seccompProfile"), at, log)
            profile = context.get("appArmorProfile") or whole.get("appArmorProfile")
            annotation = held.get(f"{_APP_ARMOR}{name}")
            if profile is not None and annotation is not None and not windows:
                _same_app_armor(str(annotation), fields(profile), (*at, "appArmorProfile"), log)


def _same_seccomp(annotation: Any, profile: Any, path: Path, log: Complaints) -> None:
    if annotation is None or profile is None:
        return
    kind, at = fields(profile).get("type"), (*path, "seccompProfile")
    why = "seccomp type in annotation and field must match"
    if (
        (kind == "Unconfined" and annotation != "unconfined")
        or (kind == "RuntimeDefault" and annotation not in _SECCOMP[:2])
        or (kind == "Localhost" and not str(annotation).startswith(_LOCAL))
    ):
        log.forbidden((*at, "type"), why)
    elif kind == "Localhost" and str(annotation).removeprefix(_LOCAL) != fields(profile).get("localhostProfile"):
        log.forbidden((*at, "localhostProfile"), "seccomp profile in annotation and field must match")


def _same_app_armor(annotation: str, profile: dict[str, Any], path: Path, log: Complaints) -> None:
    kind, why = profile.get("type"), "apparmor type in annotation and field must match"
    if (kind in _APP_ARMOR_NAMES and annotation != _APP_ARMOR_NAMES[kind]) or (
        kind == "Localhost" and not annotation.startswith(_LOCAL)
    ):
        log.forbidden((*path, "type"), why)
    elif kind == "Localhost" and annotation.removeprefix(_LOCAL) != profile.get("localhostProfile"):
        log.forbidden((*path, "localhostProfile"), "apparmor profile in annotation and field must match")
