"""What a reviewer asks about a job: images, nodes, accelerators, env, commands, queue, and how long it may run.

Objects beside jobs, which jobs name or which are passed through, are each compared under their own name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from trainc.changes.compare.updates import Keys, apart, empty, keys, orders
from trainc.compiler import pipeline
from trainc.compiler.emit.spool.objects import parts_of
from trainc.lint import expand
from trainc.lint.facts.job import ExpandedRole, Job
from trainc.model.bundle import Bundle
from trainc.model.paths import shown
from trainc.model.references import KINDS, names_in, provides
from trainc.model.report import Report
from trainc.model.settings import Project, Selection
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import Tree, first_leaf, get, plain, value
from trainc.text.object_keys import KUEUE_QUEUE, VOLCANO_QUEUE
from trainc.text.record import Any

Key = tuple[str, str, str]  # cluster, namespace, name of the job, or kind/name of an object beside jobs


class Split(NamedTuple):
    """One state: the bundles of jobs without some objects, and a bundle for each of these objects."""

    jobs: list[Bundle]
    objects: dict[Key, Bundle]


def object_key(bundle: Bundle, tree: Tree) -> Key:
    """Cluster, namespace, and kind and name as kubectl has them: no job's name has a slash in it.

    What is passed through is there once for all clusters; without a name its file stands for it.
    """
    kind, group = str(value(tree, "kind")), str(value(tree, "apiVersion")).rpartition("/")[0]
    kinds = kind.lower() if kind in KINDS or not group else f"{kind.lower()}.{group}"
    name = value(tree, "metadata", "name") or bundle.document.file
    cluster = "" if bundle.passing else bundle.cluster
    return cluster, str(value(tree, "metadata", "namespace") or "default"), f"{kinds}/{name}"


def names_apart(bundles: Iterable[Bundle]) -> frozenset[Key]:
    """The objects that are in no job's bundle."""
    return frozenset(object_key(one, tree) for one in bundles if one.jobset is None for tree in one.objects)


def split(bundles: Iterable[Bundle], names: frozenset[Key]) -> Split:
    """The bundles with the objects of these names apart, also where they stand in the file of a job."""
    parts = Split([], {})
    for bundle in bundles:
        apart = {key: tree for tree in bundle.objects if (key := object_key(bundle, tree)) in names}
        for key, tree in apart.items():
            parts.objects[key] = Bundle(bundle.document, (tree,), cluster=bundle.cluster, passing=bundle.passing)
        if bundle.jobset is not None:
            parts.jobs.append(_without(bundle, apart.values()) if apart else bundle)
    return parts


def _without(bundle: Bundle, trees: Iterable[Tree]) -> Bundle:
    gone = {id(tree) for tree in trees}
    own = tuple(tree for tree in bundle.objects if id(tree) not in gone)
    return Bundle(bundle.document, own, bundle.plan, cluster=bundle.cluster, jobset=bundle.jobset)


def applied(
    compiled: Iterable[Bundle], kept: Mapping[Key, Bundle], project: Project, selection: Selection
) -> list[Bundle]:
    """What is applied where some runs keep their renderings: these, the other jobs, and the objects that both name."""
    bundles = [kept.get(job_key(one), one) if one.jobset is not None else one for one in compiled]
    return [*bundles, *pipeline.objects_named(bundles, project, selection, Report(compiles=False))]


def of_run(bundle: Bundle, project: Project) -> Bundle:
    """What stands in the rendered file of a job's run: where earlier runs stay, what outlives a run stands elsewhere."""
    return parts_of(bundle)[-1] if project.old_run == "keep" else bundle


def job_key(bundle: Bundle) -> Key:
    """Cluster, namespace and name of a bundle's job."""
    return bundle.cluster, str(value(bundle.jobset, "metadata", "namespace") or "default"), bundle.name


def naming(bundle: Bundle, jobs: Iterable[Bundle]) -> frozenset[str]:
    """The files of the jobs that name the object of a bundle, and its own."""
    wanted = {provides(tree) for tree in bundle.objects}
    users = (one for one in jobs if one.cluster == bundle.cluster and wanted & names_in(one.objects))
    return frozenset((*bundle.document.files, *(one.document.file for one in users)))


QUEUES = (KUEUE_QUEUE, VOLCANO_QUEUE)


class JobFacts(NamedTuple):
    """One job, or an object beside jobs, as a reviewer sees it; `values` maps what was asked about to its text, `files` each leaf to its files."""

    key: Key
    source: str
    jobset: Tree
    values: Mapping[str, str]
    queue: str
    accelerators: Mapping[str, int]
    hours: float | None  # an upper bound of accelerator hours, None where nothing bounds it
    uncounted: bool  # whether restarts that use up none of the job's own come on top of that
    digest: Mapping[str, object]  # every leaf of every object, by object and path
    files: Mapping[str, frozenset[str]]
    name_leaves: frozenset[str]  # the leaves that rest on the job's name
    order: Mapping[str, Keys]  # of the items of lists, by object and path
    places: Mapping[str, Span]  # where each leaf and what was asked about is written, as far as a file holds it


def facts(bundle: Bundle) -> JobFacts:
    """The facts of one bundle."""
    read = _Leaves(bundle)
    job = expand(bundle, None, Report())
    leaves = list(_values(bundle.jobset))
    read.places |= {what: at for what, _, leaf in leaves if leaf is not None for at in leaf.origin.spans()[:1]}
    values = {what: text for what, text, _ in leaves}
    rules = get(bundle.jobset, "spec", "failurePolicy", "rules") or ()
    # Accelerators of the whole job by resource, of pods that run at the same time or not.
    counts: dict[str, int] = {}
    for role in job.roles if job is not None else ():
        for resource, amount in role.devices.items():
            if isinstance(amount, int):
                counts[resource] = counts.get(resource, 0) + amount * _pods(role)
    return JobFacts(
        key=job_key(bundle) if bundle.jobset is not None else object_key(bundle, bundle.objects[0]),
        source=bundle.document.file,
        jobset=bundle.jobset,
        values=values,
        queue=values.get("queue", ""),
        accelerators=counts,
        hours=_hours(job, bundle.jobset),
        uncounted=any(str(value(rule, "action")).endswith("IgnoreMaxRestarts") for rule in rules),
        digest=read.digest,
        files=read.files,
        name_leaves=frozenset(read.name_leaves),
        order=read.order,
        places=read.places,
    )


def differ(was: JobFacts, now: JobFacts) -> bool:
    """Whether two forms of a job differ in anything that is applied."""
    return was.digest != now.digest or was.order != now.order


class _Leaves:
    """The leaves and lists of all objects of a bundle, by object and path."""

    def __init__(self, bundle: Bundle) -> None:
        self.digest: dict[str, object] = {}
        self.files: dict[str, frozenset[str]] = {}
        self.name_leaves: set[str] = set()
        self.order: dict[str, Keys] = {}
        self.places: dict[str, Span] = {}
        given = bundle.document.span(("metadata", "name"))
        for tree in bundle.objects:
            label = f"{value(tree, 'kind')}/{value(tree, 'metadata', 'name')}"
            for steps, names in orders(tree).items():
                self.order[f"{label} {shown(steps)}"] = keys(names)
                spans = frozenset(at.file for _, leaf in names for at in leaf.origin.spans())
                self.files[f"{label} {shown(steps)}"] = spans
            for steps, _, leaf in apart(tree):
                name = f"{label} {shown(steps)}"
                self.digest[name] = leaf.value
                self._rest(name, leaf.origin.spans(), given)
            self.digest.update({f"{label} {shown(steps)}": node for steps, _, node in empty(tree)})

    def _rest(self, name: str, spans: tuple[Span, ...], given: Span) -> None:
        self.files[name] = frozenset(span.file for span in spans)
        if spans:
            self.places[name] = spans[0]
        if given in spans:
            self.name_leaves.add(name)


def _values(jobset: Tree) -> Iterator[tuple[str, str, Sourced[Any] | None]]:
    for name in QUEUES:
        for part in ("labels", "annotations"):
            if (queue := get(jobset, "metadata", part, name)) is not None:
                yield "queue", str(queue.value), queue
    for job in get(jobset, "spec", "replicatedJobs") or ():
        role = str(value(job, "name"))
        leaf = get(job, "template", "spec", "parallelism")
        pods = value(job, "template", "spec", "parallelism")
        yield f"nodes of {role}", str(_product(1 if pods is None else pods, value(job, "replicas") or 1)), leaf
        pod = get(job, "template", "spec", "template", "spec") or {}
        for container in (*(pod.get("initContainers") or ()), *(pod.get("containers") or ())):
            yield from _of_container(role, container)


def _product(pods: object, replicas: object) -> object:
    """How many pods a role has; the placeholder where one number is filled in later."""
    if type(pods) is int and type(replicas) is int:
        return pods * replicas
    return pods if type(pods) is not int else replicas


def _of_container(role: str, container: Tree) -> Iterator[tuple[str, str, Sourced[Any] | None]]:
    name = f"{role}/{value(container, 'name')}"
    if "image" in container:
        yield f"image of {name}", str(value(container, "image")), container["image"]
    words = [*(container.get("command") or ()), *(container.get("args") or ())]
    if words:
        yield f"command of {name}", " ".join(str(word.value) for word in words), words[-1]
    for entry in container.get("env") or ():
        content = value(entry, "value")
        yield (
            f"env {value(entry, 'name')} of {name}",
            str(content) if content is not None else str(plain(entry.get("valueFrom"))),
            first_leaf(entry.get("value", entry.get("valueFrom"))),
        )
    for part in ("requests", "limits"):
        for resource, amount in (get(container, "resources", part) or {}).items():
            yield f"{part} {resource} of {name}", str(amount.value), amount


def _pods(role: ExpandedRole) -> int:
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
