"""The schemas that a cluster serves: its own definitions where it shows any, the built-in ones for every other kind."""

from __future__ import annotations

from trainc.schema.profile import profile_of
from trainc.schema.table import Table, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainc.model.cluster import Cluster
    from trainc.model.document import Document
    from trainc.model.tree import Path
    from trainc.schema.profile import Profile


class Served:
    """A cluster's table and profile, and what is wrong (`faults`) or cannot be checked (`notes`) in its definitions."""

    __slots__ = ("cluster", "faults", "notes", "profile", "table")

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.profile: Profile = profile_of(cluster)
        self.faults: list[tuple[Document, Path, str]] = []
        self.notes: list[tuple[Document, Path, str]] = []
        self.table = self._own() if cluster.definitions else load()

    def _own(self) -> Table:
        from trainc.schema.definitions import read_definition  # noqa: PLC0415 (few clusters bring definitions)
        from trainc.schema.table import compile_table  # noqa: PLC0415

        schemas: dict[str, Any] = {}
        whole: list[str] = []
        for document in self.cluster.definitions:
            found = read_definition(document.tree)
            schemas |= found.schemas
            whole += found.whole
            self.faults += [(document, path, text) for path, text in found.faults]
            self.notes += [(document, path, text) for path, text in found.notes]
        return Table(compile_table(schemas, whole=whole), load())


def served(cluster: Cluster) -> Served:
    """What a cluster serves; the answer for the last one asked about is kept."""
    if not _last or _last[0].cluster is not cluster:
        _last[:] = [Served(cluster)]
    return _last[0]


_last: list[Served] = []
