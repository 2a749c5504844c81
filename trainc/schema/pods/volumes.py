"""What is wrong with the sources of volumes, and with how containers mount them."""

from __future__ import annotations

from trainc.schema.names import SUBDOMAIN_TEXT, subdomain
from trainc.schema.pods.said import fields, is_set, items, maps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from trainc.model.tree import Path
    from trainc.schema.pods.said import Said

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
    place = str(item.get("path") or "")
    if not place:
        said.required((*path, "path"))
    said.below((*path, "path"), place)
    if place.startswith("..") and (place[2:3] not in ("", "/") or place == ".."):
        said.invalid((*path, "path"), place, "must not start with '..'")
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


def _downward(source: dict[str, Any], path: Path, said: Said) -> None:
    _mode(source.get("defaultMode"), (*path, "defaultMode"), said)
    for index, item in maps(source.get("items")):
        _downward_item(item, path, (*path, "items", index), said)


def _downward_item(item: dict[str, Any], path: Path, at: Path, said: Said) -> None:
    place = str(item.get("path") or "")
    if not place:
        said.required((*path, "path"), at=at)
    said.below((*path, "path"), place)
    field, resource = item.get("fieldRef"), item.get("resourceFieldRef")
    if field is None and resource is None:
        said.required(path, "one of fieldRef and resourceFieldRef is required", at=at)
    elif field is None and not fields(resource).get("containerName"):
        said.required((*path, "resourceFieldRef", "containerName"), at=at)


def _projected(source: dict[str, Any], path: Path, said: Said) -> None:
    _mode(source.get("defaultMode"), (*path, "defaultMode"), said)
    places: set[str] = set()
    for index, projection in maps(source.get("sources")):
        at: Path = (*path, "sources", index)
        for name in is_set(projection, "secret", "configMap"):
            held = fields(projection[name])
            if not held.get("name"):
                said.required((*at, name, "name"))
            for number, item in maps(held.get("items")):
                _item(item, (*at, name, "items", number), said)
                if item.get("path") in places:
                    said.invalid(path, held.get("name", ""), "conflicting duplicate paths", at=at)
                places.add(str(item.get("path") or ""))
        if projection.get("downwardAPI") is not None:
            for number, item in maps(fields(projection["downwardAPI"]).get("items")):
                _downward_item(item, (*at, "downwardAPI"), (*at, "downwardAPI", "items", number), said)
        if projection.get("serviceAccountToken") is not None:
            _token(fields(projection["serviceAccountToken"]), path, (*at, "serviceAccountToken"), said)
        if (
            len(is_set(projection, "secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle"))
            > 1
        ):
            said.forbidden(at, "may not specify more than 1 volume type per source")


def _token(token: dict[str, Any], path: Path, at: Path, said: Said) -> None:
    seconds = token.get("expirationSeconds")
    if type(seconds) is int and seconds < 600:
        said.invalid((*at, "expirationSeconds"), seconds, "may not specify a duration less than 10 minutes")
    elif type(seconds) is int and seconds > 2**32:
        said.invalid((*at, "expirationSeconds"), seconds, "may not specify a duration larger than 2^32 seconds")
    if not token.get("path"):
        said.required((*path, "path"), at=at)


def _ephemeral(source: dict[str, Any], path: Path, said: Said) -> None:
    at: Path = (*path, "volumeClaimTemplate")
    if source.get("volumeClaimTemplate") is None:
        said.required(at)
        return
    spec = fields(fields(source["volumeClaimTemplate"]).get("spec"))
    if not items(spec.get("accessModes")):
        said.required((*at, "spec", "accessModes"), "at least 1 access mode is required")
    if "storage" not in fields(fields(spec.get("resources")).get("requests")):
        said.required((*at, "spec", "resources", "[storage]"), at=(*at, "spec"))


def _repository(source: dict[str, Any], path: Path, said: Said) -> None:
    if not source.get("repository"):
        said.required((*path, "repository"))


# The sources, in the order in which the server looks; None where it looks no further.
_SOURCES: dict[str, Any] = {
    "emptyDir": _empty_dir,
    "hostPath": _host_path,
    "gitRepo": _repository,
    "secret": _files("secretName"),
    "nfs": _nfs,
    "persistentVolumeClaim": _claim,
    "downwardAPI": _downward,
    "configMap": _files("name"),
    "projected": _projected,
    "csi": _csi,
    "ephemeral": _ephemeral,
}


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
