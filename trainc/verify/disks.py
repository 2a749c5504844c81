"""The volumes of a pod and the mounts of a container, and what is worth a look in them."""

from __future__ import annotations

from trainc.model.remembered import Nodes
from trainc.model.sourced import Sourced
from trainc.verify.amounts import amount
from trainc.verify.rules.files import references_of
from trainc.verify.rules.hygiene import SENSITIVE
from trainc.verify.storage import outlives
from trainc.verify.values import flag, mappings, table, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree


class Volumes:
    """The volumes of a pod by name; `largest` is the size of the largest in memory that has one, in billionths.

    `lasting` says whether one of them outlives the pod, `written` are the names that some file gives, `references` the
    objects that they need: kind, name, and where that stands below the list.
    """

    __slots__ = ("by_name", "largest", "lasting", "references", "traits", "written")

    def __init__(self, tree: Tree) -> None:
        listed = mappings(tree)
        self.by_name: dict[str, Tree] = {text(volume, "name"): volume for volume in listed}
        self.largest = max([size for volume in listed if (size := _size(volume)) is not None], default=0)
        self.lasting = any(map(outlives, self.by_name.values()))
        self.written = frozenset([text(volume, "name") for volume in listed if _from_file(volume)])
        self.references = [
            (kind, name, (index, field))
            for index, volume in enumerate(listed)
            for kind, field, name in references_of(volume)
        ]
        traits = {key for volume in self.by_name.values() for key in volume}
        for volume in listed:
            path = text(table(volume, "hostPath"), "path")
            if (path.rstrip("/") or path) in SENSITIVE:
                traits.add("sensitive host path")
            if path.rstrip("/") == "/dev/shm":  # noqa: S108 (the path somebody wrote)
                traits.add("host shm")
        self.traits = frozenset(traits)


def _size(volume: Tree) -> int | None:
    source = table(volume, "emptyDir")
    leaf = source.get("sizeLimit")
    return amount(leaf.value) if text(source, "medium") == "Memory" and type(leaf) is Sourced else None


def _from_file(volume: Tree) -> bool:
    return bool(text(volume, "name")) and volume["name"].origin.at is not None


class Mounts:
    """The mounts of a container: the names of their volumes, their places, and whether one brings shared memory."""

    __slots__ = ("names", "places", "shm", "traits")

    def __init__(self, tree: Tree) -> None:
        listed = mappings(tree)
        places = [text(mount, "mountPath") for mount in listed]
        self.names = frozenset([text(mount, "name") for mount in listed])
        self.places = places
        self.shm = any(place.rstrip("/") in ("/dev/shm", "/dev") for place in places)  # noqa: S108 (somebody's path)
        traits = set()
        if any(place[:1] != "/" for place in places):
            traits.add("relative mount")
        if any(place == "/dev" or place.startswith("/dev/aperture_devices") for place in places):
            traits.add("aperture devices")
        if any(flag(mount, "readOnly") for mount in listed):
            traits.add("read-only mount")
        self.traits = frozenset(traits)


# By the list itself, None for a pod or a container without one.
VOLUMES, MOUNTS = Nodes(Volumes), Nodes(Mounts)
