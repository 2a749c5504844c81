"""The PodGroup of a job that was written for Volcano, as a runtime asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.text.object_keys import VOLCANO_GROUP, VOLCANO_QUEUE

if TYPE_CHECKING:
    from trainc.changes.migrate.target import MigrationTarget


def is_of_volcano(tree: dict[str, Any]) -> bool:
    """Whether an object is a PodGroup of Volcano."""
    return bool(tree["kind"] == "PodGroup" and tree["apiVersion"].startswith("scheduling.volcano.sh/"))


def readable_group(group: dict[str, Any]) -> dict[str, Any]:
    """A PodGroup as one writes it: without minima of tasks that are all zero, or that add up to more than the whole."""
    spec = group["spec"]
    if 0 < sum(spec.get("minTaskMember", {}).values()) <= spec.get("minMember", 0):
        return group
    return {**group, "spec": {key: value for key, value in spec.items() if key != "minTaskMember"}}


def with_group(want: MigrationTarget, group: dict[str, Any]) -> MigrationTarget:
    """The job whose runtime asks Volcano for a gang of all its pods, in the queue of this PodGroup."""
    spec = group["spec"]
    topology = spec.get("networkTopology")
    policy = {"networkTopology": topology} if topology else {}
    runtime = want.runtime["spec"]
    runtime["podGroupPolicy"] = {"volcano": policy}
    template = runtime["template"]
    if "queue" in spec:
        annotations = template.setdefault("metadata", {}).setdefault("annotations", {})
        annotations.setdefault(VOLCANO_QUEUE, spec["queue"])
    for role in want.roles_of_runtime:
        _without_group(role["template"]["spec"]["template"])
    want.is_gang = True
    return want


def _without_group(template: dict[str, Any]) -> None:
    """Take out of a pod what ties it to its group, as the Trainer writes it again."""
    metadata = template.get("metadata", {})
    annotations = metadata.get("annotations", {})
    annotations.pop(VOLCANO_GROUP, None)
    if "annotations" in metadata and not annotations:
        del metadata["annotations"]
    if "metadata" in template and not metadata:
        del template["metadata"]
