"""What a server does from which version on: facts that differ by version, each with the version beside it."""

Version = tuple[int, int]

# What a cluster is taken for that does not tell.
KUBERNETES: Version = (1, 36)
JOBSET: Version = (0, 13)

REFUSES_NEGATIVE_REPLICAS = "the schema of JobSets has a lower bound for replicas"
COMPLETES_NAMES = "a name is made from generateName before JobSet's webhook looks"
JOBSET_SINCE: dict[str, Version] = {REFUSES_NEGATIVE_REPLICAS: (0, 13), COMPLETES_NAMES: (0, 13)}
