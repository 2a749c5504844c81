"""What differs between two forms of one job, in the words of a reviewer, with the places where both are written.

A job may be the same under another name or in another place, or the next run of one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from trainc.changes.compare.facts import QUEUES, JobFacts, Key
from trainc.changes.compare.updates import moved
from trainc.model.paths import in_order
from trainc.text.masking import MASK, named_secret, variable_of
from trainc.text.numbers import whole_number, with_octal

Group = Callable[[JobFacts], object]
Fits = Callable[[JobFacts, JobFacts], bool]
Pairs = list[tuple[JobFacts, JobFacts]]


_SECRET = re.compile(r"Secret/\S+ (data|stringData)\b")  # what nobody shall read in a review
_OWN = ("JobSet", "Job")  # kinds of the object that a job is
_SUMMARIZED = frozenset(("args", "command", "completions", "env", "image", "parallelism", "resources"))


class Change(NamedTuple):
    """One thing that differs; an empty side is one where it is not there. Places are `file:line`, empty where none is known."""

    what: str
    old: str
    new: str
    was_at: str = ""
    is_at: str = ""


def changes_of(was: JobFacts, now: JobFacts) -> tuple[Change, ...]:
    """What a reviewer asks about first, then every other field."""
    names = [*was.values, *(name for name in now.values if name not in was.values)]
    changes = [
        _change(name, name, _masked(name, was.values.get(name, "")), _masked(name, now.values.get(name, "")), was, now)
        for name in names
        if was.values.get(name) != now.values.get(name)
    ]
    whole = _whole_objects(was, now)
    paths = [
        path for path in changed_paths(was, now) if not (changes and _is_summarized(path)) and _owner(path) not in whole
    ]
    changes += [_change(_shown(path, now), path, _text(was, path), _text(now, path), was, now) for path in paths]
    changes += [whole[owner] for owner in sorted(whole)]
    for path, old, new in moved(was.order, now.order):
        changes.append(Change(f"order of {_shown(path, now)}", ", ".join(map(str, old)), ", ".join(map(str, new))))
    return tuple(changes)


def _whole_objects(was: JobFacts, now: JobFacts) -> dict[str, Change]:
    """The objects of a job that are new or gone as wholes, by kind and name, each as one change."""
    before, after = ({_owner(path) for path in job.digest} for job in (was, now))
    gone = {owner: Change("object", owner.partition("/")[0], "") for owner in before - after}
    return gone | {owner: Change("object", "", owner.partition("/")[0]) for owner in after - before}


def _owner(path: str) -> str:
    return path.partition(" ")[0]


def _shown(path: str, job: JobFacts) -> str:
    """A field as people write it; that of an object in a job's file begins with the object, as for kubectl."""
    owner, _, field = path.partition(" ")
    kind, _, name = owner.partition("/")
    return field if job.jobset is None or kind in _OWN else f"{kind.lower()}/{name} {field}"


def without_places(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """The changes alone, which several jobs may share."""
    return tuple(change._replace(was_at="", is_at="") for change in changes)


def with_common_places(several: list[tuple[Change, ...]]) -> tuple[Change, ...]:
    """The changes that several jobs share, with the places that they share too."""
    out = []
    for first, *others in zip(*several, strict=True):
        was_at = first.was_at if all(one.was_at == first.was_at for one in others) else ""
        is_at = first.is_at if all(one.is_at == first.is_at for one in others) else ""
        out.append(first._replace(was_at=was_at, is_at=is_at))
    return tuple(out)


def changed_paths(was: JobFacts, now: JobFacts) -> list[str]:
    """The leaves that differ, by object and path; items of a list in their order."""
    return sorted((p for p in {*was.digest, *now.digest} if was.digest.get(p) != now.digest.get(p)), key=in_order)


def _change(what: str, path: str, old: str, new: str, was: JobFacts, now: JobFacts) -> Change:
    return Change(what, old, new, _place(was, path), _place(now, path))


def _place(job: JobFacts, path: str) -> str:
    span = job.places.get(path)
    return "" if span is None else f"{span.file}:{span.line}"


def _is_summarized(path: str) -> bool:
    """Whether a leaf is among what a reviewer asks about, or follows from it as the numbers of a PodGroup do."""
    label, _, steps = path.partition(" ")
    _, inside, field = steps.partition("ontainers[")
    field = field.partition("].")[2].partition(".")[0].partition("[")[0] if inside else steps.rpartition(".")[2]
    return label.startswith("PodGroup/") or field in _SUMMARIZED or any(name in steps for name in QUEUES)


def _text(facts_: JobFacts, path: str) -> str:
    text = str(facts_.digest[path]) if path in facts_.digest else ""
    return MASK if text and (named_secret(variable_of(path)) or _SECRET.match(path)) else with_octal(path, text)


def _masked(name: str, text: str) -> str:
    """What a reviewer is shown of a fact: not the literal value of a variable that holds a secret."""
    is_literal = text and not text.startswith("{'")  # a reference to a Secret is shown as one
    return MASK if is_literal and name.startswith("env ") and named_secret(name.split(" ")[1]) else text


_SIZES = ("nodes of ", "requests ", "limits ")  # what holds no name
_MAX_JOBS_OF_ONE_SHAPE = 50  # jobs of one shape; of more, hardly any is a clear case


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
    earlier = {
        job_identity(before[key]): key
        for key in sorted(before, key=lambda key: whole_number(key[2].rpartition("-r")[2]) or 1)
    }
    return {
        key: earlier[job_identity(now)]
        for key, now in after.items()
        if key not in before and job_identity(now) in earlier
    }


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
