"""What is wrong with the sources of variables."""

from __future__ import annotations

from trainc.schema.names import SUBDOMAIN_TEXT, config_key, qualified, subdomain
from trainc.schema.pods.amounts import spelled
from trainc.schema.pods.said import fields, is_set, maps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from trainc.model.tree import Path
    from trainc.schema.pods.said import Said

_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_READABLE = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
# Fields that a path may name, but that no variable can be read from.
_CONVERTIBLE = frozenset(
    (
        *_READABLE,
        "metadata.annotations",
        "metadata.labels",
        "spec.restartPolicy",
        "spec.schedulerName",
        "status.phase",
        "spec.host",
        "spec.hostNetwork",
        "status.nominatedNodeName",
    )
)
_RESOURCES = ("limits.cpu", "limits.ephemeral-storage", "limits.memory")
_MEASURABLE = (*_RESOURCES, *(name.replace("limits", "requests") for name in _RESOURCES))
_WHOLE = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei"
_CALLED = {"memory": "memory", "ephemeral-storage": "local ephemeral storage", "hugepages": "hugepages"}
_ENV_TEXT = "a valid environment variable name must consist only of printable ASCII characters other than '='"


def origin(entry: dict[str, Any], path: Path, said: Said) -> None:
    """What one variable is read from; `path` is that of the entry."""
    if entry.get("valueFrom") is None:
        return
    at: Path = (*path, "valueFrom")
    source = fields(entry["valueFrom"])
    given = is_set(source, *_SOURCES)
    for name in given:
        _ONE[name](fields(source[name]), (*at, name), said)
    if not given:
        said.invalid(at, "", f"must specify one of: {', '.join(f'`{n}`' for n in _SOURCES[:4])} or `fileKeyRef`")
    elif len(given) > 1 and not entry.get("value"):
        said.invalid(at, "", "may not have more than one field specified at a time")


def field(ref: dict[str, Any], path: Path, said: Said, readable: tuple[str, ...] = _READABLE) -> None:
    """A field of the pod, of those that can be read there; `path` is that of the reference."""
    label, version = str(ref.get("fieldPath") or ""), ref.get("apiVersion") or "v1"
    at: Path = (*path, "fieldPath")
    if not label:
        said.required(at)
        return
    name, subscript, key = label.partition("['")
    if version != "v1":
        said.invalid(at, label, f"error converting fieldPath: unsupported pod version: {version}")
    elif subscript and label.endswith("']"):
        if name not in ("metadata.annotations", "metadata.labels"):
            said.invalid(at, label, f"error converting fieldPath: field label does not support subscript: {label}")
        else:
            key = key[:-2].lower() if name == "metadata.annotations" else key[:-2]
            said.invalid(path, key, *qualified(key))
    elif label not in _CONVERTIBLE:
        said.invalid(at, label, f"error converting fieldPath: field label not supported: {label}")
    else:
        said.one_of(at, "spec.nodeName" if label == "spec.host" else label, readable)


def resource(ref: dict[str, Any], path: Path, said: Said, *, named: bool = True) -> None:
    """A resource of a container, which has to be `named` where it is not the variable's; `path` is the reference's."""
    name = str(ref.get("resource") or "")
    at: Path = (*path, "resource")
    if not named and not ref.get("containerName"):
        said.required((*path, "containerName"))
    elif not name:
        said.required(at)
    elif not name.startswith(("limits.hugepages-", "requests.hugepages-")):
        said.one_of(at, name, _MEASURABLE)
    divisor = spelled(ref.get("divisor") or "0")
    kind = name.partition(".")[2]
    if kind == "cpu" and divisor not in ("0", "1", "1m"):
        text = "only divisor's values 1m and 1 are supported with the cpu resource"
        said.invalid((*path, "divisor"), name, text)
    called = _CALLED.get("hugepages" if kind.startswith("hugepages-") else kind)
    if called is not None and divisor not in ("0", *_WHOLE.split(", ")):
        text = f"only divisor's values {_WHOLE} are supported with the {called} resource"
        said.invalid((*path, "divisor"), name, text)


def _key(ref: dict[str, Any], path: Path, said: Said) -> None:
    _named(ref.get("name"), (*path, "name"), said)
    key = str(ref.get("key") or "")
    if not key:
        said.required((*path, "key"))
    else:
        said.invalid((*path, "key"), key, *config_key(key))


def _named(name: Any, path: Path, said: Said) -> None:
    text = str(name or "")
    said.invalid(path, text, *(subdomain(text) if text else (SUBDOMAIN_TEXT,)))


def _nothing(_ref: dict[str, Any], _path: Path, _said: Said) -> None:
    """A file's key is looked at by nobody before the pod starts."""


_ONE: dict[str, Callable[[dict[str, Any], Path, Said], None]] = {
    "fieldRef": field,
    "resourceFieldRef": resource,
    "configMapKeyRef": _key,
    "secretKeyRef": _key,
    "fileKeyRef": _nothing,
}


def whole(tree: Any, path: Path, said: Said) -> None:
    """ConfigMaps and Secrets that become variables as a whole."""
    for index, entry in maps(tree):
        at: Path = (*path, index)
        prefix = str(entry.get("prefix") or "")
        if prefix and ("=" in prefix or not (prefix.isascii() and prefix.isprintable())):
            said.invalid((*at, "prefix"), prefix, _ENV_TEXT)
        given = is_set(entry, "configMapRef", "secretRef")
        for name in given:
            held = str(fields(entry[name]).get("name") or "")
            if held:
                # The server takes it for the beginning of a name, which may end in a dash.
                begun = f"{held[:-1]}a" if held.endswith("-") else held
                said.invalid((*at, name, "name"), held, *subdomain(begun))
            else:
                said.required((*at, name, "name"))
        if not given:
            said.invalid(path, "", "must specify one of: `configMapRef` or `secretRef`", at=at)
        elif len(given) > 1:
            said.invalid(path, "", "may not have more than one field specified at a time", at=at)
