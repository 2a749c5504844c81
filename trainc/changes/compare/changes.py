"""What differs between two forms of one job, in the words of a reviewer, with the places where both are written."""

from __future__ import annotations

import re
from typing import NamedTuple

from trainc.changes.compare.facts import QUEUES
from trainc.changes.compare.order import moved
from trainc.text.masking import MASK, named_secret, variable_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.changes.compare.facts import JobFacts

_SECRET = re.compile(r"Secret/\S+ (data|stringData)\b")  # what nobody shall read in a review
_OWN = ("JobSet", "Job")  # kinds of the object that a job is
_TOLD = frozenset(("args", "command", "completions", "env", "image", "parallelism", "resources"))


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
    paths = [path for path in changed_paths(was, now) if not (changes and _is_told(path)) and _owner(path) not in whole]
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
    """Kind and name of the object that a path belongs to."""
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
    for alike in zip(*several, strict=True):
        was_at, is_at = {one.was_at for one in alike}, {one.is_at for one in alike}
        first = alike[0]
        if len(was_at) > 1:
            first = first._replace(was_at="")
        out.append(first._replace(is_at="") if len(is_at) > 1 else first)
    return tuple(out)


def changed_paths(was: JobFacts, now: JobFacts) -> list[str]:
    """The leaves that differ, by object and path."""
    return sorted(p for p in {*was.digest, *now.digest} if was.digest.get(p) != now.digest.get(p))


def _change(what: str, path: str, old: str, new: str, was: JobFacts, now: JobFacts) -> Change:
    return Change(what, old, new, _place(was, path), _place(now, path))


def _place(job: JobFacts, path: str) -> str:
    span = job.places.get(path)
    return "" if span is None else f"{span.file}:{span.line}"


def _is_told(path: str) -> bool:
    """Whether a leaf is among what a reviewer asks about, or follows from it as the numbers of a PodGroup do."""
    label, _, steps = path.partition(" ")
    _, inside, field = steps.partition("ontainers[")
    field = field.partition("].")[2].partition(".")[0].partition("[")[0] if inside else steps.rpartition(".")[2]
    return label.startswith("PodGroup/") or field in _TOLD or any(name in steps for name in QUEUES)


def _text(facts_: JobFacts, path: str) -> str:
    text = str(facts_.digest[path]) if path in facts_.digest else ""
    return MASK if text and (named_secret(variable_of(path)) or _SECRET.match(path)) else text


def _masked(name: str, text: str) -> str:
    """What a reviewer is shown of a fact: not the literal value of a variable that holds a secret."""
    is_literal = text and not text.startswith("{'")  # a reference to a Secret is shown as one
    return MASK if is_literal and name.startswith("env ") and named_secret(name.split(" ")[1]) else text
