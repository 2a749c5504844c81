"""The account of a run: every job that is read is compiled, refused by a finding that stands, or left to others.

Silencing changes what is said, never what is made. A finding that was silenced, or made a warning, comes back as an
error where it turns out to be the reason why a job is not compiled.
"""

from collections.abc import Iterator
from typing import NamedTuple, Self

from trainc.model.document import Document
from trainc.model.finding import ERROR, NOTE, Finding, Label, Rule
from trainc.model.sourced import Span
from trainc.text.counting import few

Key = tuple[str, int, str]  # the file, which of its documents, the cluster that is compiled for

_MAX_KINDS_NAMED = 8  # kinds named in one line
COMPILED, REFUSED, LEFT = "compiled", "refused", "left"

UNACCOUNTED_JOB = Rule("unaccounted-job", ERROR, verdict=True)


class Withheld(NamedTuple):
    """An error that is not said, or not as one; without any other reason, for `--only admission`."""

    finding: Finding
    spans: tuple[Span, ...] = ()  # of comments that silence it
    level: str = ""  # that the project gives its rule
    option: str = ""  # that turns its rule off

    def restored(self, level: str) -> Finding:
        """The finding with its silence refused."""
        effect = "trainc cannot read the document" if self.finding.rule.unreadable else "the job is not compiled"
        if self.spans:
            also = tuple(Label(span, f"this comment cannot suppress it: {effect}") for span in self.spans)
            return self.finding.restored(level, also)
        note = f"`--only admission` limits what is checked; {effect}"
        if self.option:
            note = f"`{self.option}` cannot suppress this: {effect}"
        elif self.level:
            note = f"`rules` in trainc.yaml cannot set this to `{self.level}`: {effect}"
        return self.finding.restored(level, notes=(note,))


class AccountEntry:
    """One job for one cluster: what became of it, and which errors of it were held back since the latest stage."""

    __slots__ = ("ending", "kind", "name", "namespace", "place", "stands", "withheld")

    def __init__(self, kind: str, name: str, namespace: str, place: Span) -> None:
        self.kind = kind
        self.name = name
        self.namespace = namespace
        self.place = place
        self.ending = REFUSED  # until somebody says what else became of it: no stage can forget a job
        self.stands: Finding | None = None  # the first error of it that stands
        self.withheld: list[Withheld] = []

    @property
    def cause(self) -> Finding | None:
        """The first error for which the job was refused, whether it is said or silenced."""
        return self.stands or next((withheld.finding for withheld in self.withheld), None)


class Account:
    """The jobs of a run in the order in which they were read; `current` is the one that a stage works on."""

    def __init__(self) -> None:
        self._entries: dict[Key, AccountEntry] = {}
        self.unread: set[tuple[str, int]] = set()  # file and first line of documents that cannot be read
        self.unasked: set[str] = set()  # files of clusters that this run does not compile for: not even read
        self.others: dict[str, list[str]] = {}  # by file without a job, the kinds of what it holds
        self.blank: dict[str, str] = {}  # by file without a single object, what is said of it
        self.known = 0  # jobs of files that the run leaves alone, compiled by one before
        self.current: AccountEntry | None = None

    def open(self, document: Document, index: int, cluster: str) -> AccountEntry:
        """Count a job, the document of that index in its file; findings are about it from now on."""
        place = document.span(("metadata", "name"))
        return self.count((document.file, index, cluster), document.kind, document.name, document.namespace, place)

    def count(self, key: Key, kind: str, name: str, namespace: str, place: Span) -> AccountEntry:
        """Count a job of which no document is at hand; findings are about it from now on."""
        self.current = self._entries[key] = AccountEntry(kind, name, namespace, place)
        return self.current

    def count_unread(self, file: str, line: int) -> None:
        """Count a document that cannot be read as refused, whatever it was meant to be; it starts on that line."""
        self.unread.add((file, line))

    def advance(self) -> None:
        """A stage let the job pass: what was silenced so far does not stop it."""
        if self.current is not None:
            self.current.withheld.clear()

    def end(self, ending: str) -> None:
        """Say what became of the current job."""
        if self.current is not None:
            self.current.ending = ending
            self.current.withheld.clear()
            self.current = None

    def stand(self, finding: Finding) -> None:
        """An error of the current job stands."""
        if self.current is not None:
            self.current.stands = self.current.stands or finding

    def withhold(self, withheld: Withheld) -> None:
        """Keep an error of the current job that is not said, or not as an error."""
        if self.current is not None and withheld.finding.level == ERROR:
            self.current.withheld.append(withheld)

    def close(self, *, judged_only: bool) -> Iterator[Finding]:
        """Every finding that has to come back so that each refused job has one that stands.

        With `judged_only` the servers' verdicts alone count: what else stops a job is a note.
        """
        self.current = None
        for entry in self._entries.values():
            if entry.ending != REFUSED or entry.stands:
                continue
            for withheld in entry.withheld:
                mere = judged_only and not withheld.finding.rule.admission
                yield withheld.restored(NOTE if mere else ERROR)
            if not entry.withheld:
                yield UNACCOUNTED_JOB.at(
                    entry.place,
                    f"{entry.kind} `{entry.name}` is not compiled, and no finding explains why",
                    effect="trainc writes nothing, because its manifest would be missing",
                    help="report this as a bug in trainc, with this file",
                )

    def places(self) -> Iterator[Span]:
        """Where each job that was read has its name, whatever became of it."""
        for entry in self._entries.values():
            yield entry.place

    def refused(self, cluster: str) -> Iterator[AccountEntry]:
        """The jobs that are not compiled for a cluster."""
        for (_, _, name), entry in self._entries.items():
            if entry.ending == REFUSED and name == cluster:
                yield entry

    def others_listed(self) -> str:
        """What a run without a single job saw in the files that it read, empty for every other run."""
        if self.has_jobs or self.unread or not self.others:
            return ""
        counts: dict[str, int] = {}
        for kinds in self.others.values():
            for kind in kinds:
                counts[kind] = counts.get(kind, 0) + 1
        parts = [_count(number, kind) for kind, number in sorted(counts.items(), key=lambda one: (-one[1], one[0]))]
        return f"read {_count(len(self.others), 'file')}: {few(parts, _MAX_KINDS_NAMED, 'kinds')}; no training job"

    def kinds_in(self, file: str) -> set[str]:
        return {entry.kind for (name, _, _), entry in self._entries.items() if name == file}

    @property
    def has_jobs(self) -> bool:
        return bool(self._entries or self.known)

    def is_compiled(self, name: str) -> bool:
        """Whether a job of that name is compiled, for any cluster."""
        return any(entry.ending == COMPILED and entry.name == name for entry in self._entries.values())

    @property
    def refusals(self) -> int:
        """How many jobs were not compiled, for any number of clusters: what would be said of them further on is unknown."""
        return len({(file, index) for (file, index, _), entry in self._entries.items() if entry.ending == REFUSED})

    def totals(self) -> dict[str, int]:
        """How many jobs were compiled, refused and left to clusters that this run does not compile for.

        A document that cannot be read counts as one that is refused, a file that was left unread as one that is left.
        """
        endings: dict[tuple[str, int], set[str]] = {}
        for (file, index, _), entry in self._entries.items():
            endings.setdefault((file, index), set()).add(entry.ending)
        out = dict.fromkeys((COMPILED, REFUSED, LEFT), 0)
        for file_endings in endings.values():
            out[next(ending for ending in (REFUSED, COMPILED, LEFT) if ending in file_endings)] += 1
        out[COMPILED] += self.known
        out[REFUSED] += len(self.unread)
        out[LEFT] += len(self.unasked)
        return out

    @property
    def files(self) -> set[str]:
        """The files with jobs, or with documents that cannot be read."""
        return {file for file, _, _ in self._entries} | {file for file, _ in self.unread}

    def compiled(self) -> dict[str, int]:
        """How many jobs of each file are compiled, for whichever clusters; without files with one that is refused."""
        indexes: dict[str, set[int]] = {}
        refused = {file for file, _ in self.unread}
        for (file, index, _), entry in self._entries.items():
            if entry.ending == COMPILED:
                indexes.setdefault(file, set()).add(index)
            elif entry.ending == REFUSED:
                refused.add(file)
        return {file: len(jobs) for file, jobs in indexes.items() if file not in refused}

    def absorb(self, other: Self) -> None:
        self._entries |= other._entries
        self.unread |= other.unread
        self.unasked |= other.unasked
        self.others |= other.others
        self.blank |= other.blank


def _count(number: int, word: str) -> str:
    plural = word if number == 1 else f"{word}{'es' if word.endswith('s') else 's'}"
    return f"{number} {plural}"
