"""What a look at a finished bundle says about the placing of its pods."""

from __future__ import annotations

from trainc.model.bundle import Bundle
from trainc.model.cluster import Cluster
from trainc.model.report import Report
from trainc.model.tree import Tree, value
from trainc.text.memo import Memo

_QUEUE, _GANG = 1, 2  # what keys of labels and annotations are about
_GROUP, _FIELDS = "schedulingGroup", frozenset(("schedulerName", "priorityClassName"))


def verify(bundle: Bundle, cluster: Cluster, report: Report) -> None:
    """Whether the pods of a bundle can be placed together: groups, ties, numbers, queues and topologies."""
    jobset = bundle.jobset
    spec = jobset.get("spec") if type(jobset) is dict else None
    if type(spec) is not dict:
        return
    groups = [tree for tree in bundle.around if tree is not jobset and value(tree, "kind") == "PodGroup"]
    has_field, grouped, mentioned = False, bool(groups), 0
    jobs = spec.get("replicatedJobs")
    jobs = jobs if type(jobs) is list else []
    pods = []
    for job in jobs:
        template = job.get("template") if type(job) is dict else None
        work = template.get("spec") if type(template) is dict else None
        pod_template = work.get("template") if type(work) is dict else None
        mentioned |= _mentions(template) | _mentions(pod_template)
        pod = pod_template.get("spec") if type(pod_template) is dict else None
        pods.append(pod)
        if type(pod) is dict:
            grouped = grouped or _GROUP in pod
            has_field = has_field or not _FIELDS.isdisjoint(pod)
    whole = mentioned | _mentions(jobset)
    grouped = grouped or bool(whole & _GANG)
    waits = bool(whole & _QUEUE)
    is_for_kueue = (cluster.scheduler is not None and cluster.scheduler.value == "kueue") or bool(
        _mentions(bundle.document.tree) & _QUEUE
    )
    if grouped or waits or has_field or is_for_kueue:
        from trainc.lint.rules.scheduling.placing import look  # noqa: PLC0415 (most jobs ask no scheduler for anything)

        report.add_all(look(bundle, cluster, report, gang=grouped, queued=waits))


def _mentions(tree: Tree) -> int:
    """What the keys of the labels and annotations of an object or a template are about."""
    metadata = tree.get("metadata") if type(tree) is dict else None
    if type(metadata) is not dict:
        return 0
    labels, annotations = metadata.get("labels"), metadata.get("annotations")
    mentioned = _ABOUT[tuple(labels)] if type(labels) is dict else 0
    return mentioned | _ABOUT[tuple(annotations)] if type(annotations) is dict else mentioned


def _about(keys: tuple[str, ...]) -> int:
    # Nothing of what is looked at has another name.
    whole = "\n".join(keys)
    return (_QUEUE if "kueue" in whole else 0) | (_GANG if "scheduling." in whole or "volcano" in whole else 0)


_ABOUT = Memo(_about)
