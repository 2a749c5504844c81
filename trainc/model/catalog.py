"""A catalog: documents that are legal by schema, CEL rules and webhooks, and where runtimes are found."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

from trainc.model.bundle import Bundle
from trainc.model.document import Document
from trainc.model.references import Reference
from trainc.model.report import Report
from trainc.model.sourced import Span
from trainc.model.tree import Tree, leaves

Point = tuple[str, int, int]  # file, line, column
_LINE_END = 1 << 62  # behind every column
Key = tuple[str, str, str]  # kind, namespace, name
GIVEN, FOLDER, CLUSTER, SHIPPED = "given", "folder", "cluster", "shipped"


class RuntimeIndex(Protocol):
    """Finds runtimes and components for a file, each admitted; what is found and refused has no document."""

    @property
    def given(self) -> Mapping[Key, Document]:
        """The runtimes and components among the files of the run."""

    def admitted(self, document: Document) -> Document | None:
        """One of them as a server would store it, None with findings where it would refuse it."""

    def find(self, key: Key, file: str) -> "RuntimeLookup | None":
        """The runtime that a job in that file gets."""

    def parent(self, name: str, namespace: str, file: str) -> "RuntimeLookup | None":
        """The runtime that one in that file extends; a namespace narrows the search for a TrainingRuntime."""

    def component(self, name: str, file: str) -> "RuntimeLookup | None":
        """The component of that name."""

    def has_component(self, name: str, file: str) -> bool:
        """Whether there is a component of that name."""

    def legal(self, document: Document, report: Report) -> Document | None:
        """A composed runtime as a server would store it, None with findings where it would refuse it."""

    def names(self, kind: str, namespace: str, file: str) -> list[str]:
        """What of a kind could have been meant."""

    def places(self, file: str) -> tuple[str, ...]:
        """Where is looked, in words."""


class Objects(Protocol):
    """Finds what jobs name in the files of a project that hold none of the jobs of the present cluster."""

    def find(self, references: Mapping[Reference, Iterable[str]]) -> dict[Reference, list[Document]]:
        """The objects that fit each reference best, seen from the folders of the jobs; several where it is not clear."""

    def is_beside_job(self, file: str, reference: Reference) -> bool:
        """Whether the file of a job holds an object itself."""

    def claim(self, name: str, namespace: str, file: str) -> Tree:
        """The PVC that a job in a file mounts, as it is written, None where the project holds none of that name."""

    def claims(self, name: str) -> list[Tree]:
        """Every PVC of a name in the project, in any namespace, as it is written."""

    def are_missing(self) -> bool:
        """Whether no file of the project holds anything that a job could name."""


class RemovedSpans:
    """What was taken out of the `whole` tree, as stretches of its text.

    Each goes from the value before it, or the start of its line, to its end, or that of its line: where every value has
    a line of its own that is all of these lines, and on a line with others it is a value with its keys.
    """

    __slots__ = ("_ends", "_starts")

    def __init__(self, stretches: Iterable[Span], whole: Tree) -> None:
        spans = [leaf.origin.at for _, leaf in leaves(whole) if leaf.origin.at is not None]
        starts, ends = sorted(map(_start, spans)), sorted(map(_end, spans))
        self._starts: list[Point] = []
        self._ends: list[Point] = []
        for start, end in sorted((_from(one, ends), _to(one, starts)) for one in stretches):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(end, self._ends[-1])
            else:
                self._starts.append(start)
                self._ends.append(end)

    def __contains__(self, span: Span) -> bool:
        """Whether a place begins or ends in what was taken."""
        last = (span.file, span.end_line, max(1, span.end_column - 1))
        return self._has(_start(span)) or self._has(last)

    def _has(self, point: Point) -> bool:
        index = bisect_right(self._starts, point)
        return index > 0 and point < self._ends[index - 1]


def stretch(node: Tree) -> Span | None:
    """The text from the first value of a part of a tree to its last one, None where nobody wrote any."""
    spans = [leaf.origin.at for _, leaf in leaves(node) if leaf.origin.at is not None]
    if not spans:
        return None
    first, last = min(spans, key=_start), max(spans, key=_end)
    return Span(first.file, first.line, first.column, last.end_line, last.end_column)


def _from(one: Span, ends: list[Point]) -> Point:
    """Where a stretch begins with its keys."""
    before = bisect_right(ends, _start(one))
    is_alone = not before or ends[before - 1][:2] != (one.file, one.line)
    return one.file, one.line, 1 if is_alone else ends[before - 1][2]


def _to(one: Span, starts: list[Point]) -> Point:
    behind = bisect_left(starts, _end(one))
    is_last = behind == len(starts) or starts[behind][:2] != (one.file, one.end_line)
    return one.file, one.end_line, _LINE_END if is_last else one.end_column


def _start(span: Span) -> Point:
    return span.file, span.line, span.column


def _end(span: Span) -> Point:
    return span.file, span.end_line, span.end_column


class Entry(NamedTuple):
    """One thing to compile, and the other documents of its file: those that go out with it, and with another job."""

    document: Document
    companions: tuple[Document, ...] = ()
    beside: tuple[Document, ...] = ()


class RefusedEntry(NamedTuple):
    """What can still be read of a job that is refused, and where its text says what was taken out of it.

    `stand_in` is the name that it got where it lacks nothing else: all that is found without this name holds.
    """

    entry: Entry
    taken: RemovedSpans
    stand_in: str = ""


class RuntimeLookup(NamedTuple):
    """A runtime, admitted (None when it was found and refused), and which source it came from."""

    document: Document | None
    source: str


class Catalog:
    """Entries to compile, and where the runtimes and components that they may reach are found.

    The lists are filled once all entries have been seen.
    """

    def __init__(self, entries: Callable[[], Iterator[Entry]], runtimes: RuntimeIndex, objects: Objects) -> None:
        self.entries = entries  # each admitted job or JobSet, in the order of the files; none is kept
        self.objects = objects  # finds what jobs name in the files of the project
        self.passing: list[Bundle] = []  # documents of other files that the run keeps
        self.unread: list[Document] = []  # jobs that were refused before anybody could make a plan of them
        self.refused: list[RefusedEntry] = []  # the parts of those that can be read
        self.runtimes = runtimes


class RuntimeFolder(NamedTuple):
    """A project's runtimes folder: its name as people know it, its documents, and what is wrong with their text."""

    label: str
    documents: list[Document]
    faults: Report


class SourceFile(NamedTuple):
    """A file that may hold objects which jobs name: its text, its documents, and what is wrong with the text."""

    file: str
    data: bytes
    documents: list[Document]
    faults: Report


class Documents(NamedTuple):
    """The documents of a run, each file read when it is asked for."""

    # Each selected file that a cluster may run with its documents, but for those that `is_done` answers for by their
    # name and text; a long file in several parts. Asked with the cluster and `is_done`.
    selected: Callable[..., Iterator[tuple[str, list[Document]]]]
    runtimes: Callable[[], Iterator[Document]]  # the documents of those files that may hold runtimes
    runtime_folder: Callable[[str], RuntimeFolder]  # the one that serves a file
    beside: Callable[[str], RuntimeFolder]  # the files beside one that was given by its own name
    objects: Callable[[], Iterator[SourceFile]]  # the files of the project that may hold what jobs name
    shipped: Callable[[str, str], list[Document]]  # of the catalogue: in the folder of runtimes (empty) or `components`
    shipped_names: Callable[[str], list[str]]  # all names in such a folder
    nearest: Callable[[str], str]  # the nearest `runtimes/` upwards from a file
    neighbours: Callable[[str, str], RuntimeFolder]  # of a file, and of those beside it whose text holds a word
    take_part: Callable[[int, int], None]  # limits `selected` to one of several equal parts of the files
    first: Callable[[str], int]  # the number of the document of a file with which a part begins
