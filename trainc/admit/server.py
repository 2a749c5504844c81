"""The API server that a run's documents are sent to, as far as settings and dumps tell."""

from __future__ import annotations

from trainc.schema.cluster import table_of
from trainc.schema.profile import profile_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.cluster import Cluster
    from trainc.model.report import Report
    from trainc.schema.profile import Profile
    from trainc.schema.table import Table


class Server:
    """Its schemas, its versions and known objects, and how it treats unknown fields (strict, warn, ignore)."""

    __slots__ = ("field_validation", "profile", "table")

    def __init__(self, table: Table, profile: Profile, field_validation: str) -> None:
        self.table = table
        self.profile = profile
        self.field_validation = field_validation

    def tolerant(self, field_validation: str) -> Server:
        """The same server with another treatment of unknown fields."""
        return Server(self.table, self.profile, field_validation)


def server_of(cluster: Cluster, field_validation: str, report: Report) -> Server:
    """The server of a cluster; its own definitions replace the built-in schemas."""
    return Server(table_of(cluster.definitions, report), profile_of(cluster), field_validation)
