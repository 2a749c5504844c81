"""What is wrong with the variables of containers, and with what they are read from."""

from __future__ import annotations

from collections.abc import Callable

from trainc.apiserver.names import config_key, qualified, subdomain
from trainc.apiserver.pods.complaints import Complaints, fields, is_set, maps, text
from trainc.model.tree import Path, Tree, plain, value
from trainc.text.quantity import Quantity, QuantityError
from trainc.text.record import Any

_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_READABLE = (
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
    "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
)  # fmt: skip
# Fields that a path may name, but that no variable can be read from.
_CONVERTIBLE = frozenset((
    *_READABLE, "metadata.annotations", "metadata.labels", "spec.restartPolicy", "spec.schedulerName", "status.phase",
    "spec.host", "spec.hostNetwork", "status.nominatedNodeName",
))  # fmt: skip
_RESOURCES = ("limits.cpu", "limits.ephemeral-storage", "limits.memory")
_MEASURABLE = (*_RESOURCES, *(name.replace("limits", "requests") for name in _RESOURCES))
_WHOLE = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei"
_CALLED = {"memory": "memory", "ephemeral-storage": "local ephemeral storage", "hugepages": "hugepages"}
_STRICT = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._")
_STRICT_TEXT = (
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not "
    "start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is "
    "'[-._a-zA-Z][-._a-zA-Z0-9]*')"
)
_ENV_TEXT = "a valid environment variable name must consist only of printable ASCII characters other than '='"


def variables(container: Tree, path: Path, log: Complaints) -> None:
    """The variables of a container: their names, and what each is read from."""
    listed = container.get("env")
    for index, entry in enumerate(listed if type(listed) is list else ()):
        if type(entry) is not dict:
            continue
        if not (name := value(entry, "name")):
            log.required((*path, "env", index, "name"))
        elif type(name) is str and not (name.isascii() and name.isidentifier()):
            log.invalid((*path, "env", index, "name"), name, *_name(name, log))
        if len(entry) > 1 and entry.get("valueFrom") is not None:
            _origin(plain(entry), (*path, "env", index), log)


def _name(name: str, log: Complaints) -> tuple[str, ...]:
    """Reasons why a variable, or the beginning of several, cannot be called so."""
    if log.features.has("RelaxedEnvironmentVariableValidation"):
        return (_ENV_TEXT,) if "=" in name or not (name.isascii() and name.isprintable()) else ()
    if _STRICT.issuperset(name) and not name[0].isdigit() and not name.startswith(".."):
        return () if name != "." else ("must not be '.'",)
    if name.startswith(".."):
        return ("must not be '..'",) if name == ".." else ("must not start with '..'",)
    return (_STRICT_TEXT,)


def _origin(entry: dict[str, Any], path: Path, log: Complaints) -> None:
    """What one variable is read from; `path` is that of the entry."""
    if entry.get("valueFrom") is None:
        return
    at: Path = (*path, "valueFrom")
    source = fields(entry["valueFrom"])
    given = is_set(source, *_SOURCES)
    if "fileKeyRef" in given and not log.has("EnvFiles", (*at, "fileKeyRef")):
        given.remove("fileKeyRef")
    for name in given:
        _ONE[name](fields(source[name]), (*at, name), log)
    names = _SOURCES if log.features.has("EnvFiles") else _SOURCES[:-1]
    if not given:
        listed = ", ".join(f"`{name}`" for name in names[:-1])
        log.invalid(at, "", f"must specify one of: {listed} or `{names[-1]}`")
    elif entry.get("value"):
        log.invalid(at, "", "may not be specified when `value` is not empty")
    elif len(given) > 1:
        log.invalid(at, "", "may not have more than one field specified at a time")


def field(ref: dict[str, Any], path: Path, log: Complaints, readable: tuple[str, ...] = _READABLE) -> None:
    """A field of the pod, of those that can be read there; `path` is that of the reference."""
    label, version = str(ref.get("fieldPath") or ""), ref.get("apiVersion") or "v1"
    at: Path = (*path, "fieldPath")
    if not label:
        log.required(at)
        return
    name, subscript, key = label.partition("['")
    if version != "v1":
        log.invalid(at, label, f"error converting fieldPath: unsupported pod version: {version}")
    elif subscript and label.endswith("']"):
        if name not in ("metadata.annotations", "metadata.labels"):
            log.invalid(at, label, f"error converting fieldPath: field label does not support subscript: {label}")
        else:
            key = key[:-2].lower() if name == "metadata.annotations" else key[:-2]
            log.invalid(path, key, *qualified(key))
    elif label not in _CONVERTIBLE:
        log.invalid(at, label, f"error converting fieldPath: field label not supported: {label}")
    else:
        log.one_of(at, "spec.nodeName" if label == "spec.host" else label, readable)


def resource(ref: dict[str, Any], path: Path, log: Complaints, *, is_own: bool = True) -> None:
    """A resource of a container, named unless it is the variable's own (`is_own`); `path` is the reference's."""
    name = str(ref.get("resource") or "")
    at: Path = (*path, "resource")
    if not is_own and not ref.get("containerName"):
        log.required((*path, "containerName"))
    elif not name:
        log.required(at)
    elif not name.startswith(("limits.hugepages-", "requests.hugepages-")):
        log.one_of(at, name, _MEASURABLE)
    divisor = _divisor(ref.get("divisor"))
    kind = name.partition(".")[2]
    if kind == "cpu" and divisor not in ("0", "1", "1m"):
        log.invalid((*path, "divisor"), name, "only divisor's values 1m and 1 are supported with the cpu resource")
    called = _CALLED.get("hugepages" if kind.startswith("hugepages-") else kind)
    if called is not None and divisor not in ("0", *_WHOLE.split(", ")):
        why = f"only divisor's values {_WHOLE} are supported with the {called} resource"
        log.invalid((*path, "divisor"), name, why)


def _divisor(written: Any) -> str:
    """A divisor as the server spells it; what is not an amount is refused elsewhere."""
    try:
        return str(Quantity.parse(written or "0"))
    except QuantityError:
        return "0"


def _key(ref: dict[str, Any], path: Path, log: Complaints) -> None:
    log.name((*path, "name"), str(ref.get("name") or ""))
    if not (key := str(ref.get("key") or "")):
        log.required((*path, "key"))
    else:
        log.invalid((*path, "key"), key, *config_key(key))


def _file(ref: dict[str, Any], path: Path, log: Complaints) -> None:
    """A key in a file that a volume of the pod holds."""
    key, place = text(ref, "key"), text(ref, "path")
    if not key:
        log.required((*path, "key"))
    elif "=" in key or not (key.isascii() and key.isprintable()):
        log.invalid((*path, "key"), key, _ENV_TEXT)
    if ref.get("volumeName"):
        log.label((*path, "volumeName"), ref["volumeName"])
    else:
        log.required((*path, "volumeName"))
    if not place:
        log.required((*path, "path"))
    log.no_backsteps((*path, "path"), place)


_ONE: dict[str, Callable[[dict[str, Any], Path, Complaints], None]] = {
    "fieldRef": field,
    "resourceFieldRef": resource,
    "configMapKeyRef": _key,
    "secretKeyRef": _key,
    "fileKeyRef": _file,
}


def whole(tree: Any, path: Path, log: Complaints) -> None:
    """ConfigMaps and Secrets that become variables as a whole."""
    for index, entry in maps(tree):
        at: Path = (*path, index)
        prefix = str(entry.get("prefix") or "")
        if prefix:
            log.invalid((*at, "prefix"), prefix, *_name(prefix, log))
        given = is_set(entry, "configMapRef", "secretRef")
        for name in given:
            if held := str(fields(entry[name]).get("name") or ""):
                # The server takes it for the beginning of a name, which may end in a dash.
                prefix = f"{held[:-1]}a" if held.endswith("-") else held
                log.invalid((*at, name, "name"), held, *subdomain(prefix))
            else:
                log.required((*at, name, "name"))
        if not given:
            log.invalid(path, "", "must specify one of: `configMapRef` or `secretRef`", at=at)
        elif len(given) > 1:
            log.invalid(path, "", "may not have more than one field specified at a time", at=at)
