"""What the API's typed structures do to a template: zero values fall away, quantities get one spelling."""

from __future__ import annotations

from trainc.model.quantity import Quantity
from trainc.model.sourced import Origin, Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree

# Go's omitempty drops a zero from a plain field and keeps it in a pointer. The API's JSON does not tell one from the
# other, so the plain ones that a template can reach are listed (JobSet v1alpha2, batch/v1, core/v1 of Kubernetes 1.36).
_PLAIN_FALSE = frozenset({"hostIPC", "hostNetwork", "hostPID", "readOnly", "stdin", "stdinOnce", "tty"})
_PLAIN_ZERO = frozenset(
    {
        "failureThreshold",
        "hostPort",
        "initialDelaySeconds",
        "jobIndex",
        "maxRestarts",
        "partition",
        "periodSeconds",
        "podIndex",
        "replicas",
        "successThreshold",
        "timeoutSeconds",
    }
)
_KEPT_EMPTY = frozenset(
    {
        "claimName",
        "containerPort",
        "fieldPath",
        "fsGroupChangePolicy",
        "key",
        "localhostProfile",
        "mountPath",
        "mountPropagation",
        "path",
        "preemptionPolicy",
        "recursiveReadOnly",
        "resource",
        "runtimeClassName",
        "server",
        "service",
        "storageClassName",
        "topologyKey",
        "volumeAttributesClassName",
        "volumeMode",
        "whenUnsatisfiable",
    }
)
_MAPS = frozenset({"annotations", "labels", "limits", "matchLabels", "nodeSelector", "overhead", "requests"})
_SPELLINGS: dict[str | int, str] = {}  # amounts met before
_MOST = 10_000
_QUANTITY_MAPS = frozenset({"limits", "requests", "overhead", "capacity"})
_QUANTITIES = frozenset({"divisor", "sizeLimit"})
_FREE = frozenset({"annotations", "labels", "matchLabels", "nodeSelector", "volumeAttributes", "options"})
SPELLED = _QUANTITY_MAPS | _QUANTITIES  # fields in which amounts stand
# Names of these lists' items are always written; a reference's empty name is not.
_NAMED_ITEMS = frozenset({"containers", "env", "initContainers", "replicatedJobs", "sysctls", "volumes"})


def normalise(tree: Tree, field: str = "") -> Tree:
    """The tree as typed structures would write it; shares every part that needs no change."""
    if type(tree) is dict:
        if field in _FREE:
            return tree
        if field in _QUANTITY_MAPS:
            return {key: canonical(leaf) for key, leaf in tree.items()}
        return _fields(tree, field)
    if type(tree) is list:
        return [normalise(item, field + "[]") for item in tree]
    return canonical(tree) if field in _QUANTITIES else tree


def _fields(tree: dict[str, Tree], parent: str) -> Tree:
    out = {}
    for key, raw in tree.items():
        if type(raw) is Sourced:
            node = canonical(raw) if key in _QUANTITIES else raw
            if not node.value and _omitted(key, node.value, parent):
                continue
        else:
            node = normalise(raw, key)
            if not node and (type(node) is list or key in _MAPS):
                continue
        out[key] = node
    return out


def _omitted(key: str, value: object, parent: str) -> bool:
    """Whether a value that Go calls a zero is left out."""
    if value == "" and type(value) is str:
        return not (key in _KEPT_EMPTY or (key == "name" and parent[:-2] in _NAMED_ITEMS))
    if value is False:
        return key in _PLAIN_FALSE
    if value == 0 and type(value) is int:
        return key in _PLAIN_ZERO
    return value is None


def canonical(leaf: Tree) -> Tree:
    """A quantity as the API machinery writes it; leaves that are no quantity stay as they are."""
    if type(leaf) is not Sourced:
        return leaf
    value = leaf.value
    kind = type(value)
    text = _SPELLINGS.get(value) if kind is str or kind is int else None
    if text is None:
        try:
            text = str(Quantity.parse(value))
        except ValueError:
            return leaf
        if (kind is str or kind is int) and len(_SPELLINGS) < _MOST:
            _SPELLINGS[value] = text
    return leaf if text == value else Sourced(text, Origin(None, "canonical quantity", (leaf.origin,)))
