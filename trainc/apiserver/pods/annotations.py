"""What is wrong with annotations: their keys, their size, and those that once were settings of the pod."""

from collections.abc import Mapping
from typing import Any

from trainc.apiserver.names import qualified
from trainc.apiserver.pods.complaints import CONTAINERS, Complaints, Field, fields, items, text
from trainc.apiserver.pods.placement import tolerations
from trainc.text.numbers import whole_number

MAX_SIZE = 256 * 1024
_MIRROR = "kubernetes.io/config.mirror"
_TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations"
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_LOCAL = "localhost/"
# What an annotation says for each type of profile, but for `localhost/` and a path.
_SECCOMP = {"RuntimeDefault": ("runtime/default", "docker/default"), "Unconfined": ("unconfined",)}
_APP_ARMOR_NAMES = {"RuntimeDefault": ("runtime/default",), "Unconfined": ("unconfined",)}


def annotation_keys(annotations: Field, own: Mapping[str, str] | None = None) -> None:
    """Keys and size of annotations; `own` are those that a controller adds."""
    held = fields(annotations.value)
    for key in held:
        annotations.reading(key).invalid(*qualified(key.lower()), at=annotations[key])
    annotations.too_long(MAX_SIZE, size_of(held) + (size_of(own) if own and held else 0))


def size_of(annotations: Mapping[str, Any]) -> int:
    """The bytes of the keys and values of annotations."""
    return sum(len(f"{key}{value}".encode()) for key, value in annotations.items())


def annotation_settings(annotations: Field, pod: dict[str, Any]) -> None:
    """Annotations that the server reads as settings of a pod."""
    held: dict[str, Any] = annotations.value
    if _MIRROR in held and not pod.get("nodeName"):
        annotations.entry(_MIRROR).invalid("must set spec.nodeName if mirror pod annotation is set")
    if held.get(_TOLERATIONS):
        _tolerations(annotations)
    cost = annotations.entry(_DELETION_COST)
    if type(cost.value) is str and not _is_int32(cost.value):
        cost.invalid("must be a 32bit integer")
    for key, value in held.items():
        if key == _SECCOMP_POD or key.startswith(_SECCOMP_CONTAINER):
            profile = annotations[key].reading(str(value))
            if profile.value.startswith(_LOCAL):
                profile.reading(profile.value.removeprefix(_LOCAL)).below()
            elif not any(profile.value in names for names in _SECCOMP.values()):
                profile.invalid("must be a valid seccomp profile")
    containers = [text(fields(item), "name") for field in CONTAINERS for item in items(pod.get(field))]
    for key, value in held.items():
        if key.startswith(_APP_ARMOR):
            profile, name = annotations.entry(key).reading(str(value)), key.removeprefix(_APP_ARMOR)
            if name not in containers:
                profile.reading(name).invalid("container not found")
            known = ("", *(one for names in _APP_ARMOR_NAMES.values() for one in names))
            if profile.value not in known and not profile.value.startswith(_LOCAL):
                profile.invalid(f'invalid AppArmor profile name: "{profile.value}"')


def _tolerations(annotations: Field) -> None:
    from trainc.text.embedded_json import json_value  # noqa: PLC0415 (nearly nobody writes tolerations so)

    held, log = annotations[_TOLERATIONS], annotations.log
    try:
        listed = json_value(str(held.value))
    except ValueError:
        annotations.reading(_TOLERATIONS).invalid("must be a JSON list of tolerations", at=held)
        return
    inner = Complaints(log.features, log.kind)
    tolerations(Field(listed, held.path, inner))
    log.faults += [fault._replace(path=held.at) for fault in inner.faults]


def _is_int32(written: str) -> bool:
    """Whether Go's strconv reads a 32-bit number that is not padded."""
    digits = written.removeprefix("-")
    number = whole_number(digits, most=2**31 if digits != written else 2**31 - 1)
    return number is not None and (written[0] != "0" or written == "0")


def annotation_matches(held: dict[str, Any], pod: Field) -> None:
    """Annotations that contradict the fields that replaced them."""
    whole = pod["securityContext"]
    _same("seccomp", held.get(_SECCOMP_POD), whole["seccompProfile"])
    windows = pod["os"].get("name") == "windows"
    for field in CONTAINERS:
        for item in pod[field].items():
            name, context = item.text("name"), item["securityContext"]
            _same("seccomp", held.get(f"{_SECCOMP_CONTAINER}{name}"), context["seccompProfile"])
            profile = context["appArmorProfile"].fallback(whole.get("appArmorProfile"))
            if not windows:
                _same("apparmor", held.get(f"{_APP_ARMOR}{name}"), profile)


def _same(what: str, annotation: Any, profile: Field) -> None:
    if annotation is None or profile.value is None:
        return
    kind, names = profile.text("type"), _SECCOMP if what == "seccomp" else _APP_ARMOR_NAMES
    local = str(annotation).startswith(_LOCAL)
    if (kind in names and annotation not in names[kind]) or (kind == "Localhost" and not local):
        profile["type"].forbidden(f"{what} type in annotation and field must match")
    elif kind == "Localhost" and str(annotation).removeprefix(_LOCAL) != profile.get("localhostProfile"):
        profile["localhostProfile"].forbidden(f"{what} profile in annotation and field must match")
