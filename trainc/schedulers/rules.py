"""What a look at a finished bundle says about the placing of its pods."""

from __future__ import annotations

from trainc.model.tree import get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.bundle import Bundle
    from trainc.model.cluster import Cluster
    from trainc.model.report import Report
    from trainc.model.tree import Tree

# Nothing of what is looked at has another name: keys of metadata with one of these in them, and fields of pods.
_KEYS = ("scheduling.", "volcano", "kueue")
_FIELDS = ("schedulingGroup", "schedulerName", "priorityClassName")


def verify(bundle: Bundle, cluster: Cluster, report: Report) -> None:
    """Whether the pods of a bundle can be placed together: groups, ties, numbers, queues and topologies."""
    jobset = bundle.jobset
    if type(get(jobset, "spec")) is not dict or not _concerned(bundle, jobset):
        return
    # Most jobs ask no scheduler for anything, so that the first that does loads what there is to say.
    from trainc.schedulers import order, pod_sets, queues, sizes, ties  # noqa: PLC0415
    from trainc.schedulers.placement import Placement  # noqa: PLC0415

    placement = Placement(bundle, cluster)
    for look in (order.look, ties.look, sizes.look, queues.look, pod_sets.look):
        look(placement, report)


def _concerned(bundle: Bundle, jobset: Tree) -> bool:
    """Whether anything in a bundle is about a scheduler or a queue."""
    if bundle.of_kind("PodGroup") or _named(jobset):
        return True
    for job in jobset["spec"].get("replicatedJobs") or ():
        template = get(job, "template")
        pods = get(template, "spec", "template")
        spec = get(pods, "spec")
        if _named(template) or _named(pods) or (type(spec) is dict and any(field in spec for field in _FIELDS)):
            return True
    return False


def _named(tree: Tree) -> bool:
    metadata = get(tree, "metadata")
    for section in ("labels", "annotations"):
        keys = get(metadata, section)
        if keys and any(word in key for key in keys for word in _KEYS):
            return True
    return False
