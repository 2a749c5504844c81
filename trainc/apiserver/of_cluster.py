"""The API server that a run's documents are sent to, as far as settings and dumps tell."""

from __future__ import annotations

from trainc.apiserver.profile import Profile
from trainc.apiserver.schema.node import Table
from trainc.apiserver.served import served
from trainc.model.cluster import Cluster
from trainc.model.finding import ERROR, NOTE, Rule
from trainc.model.report import Report

NOT_STRUCTURAL = Rule("not-structural", ERROR, admission=True)
UNCHECKED_RULE = Rule("unchecked-rule", NOTE, admission=True)


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

    def tolerant(self, field_validation: str) -> Server:
        """The same server with another treatment of unknown fields."""
        return Server(self.table, self.profile, field_validation)


def server_of(cluster: Cluster, field_validation: str, report: Report) -> Server:
    """The server of a cluster; its own definitions replace the built-in schemas."""
    table = served(cluster)
    for definitions in cluster.definitions:
        for at, text in definitions.faults:
            report.add(NOT_STRUCTURAL.at(at, text, effect="the built-in schema of the kind is used instead"))
        for at, text in definitions.notes:
            report.add(UNCHECKED_RULE.at(at, text))
    return Server(table.table, table.profile, field_validation)
