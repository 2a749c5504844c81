"""What a look at a finished bundle says about the placing of its pods."""

from __future__ import annotations

from trainc.model.tree import get, value

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
    groups = [tree for tree in bundle.around if tree is not jobset and value(tree, "kind") == "PodGroup"]
    named, gang, said = False, bool(groups), ""
    jobs = spec.get("replicatedJobs")
    jobs = jobs if type(jobs) is list else []
    pods = []
    for job in jobs:
        template = job.get("template") if type(job) is dict else None
        pod_template = get(template, "spec", "template")
        said += _keys(template) + _keys(pod_template)
        pod = pod_template.get("spec") if type(pod_template) is dict else None
        pods.append(pod)
        if type(pod) is dict:
            gang = gang or _GROUP in pod
            named = named or not _FIELDS.isdisjoint(pod)
    # Nothing of what is looked at has another name.
    whole = said + _keys(jobset)
    gang = gang or "scheduling." in whole or "volcano" in whole
    waits = "kueue" in whole
    if gang or waits or named:
        # Most jobs ask no scheduler for anything, so that the first that does loads what there is to say.
        from trainc.schedulers import usual  # noqa: PLC0415

        if gang:
            ordinary = usual.gang(bundle, cluster, jobs, groups, whole)
        else:
            ordinary = usual.queued(bundle, cluster, jobs, pods, said)
        if ordinary:
            return
        from trainc.schedulers.looks import look  # noqa: PLC0415

        look(bundle, cluster, report, gang=gang, queued=waits)


def _keys(tree: Tree) -> str:
    """The keys of all labels and annotations of an object or a template, a line for each."""
    metadata = tree.get("metadata") if type(tree) is dict else None
    if type(metadata) is not dict:
        return ""
    said = ""
    for section in ("labels", "annotations"):
        keys = metadata.get(section)
        if type(keys) is dict and keys:
            said += "\n".join(keys) + "\n"
    return said
