"""The shapes of what a cluster's folder shows: anybody may have edited a dump, and readers rely on the types in it."""

from collections.abc import Iterator
from typing import Any

from trainc.apiserver.inventory_kinds import INVENTORY
from trainc.model.sourced import Sourced
from trainc.model.tree import Path, Tree

# A shape is a scalar's types with their word, a list of one shape, or a map from fields to shapes (`*`: any other field).
_TEXT = ((str,), "a text")
_NUMBER = ((int,), "a whole number")
_SWITCH = ((bool,), "true or false")
_AMOUNT = ((int, float, str), "an amount")
_TEXTS: dict[str, Any] = {"*": _TEXT}
_AMOUNTS: dict[str, Any] = {"*": _AMOUNT}
_META = {"name": _TEXT, "namespace": _TEXT, "labels": _TEXTS, "annotations": _TEXTS}
_TAINT = {"key": _TEXT, "value": _TEXT, "effect": _TEXT}
_TOLERATION = {**_TAINT, "operator": _TEXT}
_EXPRESSION = {"key": _TEXT, "operator": _TEXT, "values": [_TEXT]}
_SELECTOR = {"matchLabels": _TEXTS, "matchExpressions": [_EXPRESSION]}
_CONDITION = {"type": _TEXT, "status": _TEXT}
_RESOURCES = {"requests": _AMOUNTS, "limits": _AMOUNTS}
_CONTAINER = {"name": _TEXT, "restartPolicy": _TEXT, "resources": _RESOURCES}
_NODE_TERM = {"matchExpressions": [_EXPRESSION], "matchFields": [_EXPRESSION]}
_NODE_AFFINITY = {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_NODE_TERM]},
    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": _NUMBER, "preference": _NODE_TERM}],
}
_POD = {
    "nodeName": _TEXT,
    "nodeSelector": _TEXTS,
    "tolerations": [_TOLERATION],
    "affinity": {"nodeAffinity": _NODE_AFFINITY},
    "containers": [_CONTAINER],
    "initContainers": [_CONTAINER],
    "overhead": _AMOUNTS,
    "resources": _RESOURCES,
}
_FLAVOR = {"name": _TEXT, "resources": [{"name": _TEXT, "nominalQuota": _AMOUNT, "borrowingLimit": _AMOUNT, "lendingLimit": _AMOUNT}]}  # fmt: skip
_QUOTAS = {"resourceGroups": [{"coveredResources": [_TEXT], "flavors": [_FLAVOR]}]}
_QUEUE = {
    **_QUOTAS,
    "cohort": _TEXT,
    "cohortName": _TEXT,
    "stopPolicy": _TEXT,
    "namespaceSelector": _SELECTOR,
    "flavorFungibility": {"*": _TEXT},
    "admissionChecks": [_TEXT],
    "admissionChecksStrategy": {"admissionChecks": [{"name": _TEXT, "onFlavors": [_TEXT]}]},
}
_SCOPE = {"scopeName": _TEXT, "operator": _TEXT, "values": [_TEXT]}
_RANGE = {"type": _TEXT, **dict.fromkeys(("default", "defaultRequest", "max", "maxLimitRequestRatio", "min"), _AMOUNTS)}
_GROUP = {
    "names": [_TEXT],
    "labels": _TEXTS,
    **dict.fromkeys(("allocatable", "system", "jobs"), _AMOUNTS),
    "taints": [_TAINT],
    **dict.fromkeys(("notReady", "unschedulable", "withoutHostname"), _SWITCH),
}
_SHAPES: dict[str, dict[str, Any]] = {
    "AdmissionCheck": {"spec": {"controllerName": _TEXT}, "status": {"conditions": [_CONDITION]}},
    "ClusterQueue": {"spec": _QUEUE},
    "Cohort": {"spec": {**_QUOTAS, "parent": _TEXT, "parentName": _TEXT}},
    "Configuration": {"featureGates": {"*": _SWITCH}, "managedJobsNamespaceSelector": _SELECTOR},
    "DaemonSet": {"spec": {"template": {"spec": _POD}}},
    INVENTORY: {"spec": {"date": _TEXT, "kinds": [_TEXT], "nodes": [_GROUP]}},
    "LimitRange": {"spec": {"limits": [_RANGE]}},
    "LocalQueue": {"spec": {"clusterQueue": _TEXT, "stopPolicy": _TEXT}},
    "Node": {
        "spec": {"taints": [_TAINT], "unschedulable": _SWITCH},
        "status": {"allocatable": _AMOUNTS, "capacity": _AMOUNTS, "conditions": [_CONDITION]},
    },
    "Pod": {"spec": _POD, "status": {"phase": _TEXT}},
    "PriorityClass": {"value": _NUMBER, "globalDefault": _SWITCH},
    "ResourceFlavor": {
        "spec": {"nodeLabels": _TEXTS, "nodeTaints": [_TAINT], "tolerations": [_TOLERATION], "topologyName": _TEXT}
    },
    "ResourceQuota": {
        "spec": {"hard": _AMOUNTS, "scopes": [_TEXT], "scopeSelector": {"matchExpressions": [_SCOPE]}},
        "status": {"hard": _AMOUNTS, "used": _AMOUNTS},
    },
    "RuntimeClass": {
        "overhead": {"podFixed": _AMOUNTS},
        "scheduling": {"nodeSelector": _TEXTS, "tolerations": [_TOLERATION]},
    },
    "Topology": {"spec": {"levels": [{"nodeLabel": _TEXT}]}},
    "Workload": {"status": {"conditions": [_CONDITION]}},
    "WorkloadPriorityClass": {"value": _NUMBER},
}


def misfits(tree: Tree, kind: str) -> Iterator[tuple[Path, str]]:
    """Every value of an object that is of another type than its readers rely on: its path, and what it should be."""
    yield from _misfits(tree, {"metadata": _META, **_SHAPES.get(kind, {})}, ())


def _misfits(tree: Tree, shape: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if type(tree) is Sourced and tree.value is None:
        return
    if type(shape) is tuple:
        types, word = shape
        if type(tree) is not Sourced or type(tree.value) not in types:
            yield path, word
    elif type(shape) is list:
        if type(tree) is not list:
            yield path, "a list"
            return
        for index, item in enumerate(tree):
            if type(item) is Sourced and item.value is None:
                yield (*path, index), "anything"
            else:
                yield from _misfits(item, shape[0], (*path, index))
    elif type(tree) is not dict:
        yield path, "a map"
    else:
        for key, child in tree.items():
            inner = shape.get(key, shape.get("*"))
            if inner is not None and key not in shape and type(child) is Sourced and child.value is None:
                yield (*path, key), inner[1]  # a field may be null; no server stores a label or an amount that is
            elif inner is not None:
                yield from _misfits(child, inner, (*path, key))
