"""How a typed Go program sees an object: what it cannot decode, and what its JSON looks like when it writes it back.

Webhooks decode the object into Go structs (sigs.k8s.io/json) and answer with the difference between two JSON texts, so
a webhook that changes anything also respells quantities and adds the fields that Go never omits.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from trainc.apiserver.fault import FURTHER, JSON_TYPES, Fault, number
from trainc.apiserver.golang.time import time_fault
from trainc.apiserver.normalise import TEXT_POINTERS, VALUES
from trainc.apiserver.schema.node import SchemaNode
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import Path, Tree, stamp
from trainc.text.placeholders import is_placeholder
from trainc.text.quantity import Quantity, QuantityError, stored

_NUMBERS = (int, float)
_FITTING: dict[str, tuple[type, ...]] = {
    "string": (str,), "boolean": (bool,), "object": (dict,), "array": (list,), "integer": _NUMBERS, "number": _NUMBERS,
}  # fmt: skip
# Written, though there may be nothing behind them.
_POINTED = frozenset({"apiGroup", "lastProbeTime", "lastTransitionTime"})
_MAPS = frozenset({"labels", "annotations", "nodeSelector", "limits", "requests", "overhead", "matchLabels"})
# What is a pointer in these places alone, and a field of a status.
POINTERS = TEXT_POINTERS | frozenset({
    "azureDisk.fsType", "azureDisk.kind", "azureDisk.readOnly", "clusterTrustBundle.name",
    "clusterTrustBundle.signerName", "containers.restartPolicy", "csi.fsType", "csi.readOnly",
    "currentVolumeAttributesClassName", "dataSourceRef.namespace", "ephemeralContainers.restartPolicy",
    "hostPath.type", "initContainers.restartPolicy", "onExitCodes.containerName", "options.value",
})  # fmt: skip
# Fields that the schema leaves out and Go always writes, and those that the schema requires and Go leaves out while empty.
WRITTEN = {
    "conditions": ("lastProbeTime", "lastTransitionTime"), "dataSource": ("apiGroup",),
    "dataSourceRef": ("apiGroup",), "onPodConditions": ("status",), "projected": ("sources",),
}  # fmt: skip
OMITTED = frozenset(
    {"exitCodes.operator", "podCertificate.keyType", "podCertificate.signerName", "restartPolicyRules.action"}
)


class Undecodable(NamedTuple):
    """What the Go program cannot read: the path and the decoder's text; `ends` where it reads no further."""

    path: Path
    text: str
    ends: bool = True


def decode(node: SchemaNode, tree: Tree) -> list[Fault]:
    """Everything that keeps a typed Go program from reading the object, first the one fault that it tells.

    A malformed quantity ends decoding at once; of other faults the first one is told at the end.
    """
    rest = {key: child for key, child in tree.items() if key not in ("metadata", "apiVersion", "kind")}
    faults = sorted(misfits(node, rest), key=lambda fault: not fault.ends)
    return [Fault(fault.path, FURTHER if at else "webhook", fault.text) for at, fault in enumerate(faults)]


def misfits(node: SchemaNode, tree: Tree, is_open: Callable[[Any], bool] = is_placeholder) -> list[Undecodable]:
    """What a Go program of the type of a node cannot read of a map; the server sends keys in alphabetical order.

    `is_open` tells the values that are filled in later, of which nothing is said.
    """
    faults: list[Undecodable] = []
    for key in sorted(tree):
        if (child := node.prop(key)) is not None:
            _decode(child, tree[key], (key,), node.raw.get("x-go", ""), faults, is_open)
    return faults


def _decode(
    node: SchemaNode, tree: Tree, path: Path, owner: str, faults: list[Undecodable], is_open: Callable[[Any], bool]
) -> None:
    value = tree.value if type(tree) is Sourced else tree
    if value is None or node.kind == "" or (is_open(value) and node.kind not in ("object", "array")):
        return
    if node.kind == "int-or-string" or node.format == "date-time":
        _decode_text(node, value, path, owner, faults)
        return
    if type(value) not in _FITTING[node.kind]:
        _mistyped(node, JSON_TYPES[type(value)], path, owner, faults)
    elif node.kind == "integer" and not (value == int(value) and node.low <= value <= node.high):
        _mistyped(node, f"number {number(value)}", path, owner, faults)
    elif type(value) is dict:
        owner = owner if path[-1] in _MAPS else node.raw.get("x-go", "")
        for key in sorted(value):
            child = node.prop(key)
            if child is not None:
                _decode(child, value[key], (*path, key), owner, faults, is_open)
    elif type(value) is list:
        child = node.item()
        for index, item in enumerate(value):
            if child is not None:
                _decode(child, item, (*path, index), owner, faults, is_open)


def _decode_text(node: SchemaNode, value: Any, path: Path, owner: str, faults: list[Undecodable]) -> None:
    """A quantity, a time, or text beside which Go takes an int32."""
    text = ""
    if is_quantity(node):
        try:
            Quantity.parse(value.strip() if type(value) is str else number(value))
        except QuantityError as fault:
            text = str(fault)
    elif node.kind != "int-or-string":
        if type(value) is not str:
            _mistyped(node, JSON_TYPES[type(value)], path, owner, faults)
            return
        text = time_fault(value)
    elif type(value) is not str:
        is_number = type(value) in _NUMBERS
        if not (is_number and value == int(value) and -(2**31) <= value < 2**31):
            got = f"number {number(value)}" if is_number else JSON_TYPES[type(value)]
            text = f"json: cannot unmarshal {got} into Go struct field {field_name(path, owner)} of type int32"
    if text:
        faults.append(Undecodable(path, text))


def _mistyped(node: SchemaNode, got: str, path: Path, owner: str, faults: list[Undecodable]) -> None:
    field = field_name(path, owner)
    text = f"json: cannot unmarshal {got} into Go struct field {field} of type {type_name(node, path)}"
    faults.append(Undecodable(path, text, ends=False))


def is_quantity(node: SchemaNode) -> bool:
    """Whether a node holds resource quantities: integers or strings with the pattern of quantities."""
    return node.kind == "int-or-string" and "pattern" in node.raw


def respelled(node: SchemaNode, tree: Tree, origin: Origin, name: str = "") -> Tree:
    """The object after a webhook's patch: canonical quantities and the fields that Go never omits.

    Nothing that was written is removed. `origin` is that of what is added.
    """
    if type(tree) is dict:
        out = {
            key: value if (child := node.prop(key)) is None else respelled(child, value, origin, key)
            for key, value in tree.items()
        }
        for key in _always(node, name):
            if key not in out:
                out[key] = stamp(zero(node.prop(key), key), origin.by)
        return out
    if type(tree) is list:
        item = node.item()
        return tree if item is None else [respelled(item, value, origin, name) for value in tree]
    value = tree.value if type(tree) is Sourced else tree
    if value is None:
        return stamp(zero(node, name), origin.by)
    if not is_quantity(node):
        return tree
    text = _quantity(number(value))
    return tree if text == value else Sourced(text, tree.origin if type(tree) is Sourced else origin)


def _quantity(text: str, *, by_value: bool = False) -> int | str:
    try:
        return Quantity.parse(text.strip()).nanos if by_value else stored(text.strip())
    except QuantityError:
        return text  # longer than any amount, and yet what the schema's pattern takes


def _always(node: SchemaNode, name: str) -> tuple[str, ...]:
    """The fields that Go writes whatever they hold; `name` is the field that holds the object."""
    required = tuple([key for key in node.required if f"{name}.{key}" not in OMITTED])
    props = node.props.names
    structs: tuple[str, ...] = ()  # which are written even when they are empty
    if "divisor" in props:
        structs = ("divisor",)
    elif "metadata" in props and "spec" in props:
        # A whole object inside another one (a claim template) also has a status.
        structs = ("metadata", "spec", "status") if "kind" in props and "status" in props else ("metadata", "spec")
    elif "resources" in props and ("image" in props or "accessModes" in props):
        structs = ("resources",)
    return (*required, *structs, *WRITTEN.get(name, ()))


def zero(node: SchemaNode | None, name: str) -> Any:
    """The JSON of a Go field of this name that was never set."""
    if node is None or name in _POINTED:
        return None
    if is_quantity(node):
        return "0"
    if node.kind == "object" and (node.props.names or node.extra is None):
        return {key: zero(node.prop(key), key) for key in _always(node, name)}
    return {"string": "", "boolean": False, "integer": 0, "number": 0, "int-or-string": 0}.get(node.kind)


def typed(node: SchemaNode, tree: Tree, name: str = "", *, by_value: bool = False) -> Any:
    """The plain JSON that a Go program writes for a tree: empty optional fields left out, quantities respelled.

    `name` is that of the field which holds the tree. With `by_value` quantities come out as numbers, so that equal
    amounts are equal however they are written.
    """
    value = tree.value if type(tree) is Sourced else tree
    if type(value) is dict:
        out = {key: typed(node.prop(key) or node, child, key, by_value=by_value) for key, child in value.items()}
        if not node.props.names:
            return out
        kept = dict.fromkeys(_always(node, name))
        held = {key: child for key, child in out.items() if key in kept or not _is_nothing(node, name, key, child)}
        return {**held, **{key: zero(node.prop(key), key) for key in kept if key not in held}}
    if type(value) is list:
        item = node.item()
        return [typed(item or node, child, name, by_value=by_value) for child in value]
    if value is None:
        return zero(node, name)
    if is_quantity(node):
        return _quantity(number(value), by_value=by_value)
    return int(value) if type(value) is float and value.is_integer() else value


def _is_nothing(node: SchemaNode, name: str, key: str, value: Any) -> bool:
    """Whether Go leaves a field out because of what it holds."""
    if value is None or value == []:
        return True
    if type(value) is dict:
        # An empty map is nothing, an empty struct behind a pointer is something.
        at = node.prop(key)
        return not value and at is not None and not at.props.names
    if value or key in POINTERS or f"{name}.{key}" in POINTERS:
        return False
    return type(value) is str or key in VALUES


def field_name(path: Path, owner: str) -> str:
    """`Struct.path.to.field` for the value at `path` in a type of Kubernetes or, without `owner`, of another program.

    Indices and map keys do not show.
    """
    steps = _steps(path)
    holder = (owner or _longest_known(steps[:-1])).partition(".")[2] or "".join(map(_capital, steps[-2:-1]))
    return f"{holder}.{'.'.join(steps)}"


def type_name(node: SchemaNode, path: Path) -> str:
    """The Go type of the field at `path`."""
    steps = _steps(path)
    if node.kind == "array":
        item = node.item()
        return "[]" + (type_name(item, path) if item is not None else "interface {}")
    if "x-go" in node.raw:
        return str(node.raw["x-go"])
    if (known := _longest_known(steps)) and not (type(path[-1]) is str and path[-1] != steps[-1]):
        return known
    if node.kind == "object":
        other = node.other()
        return f"map[string]{type_name(other, path)}" if other is not None else f"v1.{_capital(steps[-1])}"
    if node.kind == "integer":
        return node.format if node.format in ("int32", "int64") else "int"
    return {"boolean": "bool", "number": "float64"}.get(node.kind, "string")


def _steps(path: Path) -> list[str]:
    """The named fields of a path: everything below a map belongs to the map's own field."""
    steps: list[str] = []
    for step in path:
        if type(step) is str:
            steps.append(step)
            if step in _MAPS:
                break
    return steps


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _longest_known(steps: list[str]) -> str:
    return next((TYPES[key] for length in (3, 2, 1) if (key := ".".join(steps[-length:])) in TYPES), "")


TYPES = {
    "accessModes": "v1.PersistentVolumeAccessMode",
    "action": "v1.ContainerRestartRuleAction",
    "add": "v1.Capability",
    "allocatedResourceStatuses": "map[v1.ResourceName]v1.ClaimResourceStatus",
    "allocatedResources": "v1.ResourceList",
    "appArmorProfile.type": "v1.AppArmorProfileType",
    "azureDisk.kind": "v1.AzureDataDiskKind",
    "cachingMode": "v1.AzureDataDiskCachingMode",
    "capacity": "v1.ResourceList",
    "completionMode": "v1.CompletionMode",
    "conditionType": "v1.PodConditionType",
    "conditions": "v1.PersistentVolumeClaimCondition",
    "conditions.status": "v1.ConditionStatus",
    "conditions.type": "v1.PersistentVolumeClaimConditionType",
    "containers.restartPolicy": "v1.ContainerRestartPolicy",
    "coordinator": "v1alpha2.Coordinator",
    "dependsOn": "v1alpha2.DependsOn",
    "dependsOn.status": "v1alpha2.DependsOnStatus",
    "dnsPolicy": "v1.DNSPolicy",
    "drop": "v1.Capability",
    "effect": "v1.TaintEffect",
    "ephemeralContainers.restartPolicy": "v1.ContainerRestartPolicy",
    "exitCodes.operator": "v1.ContainerRestartRuleOnExitCodesOperator",
    "failurePolicy": "v1alpha2.FailurePolicy",
    "failurePolicy.rules": "v1alpha2.FailurePolicyRule",
    "failurePolicy.rules.action": "v1alpha2.FailurePolicyAction",
    "flexVolume.options": "map[string]string",
    "fsGroupChangePolicy": "v1.PodFSGroupChangePolicy",
    "hostPath.type": "v1.HostPathType",
    "imagePullPolicy": "v1.PullPolicy",
    "initContainers.restartPolicy": "v1.ContainerRestartPolicy",
    "limits": "v1.ResourceList",
    "matchFields.operator": "v1.NodeSelectorOperator",
    "medium": "v1.StorageMedium",
    "modifyVolumeStatus.status": "v1.PersistentVolumeClaimModifyVolumeStatus",
    "mountPropagation": "v1.MountPropagationMode",
    "network": "v1alpha2.Network",
    "nodeAffinityPolicy": "v1.NodeInclusionPolicy",
    "nodeSelectorTerms.matchExpressions.operator": "v1.NodeSelectorOperator",
    "nodeTaintsPolicy": "v1.NodeInclusionPolicy",
    "onExitCodes.operator": "v1.PodFailurePolicyOnExitCodesOperator",
    "onPodConditions.status": "v1.ConditionStatus",
    "onPodConditions.type": "v1.PodConditionType",
    "operation": "v1.ManagedFieldsOperationType",
    "operator": "v1.LabelSelectorOperator",
    "os.name": "v1.OSName",
    "overhead": "v1.ResourceList",
    "phase": "v1.PersistentVolumeClaimPhase",
    "podFailurePolicy.rules.action": "v1.PodFailurePolicyAction",
    "podReplacementPolicy": "v1.PodReplacementPolicy",
    "preemptionPolicy": "v1.PreemptionPolicy",
    "preference.matchExpressions.operator": "v1.NodeSelectorOperator",
    "procMount": "v1.ProcMountType",
    "protocol": "v1.Protocol",
    "pullPolicy": "v1.PullPolicy",
    "recursiveReadOnly": "v1.RecursiveReadOnlyMode",
    "replicatedJobs": "v1alpha2.ReplicatedJob",
    "requests": "v1.ResourceList",
    "resourceName": "v1.ResourceName",
    "restartPolicy": "v1.ResourceResizeRestartPolicy",
    "restartStrategy": "v1alpha2.JobSetRestartStrategy",
    "retentionPolicy": "v1alpha2.VolumeRetentionPolicy",
    "scheme": "v1.URIScheme",
    "seLinuxChangePolicy": "v1.PodSELinuxChangePolicy",
    "seccompProfile.type": "v1.SeccompProfileType",
    "spec": "v1alpha2.JobSetSpec",
    "spec.restartPolicy": "v1.RestartPolicy",
    "spec.successPolicy": "v1alpha2.SuccessPolicy",
    "startupPolicy": "v1alpha2.StartupPolicy",
    "startupPolicyOrder": "v1alpha2.StartupPolicyOptions",
    "status": "v1alpha2.JobSetStatus",
    "stopSignal": "v1.Signal",
    "successPolicy.operator": "v1alpha2.Operator",
    "supplementalGroupsPolicy": "v1.SupplementalGroupsPolicy",
    "terminationMessagePolicy": "v1.TerminationMessagePolicy",
    "tolerations.operator": "v1.TolerationOperator",
    "uid": "types.UID",
    "volumeClaimPolicies": "v1alpha2.VolumeClaimPolicy",
    "volumeMode": "v1.PersistentVolumeMode",
    "whenDeleted": "v1alpha2.RetentionPolicyType",
    "whenUnsatisfiable": "v1.UnsatisfiableConstraintAction",
}
