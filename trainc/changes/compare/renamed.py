"""Jobs that are the same under another name or in another place, and the runs of one job."""

from __future__ import annotations

from trainc.text.numbers import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from trainc.changes.compare.facts import JobFacts
    from trainc.changes.compare.objects import Key

    Group = Callable[[JobFacts], object]
    Fits = Callable[[JobFacts, JobFacts], bool]
    Pairs = list[tuple[JobFacts, JobFacts]]

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
    earlier = {job_of(before[key]): key for key in sorted(before, key=_number)}
    return {key: earlier[job_of(now)] for key, now in after.items() if key not in before and job_of(now) in earlier}


def job_of(one: JobFacts) -> tuple[str, str, str, str]:
    """What all runs of a job have in common: where they run, the name without the number, the file."""
    name, mark, run = one.key[2].rpartition("-r")
    return (*one.key[:2], name if mark and run.isdigit() else one.key[2], one.source)


def as_called(was: JobFacts, now: JobFacts) -> JobFacts:
    """The former job with the name, the namespace and the cluster of the present one where trainc wrote the former."""
    old, new = was.key[2], now.key[2]

    def path(field: str) -> str:
        return field if field in now.digest or field in now.order else field.replace(old, new)

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


def _number(key: Key) -> int:
    return whole_number(key[2].rpartition("-r")[2]) or 1


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


def _name(job: JobFacts) -> object:
    return job.key[2]


def _file(job: JobFacts) -> object:
    return job.key[0], job.source


def _shape(job: JobFacts) -> object:
    """What a job has in common with itself under another name, and with few others: a reason to look closer."""
    sizes = sorted((what, text) for what, text in job.values.items() if what.startswith(_SIZES))
    return (*job.key[:2], len(job.digest), tuple(sorted(job.values)), tuple(sizes))


def _any(_was: JobFacts, _now: JobFacts) -> bool:
    return True


def _same(was: JobFacts, now: JobFacts) -> bool:
    return as_called(was, now).digest == now.digest


def _is_like(was: JobFacts, now: JobFacts) -> bool:
    """Whether most of what a job consists of is as it was."""
    called = as_called(was, now).digest
    same = sum(1 for path, content in now.digest.items() if called.get(path) == content)
    return 2 * same > max(len(called), len(now.digest))


_REASONS: tuple[tuple[Group, Fits], ...] = ((_name, _any), (_file, _is_like), (_shape, _same))
