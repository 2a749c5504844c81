"""What a look at a finished bundle says about the placing of its pods."""

from __future__ import annotations

from trainc.model.tree import get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.bundle import Bundle
    from trainc.model.cluster import Cluster
    from trainc.model.report import Report
    from trainc.model.tree import Tree

_GROUP, _FIELDS = "schedulingGroup", frozenset(("schedulerName", "priorityClassName"))


def verify(bundle: Bundle, cluster: Cluster, report: Report) -> None:
    """Whether the pods of a bundle can be placed together: groups, ties, numbers, queues and topologies."""
    jobset = bundle.jobset
    spec = jobset.get("spec") if type(jobset) is dict else None
    if type(spec) is not dict:
        return
    said, named, gang = _keys(jobset), False, len(bundle.objects) > 1 and bool(bundle.of_kind("PodGroup"))
    jobs = spec.get("replicatedJobs")
    for job in jobs if type(jobs) is list else ():
        template = get(job, "template")
        pods = get(template, "spec", "template")
        said += _keys(template) + _keys(pods)
        pod = pods.get("spec") if type(pods) is dict else None
        if type(pod) is dict:
            gang = gang or _GROUP in pod
            named = named or not _FIELDS.isdisjoint(pod)
    # Nothing of what is looked at has another name.
    gang = gang or "scheduling." in said or "volcano" in said
    queued = "kueue" in said
    if gang or queued or named:
        # Most jobs ask no scheduler for anything, so that the first that does loads what there is to say.
        from trainc.schedulers.looks import look  # noqa: PLC0415

        look(bundle, cluster, report, gang=gang, queued=queued)


def _keys(tree: Tree) -> str:
    """The keys of all labels and annotations of an object or a template, a line for each."""
    metadata = tree.get("metadata") if type(tree) is dict else None
    if type(metadata) is not dict:
        return ""
    labels, annotations = metadata.get("labels"), metadata.get("annotations")
    said = "\n".join(labels) if type(labels) is dict else ""
    if type(annotations) is dict:
        said += "\n" + "\n".join(annotations)
    return said + "\n"
