"""What is wrong with the volumes of a pod, and with how its containers mount them."""

from collections.abc import Mapping

from trainc.apiserver.pods.complaints import Field, items
from trainc.apiserver.pods.sources import SOURCES, volume
from trainc.model.tree import Tree, plain, value
from trainc.text.placeholders import is_placeholder

_CLAIMS = frozenset(("persistentVolumeClaim", "ephemeral"))
_RARE = frozenset(("subPath", "subPathExpr", "mountPropagation", "recursiveReadOnly"))


class Volumes:
    """The volumes of a pod that a container can mount: the kind of each by its name.

    `removed` are those that the server drops, `is_open` says that names of some are filled in later.
    """

    def __init__(self) -> None:
        self.kinds: dict[str, str] = {}
        self.removed: set[str] = set()
        self.is_open = False

    def has(self, name: str) -> bool:
        """Whether there is or may be a volume of that name."""
        return name in self.kinds or name in self.removed or self.is_open


def volumes(pod: Field, claimed: Mapping[str, str]) -> Volumes:
    """Look at the volumes of a pod; `claimed` are those that JobSet adds. A faulty one counts as absent."""
    checked, faults = Volumes(), pod.log.faults
    for index, tree in enumerate(items(pod.get("volumes"))):
        if type(tree) is not dict:
            continue
        before = len(faults)
        name, kind = value(tree, "name"), next((field for field in tree if field in SOURCES), "emptyDir")
        one = pod["volumes"][index].reading(plain(tree))
        if kind == "image" and not one.has("ImageVolume"):
            checked.removed.add(str(name))
            continue
        volume(one)
        if name in checked.kinds:
            one["name"].duplicate()
        elif is_placeholder(name):
            checked.is_open = True
        elif type(name) is str and len(faults) == before:
            checked.kinds[name] = kind
    checked.kinds.update(claimed)
    return checked


def mounts(container: Field, known: Volumes) -> None:
    """The mounts of a container, as a tree; the server prints rare fields without saying of which mount."""
    devices = {text_of(tree, "name"): text_of(tree, "devicePath") for tree in items(container.get("volumeDevices"))}
    taken: set[str] = set()
    for index, tree in enumerate(items(container.get("volumeMounts"))):
        if type(tree) is not dict:
            continue
        name, place = text_of(tree, "name"), text_of(tree, "mountPath")
        if name and known.has(name) and place and place not in taken and not devices and _RARE.isdisjoint(tree):
            taken.add(place)  # as nearly every mount
            continue
        mount = container["volumeMounts"][index]
        at_name, at_place = mount["name"].reading(name), mount["mountPath"].reading(place)
        at_name.need()
        if not known.has(name):
            at_name.not_found()
        at_place.need()
        if place in taken:
            at_place.invalid("must be unique")
        taken.add(place)
        if name in devices:
            at_name.invalid("must not already exist in volumeDevices")
        if place in devices.values():
            at_place.invalid("must not already exist as a path in volumeDevices")
        if not _RARE.isdisjoint(tree):
            privileged = value(container.value, "securityContext", "privileged") is True
            _rare(mount.reading(plain(tree)).printed((*container.path, "volumeMounts")), mount, privileged=privileged)


def text_of(tree: Tree, name: str) -> str:
    """A text of a tree, empty where there is none."""
    text = value(tree, name)
    return text if type(text) is str else ""


def _rare(mount: Field, listed: Field, *, privileged: bool) -> None:
    """Fields of a mount for which the server prints the path of all mounts; `listed` is the mount at its own."""
    for path in mount.given("subPath", "subPathExpr"):
        if path.path[-1] == "subPathExpr" and path.value and mount.get("subPath"):
            listed["subPathExpr"].reading(path.value).invalid("subPathExpr and subPath are mutually exclusive")
        path.below()
    spread, mode = mount["mountPropagation"], mount["recursiveReadOnly"]
    spread.one_of(("Bidirectional", "HostToContainer", "None"))
    if spread.value == "Bidirectional" and not privileged:
        spread.forbidden("Bidirectional mount propagation is available only to privileged containers")
    if mode.value in ("Enabled", "IfPossible"):
        if mount.get("readOnly") is not True:
            mode.forbidden("may only be specified when readOnly is true")
        if spread.value not in (None, "None"):
            mode.forbidden("may only be specified when mountPropagation is None or not specified")
    mode.one_of(("Disabled", "Enabled", "IfPossible"))


def devices(container: Field, known: Volumes) -> None:
    """Block devices: their volumes have to be claims."""
    if "volumeDevices" not in container.value:
        return
    listed = container["volumeDevices"].reading(plain(container.get("volumeDevices")))
    mounted = {text_of(tree, "name"): text_of(tree, "mountPath") for tree in items(container.get("volumeMounts"))}
    names: set[str] = set()
    places: set[str] = set()
    for device in listed.maps():
        name, place = (
            device["name"].reading(device.text("name")),
            device["devicePath"].reading(device.text("devicePath")),
        )
        name.need()
        if name.value in names:
            name.invalid("must be unique")
        if name.value in known.kinds and known.kinds[name.value] not in _CLAIMS:
            name.invalid("can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode")
        if not known.has(name.value):
            name.not_found()
        place.need()
        if place.value in places:
            place.invalid("must be unique")
        if ".." in place.value.split("/"):
            place.invalid("can not contain backsteps ('..')")
        else:
            places.add(place.value)
        if name.value in mounted:
            name.invalid("must not already exist in volumeMounts")
        if place.value in mounted.values():
            place.invalid("must not already exist as a path in volumeMounts")
        if name.value:
            names.add(name.value)
