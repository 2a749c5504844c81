"""What is wrong with the variables of containers, and with what they are read from."""

from collections.abc import Callable

from trainc.apiserver.names import config_key, label, qualified, subdomain
from trainc.apiserver.pods.complaints import Field, items
from trainc.model.tree import plain, value
from trainc.text.quantity import Quantity, QuantityError

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


def variables(container: Field) -> None:
    """The variables of a container, as a tree: their names, and what each is read from."""
    for index, entry in enumerate(items(container.get("env"))):
        if type(entry) is not dict:
            continue
        if not (name := value(entry, "name")):
            container["env"][index]["name"].required()
        elif type(name) is str and not (name.isascii() and name.isidentifier()):
            container["env"][index]["name"].reading(name).invalid(*_name(name, container))
        if len(entry) > 1 and entry.get("valueFrom") is not None:
            _origin(container["env"][index].reading(plain(entry)))


def _name(name: str, holder: Field) -> tuple[str, ...]:
    """Reasons why a variable, or the beginning of several, cannot be called so."""
    if holder.log.features.has("RelaxedEnvironmentVariableValidation"):
        return (_ENV_TEXT,) if "=" in name or not (name.isascii() and name.isprintable()) else ()
    if _STRICT.issuperset(name) and not name[0].isdigit() and not name.startswith(".."):
        return () if name != "." else ("must not be '.'",)
    if name.startswith(".."):
        return ("must not be '..'",) if name == ".." else ("must not start with '..'",)
    return (_STRICT_TEXT,)


def _origin(entry: Field) -> None:
    source = entry["valueFrom"]
    if source.value is None:
        return
    has_files = source.log.features.has("EnvFiles")
    given = [one for one in source.given(*_ONE) if one.path[-1] != "fileKeyRef" or one.has("EnvFiles")]
    for one in given:
        _ONE[str(one.path[-1])](one)
    wrong = source.reading("")
    if not given:
        names = [*_ONE] if has_files else [*_ONE][:-1]
        listed = ", ".join(f"`{name}`" for name in names[:-1])
        wrong.invalid(f"must specify one of: {listed} or `{names[-1]}`")
    elif entry.get("value"):
        wrong.invalid("may not be specified when `value` is not empty")
    elif len(given) > 1:
        wrong.invalid("may not have more than one field specified at a time")


def field(ref: Field, readable: tuple[str, ...] = _READABLE) -> None:
    """A reference to a field of the pod, of those that can be read there."""
    written, version = str(ref.get("fieldPath") or ""), ref.get("apiVersion") or "v1"
    at = ref["fieldPath"].reading(written)
    if not at.need():
        return
    name, subscript, key = written.partition("['")
    if version != "v1":
        at.invalid(f"error converting fieldPath: unsupported pod version: {version}")
    elif subscript and written.endswith("']"):
        if name not in ("metadata.annotations", "metadata.labels"):
            at.invalid(f"error converting fieldPath: field label does not support subscript: {written}")
        else:
            ref.reading(key[:-2].lower() if name == "metadata.annotations" else key[:-2]).fits(qualified)
    elif written not in _CONVERTIBLE:
        at.invalid(f"error converting fieldPath: field label not supported: {written}")
    else:
        at.reading("spec.nodeName" if written == "spec.host" else written).one_of(readable)


def resource(ref: Field, *, is_own: bool = True) -> None:
    """A reference to a resource of a container, which is named unless it is the variable's own (`is_own`)."""
    name = str(ref.get("resource") or "")
    if not is_own and not ref.get("containerName"):
        ref["containerName"].required()
    elif ref["resource"].need() and not name.startswith(("limits.hugepages-", "requests.hugepages-")):
        ref["resource"].one_of(_MEASURABLE)
    try:
        divisor = str(Quantity.parse(ref.get("divisor") or "0"))
    except QuantityError:  # what is not an amount is refused elsewhere
        divisor = "0"
    kind, wrong = name.partition(".")[2], ref["divisor"].reading(name)
    if kind == "cpu" and divisor not in ("0", "1", "1m"):
        wrong.invalid("only divisor's values 1m and 1 are supported with the cpu resource")
    called = _CALLED.get("hugepages" if kind.startswith("hugepages-") else kind)
    if called is not None and divisor not in ("0", *_WHOLE.split(", ")):
        wrong.invalid(f"only divisor's values {_WHOLE} are supported with the {called} resource")


def _key(ref: Field) -> None:
    ref["name"].fallback("").fits(subdomain)
    if ref["key"].need():
        ref["key"].invalid(*config_key(str(ref.get("key"))))


def _file(ref: Field) -> None:
    """A key in a file that a volume of the pod holds."""
    key = ref.text("key")
    if ref["key"].need() and ("=" in key or not (key.isascii() and key.isprintable())):
        ref["key"].invalid(_ENV_TEXT)
    if ref["volumeName"].need():
        ref["volumeName"].fits(label)
    ref["path"].need()
    ref["path"].no_backsteps()


_ONE: dict[str, Callable[[Field], None]] = {
    "fieldRef": field,
    "resourceFieldRef": resource,
    "configMapKeyRef": _key,
    "secretKeyRef": _key,
    "fileKeyRef": _file,
}


def whole(listed: Field) -> None:
    """ConfigMaps and Secrets that become variables as a whole."""
    for entry in listed.maps():
        if prefix := str(entry.get("prefix") or ""):
            entry["prefix"].invalid(*_name(prefix, entry))
        given = entry.given("configMapRef", "secretRef")
        for one in given:
            if one["name"].need():
                held = str(one.get("name"))
                # The server takes it for the beginning of a name, which may end in a dash.
                one["name"].invalid(*subdomain(f"{held[:-1]}a" if held.endswith("-") else held))
        wrong = entry.printed(listed.path).reading("")
        if not given:
            wrong.invalid("must specify one of: `configMapRef` or `secretRef`")
        elif len(given) > 1:
            wrong.invalid("may not have more than one field specified at a time")
