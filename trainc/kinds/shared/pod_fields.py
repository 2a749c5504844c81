"""What a pod reads of itself through the downward API: labels of its operator, as fields that a JobSet's pods have.

`OPERATOR_FIELDS` is the table of docs/kinds.md. What it has no counterpart for stays, and lint reports it.
"""

from collections.abc import Mapping
from typing import NamedTuple

from trainc.kinds.table import PREFIX
from trainc.model.sourced import Origin, Sourced, derive
from trainc.model.tree import Tree, get, value
from trainc.text.object_keys import JOB_INDEX_LABEL, POD_INDEX

COMPLETION = f"metadata.annotations['{POD_INDEX}']"
JOB = f"metadata.labels['{JOB_INDEX_LABEL}']"
GLOBAL = "metadata.labels['jobset.sigs.k8s.io/job-global-index']"
MASTER: Sourced[str] = Sourced("master", Origin(by="role of the replica"))
EMPTY: Sourced[str] = Sourced("", Origin(by="a label that the operator left out"))
PodFields = Mapping[str, str | Sourced[str]]  # a field of the operator's pods: the JobSet's field, or a constant


class OperatorField(NamedTuple):
    """A label or annotation that an operator gives its pods, and what has the same value in the JobSet."""

    kinds: str
    key: str
    present: str


OPERATOR_FIELDS = (
    OperatorField("kinds of Kubeflow", f"{PREFIX}operator-name", "the same label"),
    OperatorField("kinds of Kubeflow", f"{PREFIX}job-name", "the same label"),
    OperatorField("kinds of Kubeflow", f"{PREFIX}replica-type", "the same label"),
    OperatorField(
        "kinds of Kubeflow",
        f"{PREFIX}replica-index",
        "the completion index, or the index of the Job; an error if the launcher is worker 0, or replicas are split",
    ),
    OperatorField(
        "kinds of Kubeflow",
        f"{PREFIX}job-role",
        "the same label, or empty for Workers beside a Master; an error if worker 0 of several is the master",
    ),
    OperatorField("Volcano Job", "volcano.sh/job-name", "the same label"),
    OperatorField("Volcano Job", "volcano.sh/task-spec", "the same label"),
    OperatorField("Volcano Job", "volcano.sh/task-index", "the completion index, or the index of the Job"),
    OperatorField("Volcano Job", "volcano.sh/job-namespace", "the namespace of the pod"),
    OperatorField("Volcano Job", "volcano.sh/queue-name", "the queue of the Job, as a constant"),
    OperatorField("LeaderWorkerSet", "leaderworkerset.sigs.k8s.io/name", "the same label"),
    OperatorField("LeaderWorkerSet", "leaderworkerset.sigs.k8s.io/group-index", "the same label"),
    OperatorField(
        "LeaderWorkerSet",
        "leaderworkerset.sigs.k8s.io/worker-index",
        "the completion index, or the global index of the Job",
    ),
    OperatorField("LeaderWorkerSet", "leaderworkerset.sigs.k8s.io/size", "the size, as a constant"),
    OperatorField("RayJob", "ray.io/cluster", "the same label, with the name of the job"),
    OperatorField("RayJob", "ray.io/group", "the same label"),
    OperatorField("RayJob", "ray.io/node-type", "the same label"),
)


def label(key: str) -> str:
    """The field that reads a label."""
    return f"metadata.labels['{key}']"


def annotation(key: str) -> str:
    """The field that reads an annotation."""
    return f"metadata.annotations['{key}']"


def reads(template: Tree, *keys: str) -> bool:
    """Whether a pod reads any of these labels of itself."""
    return not {label(key) for key in keys}.isdisjoint(_paths(template))


def with_present_fields(template: Tree, fields: PodFields) -> Tree:
    """A pod template in which what reads a field of `fields` reads the present one; what a label still has stays."""
    labels = get(template, "metadata", "labels") or {}
    changed = {path: now for path, now in fields.items() if path.removeprefix("metadata.labels['")[:-2] not in labels}
    if changed.keys().isdisjoint(_paths(template)):
        return template
    rewritten: Tree = _rewritten(template, changed)
    return rewritten


def _paths(tree: Tree) -> set[str]:
    """The fields that a pod reads of itself."""
    if type(tree) is list:
        return {path for item in tree for path in _paths(item)}
    if type(tree) is not dict:
        return set()
    found = {path for node in tree.values() for path in _paths(node)}
    path = value(tree, "fieldRef", "fieldPath")
    return {*found, path} if type(path) is str else found


def _rewritten(tree: Tree, fields: PodFields) -> Tree:
    if type(tree) is list:
        return [_rewritten(item, fields) for item in tree]
    if type(tree) is not dict:
        return tree
    present = fields.get(str(value(tree, "valueFrom", "fieldRef", "fieldPath")))
    if type(present) is Sourced:  # the entry of a variable
        kept = {key: node for key, node in tree.items() if key != "valueFrom"}
        written = tree["valueFrom"]["fieldRef"]["fieldPath"]
        constant = {"value": derive("constant under the operator", lambda _, now: now, written, present)}
        return {**kept, **(constant if present.value else {})}
    out = {key: _rewritten(node, fields) for key, node in tree.items()}
    now = fields.get(str(value(tree, "fieldRef", "fieldPath")))
    if type(now) is str:
        path = tree["fieldRef"]["fieldPath"]
        out["fieldRef"] = {**tree["fieldRef"], "fieldPath": derive("the JobSet's own field", lambda _: now, path)}
    return out
