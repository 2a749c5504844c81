"""Values of a job that are filled in later, and without which nobody can say where its pods run."""

from __future__ import annotations

from trainc.model.sourced import Sourced
from trainc.model.tree import get
from trainc.text.placeholders import is_placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.model.tree import Tree

_OF_CONTAINERS = ("resources", "restartPolicy", "ports")
_HOLDING_CONTAINERS = frozenset({"containers", "initContainers"})
_UNINTERESTING = frozenset({"volumes", "imagePullSecrets", "hostname", "subdomain", "serviceAccountName"})


def unfilled(jobset: Tree) -> str:
    """The first such value, empty where everything that decides is known."""
    todo = list(_deciding(jobset))
    while todo:
        node = todo.pop()
        if type(node) is dict:
            todo += node.values()
        elif type(node) is list:
            todo += node
        elif type(node) is Sourced and is_placeholder(node.value):
            return str(node.value)
    return ""


def _deciding(jobset: Tree) -> Iterator[Tree]:
    yield get(jobset, "metadata", "namespace")
    yield from _keys(get(jobset, "metadata"))
    jobs = get(jobset, "spec", "replicatedJobs")
    for job in jobs if type(jobs) is list else []:
        spec = get(job, "template", "spec")
        yield from (get(job, "replicas"), get(spec, "parallelism"), get(spec, "completions"))
        yield from _keys(get(job, "template", "metadata"))
        yield from _keys(get(spec, "template", "metadata"))
        pod = get(spec, "template", "spec")
        for field, node in pod.items() if type(pod) is dict else ():
            if field in _HOLDING_CONTAINERS:
                listed = node if type(node) is list else []
                yield from (get(container, part) for container in listed for part in _OF_CONTAINERS)
            elif field not in _UNINTERESTING:
                yield node


def _keys(metadata: Tree) -> Iterator[Tree]:
    """Labels and annotations that queues and JobSet read."""
    for part in ("labels", "annotations"):
        keys = get(metadata, part)
        for key, leaf in keys.items() if type(keys) is dict else ():
            if "kueue" in key or "jobset.sigs" in key:
                yield leaf
