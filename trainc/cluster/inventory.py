"""An inventory: what decides whether jobs start on a cluster, out of a dump of it, and nothing else."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainc.apiserver.inventory_kinds import DECISIVE, INVENTORY
from trainc.apiserver.pods.complaints import fields, maps
from trainc.cluster.capacity.amounts import Units, spelled
from trainc.cluster.capacity.facts import malformed_in
from trainc.cluster.capacity.nodes import HOSTNAME, Node, fill, node_of
from trainc.cluster.dump_shapes import misfits
from trainc.model.report import Report
from trainc.model.tree import dotted, plain, stamp
from trainc.yaml.reader import read

Manifest = dict[str, Any]

# What is kept of each kind besides its name.
_KEPT: dict[str, tuple[str, ...]] = {
    "AdmissionCheck": ("spec",), "ClusterQueue": ("spec",), "Cohort": ("spec",), "LimitRange": ("spec",),
    "LocalQueue": ("spec",), "Namespace": (), "PriorityClass": ("globalDefault", "value"), "Queue": ("spec",),
    "ResourceFlavor": ("spec",), "ResourceQuota": ("spec",), "RuntimeClass": ("overhead", "scheduling"),
    "Topology": ("spec",), "Workload": (), "WorkloadPriorityClass": ("value",),
}  # fmt: skip
_DECIDING = {"AdmissionCheck": "Active", "Workload": "Finished"}  # of each kind, the condition that decides something
_CONFIGURATION = ("featureGates", "manageJobsWithoutQueueName", "managedJobsNamespaceSelector", "resources")
_TIMES = frozenset({"lastHeartbeatTime", "lastTransitionTime", "time", "creationTimestamp", "startTime"})


class Dump:
    """The objects of a dump as plain data, and the names of kinds that decide nothing."""

    def __init__(self, texts: Iterable[Any]) -> None:
        self.objects: dict[str, list[Manifest]] = {}
        self.left_out: dict[str, int] = {}
        self.faults: list[str] = []
        for item in flattened(texts, self.faults):
            if type(item) is not dict:
                self.faults.append(f"an item is not an object: {str(item)[:40]}")
                continue
            tree = _unwrapped(item)
            kind, metadata = tree.get("kind"), tree.get("metadata")
            name = metadata.get("name") if type(metadata) is dict else None
            if kind == INVENTORY:
                self.faults.append("an Inventory is in the dump; make one of the cluster's own objects alone")
            elif type(kind) is not str or (type(name) is not str and kind != "Configuration"):
                self.faults.append(f"an object has no kind or no name: {str(tree)[:40]}")
            elif kind in _KEPT or kind in {"Node", "Pod", "DaemonSet", "Configuration"}:
                self.objects.setdefault(kind, []).append(tree)
                label = f"{kind} {name}" if name else kind
                sourced = stamp(tree, "dump")
                self.faults += [f"{label}: `{dotted(path)}` is not {wanted}" for path, wanted in misfits(sourced, kind)]
                self.faults += [f"{label}: `{leaf.value}` is not an amount" for leaf in malformed_in(sourced)]
            else:
                self.left_out[kind] = self.left_out.get(kind, 0) + 1

    def date(self) -> str:
        """The newest time in the dump, which is when a node last gave a sign of life; empty where there is none."""
        newest, todo = "", list[Any](self.objects.values())
        while todo:
            node = todo.pop()
            if type(node) is dict:
                times = (v for k, v in node.items() if k in _TIMES and type(v) is str and v[:1].isdigit())
                newest = max(newest, max(times, default=""))
                todo += node.values()
            elif type(node) is list:
                todo += node
        return newest


def _unwrapped(tree: Manifest) -> Manifest:
    """Kueue's configuration out of the ConfigMap that holds it; any other object as it is."""
    text = fields(tree.get("data")).get("controller_manager_config.yaml")
    if tree.get("kind") != "ConfigMap" or type(text) is not str or "kueue" not in text:
        return tree
    trees = (plain(document.tree) for document in read(text, "controller_manager_config.yaml", Report()))
    configuration = next(trees, None)
    return configuration if type(configuration) is dict else tree


def flattened(trees: Iterable[Any], faults: list[str]) -> Iterator[Any]:
    """The objects in lists, and in lists of lists, in their order; a list that is only a part is a fault."""
    todo = list(trees)[::-1]
    while todo:
        tree = todo.pop()
        listed = tree if type(tree) is list else tree.get("items") if type(tree) is dict else None
        if type(listed) is list and (type(tree) is list or str(tree.get("kind")).endswith("List")):
            todo.extend(listed[::-1])
            metadata = tree.get("metadata") if type(tree) is dict else None
            if type(metadata) is dict and (metadata.get("continue") or metadata.get("remainingItemCount")):
                faults.append("a list in the dump is truncated; dump it without --limit")
        elif tree is not None:
            yield tree


def inventory(dump: Dump, *, date: str = "", is_complete: bool = False) -> Manifest:
    """The Inventory of a dump; with `is_complete`, kinds without an object are known to have none."""
    spec: Manifest = {}
    if date := date or dump.date():
        spec["date"] = date
    spec["kinds"] = list(DECISIVE) if is_complete else sorted({kind for kind in dump.objects if kind in DECISIVE})
    names = [(tree["metadata"]["name"], tree) for tree in dump.objects.get("Node", [])]
    by_name = {name: node_of(name, stamp(tree, "dump")) for name, tree in names}
    pods = dump.objects.get("Pod")
    daemons = None if pods is not None else (stamp(tree, "dump") for tree in dump.objects.get("DaemonSet", []))
    fill(by_name, (stamp(tree, "dump") for tree in pods or []), daemons)
    if nodes := list(groups(by_name)):
        spec["nodes"] = nodes
    objects = [_trimmed(kind, tree) for kind in sorted(dump.objects) if kind in _KEPT for tree in dump.objects[kind]]
    configured = [
        {"apiVersion": tree.get("apiVersion", ""), "kind": "Configuration"}
        | {field: tree[field] for field in _CONFIGURATION if field in tree}
        for tree in dump.objects.get("Configuration", [])
    ]
    if (listed := sorted(objects, key=lambda one: (one["kind"], str(one["metadata"])))) or configured:
        spec["objects"] = [*listed, *configured]
    return {"apiVersion": "trainc.dev/v1alpha1", "kind": "Inventory", "spec": spec}


def groups(nodes: Mapping[str, Node]) -> Iterator[Manifest]:
    """Nodes that are alike, together: their names and what they have in common."""
    alike: dict[str, tuple[list[str], Manifest]] = {}
    for name in sorted(nodes):
        node = nodes[name]
        labels, common = dict(sorted(node.labels.items())), Manifest()
        if labels.get(HOSTNAME) == node.name:
            del labels[HOSTNAME]
        elif HOSTNAME not in labels:
            common["withoutHostname"] = True
        common |= {"labels": labels, "allocatable": _spelled(node.allocatable)}
        rest = (("system", node.system), ("jobs", node.jobs))
        common |= {field: _spelled(amounts) for field, amounts in rest if any(amounts.values())}
        taints = [{k: v for k, v in taint.items() if k in ("key", "value", "effect") and v} for taint in node.taints]
        if taints:
            common["taints"] = sorted(taints, key=str)
        marks = (("notReady", not node.is_ready), ("unschedulable", node.is_unschedulable))
        common |= {mark: True for mark, holds in marks if holds}
        alike.setdefault(repr(common), ([], common))[0].append(name)
    for names, common in alike.values():
        yield {"names": names, **common}


def _spelled(amounts: Units) -> dict[str, str]:
    return {name: spelled(name, amount) for name, amount in sorted(amounts.items()) if amount}


def _trimmed(kind: str, tree: Manifest) -> Manifest:
    metadata = {key: tree["metadata"][key] for key in ("name", "namespace") if tree["metadata"].get(key)}
    if kind == "Namespace" and tree["metadata"].get("labels"):
        metadata["labels"] = tree["metadata"]["labels"]
    kept: Manifest = {"apiVersion": tree.get("apiVersion", ""), "kind": kind, "metadata": metadata}
    kept |= {field: tree[field] for field in _KEPT[kind] if field in tree}
    status = fields(tree.get("status"))
    keeps = {"ResourceQuota": ("hard", "used"), "Queue": ("state",)}.get(kind, ())
    held: Manifest = {field: status[field] for field in keeps if field in status}
    if wanted := _DECIDING.get(kind):
        listed = [one for _, one in maps(status.get("conditions")) if one.get("type") == wanted]
        if conditions := [{"type": wanted, "status": one.get("status")} for one in listed]:
            held["conditions"] = conditions
    if kind == "Workload" and status.get("admission"):
        held["admission"] = status["admission"]
    return {**kept, "status": held} if held else kept
