"""The schemas that a cluster serves: its own definitions where it shows any, the built-in ones for every other kind."""

from __future__ import annotations

from trainc.apiserver.profile import profile_of
from trainc.apiserver.schema.table import Table, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.apiserver.profile import Profile
    from trainc.model.cluster import Cluster


class Served:
    """A cluster's table and profile; of two files that define a kind the last one counts."""

    __slots__ = ("cluster", "profile", "table")

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.profile: Profile = profile_of(cluster)
        self.table = load()
        for definitions in cluster.definitions:
            self.table = Table(definitions.table, self.table)


def served(cluster: Cluster) -> Served:
    """What a cluster serves; the answer for the last one asked about is kept."""
    if not _last or _last[0].cluster is not cluster:
        _last[:] = [Served(cluster)]
    return _last[0]


_last: list[Served] = []
