"""What a reviewer asks about a job: images, nodes, accelerators, env, commands, queue, and how long it may run."""

from __future__ import annotations

from typing import NamedTuple

from trainc.model.paths import keyed, shown
from trainc.model.report import Report
from trainc.model.tree import get, leaves, plain, value
from trainc.verify import expand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainc.model.bundle import Bundle
    from trainc.model.tree import Tree

QUEUES = ("kueue.x-k8s.io/queue-name", "scheduling.volcano.sh/queue-name")

Key = tuple[str, str, str]  # cluster, namespace, name


class Facts(NamedTuple):
    """One job as a reviewer sees it; `values` maps what was asked about to its text, `files` each leaf to its files."""

    key: Key
    source: str
    jobset: Tree
    values: Mapping[str, str]
    accelerators: Mapping[str, int]
    hours: float | None  # an upper bound of accelerator hours, None where nothing bounds it
    digest: Mapping[str, object]  # every leaf of every object, by object and path
    files: Mapping[str, frozenset[str]]
    named: frozenset[str]  # the leaves that rest on the job's name


def facts(bundle: Bundle) -> Facts:
    """The facts of one bundle."""
    namespace = value(bundle.jobset, "metadata", "namespace") or "default"
    digest: dict[str, object] = {}
    files: dict[str, frozenset[str]] = {}
    named: set[str] = set()
    given = bundle.document.span(("metadata", "name"))
    for tree in bundle.objects:
        label = f"{value(tree, 'kind')}/{value(tree, 'metadata', 'name')}"
        for path, leaf in leaves(tree):
            name = f"{label} {shown(keyed(tree, path))}"
            digest[name] = leaf.value
            spans = leaf.origin.spans()
            files[name] = frozenset(span.file for span in spans)
            if given in spans:
                named.add(name)
    accelerators = _accelerators(bundle)
    hours = _hours(bundle.jobset, sum(accelerators.values()))
    key = (bundle.cluster, namespace, bundle.name)
    values = dict(_values(bundle.jobset))
    source = bundle.document.file
    return Facts(key, source, bundle.jobset, values, accelerators, hours, digest, files, frozenset(named))


def _values(jobset: Tree) -> Iterator[tuple[str, str]]:
    for name in QUEUES:
        for part in ("labels", "annotations"):
            queue = value(jobset, "metadata", part, name)
            if queue is not None:
                yield "queue", str(queue)
    for job in get(jobset, "spec", "replicatedJobs") or ():
        role = str(value(job, "name"))
        pods = value(job, "template", "spec", "parallelism")
        yield f"nodes of {role}", str((1 if pods is None else pods) * (value(job, "replicas") or 1))
        pod = get(job, "template", "spec", "template", "spec") or {}
        for container in (*(pod.get("initContainers") or ()), *(pod.get("containers") or ())):
            yield from _of_container(role, container)


def _of_container(role: str, container: Tree) -> Iterator[tuple[str, str]]:
    name = f"{role}/{value(container, 'name')}"
    if "image" in container:
        yield f"image of {name}", str(value(container, "image"))
    words = [*(container.get("command") or ()), *(container.get("args") or ())]
    if words:
        yield f"command of {name}", " ".join(str(word.value) for word in words)
    for entry in container.get("env") or ():
        content = value(entry, "value")
        yield (
            f"env {value(entry, 'name')} of {name}",
            str(content) if content is not None else str(plain(entry.get("valueFrom"))),
        )
    for part in ("requests", "limits"):
        for resource, amount in (get(container, "resources", part) or {}).items():
            yield f"{part} {resource} of {name}", str(amount.value)


def _accelerators(bundle: Bundle) -> dict[str, int]:
    """Accelerators of the whole job by resource, of pods that run at the same time or not."""
    job = expand(bundle, None, Report())
    found: dict[str, int] = {}
    for role in job.roles if job is not None else ():
        replicas, width = role.replicas, role.width
        pods = replicas * width if isinstance(replicas, int) and isinstance(width, int) else 0
        for resource, amount in role.devices.items():
            if isinstance(amount, int):
                found[resource] = found.get(resource, 0) + amount * pods
    return found


def _hours(jobset: Tree, accelerators: int) -> float | None:
    """Accelerators times the longest deadline times all attempts, None where no deadline bounds the job."""
    deadlines = [
        value(job, "template", "spec", "activeDeadlineSeconds") for job in get(jobset, "spec", "replicatedJobs") or ()
    ]
    if not accelerators or not deadlines or any(deadline is None for deadline in deadlines):
        return None
    attempts = 1 + (value(jobset, "spec", "failurePolicy", "maxRestarts") or 0)
    return float(accelerators * max(deadlines) * attempts / 3600)
