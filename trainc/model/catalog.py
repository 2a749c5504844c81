"""A catalog: documents that are legal by schema, CEL rules and webhooks, and where runtimes are found."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.model.bundle import Bundle
    from trainc.model.document import Document

Key = tuple[str, str, str]  # kind, namespace, name

GIVEN, SHELF, CLUSTER, SHIPPED = "given", "shelf", "cluster", "shipped"


class Entry(NamedTuple):
    """One thing to compile, and the other documents of its file that pass through with it."""

    document: Document
    companions: tuple[Document, ...] = ()


class Found(NamedTuple):
    """A runtime, admitted (None when it was found and refused), and which source it came from."""

    document: Document | None
    source: str


class Catalog:
    """Entries to compile, one at a time, and the runtimes they may reach.

    `passing` holds, once all entries have been seen, documents of other files that the run keeps.

    `find(key, file)` answers with an admitted runtime for a job of that file, or None; `names(kind, namespace, file)`
    lists what could have been meant; `places(file)` says where a missing runtime was looked for.
    """

    __slots__ = ("_entries", "find", "names", "passing", "places")

    def __init__(
        self,
        entries: Callable[[], Iterator[Entry]],
        find: Callable[[Key, str], Found | None],
        names: Callable[[str, str, str], list[str]],
        places: Callable[[str], tuple[str, ...]],
    ) -> None:
        self._entries = entries
        self.passing: list[Bundle] = []
        self.find = find
        self.names = names
        self.places = places

    def entries(self) -> Iterator[Entry]:
        """Each admitted job or JobSet, in the order of the files; none is kept."""
        return self._entries()
