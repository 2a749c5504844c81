"""The server that is asked: versions, feature gates, installed admission, and what is known of its state."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from trainc.apiserver.versions import JOBSET, JOBSET_SINCE, KUBERNETES, Version
from trainc.model.cluster import Cluster
from trainc.model.tree import Tree


@dataclass(frozen=True, kw_only=True, eq=False)
class Profile:
    """What a verdict depends on besides the object.

    `state` holds known cluster objects by kind, then by (namespace, name); cluster-scoped ones have the namespace "".
    A kind that is not in `state` is unknown, one that is there is known completely.
    """

    kubernetes: Version = KUBERNETES
    jobset: Version = JOBSET
    gates: frozenset[str] = frozenset()
    kueue: bool = False
    unqueued: bool = False
    state: Mapping[str, Mapping[tuple[str, str], Tree]] = field(default_factory=dict)

    def jobset_does(self, fact: str) -> bool:
        """Whether its JobSet is of a version in which something holds that `versions.JOBSET_SINCE` lists."""
        return self.jobset >= JOBSET_SINCE[fact]

    def find(self, kind: str, namespace: str, name: str) -> Tree | None:
        return self.state.get(kind, {}).get((namespace, name))


def profile_of(cluster: Cluster) -> Profile:
    """The server of a cluster, as far as its settings and its dumps tell."""
    state = {
        kind: {name.rpartition("/")[::2]: tree for name, tree in by_name.items()}  # namespace and name
        for kind, by_name in cluster.objects.items()
    }
    return Profile(
        kubernetes=cluster.kubernetes or KUBERNETES,
        jobset=cluster.jobset or JOBSET,
        gates=frozenset(cluster.gates),
        kueue="kueue" in cluster.admission,
        state=state,
    )
