"""What is wrong with the sources of volumes, and with how containers mount them."""

from __future__ import annotations

from trainc.schema.names import SUBDOMAIN_TEXT, subdomain
from trainc.schema.pods import claims, variables
from trainc.schema.pods.said import Said, fields, is_set, maps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from trainc.model.tree import Path

_MODE = "must be a number between 0 and 0777 (octal), both inclusive"
_HOST_TYPES = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_PROPAGATION = ("Bidirectional", "HostToContainer", "None")
_READABLE = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
_READ_ONLY = ("Disabled", "Enabled", "IfPossible")


def volumes(tree: Any, path: Path, said: Said) -> None:
    """The sources of volumes; of one with several sources the first one is looked at."""
    for index, volume in maps(tree):
        for name in is_set(volume, *_SOURCES)[:1]:
            if _SOURCES[name]:
                _SOURCES[name](fields(volume[name]), (*path, index, name), said)


def _empty_dir(source: dict[str, Any], path: Path, said: Said) -> None:
    if str(source.get("sizeLimit") or "").startswith("-"):
        said.forbidden((*path, "sizeLimit"), "SizeLimit field must be a valid resource quantity")


def _host_path(source: dict[str, Any], path: Path, said: Said) -> None:
    place = str(source.get("path") or "")
    if not place:
        said.required((*path, "path"))
        return
    if ".." in place.split("/"):
        said.invalid((*path, "path"), place, "must not contain '..'")
    said.one_of((*path, "type"), source.get("type") or "", _HOST_TYPES)


def _nfs(source: dict[str, Any], path: Path, said: Said) -> None:
    if not source.get("server"):
        said.required((*path, "server"))
    place = str(source.get("path") or "")
    if not place:
        said.required((*path, "path"))
    if not place.startswith("/"):
        said.invalid((*path, "path"), place, "must be an absolute path")


def _files(name: str) -> Any:
    def look(source: dict[str, Any], path: Path, said: Said) -> None:
        if not source.get(name):
            said.required((*path, name))
        _mode(source.get("defaultMode"), (*path, "defaultMode"), said)
        for index, item in maps(source.get("items")):
            _item(item, (*path, "items", index), said)

    return look


def _mode(mode: Any, path: Path, said: Said) -> None:
    if type(mode) is int and not 0 <= mode <= 0o777:
        said.invalid(path, mode, _MODE)


def _item(item: dict[str, Any], path: Path, said: Said) -> None:
    if not item.get("key"):
        said.required((*path, "key"))
    _place(item, path, said)


def _place(item: dict[str, Any], path: Path, said: Said) -> None:
    """Where a file of a volume stands, and what may be done with it."""
    if not item.get("path"):
        said.required((*path, "path"))
    said.inside((*path, "path"), item.get("path"))
    _mode(item.get("mode"), (*path, "mode"), said)


def _claim(source: dict[str, Any], path: Path, said: Said) -> None:
    if not source.get("claimName"):
        said.required((*path, "claimName"))


def _csi(source: dict[str, Any], path: Path, said: Said) -> None:
    driver = str(source.get("driver") or "")
    if not driver:
        said.required((*path, "driver"))
    if len(driver) > 63:
        said.add((*path, "driver"), "Too long: may not be more than 63 bytes", driver)
    said.invalid((*path, "driver"), driver, *(subdomain(driver.lower()) if driver else (SUBDOMAIN_TEXT,)))
    secret: Path = (*path, "nodePublishSecretRef", "name")
    if source.get("nodePublishSecretRef") is not None:
        name = str(fields(source["nodePublishSecretRef"]).get("name") or "")
        if name:
            said.invalid((*path, "name"), name, *subdomain(name), at=secret)
        else:
            said.required(secret)


def _downward(source: dict[str, Any], path: Path, said: Said) -> None:
    _mode(source.get("defaultMode"), (*path, "defaultMode"), said)
    for index, item in maps(source.get("items")):
        _downward_item(item, path, (*path, "items", index), said)


def _downward_item(item: dict[str, Any], path: Path, at: Path, said: Said) -> None:
    reading = Said()
    _place(item, path, reading)
    one, other = item.get("fieldRef"), item.get("resourceFieldRef")
    if one is not None:
        variables.field(fields(one), (*path, "fieldRef"), reading, _READABLE)
        if other is not None:
            text = "fieldRef and resourceFieldRef can not be specified simultaneously"
            reading.invalid(path, "resource", text)
    elif other is None:
        reading.required(path, "one of fieldRef and resourceFieldRef is required")
    else:
        variables.resource(fields(other), (*path, "resourceFieldRef"), reading, named=False)
    said.standing(reading, path, at)


def _projected(source: dict[str, Any], path: Path, said: Said) -> None:
    _mode(source.get("defaultMode"), (*path, "defaultMode"), said)
    taken: list[object] = []
    for index, projection in maps(source.get("sources")):
        at: Path = (*path, "sources", index)
        for name in is_set(projection, "secret", "configMap"):
            held = fields(projection[name])
            if not held.get("name"):
                said.required((*at, name, "name"))
            for number, item in maps(held.get("items")):
                _item(item, (*at, name, "items", number), said)
                _once(item, taken, str(held.get("name") or ""), path, at, said)
        for number, item in maps(fields(projection.get("downwardAPI")).get("items")):
            _downward_item(item, (*at, "downwardAPI"), (*at, "downwardAPI", "items", number), said)
            _once(item, taken, item.get("path"), path, at, said)
        if projection.get("serviceAccountToken") is not None:
            _token(fields(projection["serviceAccountToken"]), path, (*at, "serviceAccountToken"), said)
        if (
            len(is_set(projection, "secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle"))
            > 1
        ):
            said.forbidden(at, "may not specify more than 1 volume type per source")


def _once(item: dict[str, Any], taken: list[object], shown: object, path: Path, at: Path, said: Said) -> None:
    place = item.get("path")
    if place and place in taken:
        said.invalid(path, shown, "conflicting duplicate paths", at=at)
    taken.append(place)


def _token(token: dict[str, Any], path: Path, at: Path, said: Said) -> None:
    seconds = token.get("expirationSeconds")
    if type(seconds) is int and seconds < 600:
        said.invalid((*at, "expirationSeconds"), seconds, "may not specify a duration less than 10 minutes")
    elif type(seconds) is int and seconds > 2**32:
        said.invalid((*at, "expirationSeconds"), seconds, "may not specify a duration larger than 2^32 seconds")
    reading = Said()
    if not token.get("path"):
        reading.required((*path, "path"))
    reading.inside((*path, "path"), token.get("path"))
    said.standing(reading, path, at)


def _ephemeral(source: dict[str, Any], path: Path, said: Said) -> None:
    at: Path = (*path, "volumeClaimTemplate")
    if source.get("volumeClaimTemplate") is None:
        said.required(at)
        return
    claims.template(source["volumeClaimTemplate"], at, said)


def _image(source: dict[str, Any], path: Path, said: Said) -> None:
    if source.get("pullPolicy"):
        said.one_of((*path, "pullPolicy"), source["pullPolicy"], ("Always", "IfNotPresent", "Never"))


def _repository(source: dict[str, Any], path: Path, said: Said) -> None:
    if not source.get("repository"):
        said.required((*path, "repository"))


# The sources, in the order in which the server looks; None where it looks at what storage systems ask for themselves.
_SOURCES: dict[str, Any] = {
    "emptyDir": _empty_dir,
    "hostPath": _host_path,
    "gitRepo": _repository,
    "gcePersistentDisk": None,
    "awsElasticBlockStore": None,
    "secret": _files("secretName"),
    "nfs": _nfs,
    "iscsi": None,
    "glusterfs": None,
    "flocker": None,
    "persistentVolumeClaim": _claim,
    "rbd": None,
    "cinder": None,
    "cephfs": None,
    "quobyte": None,
    "downwardAPI": _downward,
    "fc": None,
    "flexVolume": None,
    "configMap": _files("name"),
    "azureFile": None,
    "vsphereVolume": None,
    "photonPersistentDisk": None,
    "portworxVolume": None,
    "azureDisk": None,
    "storageos": None,
    "projected": _projected,
    "scaleIO": None,
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}
SOURCES = tuple(_SOURCES)


def mounts(tree: Any, path: Path, said: Said) -> None:
    """The rare fields of mounts of a container that is not privileged."""
    privileged_mounts(tree, path, said)
    for _, mount in maps(tree):
        if mount.get("mountPropagation") == "Bidirectional":
            text = "Bidirectional mount propagation is available only to privileged containers"
            said.forbidden((*path, "mountPropagation"), text)


def privileged_mounts(tree: Any, path: Path, said: Said) -> None:
    """The rare fields of mounts."""
    for index, mount in maps(tree):
        at: Path = (*path, index)
        for name in is_set(mount, "subPath", "subPathExpr"):
            _below(mount, name, path, at, said)
        spread = mount.get("mountPropagation")
        if spread is not None:
            said.one_of((*path, "mountPropagation"), spread, _PROPAGATION, at=(*at, "mountPropagation"))
        _read_only(mount, (*path, "recursiveReadOnly"), said)


def _below(mount: dict[str, Any], name: str, path: Path, at: Path, said: Said) -> None:
    place = str(mount[name])
    if place.startswith("/"):
        said.invalid((*path, name), place, "must be a relative path", at=(*at, name))
    if ".." in place.split("/"):
        said.invalid((*path, name), place, "must not contain '..'", at=(*at, name))
    if name == "subPathExpr" and place and mount.get("subPath"):
        said.invalid((*at, name), place, "subPathExpr and subPath are mutually exclusive")


def _read_only(mount: dict[str, Any], path: Path, said: Said) -> None:
    mode = mount.get("recursiveReadOnly")
    if mode in ("Enabled", "IfPossible"):
        if mount.get("readOnly") is not True:
            said.forbidden(path, "may only be specified when readOnly is true")
        if mount.get("mountPropagation") not in (None, "None"):
            said.forbidden(path, "may only be specified when mountPropagation is None or not specified")
    elif mode is not None:
        said.one_of(path, mode, _READ_ONLY)


def devices(tree: Any, path: Path, said: Said, known: Mapping[str, Any]) -> None:
    """Block devices: their volumes, here by name, have to be claims."""
    for index, device in maps(tree):
        at: Path = (*path, index)
        name, place = str(device.get("name") or ""), str(device.get("devicePath") or "")
        volume = known.get(name)
        if not name:
            said.required((*at, "name"))
        if volume is None:
            said.add((*at, "name"), f'Not found: "{name}"', name)
        elif "persistentVolumeClaim" not in volume and "ephemeral" not in volume:
            text = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            said.invalid((*at, "name"), name, text)
        if not place:
            said.required((*at, "devicePath"))
        elif ".." in place.split("/"):
            said.invalid((*at, "devicePath"), place, "can not contain backsteps ('..')")
