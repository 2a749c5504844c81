"""What became of each file of jobs, as far as the next run need not ask again."""

from collections.abc import Set as AbstractSet
from marshal import dumps
from typing import Any, NamedTuple

from trainc.model.bundle import Bundle
from trainc.model.finding import ERROR, Edit, Finding, Label, Refusal, Rule
from trainc.model.references import KINDS, Reference
from trainc.model.report import Report
from trainc.model.sourced import Span
from trainc.model.tree import value

Identity = tuple[Any, ...]  # of a runtime
Key = tuple[str, ...]  # cluster, kind, namespace, name
PlainFinding = tuple[Any, ...]


class CacheMissError(Exception):
    """A change reaches further than one file of jobs: what is known of the others may not hold any more."""


class Remark(NamedTuple):
    """A finding (as plain values) or the reason for which a check was skipped, and the job that it was met in."""

    job: str
    finding: PlainFinding | None
    skipped: str = ""

    def repeat(self, report: Report) -> None:
        """Tell a report what was found or skipped before."""
        report.job = self.job
        if self.finding is None:
            report.skip(self.skipped)
        else:
            report.add(_finding(self.finding))


class FileResult:
    """One file's jobs and the runtimes they are made of."""

    __slots__ = ("has_companions", "is_compared", "jobs", "runtimes")

    def __init__(self) -> None:
        self.has_companions = False  # objects stand beside them
        self.is_compared = False  # a finding rests on their rendered file, which this run may write
        self.jobs = 0
        self.runtimes: set[Identity] = set()


class FileResults:
    """The outcomes of a run's files; `names` are those of its objects, each with the file that it comes from."""

    def __init__(self) -> None:
        self.files: dict[str, FileResult] = {}
        self.names: dict[Key, str] = {}

    def add(self, bundle: Bundle, *, is_compared: bool) -> None:
        """Note a bundle of a file; `is_compared` says that a finding rests on its rendered file."""
        plan = bundle.plan
        sources = plan.runtime.sources if plan is not None and plan.runtime is not None else ()
        outcome = self.files.setdefault(bundle.document.file, FileResult())
        outcome.jobs += 1
        outcome.runtimes.update(source.identity for source in sources)
        outcome.is_compared = outcome.is_compared or is_compared
        outcome.has_companions = outcome.has_companions or _has_companions(bundle)

    def absorb(self, other: "FileResults") -> None:
        """Add those of another worker's files; of a long one both have some jobs."""
        for file, theirs in other.files.items():
            own = self.files.setdefault(file, theirs)
            if own is not theirs:
                own.has_companions = own.has_companions or theirs.has_companions
                own.is_compared = own.is_compared or theirs.is_compared
                own.jobs += theirs.jobs
                own.runtimes |= theirs.runtimes

    @property
    def with_companions(self) -> set[str]:
        """The files that hold other objects beside jobs."""
        return {file for file, outcome in self.files.items() if outcome.has_companions}

    def clean(
        self, report: Report, files: AbstractSet[str], others: AbstractSet[str] = frozenset()
    ) -> dict[str, list[Remark]] | None:
        """The files whose outcome rests on nothing that changes with another file of jobs, and the remarks on each.

        None where something was found that is not about one of `files` alone; `others` are files of jobs that this
        run left alone. Remarks on other files, such as runtimes, are not kept: each run reads those files again.
        """
        if not report.commented_files <= files:
            return None
        jobs = report.account.files | files | others
        remarks: dict[str, list[Remark]] = {file: [] for file in self.files}
        compared = {file for file, outcome in self.files.items() if outcome.is_compared}
        unclean = self.with_companions | compared | report.commented_files
        for file, job, remark in report.remarks:
            if isinstance(remark, Finding):
                places = {label.span.file for label in remark.labels} & jobs
                if len(places) > 1 or not places <= files:
                    return None
                plain = _plain(remark) if remark.level != ERROR and places <= {file} else None
                if plain is None:
                    unclean |= {file, *places}
                elif file in remarks:
                    remarks[file].append(Remark(job, plain))
            elif remark is None:
                unclean.add(file)
            elif file in remarks:
                remarks[file].append(Remark(job, None, remark))
        return {file: remarks[file] for file in remarks.keys() - unclean}


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
        self.remarks: list[tuple[str, list[Remark]]] = []  # on the files, each with its name

    def has(self, key: Key) -> bool:
        """Whether one of the files holds a job from which an object of that name comes."""
        return self.names.get(joined(key)) in self.files

    def check(self, outcomes: FileResults | None, report: Report, *, has_met_cached: bool) -> None:
        """Raise CacheMissError where what was compiled again may concern what was not."""
        assert outcomes is not None
        beside = outcomes.with_companions
        # Files with companions are compiled each time; where one becomes such a file, other jobs may name its objects.
        becomes = not beside.isdisjoint(self.again)
        if becomes or has_met_cached or outcomes.clean(report, self.again | beside, self.files) is None:
            raise CacheMissError

    def repeat(self, report: Report) -> None:
        """Tell a report all that is known of the files."""
        for file, remarks in self.remarks:
            report.file = file
            for remark in remarks:
                remark.repeat(report)
        report.end()


def _plain(finding: Finding) -> PlainFinding | None:
    """A finding as plain values, None for one with an edit that is more than these."""
    rule = finding.rule
    kind = rule.name, rule.level, rule.verdict, rule.admission, rule.unreadable, rule.differs, rule.compares
    labels = [(tuple(label.span), label.text) for label in finding.labels]
    fix = [(*edit[:-1], tuple(edit.at) if edit.at is not None else None) for edit in finding.fix]
    refusal = tuple(finding.refusal) if finding.refusal is not None else None
    plain = (kind, finding.level, finding.message, labels, finding.effect, finding.help, finding.notes, fix, refusal)
    try:
        dumps(plain)
    except ValueError:
        return None
    return plain


def _finding(plain: PlainFinding) -> Finding:
    """The finding that `_plain` took apart."""
    kind, level, message, labels, effect, help_, notes, fix, refusal = plain
    name, own_level, verdict, admission, unreadable, differs, compares = kind
    rule = Rule(
        name,
        own_level,
        verdict=verdict,
        admission=admission,
        unreadable=unreadable,
        differs=tuple(differs),
        compares=compares,
    )
    places = tuple(Label(Span(*span), text) for span, text in labels)
    edits = tuple(Edit(*edit)._replace(at=Span(*at) if at is not None else None) for *edit, at in fix)
    return Finding(
        rule, level, message, places, effect, help_, tuple(notes), edits, Refusal(*refusal) if refusal else None
    )
