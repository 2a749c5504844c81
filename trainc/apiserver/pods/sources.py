"""The kinds of volumes: which fields each needs, and what else the server looks at, in the server's order."""

from __future__ import annotations

from collections.abc import Callable

from trainc.apiserver.names import subdomain
from trainc.apiserver.pods.complaints import Complaints, fields, is_set, items, text
from trainc.model.tree import Path
from trainc.text.quantity import Quantity, QuantityError
from trainc.text.record import Any

Check = Callable[[dict[str, Any], Path, Complaints], None]

_HOST_TYPES = (
    *("", "BlockDevice", "CharDevice", "Directory"),
    *("DirectoryOrCreate", "File", "FileOrCreate", "Socket"),
)
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_IQN = r"iqn\.\d{4}-\d{2}\.([a-zA-Z0-9.-]+)(:[^,;*&$|\s]+)$"
_EUI, _NAA = r"^eui.[a-zA-Z0-9]{16}$", r"^naa.[a-zA-Z0-9]{32}$"
_MODES, _DISKS = ("None", "ReadOnly", "ReadWrite"), ("Dedicated", "Managed", "Shared")
_MANAGED = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
_BLOB = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_RESERVED = (".kubernetes.io", ".k8s.io")


class VolumeSource:
    """One kind of volume: its field, the fields that it needs, and what looks at the rest.

    `printed` and `printed_second` are the names that the server prints where they are not that of the field, the second
    where the volume has another source as well.
    """

    def __init__(
        self, field: str, *required: str, look: Check | None = None, printed: str = "", printed_second: str = ""
    ) -> None:
        self.field = field
        self.required = required
        self.look = look
        self.printed = printed or field
        self.printed_second = printed_second or field

    def check(self, source: dict[str, Any], path: Path, log: Complaints) -> None:
        """Add what is wrong with a source of a volume that stands at `path`."""
        printed: Path = (*path, self.printed)
        inner = Complaints(log.features, log.kind)
        for name in self.required:
            if source.get(name) in (None, ""):
                inner.required((*printed, name))
        if self.look is not None:
            self.look(source, printed, inner)
        log.moved(inner, printed, (*path, self.field))
        log.dropped += inner.dropped


def _empty_dir(source: dict[str, Any], path: Path, log: Complaints) -> None:
    try:
        size = Quantity.parse(source.get("sizeLimit") or "0")
    except QuantityError:
        return
    if size.nanos < 0:
        log.forbidden((*path, "sizeLimit"), "SizeLimit field must be a valid resource quantity")


def _host_path(source: dict[str, Any], path: Path, log: Complaints) -> None:
    if not source.get("path"):
        log.required((*path, "path"))
        return
    log.no_backsteps((*path, "path"), source["path"])
    log.one_of((*path, "type"), source.get("type") or "", _HOST_TYPES)


def _git(source: dict[str, Any], path: Path, log: Complaints) -> None:
    log.below((*path, "directory"), source.get("directory"))


def _partition(source: dict[str, Any], path: Path, log: Complaints) -> None:
    number = source.get("partition")
    if type(number) is int and not 0 <= number <= 255:
        log.invalid((*path, "partition"), number, "must be between 1 and 255, inclusive")


def _nfs(source: dict[str, Any], path: Path, log: Complaints) -> None:
    place = text(source, "path")
    if not place.startswith("/"):
        log.invalid((*path, "path"), place, "must be an absolute path")


def _iscsi(source: dict[str, Any], path: Path, log: Complaints) -> None:
    name, initiator = text(source, "iqn"), source.get("initiatorName")
    if name:
        _qualified(name, (*path, "iqn"), log)
    log.between((*path, "lun"), source.get("lun"), 0, 255)
    if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and source.get("secretRef") is None:
        log.required((*path, "secretRef"))
    if type(initiator) is str:
        inner = Complaints(log.features, log.kind)
        _qualified(initiator, (*path, "initiatorname"), inner)
        log.moved(inner, (*path, "initiatorname"), (*path, "initiatorName"))


def _qualified(name: str, path: Path, log: Complaints) -> None:
    """The name of a target or an initiator of iSCSI."""
    import re  # noqa: PLC0415 (few jobs have such volumes)

    if (pattern := {"iqn": _IQN, "eui": _EUI, "naa": _NAA}.get(name[:3])) is None:
        log.invalid(path, name, "must be valid format starting with iqn, eui, or naa")
    elif not re.search(pattern, name):
        log.invalid(path, name, "must be valid format")


def _flocker(source: dict[str, Any], path: Path, log: Complaints) -> None:
    name, uuid = text(source, "datasetName"), text(source, "datasetUUID")
    if not name and not uuid:
        log.required(path, "one of datasetName and datasetUUID is required")
    if name and uuid:
        log.invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously")
    if "/" in name:
        log.invalid((*path, "datasetName"), name, "must not contain '/'")


def _monitors(source: dict[str, Any], path: Path, log: Complaints) -> None:
    if not items(source.get("monitors")):
        log.required((*path, "monitors"))


def _rbd(source: dict[str, Any], path: Path, log: Complaints) -> None:
    _monitors(source, path, log)
    if not source.get("image"):
        log.required((*path, "image"))


def _secret(source: dict[str, Any], path: Path, log: Complaints) -> None:
    """The Secret with which a storage system is reached."""
    if source.get("secretRef") is not None and not fields(source["secretRef"]).get("name"):
        log.required((*path, "secretRef", "name"))


def _quobyte(source: dict[str, Any], path: Path, log: Complaints) -> None:
    registry, why = text(source, "registry"), "must be a host:port pair or multiple pairs separated by commas"
    if not registry:
        log.required((*path, "registry"), why)
    elif len(text(source, "tenant").encode()) > 64:
        log.required((*path, "tenant"), "must be a UUID and may not exceed a length of 64 characters")
    else:
        for pair in registry.split(","):
            if not _is_pair(pair):
                log.invalid((*path, "registry"), registry, why)
    if not source.get("volume"):
        log.required((*path, "volume"))


def _is_pair(text: str) -> bool:
    """Whether a text is a host and a port as Go splits them."""
    host, colon, port = text.rpartition(":")
    if host.startswith("["):
        return bool(colon) and host.endswith("]") and "[" not in host[1:] and "]" not in host[:-1] + port
    return bool(colon) and ":" not in host and not set("[]").intersection(text)


def _fc(source: dict[str, Any], path: Path, log: Complaints) -> None:
    targets, worldwide, at = items(source.get("targetWWNs")), items(source.get("wwids")), (*path, "targetWWNs")
    if not targets and not worldwide:
        log.required(at, "must specify either targetWWNs or wwids, but not both")
    if targets and worldwide:
        log.invalid(at, targets, "targetWWNs and wwids can not be specified simultaneously")
    if targets and source.get("lun") is None:
        log.required((*path, "lun"), "lun is required if targetWWNs is specified")
    elif targets:
        log.between((*path, "lun"), source["lun"], 0, 255)


def _flex(source: dict[str, Any], path: Path, log: Complaints) -> None:
    for key in fields(source.get("options")):
        if f".{key.partition('/')[0].lower()}".endswith(_RESERVED):
            at: Path = (*path, "options", f"[{key}]")
            log.invalid(at, key, "kubernetes.io and k8s.io namespaces are reserved", at=(*path, "options", key))


def _azure_disk(source: dict[str, Any], path: Path, log: Complaints) -> None:
    kind, uri = source.get("kind", "Shared"), text(source, "diskURI")
    if source.get("cachingMode") is not None:
        log.one_of((*path, "cachingMode"), source["cachingMode"], _MODES)
    log.one_of((*path, "kind"), kind, _DISKS)
    begin, example = ("/subscriptions/", _MANAGED) if kind == "Managed" else ("https://", _BLOB)
    if not uri.startswith(begin):
        log.one_of((*path, "diskURI"), uri, (example,))


def _storage_os(source: dict[str, Any], path: Path, log: Complaints) -> None:
    for name in ("volumeName", "volumeNamespace"):
        if source.get(name):
            log.label((*path, name), source[name])
    _secret(source, path, log)


def _csi(source: dict[str, Any], path: Path, log: Complaints) -> None:
    if driver := text(source, "driver"):
        log.too_long((*path, "driver"), len(driver.encode()), 63)
        log.invalid((*path, "driver"), driver, *subdomain(driver.lower()))
    if source.get("nodePublishSecretRef") is None:
        return
    name, at = text(fields(source["nodePublishSecretRef"]), "name"), (*path, "nodePublishSecretRef", "name")
    if name:
        log.invalid((*path, "name"), name, *subdomain(name), at=at)
    else:
        log.required(at)


def _ephemeral(source: dict[str, Any], path: Path, log: Complaints) -> None:
    if source.get("volumeClaimTemplate") is not None:
        from trainc.apiserver.pods.claims import template  # noqa: PLC0415 (few pods have claims of their own)

        template(source["volumeClaimTemplate"], (*path, "volumeClaimTemplate"), log)


def _image(source: dict[str, Any], path: Path, log: Complaints) -> None:
    if source.get("pullPolicy"):
        log.one_of((*path, "pullPolicy"), source["pullPolicy"], _PULL_POLICIES)


def _shown(look: str) -> Check:
    """What looks at files that a volume shows of other objects; many pods have none, and load nothing for them."""

    def check(source: dict[str, Any], path: Path, log: Complaints) -> None:
        from trainc.apiserver.pods import projected  # noqa: PLC0415

        getattr(projected, look)(source, path, log)

    return check


SOURCES = {
    source.field: source
    for source in (
        VolumeSource("emptyDir", look=_empty_dir),
        VolumeSource("hostPath", look=_host_path),
        VolumeSource("gitRepo", "repository", look=_git),
        VolumeSource("gcePersistentDisk", "pdName", look=_partition, printed="persistentDisk"),
        VolumeSource("awsElasticBlockStore", "volumeID", look=_partition),
        VolumeSource("secret", "secretName", look=_shown("files")),
        VolumeSource("nfs", "server", "path", look=_nfs),
        VolumeSource("iscsi", "targetPortal", "iqn", look=_iscsi),
        VolumeSource("glusterfs", "endpoints", "path"),
        VolumeSource("flocker", look=_flocker),
        VolumeSource("persistentVolumeClaim", "claimName"),
        VolumeSource("rbd", look=_rbd),
        VolumeSource("cinder", "volumeID", look=_secret),
        VolumeSource("cephfs", look=_monitors, printed_second="cephFS"),
        VolumeSource("quobyte", look=_quobyte),
        VolumeSource("downwardAPI", look=_shown("downward"), printed_second="downwarAPI"),
        VolumeSource("fc", look=_fc),
        VolumeSource("flexVolume", "driver", look=_flex),
        VolumeSource("configMap", "name", look=_shown("files")),
        VolumeSource("azureFile", "secretName", "shareName"),
        VolumeSource("vsphereVolume", "volumePath"),
        VolumeSource("photonPersistentDisk", "pdID"),
        VolumeSource("portworxVolume", "volumeID"),
        VolumeSource("azureDisk", "diskName", "diskURI", look=_azure_disk),
        VolumeSource("storageos", "volumeName", look=_storage_os),
        VolumeSource("projected", look=_shown("projected")),
        VolumeSource("scaleIO", "gateway", "system", "volumeName"),
        VolumeSource("csi", "driver", look=_csi),
        VolumeSource("ephemeral", "volumeClaimTemplate", look=_ephemeral),
        VolumeSource("image", look=_image),
    )
}


def volume(tree: Any, path: Path, log: Complaints) -> None:
    """One volume: its source, of several the first one, and its name."""
    held = fields(tree)
    for number, name in enumerate(is_set(held, *SOURCES)):
        if number:
            printed = SOURCES[name].printed_second
            log.forbidden((*path, printed), "may not specify more than 1 volume type", at=(*path, name))
        else:
            SOURCES[name].check(fields(held[name]), path, log)
    iscsi = fields(held.get("iscsi"))
    portal = f"{text(held, 'name')}:{text(iscsi, 'targetPortal')}"
    if iscsi.get("initiatorName") is not None and len(portal.encode()) > 64:
        why = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."
        log.invalid((*path, "name"), text(held, "name"), why)
    if held.get("name"):
        log.label((*path, "name"), held["name"])
    else:
        log.required((*path, "name"))
