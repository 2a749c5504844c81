"""The kinds of volumes: which fields each needs, and what else the server looks at, in the server's order."""

from collections.abc import Callable
from typing import NamedTuple

from trainc.apiserver.names import label, subdomain
from trainc.apiserver.pods.complaints import Field, fields, items
from trainc.text.quantity import Quantity, QuantityError

_HOST_TYPES = (
    *("", "BlockDevice", "CharDevice", "Directory"),
    *("DirectoryOrCreate", "File", "FileOrCreate", "Socket"),
)
_ISCSI = {
    "iqn": r"iqn\.\d{4}-\d{2}\.([a-zA-Z0-9.-]+)(:[^,;*&$|\s]+)$",
    "eui": r"^eui.[a-zA-Z0-9]{16}$",
    "naa": r"^naa.[a-zA-Z0-9]{32}$",
}
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MANAGED = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
_BLOB = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_RESERVED = (".kubernetes.io", ".k8s.io")


class VolumeSource(NamedTuple):
    """One kind of volume: the fields that it needs, and what looks at the rest.

    `printed` and `printed_second` are the names that the server prints where they are not that of the field, the second
    where the volume has another source as well.
    """

    required: tuple[str, ...] = ()
    look: Callable[[Field], None] | None = None
    printed: str = ""
    printed_second: str = ""


def _empty_dir(source: Field) -> None:
    try:
        size = Quantity.parse(source.get("sizeLimit") or "0")
    except QuantityError:
        return
    if size.nanos < 0:
        source["sizeLimit"].forbidden("SizeLimit field must be a valid resource quantity")


def _host_path(source: Field) -> None:
    if source["path"].need():
        source["path"].no_backsteps()
        source["type"].fallback("").one_of(_HOST_TYPES)


def _partition(source: Field) -> None:
    number = source["partition"]
    if type(number.value) is int and not 0 <= number.value <= 255:
        number.invalid("must be between 1 and 255, inclusive")  # as the server says it


def _nfs(source: Field) -> None:
    if not (place := source.text("path")).startswith("/"):
        source["path"].reading(place).invalid("must be an absolute path")


def _iscsi(source: Field) -> None:
    if source.text("iqn"):
        _qualified(source["iqn"])
    source["lun"].between(0, 255)
    if source.filled("chapAuthDiscovery", "chapAuthSession") and source.get("secretRef") is None:
        source["secretRef"].required()
    if type(source.get("initiatorName")) is str:
        _qualified(source.part("initiatorName", "initiatorname"))


def _qualified(name: Field) -> None:
    """The name of a target or an initiator of iSCSI."""
    import re  # noqa: PLC0415 (few jobs have such volumes)

    if (pattern := _ISCSI.get(name.value[:3])) is None:
        name.invalid("must be valid format starting with iqn, eui, or naa")
    elif not re.search(pattern, name.value):
        name.invalid("must be valid format")


def _flocker(source: Field) -> None:
    name, uuid = source.text("datasetName"), source.text("datasetUUID")
    if not name and not uuid:
        source.required("one of datasetName and datasetUUID is required")
    if name and uuid:
        source.reading("resource").invalid("datasetName and datasetUUID can not be specified simultaneously")
    if "/" in name:
        source["datasetName"].invalid("must not contain '/'")


def _monitors(source: Field) -> None:
    if not items(source.get("monitors")):
        source["monitors"].required()


def _rbd(source: Field) -> None:
    _monitors(source)
    source["image"].need()


def _secret(source: Field) -> None:
    """The Secret with which a storage system is reached."""
    for secret in source.given("secretRef"):
        secret["name"].need()


def _quobyte(source: Field) -> None:
    registry, why = source["registry"], "must be a host:port pair or multiple pairs separated by commas"
    if registry.reading(source.text("registry")).need(why):
        if len(source.text("tenant").encode()) > 64:
            source["tenant"].required("must be a UUID and may not exceed a length of 64 characters")
        else:
            registry.invalid(*(why for pair in registry.value.split(",") if not _is_pair(pair)))
    source["volume"].need()


def _is_pair(text: str) -> bool:
    """Whether a text is a host and a port as Go splits them."""
    host, colon, port = text.rpartition(":")
    if host.startswith("["):
        return bool(colon) and host.endswith("]") and "[" not in host[1:] and "]" not in host[:-1] + port
    return bool(colon) and ":" not in host and not set("[]").intersection(text)


def _fc(source: Field) -> None:
    targets, worldwide = source["targetWWNs"], items(source.get("wwids"))
    if not items(targets.value) and not worldwide:
        targets.required("must specify either targetWWNs or wwids, but not both")
    if items(targets.value) and worldwide:
        targets.invalid("targetWWNs and wwids can not be specified simultaneously")
    if items(targets.value) and source.get("lun") is None:
        source["lun"].required("lun is required if targetWWNs is specified")
    elif items(targets.value):
        source["lun"].between(0, 255)


def _flex(source: Field) -> None:
    for key in fields(source.get("options")):
        if f".{key.partition('/')[0].lower()}".endswith(_RESERVED):
            source["options"].entry(key).reading(key).invalid("kubernetes.io and k8s.io namespaces are reserved")


def _azure_disk(source: Field) -> None:
    source["cachingMode"].one_of(("None", "ReadOnly", "ReadWrite"))
    source["kind"].default("Shared").one_of(("Dedicated", "Managed", "Shared"))
    begin, example = ("/subscriptions/", _MANAGED) if source.get("kind") == "Managed" else ("https://", _BLOB)
    if not (uri := source.text("diskURI")).startswith(begin):
        source["diskURI"].reading(uri).one_of((example,))


def _storage_os(source: Field) -> None:
    for name in source.filled("volumeName", "volumeNamespace"):
        name.fits(label)
    _secret(source)


def _csi(source: Field) -> None:
    if driver := source.text("driver"):
        source["driver"].too_long(63)
        source["driver"].invalid(*subdomain(driver.lower()))
    for secret in source.given("nodePublishSecretRef"):
        if secret["name"].need():
            secret["name"].printed((*source.path, "name")).fits(subdomain)


def _ephemeral(source: Field) -> None:
    if source.get("volumeClaimTemplate") is not None:
        from trainc.apiserver.pods.claims import template  # noqa: PLC0415 (few pods have claims of their own)

        template(source["volumeClaimTemplate"])


def _shown(look: str) -> Callable[[Field], None]:
    """What looks at files that a volume shows of other objects; many pods have none, and load nothing for them."""

    def check(source: Field) -> None:
        from trainc.apiserver.pods import projected  # noqa: PLC0415

        getattr(projected, look)(source)

    return check


SOURCES = {
    "emptyDir": VolumeSource(look=_empty_dir),
    "hostPath": VolumeSource(look=_host_path),
    "gitRepo": VolumeSource(("repository",), lambda source: source["directory"].below()),
    "gcePersistentDisk": VolumeSource(("pdName",), _partition, printed="persistentDisk"),
    "awsElasticBlockStore": VolumeSource(("volumeID",), _partition),
    "secret": VolumeSource(("secretName",), _shown("files")),
    "nfs": VolumeSource(("server", "path"), _nfs),
    "iscsi": VolumeSource(("targetPortal", "iqn"), _iscsi),
    "glusterfs": VolumeSource(("endpoints", "path")),
    "flocker": VolumeSource(look=_flocker),
    "persistentVolumeClaim": VolumeSource(("claimName",)),
    "rbd": VolumeSource(look=_rbd),
    "cinder": VolumeSource(("volumeID",), _secret),
    "cephfs": VolumeSource(look=_monitors, printed_second="cephFS"),
    "quobyte": VolumeSource(look=_quobyte),
    "downwardAPI": VolumeSource(look=_shown("downward"), printed_second="downwarAPI"),
    "fc": VolumeSource(look=_fc),
    "flexVolume": VolumeSource(("driver",), _flex),
    "configMap": VolumeSource(("name",), _shown("files")),
    "azureFile": VolumeSource(("secretName", "shareName")),
    "vsphereVolume": VolumeSource(("volumePath",)),
    "photonPersistentDisk": VolumeSource(("pdID",)),
    "portworxVolume": VolumeSource(("volumeID",)),
    "azureDisk": VolumeSource(("diskName", "diskURI"), _azure_disk),
    "storageos": VolumeSource(("volumeName",), _storage_os),
    "projected": VolumeSource(look=_shown("projected")),
    "scaleIO": VolumeSource(("gateway", "system", "volumeName")),
    "csi": VolumeSource(("driver",), _csi),
    "ephemeral": VolumeSource(("volumeClaimTemplate",), _ephemeral),
    "image": VolumeSource(look=lambda source: source["pullPolicy"].fallback(None).one_of(_PULL_POLICIES)),
}


def volume(held: Field) -> None:
    """One volume: its source, of several the first one, and its name."""
    for number, given in enumerate(held.given(*SOURCES)):
        field = str(given.path[-1])
        kind = SOURCES[field]
        if number:
            printed = held.part(field, kind.printed_second or field)
            printed.forbidden("may not specify more than 1 volume type")
            continue
        source = held.part(field, kind.printed or field)
        for name in kind.required:
            if source.get(name) in (None, ""):
                source[name].required()
        if kind.look is not None:
            kind.look(source)
    portal = f"{held.text('name')}:{held['iscsi'].text('targetPortal')}"
    if held["iscsi"].get("initiatorName") is not None and len(portal.encode()) > 64:
        why = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."
        held["name"].reading(held.text("name")).invalid(why)
    if held["name"].need():
        held["name"].fits(label)
