"""What a reviewer asks about a job, and what differs between two forms of one, with the places where both are written.

A job may be the same under another name or in another place, or the next run of one. Objects beside jobs, which jobs name
or which are passed through, are each compared under their own name.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from trainc.changes.compare.updates import Keys, keys, moved, pieces_of
from trainc.compiler import pipeline
from trainc.compiler.emit.spool.objects import parts_of
from trainc.lint import expand
from trainc.model.bundle import Bundle
from trainc.model.paths import in_order, shown
from trainc.model.references import KINDS, names_in, provides
from trainc.model.report import Report
from trainc.model.settings import Project, Selection
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import Tree, first_leaf, get, plain, value
from trainc.text.masking import MASK, named_secret, variable_of
from trainc.text.numbers import whole_number, with_octal
from trainc.text.object_keys import KUEUE_QUEUE, VOLCANO_QUEUE

Key = tuple[str, str, str]  # cluster, namespace, name of the job, or kind/name of an object beside jobs
QUEUES = (KUEUE_QUEUE, VOLCANO_QUEUE)
_SECRET = re.compile(r"Secret/\S+ (data|stringData)\b")  # what nobody shall read in a review
_OWN = ("JobSet", "Job")  # kinds of the object that a job is
_SUMMARIZED = frozenset(("args", "command", "completions", "env", "image", "parallelism", "resources"))
_SIZES = ("nodes of ", "requests ", "limits ")  # what holds no name
_MAX_JOBS_OF_ONE_SHAPE = 50  # jobs of one shape; of more, hardly any is a clear case


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
            gone = {id(tree) for tree in apart.values()}
            own = tuple(tree for tree in bundle.objects if id(tree) not in gone)
            without = Bundle(bundle.document, own, bundle.plan, cluster=bundle.cluster, jobset=bundle.jobset)
            parts.jobs.append(without if apart else bundle)
    return parts


def applied(new: Iterable[Bundle], kept: Mapping[Key, Bundle], project: Project, selection: Selection) -> list[Bundle]:
    """What is applied where some runs keep their renderings: these, the other jobs, and the objects that both name."""
    bundles = [kept.get(job_key(one), one) if one.jobset is not None else one for one in new]
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
    digest: dict[str, object] = {}
    files: dict[str, frozenset[str]] = {}
    name_leaves: set[str] = set()
    order: dict[str, Keys] = {}
    places: dict[str, Span] = {}
    given = bundle.document.span(("metadata", "name"))
    for tree in bundle.objects:
        label = f"{value(tree, 'kind')}/{value(tree, 'metadata', 'name')}"
        parts = pieces_of(tree)
        for steps, names in parts.orders.items():
            order[f"{label} {shown(steps)}"] = keys(names)
            files[f"{label} {shown(steps)}"] = frozenset(at.file for _, leaf in names for at in leaf.origin.spans())
        for steps, _, leaf in parts.leaves:
            name, spans = f"{label} {shown(steps)}", leaf.origin.spans()
            digest[name] = leaf.value
            files[name] = frozenset(span.file for span in spans)
            if spans:
                places[name] = spans[0]
            if given in spans:
                name_leaves.add(name)
        digest.update({f"{label} {shown(steps)}": node for steps, _, node in parts.empty})
    job = expand(bundle, None, Report())
    asked = list(_values(bundle.jobset))
    places |= {what: at for what, _, leaf in asked if leaf is not None for at in leaf.origin.spans()[:1]}
    values = {what: text for what, text, _ in asked}
    rules = get(bundle.jobset, "spec", "failurePolicy", "rules") or ()
    # Accelerators of the whole job by resource, of pods that run at the same time or not, and for how long.
    counts = Counter[str]()
    seconds, is_bounded = 0, True
    for role in job.roles if job is not None else ():
        pods = role.replicas * role.width if isinstance(role.replicas, int) and isinstance(role.width, int) else 0
        own = {resource: amount * pods for resource, amount in role.devices.items() if isinstance(amount, int)}
        counts.update(own)
        deadline = value(role.spec, "activeDeadlineSeconds")
        if (held := sum(own.values())) and type(deadline) is int:
            seconds += held * deadline
        elif held:
            is_bounded = False
    restarts = value(bundle.jobset, "spec", "failurePolicy", "maxRestarts") or 0  # a placeholder may be any number
    return JobFacts(
        key=job_key(bundle) if bundle.jobset is not None else object_key(bundle, bundle.objects[0]),
        source=bundle.document.file,
        jobset=bundle.jobset,
        values=values,
        queue=values.get("queue", ""),
        accelerators=counts,
        hours=float(seconds * (1 + restarts) / 3600) if is_bounded and type(restarts) is int else None,
        uncounted=any(str(value(rule, "action")).endswith("IgnoreMaxRestarts") for rule in rules),
        digest=digest,
        files=files,
        name_leaves=frozenset(name_leaves),
        order=order,
        places=places,
    )


def differ(was: JobFacts, now: JobFacts) -> bool:
    """Whether two forms of a job differ in anything that is applied."""
    return was.digest != now.digest or was.order != now.order


def _values(jobset: Tree) -> Iterator[tuple[str, str, Sourced[Any] | None]]:
    for name in QUEUES:
        for part in ("labels", "annotations"):
            if (queue := get(jobset, "metadata", part, name)) is not None:
                yield "queue", str(queue.value), queue
    for job in get(jobset, "spec", "replicatedJobs") or ():
        role = str(value(job, "name"))
        leaf = get(job, "template", "spec", "parallelism")
        pods, replicas = value(job, "template", "spec", "parallelism"), value(job, "replicas") or 1
        pods = 1 if pods is None else pods
        # A placeholder where one of the numbers is filled in later.
        nodes = pods * replicas if type(pods) is type(replicas) is int else replicas if type(pods) is int else pods
        yield f"nodes of {role}", str(nodes), leaf
        pod = get(job, "template", "spec", "template", "spec") or {}
        for container in (*(pod.get("initContainers") or ()), *(pod.get("containers") or ())):
            name = f"{role}/{value(container, 'name')}"
            if "image" in container:
                yield f"image of {name}", str(value(container, "image")), container["image"]
            if words := [*(container.get("command") or ()), *(container.get("args") or ())]:
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


Group = Callable[[JobFacts], object]
Fits = Callable[[JobFacts, JobFacts], bool]
Pairs = list[tuple[JobFacts, JobFacts]]


class Change(NamedTuple):
    """One thing that differs; an empty side is one where it is not there. Places are `file:line`, empty where none is known."""

    what: str
    old: str
    new: str
    was_at: str = ""
    is_at: str = ""


def changes_of(was: JobFacts, now: JobFacts) -> tuple[Change, ...]:
    """What a reviewer asks about first, then every other field."""
    changes = [
        _change(name, name, _masked(name, was), _masked(name, now), was, now)
        for name in {**was.values, **now.values}
        if was.values.get(name) != now.values.get(name)
    ]
    # The objects of a job that are new or gone as wholes, by kind and name, each as one change.
    before, after = ({_owner(path) for path in job.digest} for job in (was, now))
    whole = {owner: Change("object", owner.partition("/")[0], "") for owner in before - after}
    whole |= {owner: Change("object", "", owner.partition("/")[0]) for owner in after - before}
    paths = [
        path for path in changed_paths(was, now) if not (changes and _is_summarized(path)) and _owner(path) not in whole
    ]
    changes += [_change(_shown(path, now), path, _text(was, path), _text(now, path), was, now) for path in paths]
    changes += [whole[owner] for owner in sorted(whole)]
    for path, old, new in moved(was.order, now.order):
        changes.append(Change(f"order of {_shown(path, now)}", ", ".join(map(str, old)), ", ".join(map(str, new))))
    return tuple(changes)


def _owner(path: str) -> str:
    return path.partition(" ")[0]


def _shown(path: str, job: JobFacts) -> str:
    """A field as people write it; that of an object in a job's file begins with the object, as for kubectl."""
    owner, _, field = path.partition(" ")
    kind, _, name = owner.partition("/")
    return field if job.jobset is None or kind in _OWN else f"{kind.lower()}/{name} {field}"


def with_common_places(several: list[tuple[Change, ...]]) -> tuple[Change, ...]:
    """The changes that several jobs share, with the places that they share too."""
    return tuple(
        alike[0]._replace(was_at=_common(one.was_at for one in alike), is_at=_common(one.is_at for one in alike))
        for alike in zip(*several, strict=True)
    )


def _common(places: Iterable[str]) -> str:
    first, *others = set(places)
    return "" if others else first


def changed_paths(was: JobFacts, now: JobFacts) -> list[str]:
    """The leaves that differ, by object and path; items of a list in their order."""
    return sorted((p for p in {*was.digest, *now.digest} if was.digest.get(p) != now.digest.get(p)), key=in_order)


def _change(what: str, path: str, old: str, new: str, was: JobFacts, now: JobFacts) -> Change:
    places = [f"{at.file}:{at.line}" if (at := job.places.get(path)) is not None else "" for job in (was, now)]
    return Change(what, old, new, *places)


def _is_summarized(path: str) -> bool:
    """Whether a leaf is among what a reviewer asks about, or follows from it as the numbers of a PodGroup do."""
    label, _, steps = path.partition(" ")
    _, inside, field = steps.partition("ontainers[")
    field = field.partition("].")[2].partition(".")[0].partition("[")[0] if inside else steps.rpartition(".")[2]
    return label.startswith("PodGroup/") or field in _SUMMARIZED or any(name in steps for name in QUEUES)


def _text(facts_: JobFacts, path: str) -> str:
    text = str(facts_.digest[path]) if path in facts_.digest else ""
    return MASK if text and (named_secret(variable_of(path)) or _SECRET.match(path)) else with_octal(path, text)


def _masked(name: str, facts_: JobFacts) -> str:
    """What a reviewer is shown of a fact: not the literal value of a variable that holds a secret."""
    text = facts_.values.get(name, "")
    is_literal = text and not text.startswith("{'")  # a reference to a Secret is shown as one
    return MASK if is_literal and name.startswith("env ") and named_secret(name.split(" ")[1]) else text


def renamed(gone: Iterable[JobFacts], fresh: Iterable[JobFacts]) -> Pairs:
    """The pairs of a job that is gone and the one new job that is the same, sorted by the new name.

    The same is a job of that name in another cluster or namespace, the only one of its file under another name, or one
    that differs in nothing but what trainc made of the name. A job that could be two others is in no pair.
    """
    gone, fresh = list(gone), list(fresh)
    pairs: Pairs = []
    for group, fits in _REASONS:
        matched = _unique(gone, fresh, group, fits)
        pairs += matched
        settled = {id(one) for pair in matched for one in pair}
        gone = [one for one in gone if id(one) not in settled]
        fresh = [one for one in fresh if id(one) not in settled]
    return sorted(pairs, key=lambda pair: pair[1].key)


def next_runs(before: Mapping[Key, JobFacts], after: Mapping[Key, JobFacts]) -> dict[Key, Key]:
    """What each new job is the next run of; the numbers of runs only ever grow."""
    by_number = sorted(before, key=lambda key: whole_number(key[2].rpartition("-r")[2]) or 1)
    earlier = {job_identity(before[key]): key for key in by_number}
    new = {key: job_identity(now) for key, now in after.items() if key not in before}
    return {key: earlier[identity] for key, identity in new.items() if identity in earlier}


def job_identity(one: JobFacts) -> tuple[str, str, str, str]:
    """What all runs of a job have in common: where they run, the name without the number, the file."""
    name, mark, run = one.key[2].rpartition("-r")
    return (*one.key[:2], name if mark and run.isdigit() else one.key[2], one.source)


def as_called(was: JobFacts, now: JobFacts) -> JobFacts:
    """The former job with the name, the namespace and the cluster of the present one where trainc wrote the former."""
    old, new = was.key[2], now.key[2]

    def path(field: str) -> str:
        # The object's name comes first, `service/bert spec.selector[...]`; a key of a label may hold the same letters.
        kind, _, rest = field.partition("/")
        name, space, inner = rest.partition(" ")
        named = f"{kind}/{name.replace(old, new)} {inner}" if space else field.replace(old, new)
        ways = (field, named, field.replace(old, new))
        return next((one for one in ways if one in now.digest or one in now.order), named)

    digest = {}
    for field, content in was.digest.items():
        called = path(field)
        text = str(content).replace(old, new)
        digest[called] = text if called in now.name_leaves and text == now.digest.get(called) else content
    for field in [field for field in digest if field.endswith(" metadata.namespace")]:
        digest[field] = now.digest.get(field, digest[field])
    values = {}
    for what, text in was.values.items():
        called = text.replace(old, new)
        values[what] = called if called == now.values.get(what) else text
    return was._replace(
        key=now.key,
        values=values,
        digest=digest,
        order={path(field): names for field, names in was.order.items()},
        files={path(field): names for field, names in was.files.items()},
        places={path(field): place for field, place in was.places.items()},
    )


def _unique(gone: list[JobFacts], fresh: list[JobFacts], group: Group, fits: Fits) -> Pairs:
    groups: dict[object, list[JobFacts]] = {}
    for was in gone:
        groups.setdefault(group(was), []).append(was)
    matched: dict[int, int] = {}
    pairs: Pairs = []
    for now in fresh:
        alike = groups.get(group(now), ())
        fitting = [was for was in alike if fits(was, now)] if len(alike) <= _MAX_JOBS_OF_ONE_SHAPE else []
        for was in fitting:
            matched[id(was)] = matched.get(id(was), 0) + 1
        if len(fitting) == 1:
            pairs.append((fitting[0], now))
    return [pair for pair in pairs if matched[id(pair[0])] == 1]


def _shape(job: JobFacts) -> object:
    """What a job has in common with itself under another name, and with few others: a reason to look closer."""
    sizes = sorted((what, text) for what, text in job.values.items() if what.startswith(_SIZES))
    return (*job.key[:2], len(job.digest), tuple(sorted(job.values)), tuple(sizes))


def _is_like(was: JobFacts, now: JobFacts) -> bool:
    """Whether most of what a job consists of is as it was."""
    called = as_called(was, now).digest
    same = sum(1 for path, content in now.digest.items() if called.get(path) == content)
    return 2 * same > max(len(called), len(now.digest))


_REASONS: tuple[tuple[Group, Fits], ...] = (
    (lambda job: job.key[2], lambda _was, _now: True),
    (lambda job: (job.key[0], job.source), _is_like),
    (_shape, lambda was, now: as_called(was, now).digest == now.digest),
)
