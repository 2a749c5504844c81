"""The API server of a cluster, as far as settings and dumps tell: its own definitions where it shows any, else the built-in schemas."""

from trainc.apiserver.fault import Verdict
from trainc.apiserver.frame import frame_of
from trainc.apiserver.jobset.create import create_faults
from trainc.apiserver.jobset.defaults import KIND
from trainc.apiserver.metadata import is_sound
from trainc.apiserver.profile import Profile, profile_of
from trainc.apiserver.schema.node import Table, load
from trainc.apiserver.verdict import verdict
from trainc.model.cluster import Cluster
from trainc.model.finding import ERROR, NOTE, Rule
from trainc.model.report import Report
from trainc.model.tree import Tree

NOT_STRUCTURAL = Rule("not-structural", ERROR, admission=True)
UNJUDGED_POLICY = Rule("unjudged-policy", ERROR, admission=True)
UNCHECKED_RULE = Rule("unchecked-rule", NOTE, admission=True)
_MAX_FRAMES = 1_000
_last: "list[Served]" = []


class Served:
    """A cluster's table and profile; of two files that define a kind the last one counts."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.profile: Profile = profile_of(cluster)
        self.table = load()
        for definitions in cluster.definitions:
            self.table = Table(definitions.table, self.table)
        self._taken: set[int] = set()  # frames of JobSets that have nothing wrong with them

    def judge_jobset(self, jobset: Tree) -> Verdict:
        """The answer to creating a JobSet; one with a frame that was taken is looked at no further than its names."""
        frame = frame_of(jobset)
        if frame in self._taken and is_sound(jobset.get("metadata")):
            node = self.table.root(KIND)
            if node is not None and not create_faults(jobset, node, self.profile):
                return Verdict(jobset)
        judged = verdict(jobset, self.table, self.profile)
        # Definitions of a cluster may look at any text, and Kueue looks at labels.
        if (
            judged.accepted
            and judged.empty_patch
            and not (judged.unchecked or self.cluster.definitions or self.profile.kueue)
        ):
            if len(self._taken) >= _MAX_FRAMES:
                self._taken.clear()
            self._taken.add(frame)
        return judged


def served(cluster: Cluster) -> Served:
    """What a cluster serves; the answer for the last one asked about is kept."""
    if not _last or _last[0].cluster is not cluster:
        _last[:] = [Served(cluster)]
    return _last[0]


class Server:
    """Its schemas, its versions and known objects, and how it treats unknown fields (strict, warn, ignore).

    Servers of equal `identity` give the same answers.
    """

    def __init__(self, table: Table, profile: Profile, field_validation: str) -> None:
        self.table = table
        self.profile = profile
        self.field_validation = field_validation
        versions = (profile.kubernetes, profile.jobset, profile.gates, profile.kueue, profile.unqueued)
        self.identity: object = (table, *versions, field_validation, profile if profile.state else None)

    def tolerant(self, field_validation: str) -> "Server":
        """The same server with another treatment of unknown fields."""
        return Server(self.table, self.profile, field_validation)


def server_of(cluster: Cluster, field_validation: str, report: Report) -> Server:
    """The server of a cluster; its own definitions replace the built-in schemas."""
    known = served(cluster)
    for definitions in cluster.definitions:
        for at, text in definitions.faults:
            report.add(NOT_STRUCTURAL.at(at, text, effect="the built-in schema of the kind is used instead"))
        for at, text in definitions.notes:
            report.add(UNCHECKED_RULE.at(at, text))
    return Server(known.table, known.profile, field_validation)
