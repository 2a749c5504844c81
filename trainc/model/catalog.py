"""A catalog: documents that are legal by schema, CEL rules and webhooks, and where runtimes are found."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import NamedTuple, Protocol

    from trainc.model.bundle import Bundle
    from trainc.model.document import Document
    from trainc.model.pruned import Taken
    from trainc.model.references import Reference
    from trainc.model.report import Report

    class RuntimeIndex(Protocol):
        """Finds runtimes and components for a file, each admitted; what is found and refused has no document."""

        @property
        def given(self) -> Mapping[Key, Document]:
            """The runtimes and components among the files of the run."""

        def admitted(self, document: Document) -> Document | None:
            """One of them as a server would store it, None with findings where it would refuse it."""

        def find(self, key: Key, file: str) -> RuntimeLookup | None:
            """The runtime that a job in that file gets."""

        def parent(self, name: str, namespace: str, file: str) -> RuntimeLookup | None:
            """The runtime that one in that file extends; a namespace narrows the search for a TrainingRuntime."""

        def component(self, name: str, file: str) -> RuntimeLookup | None:
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

        def are_missing(self) -> bool:
            """Whether no file of the project holds anything that a job could name."""
else:
    from trainc.text.record import NamedTuple


Key = tuple[str, str, str]  # kind, namespace, name

GIVEN, FOLDER, CLUSTER, SHIPPED = "given", "folder", "cluster", "shipped"


class Entry(NamedTuple):
    """One thing to compile, and the other documents of its file: those that go out with it, and with another job."""

    document: Document
    companions: tuple[Document, ...] = ()
    beside: tuple[Document, ...] = ()


_new = tuple.__new__  # an entry that names all of its fields, made without asking which they are


def entry_of(document: Document, companions: tuple[Document, ...], beside: tuple[Document, ...]) -> Entry:
    """One thing to compile with the other documents of its file."""
    return _new(Entry, (document, companions, beside))


class RefusedEntry(NamedTuple):
    """What can still be read of a job that is refused, and where its text says what was taken out of it."""

    entry: Entry
    taken: Taken


class RuntimeLookup(NamedTuple):
    """A runtime, admitted (None when it was found and refused), and which source it came from."""

    document: Document | None
    source: str


class Catalog:
    """Entries to compile, one at a time, and where the runtimes and components that they may reach are found.

    `passing` holds, once all entries have been seen, documents of other files that the run keeps, and `unread` the jobs
    that were refused before anybody could make a plan of them; `refused` are the parts of those that can be read.
    `objects` finds what jobs name in the files of the project.
    """

    __slots__ = ("_entries", "objects", "passing", "refused", "runtimes", "unread")

    def __init__(self, entries: Callable[[], Iterator[Entry]], runtimes: RuntimeIndex, objects: Objects) -> None:
        self._entries = entries
        self.objects = objects
        self.passing: list[Bundle] = []
        self.unread: list[Document] = []
        self.refused: list[RefusedEntry] = []
        self.runtimes = runtimes

    def entries(self) -> Iterator[Entry]:
        """Each admitted job or JobSet, in the order of the files; none is kept."""
        return self._entries()
