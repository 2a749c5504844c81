"""What a server does from which version on: facts that differ by version, each with the version beside it."""

from typing import NamedTuple

Version = tuple[int, int]

# What a cluster is taken for that does not tell.
KUBERNETES: Version = (1, 36)
JOBSET: Version = (0, 13)

REFUSES_NEGATIVE_REPLICAS = "the schema of JobSets has a lower bound for replicas"
COMPLETES_NAMES = "a name is made from generateName before JobSet's webhook looks"
LEAVES_CLAIM_STATUS_OUT = "the webhook adds no empty status to claim templates, and takes those without one again"
JOBSET_SINCE: dict[str, Version] = {
    REFUSES_NEGATIVE_REPLICAS: (0, 13),
    COMPLETES_NAMES: (0, 13),
    LEAVES_CLAIM_STATUS_OUT: (0, 12),
}


class Addition(NamedTuple):
    """Something that the schema of JobSets has since a version: a field, or with `value` one word of its enum.

    `*` in `path` stands for every item of a list. `limit` is how many items the list had room for before.
    """

    path: tuple[str, ...]
    since: Version
    value: str = ""
    limit: int = 0


# Source: config/components/crd of sigs.k8s.io/jobset 0.7.3, 0.8.2, 0.10.1, 0.11.1 and 0.12.0, compared; the changelog of 0.9.0 tells
# which of the differences between 0.8.2 and 0.10.1 are its own.
JOBSET_ADDITIONS = (
    Addition(("spec", "replicatedJobs", "*", "dependsOn"), (0, 8)),
    Addition(("spec", "replicatedJobs", "*", "dependsOn"), (0, 9), limit=1),  # kubernetes-sigs/jobset#878
    Addition(("spec", "replicatedJobs", "*", "groupName"), (0, 9)),  # kubernetes-sigs/jobset#822
    Addition(
        ("spec", "failurePolicy", "rules", "*", "onJobFailureMessagePatterns"), (0, 10)
    ),  # kubernetes-sigs/jobset#1033
    Addition(("spec", "volumeClaimPolicies"), (0, 11)),
    Addition(("spec", "failurePolicy", "restartStrategy"), (0, 11), value="InPlaceRestart"),
    Addition(("spec", "failurePolicy", "rules", "*", "action"), (0, 12), value="RestartJob"),
    Addition(("spec", "failurePolicy", "rules", "*", "action"), (0, 12), value="RestartJobAndIgnoreMaxRestarts"),
)
