"""What a look at a finished bundle says about the placing of its pods."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.bundle import Bundle
    from trainc.model.cluster import Cluster
    from trainc.model.report import Report
    from trainc.model.tree import Tree

# Nothing of what is looked at has another name: keys of metadata with one of these in them, and fields of pods.
_GANGS, _QUEUES = ("scheduling.", "volcano"), "kueue"
_GROUP, _FIELDS = "schedulingGroup", frozenset(("schedulerName", "priorityClassName"))


def verify(bundle: Bundle, cluster: Cluster, report: Report) -> None:
    """Whether the pods of a bundle can be placed together: groups, ties, numbers, queues and topologies."""
    jobset = bundle.jobset
    spec = jobset.get("spec") if type(jobset) is dict else None
    if type(spec) is not dict:
        return
    keys, gang, named = _keys(jobset), bool(bundle.of_kind("PodGroup")), False
    jobs = spec.get("replicatedJobs")
    for job in jobs if type(jobs) is list else ():
        template = _below(job, "template")
        pods = _below(_below(template, "spec"), "template")
        pod = _below(pods, "spec")
        keys += _keys(template) + _keys(pods)
        gang = gang or _GROUP in pod
        named = named or not _FIELDS.isdisjoint(pod)
    said = "\n".join(keys)
    gang = gang or _GANGS[0] in said or _GANGS[1] in said
    queued = _QUEUES in said
    if gang or queued or named:
        # Most jobs ask no scheduler for anything, so that the first that does loads what there is to say.
        from trainc.schedulers.looks import look  # noqa: PLC0415

        look(bundle, cluster, report, gang=gang, queued=queued)


def _keys(tree: Tree) -> list[str]:
    """The keys of all labels and annotations of an object or a template."""
    metadata = _below(tree, "metadata")
    return [*_below(metadata, "labels"), *_below(metadata, "annotations")]


def _below(tree: Tree, field: str) -> Tree:
    found = tree.get(field) if type(tree) is dict else None
    return found if type(found) is dict else {}
