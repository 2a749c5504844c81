"""What is wrong with the volumes of a pod, and with how its containers mount them."""

from __future__ import annotations

from collections.abc import Mapping

from trainc.apiserver.pods.complaints import Complaints, is_set, maps, text
from trainc.apiserver.pods.sources import SOURCES, volume
from trainc.model.tree import Path, Tree, plain, value
from trainc.text.placeholders import is_placeholder
from trainc.text.record import Any

_PROPAGATION = ("Bidirectional", "HostToContainer", "None")
_READ_ONLY = ("Disabled", "Enabled", "IfPossible")
_CLAIMS = frozenset(("persistentVolumeClaim", "ephemeral"))
_RARE = frozenset(("subPath", "subPathExpr", "mountPropagation", "recursiveReadOnly"))


class Volumes:
    """The volumes of a pod that a container can mount: the kind of each by its name.

    `removed` are those that the server drops, `is_open` says that names of some are filled in later.
    """

    def __init__(self, claimed: Mapping[str, str]) -> None:
        self.kinds: dict[str, str] = dict(claimed)
        self.removed: set[str] = set()
        self.is_open = False

    def has(self, name: str) -> bool:
        """Whether there is or may be a volume of that name."""
        return name in self.kinds or name in self.removed or self.is_open


def volumes(pod: Tree, path: Path, log: Complaints, claimed: Mapping[str, str]) -> Volumes:
    """Look at the volumes of a pod; `claimed` are those that JobSet adds. A faulty one counts as absent."""
    checked = Volumes({})
    listed = pod.get("volumes")
    for index, tree in enumerate(listed if type(listed) is list else ()):
        if type(tree) is not dict:
            continue
        before = len(log.faults)
        name, kind = value(tree, "name"), next((field for field in tree if field in SOURCES), "emptyDir")
        at: Path = (*path, "volumes", index)
        if kind == "image" and not log.has("ImageVolume", at):
            checked.removed.add(str(name))
            continue
        volume(plain(tree), at, log)
        if name in checked.kinds:
            log.duplicate((*at, "name"), name)
        elif is_placeholder(name):
            checked.is_open = True
        elif type(name) is str and len(log.faults) == before:
            checked.kinds[name] = kind
    checked.kinds.update(claimed)
    return checked


def mounts(container: Tree, path: Path, known: Volumes, log: Complaints) -> None:
    """The mounts of a container; the server prints rare fields without saying of which mount."""
    listed = container.get("volumeMounts")
    devices = _devices_of(container)
    taken: set[str] = set()
    for index, tree in enumerate(listed if type(listed) is list else ()):
        if type(tree) is not dict:
            continue
        at: Path = (*path, "volumeMounts", index)
        name, place = text_of(tree, "name"), text_of(tree, "mountPath")
        if not name:
            log.required((*at, "name"))
        if not known.has(name):
            log.not_found((*at, "name"), name)
        if not place:
            log.required((*at, "mountPath"))
        if place in taken:
            log.invalid((*at, "mountPath"), place, "must be unique")
        taken.add(place)
        if devices:
            if name in devices:
                log.invalid((*at, "name"), name, "must not already exist in volumeDevices")
            if place in devices.values():
                log.invalid((*at, "mountPath"), place, "must not already exist as a path in volumeDevices")
        if not _RARE.isdisjoint(tree):
            privileged = value(container, "securityContext", "privileged") is True
            _rare(plain(tree), (*path, "volumeMounts"), at, log, privileged=privileged)


def text_of(tree: Tree, name: str) -> str:
    """A text of a tree, empty where there is none."""
    text = value(tree, name)
    return text if type(text) is str else ""


def _devices_of(container: Tree) -> dict[str, str]:
    listed = container.get("volumeDevices")
    trees = listed if type(listed) is list else ()
    return {text_of(tree, "name"): text_of(tree, "devicePath") for tree in trees}


def _rare(mount: dict[str, Any], path: Path, at: Path, log: Complaints, *, privileged: bool) -> None:
    for name in is_set(mount, "subPath", "subPathExpr"):
        if name == "subPathExpr" and mount[name] and mount.get("subPath"):
            log.invalid((*at, name), mount[name], "subPathExpr and subPath are mutually exclusive")
        log.below((*path, name), mount[name], at=(*at, name))
    spread, place = mount.get("mountPropagation"), (*path, "mountPropagation")
    if spread is not None:
        log.one_of(place, spread, _PROPAGATION, at=(*at, "mountPropagation"))
    if spread == "Bidirectional" and not privileged:
        why = "Bidirectional mount propagation is available only to privileged containers"
        log.forbidden(place, why, at=(*at, "mountPropagation"))
    _read_only(mount, (*path, "recursiveReadOnly"), (*at, "recursiveReadOnly"), log)


def _read_only(mount: dict[str, Any], path: Path, at: Path, log: Complaints) -> None:
    mode = mount.get("recursiveReadOnly")
    if mode in ("Enabled", "IfPossible"):
        if mount.get("readOnly") is not True:
            log.forbidden(path, "may only be specified when readOnly is true", at=at)
        if mount.get("mountPropagation") not in (None, "None"):
            log.forbidden(path, "may only be specified when mountPropagation is None or not specified", at=at)
    elif mode is not None:
        log.one_of(path, mode, _READ_ONLY, at=at)


def devices(container: Tree, path: Path, known: Volumes, log: Complaints) -> None:
    """Block devices: their volumes have to be claims."""
    if "volumeDevices" not in container:
        return
    mounted = {text(mount, "name"): text(mount, "mountPath") for _, mount in maps(plain(container.get("volumeMounts")))}
    names: set[str] = set()
    places: set[str] = set()
    for index, device in maps(plain(container["volumeDevices"])):
        at: Path = (*path, "volumeDevices", index)
        name, place = text(device, "name"), text(device, "devicePath")
        _device_name(name, (*at, "name"), names, known, log)
        if not place:
            log.required((*at, "devicePath"))
        if place in places:
            log.invalid((*at, "devicePath"), place, "must be unique")
        if ".." in place.split("/"):
            log.invalid((*at, "devicePath"), place, "can not contain backsteps ('..')")
        else:
            places.add(place)
        if name in mounted:
            log.invalid((*at, "name"), name, "must not already exist in volumeMounts")
        if place in mounted.values():
            log.invalid((*at, "devicePath"), place, "must not already exist as a path in volumeMounts")
        if name:
            names.add(name)


def _device_name(name: str, path: Path, names: set[str], known: Volumes, log: Complaints) -> None:
    if not name:
        log.required(path)
    if name in names:
        log.invalid(path, name, "must be unique")
    if name in known.kinds and known.kinds[name] not in _CLAIMS:
        why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
        log.invalid(path, name, why)
    if not known.has(name):
        log.not_found(path, name)
