"""What became of each file of jobs, as far as the next run need not ask again."""

from collections.abc import Set as AbstractSet
from typing import Any

from trainc.model.bundle import Bundle
from trainc.model.references import KINDS, RECOUNTED, Reference
from trainc.model.report import Report
from trainc.model.tree import value

Identity = tuple[Any, ...]  # of a runtime
Key = tuple[str, ...]  # cluster, kind, namespace, name


class CacheMissError(Exception):
    """A change reaches further than one file of jobs: what is known of the others may not hold any more."""


class FileResult:
    """One file's jobs and the runtimes they are made of."""

    __slots__ = ("has_companions", "is_clean", "jobs", "runtimes")

    def __init__(self) -> None:
        self.is_clean = True  # nothing was said about them
        self.has_companions = False  # objects stand beside them
        self.jobs = 0
        self.runtimes: set[Identity] = set()


class FileResults:
    """The outcomes of a run's files; `names` are those of its objects, each with the file that it comes from.

    A bundle is added when all has been said about it. What was said since the bundle before, whatever it is about,
    counts against its file: nothing is taken for clean that may not be.
    """

    def __init__(self) -> None:
        self.files: dict[str, FileResult] = {}
        self.names: dict[Key, str] = {}
        self._events = 0

    def add(self, bundle: Bundle, report: Report) -> None:
        plan = bundle.plan
        sources = plan.runtime.sources if plan is not None and plan.runtime is not None else ()
        outcome = self.files.setdefault(bundle.document.file, FileResult())
        outcome.is_clean = outcome.is_clean and report.events == self._events
        self._events = report.events
        outcome.jobs += 1
        outcome.runtimes.update(source.identity for source in sources)
        outcome.has_companions = outcome.has_companions or _has_companions(bundle)

    def absorb(self, other: "FileResults") -> None:
        """Add those of another worker's files; of a long one both have some jobs."""
        for file, there in other.files.items():
            here = self.files.setdefault(file, there)
            if here is not there:
                here.is_clean = here.is_clean and there.is_clean
                here.has_companions = here.has_companions or there.has_companions
                here.jobs += there.jobs
                here.runtimes |= there.runtimes

    def clean(self, report: Report, files: AbstractSet[str]) -> set[str] | None:
        """The files about which nothing was said; None where something was said that is not about one of `files` alone."""
        if report.unknown.keys() - RECOUNTED or not report.commented_files <= files:
            return None
        clean = {file for file, outcome in self.files.items() if outcome.is_clean and not outcome.has_companions}
        for finding in report.findings:
            concerned = {label.span.file for label in finding.labels}
            if len(concerned) > 1 or not concerned <= files:
                return None
            clean -= concerned
        return clean - report.commented_files


def _has_companions(bundle: Bundle) -> bool:
    """Whether a file holds, beside its jobs, objects that other jobs may name."""
    if bundle.jobset is None:
        return True
    if bundle.plan is not None:
        return bool(bundle.plan.companions)
    return any(value(tree, "kind") in KINDS for tree in bundle.objects)


def joined(key: Key) -> str:
    """The name of an object in one text."""
    return "\0".join(key)


class CachedResults:
    """What earlier runs know of `files` that this one leaves alone; `again` are those that are compiled again."""

    def __init__(self, files: AbstractSet[str], again: AbstractSet[str]) -> None:
        self.files = files
        self.again = again
        # The files of the objects of both, by the key in one text, of which thousands are read in no time.
        self.names: dict[str, str] = {}
        self.jobs = 0  # that came out
        self.sources = 0  # that were read
        self.paths: dict[str, str] = {}  # rendered files, and their sources
        self.references: dict[Reference, list[str]] = {}
        self.runtimes: set[Identity] = set()
        self.walks: dict[tuple[str, ...], list[str]] = {}  # all other files, by the paths they were looked for under

    def has(self, key: Key) -> bool:
        """Whether one of the files holds a job from which an object of that name comes."""
        return self.names.get(joined(key)) in self.files

    def check(self, outcomes: FileResults | None, report: Report, *, has_met_cached: bool) -> None:
        """Raise CacheMissError where what was compiled again may concern what was not."""
        assert outcomes is not None
        beside = any(outcome.has_companions for outcome in outcomes.files.values())
        if beside or has_met_cached or outcomes.clean(report, self.again) is None:
            raise CacheMissError
