"""Jobs that are the same under another name: what differs is what trainc made of that name, and nothing that people wrote."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.compare.facts import Facts

_SIZES = ("nodes of ", "requests ", "limits ")  # what holds no name
_MOST = 50  # jobs of one shape; of more, hardly any is a clear case


def renamed(gone: Iterable[Facts], fresh: Iterable[Facts]) -> list[tuple[Facts, Facts]]:
    """The pairs of a job that is gone and the one new job that is the same otherwise, sorted by the new name.

    A job that could be two others, or could come from two, is no clear case and in no pair.
    """
    shapes: dict[object, list[Facts]] = {}
    for was in gone:
        shapes.setdefault(_shape(was), []).append(was)
    found: dict[int, list[Facts]] = {}
    pairs: list[tuple[Facts, Facts]] = []
    for now in fresh:
        alike = shapes.get(_shape(now), ())
        fitting = [was for was in alike if _same(was, now)] if len(alike) <= _MOST else []
        for was in fitting:
            found.setdefault(id(was), []).append(now)
        if len(fitting) == 1:
            pairs.append((fitting[0], now))
    return sorted((pair for pair in pairs if len(found[id(pair[0])]) == 1), key=lambda pair: pair[1].key)


def _shape(job: Facts) -> object:
    """What a job has in common with itself under another name, and with few others: a reason to look closer."""
    sizes = sorted((what, text) for what, text in job.values.items() if what.startswith(_SIZES))
    return (*job.key[:2], len(job.digest), tuple(sorted(job.values)), tuple(sizes))


def _same(was: Facts, now: Facts) -> bool:
    old, new = was.key[2], now.key[2]
    met = set()
    for field, before in was.digest.items():
        path = field if field in now.digest else field.replace(old, new)
        if path not in now.digest:
            return False
        met.add(path)
        after = now.digest[path]
        if after != before and (path not in now.named or str(before).replace(old, new) != after):
            return False
    return len(met) == len(now.digest)
