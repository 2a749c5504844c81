"""What a reviewer asks about a job: images, nodes, accelerators, env, commands, queue, and how long it may run."""

from __future__ import annotations

from typing import NamedTuple

from trainc.compare.order import keys, orders
from trainc.compare.updates import apart
from trainc.model.paths import shown
from trainc.model.report import Report
from trainc.model.tree import get, plain, value
from trainc.verify import expand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainc.compare.order import Keys
    from trainc.model.bundle import Bundle
    from trainc.model.tree import Tree
    from trainc.verify.job import Job
    from trainc.verify.pods import Role

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
    uncounted: bool  # whether restarts that use up none of the job's own come on top of that
    digest: Mapping[str, object]  # every leaf of every object, by object and path
    files: Mapping[str, frozenset[str]]
    named: frozenset[str]  # the leaves that rest on the job's name
    order: Mapping[str, Keys]  # of the items of lists, by object and path


def facts(bundle: Bundle) -> Facts:
    """The facts of one bundle."""
    namespace = value(bundle.jobset, "metadata", "namespace") or "default"
    digest: dict[str, object] = {}
    files: dict[str, frozenset[str]] = {}
    named: set[str] = set()
    order: dict[str, Keys] = {}
    given = bundle.document.span(("metadata", "name"))
    for tree in bundle.objects:
        label = f"{value(tree, 'kind')}/{value(tree, 'metadata', 'name')}"
        for steps, names in orders(tree).items():
            order[f"{label} {shown(steps)}"] = keys(names)
            files[f"{label} {shown(steps)}"] = frozenset(at.file for _, leaf in names for at in leaf.origin.spans())
        for steps, _, leaf in apart(tree):
            name = f"{label} {shown(steps)}"
            digest[name] = leaf.value
            spans = leaf.origin.spans()
            files[name] = frozenset(span.file for span in spans)
            if given in spans:
                named.add(name)
    job = expand(bundle, None, Report())
    return Facts(
        key=(bundle.cluster, namespace, bundle.name),
        source=bundle.document.file,
        jobset=bundle.jobset,
        values=dict(_values(bundle.jobset)),
        accelerators=_accelerators(job),
        hours=_hours(job, bundle.jobset),
        uncounted=_uncounted(bundle.jobset),
        digest=digest,
        files=files,
        named=frozenset(named),
        order=order,
    )


def _values(jobset: Tree) -> Iterator[tuple[str, str]]:
    for name in QUEUES:
        for part in ("labels", "annotations"):
            queue = value(jobset, "metadata", part, name)
            if queue is not None:
                yield "queue", str(queue)
    for job in get(jobset, "spec", "replicatedJobs") or ():
        role = str(value(job, "name"))
        pods = value(job, "template", "spec", "parallelism")
        yield f"nodes of {role}", str(_product(1 if pods is None else pods, value(job, "replicas") or 1))
        pod = get(job, "template", "spec", "template", "spec") or {}
        for container in (*(pod.get("initContainers") or ()), *(pod.get("containers") or ())):
            yield from _of_container(role, container)


def _product(pods: object, replicas: object) -> object:
    """How many pods a role has; the placeholder where one number is filled in later."""
    if type(pods) is int and type(replicas) is int:
        return pods * replicas
    return pods if type(pods) is not int else replicas


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


def _accelerators(job: Job | None) -> dict[str, int]:
    """Accelerators of the whole job by resource, of pods that run at the same time or not."""
    found: dict[str, int] = {}
    for role in job.roles if job is not None else ():
        for resource, amount in role.devices.items():
            if isinstance(amount, int):
                found[resource] = found.get(resource, 0) + amount * _pods(role)
    return found


def _pods(role: Role) -> int:
    replicas, width = role.replicas, role.width
    return replicas * width if isinstance(replicas, int) and isinstance(width, int) else 0


def _hours(job: Job | None, jobset: Tree) -> float | None:
    """Accelerators times the deadline of their role times all attempts, None where no deadline bounds one of them."""
    seconds = 0
    for role in job.roles if job is not None else ():
        held = sum(amount for amount in role.devices.values() if isinstance(amount, int)) * _pods(role)
        deadline = value(role.spec, "activeDeadlineSeconds")
        if held and type(deadline) is not int:
            return None
        seconds += held * (deadline or 0)
    restarts = value(jobset, "spec", "failurePolicy", "maxRestarts") or 0
    if type(restarts) is not int:
        return None  # a placeholder may become any number
    return float(seconds * (1 + restarts) / 3600)


def _uncounted(jobset: Tree) -> bool:
    """Whether some restarts use up none of those that the job has."""
    rules = get(jobset, "spec", "failurePolicy", "rules") or ()
    return any(str(value(rule, "action")).endswith("IgnoreMaxRestarts") for rule in rules)
