"""The server that is asked: versions, feature gates, installed admission, and what is known of its state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trainc.apiserver.versions import JOBSET, JOBSET_SINCE, KUBERNETES, text_of
from trainc.model.cluster import Cluster
from trainc.model.tree import Tree
from trainc.text.record import Immutable


class Profile(Immutable):
    """What a verdict depends on besides the object.

    `state` holds known cluster objects by kind, then by (namespace, name); cluster-scoped ones have the namespace "".
    A kind that is not in `state` is unknown, one that is there is known completely.
    """

    kubernetes: str
    jobset: tuple[int, int]
    gates: frozenset[str]
    kueue: bool
    unqueued: bool
    state: Mapping[str, Mapping[tuple[str, str], Tree]]

    def __init__(
        self,
        *,
        kubernetes: str = text_of(KUBERNETES),
        jobset: str = text_of(JOBSET),
        gates: Iterable[str] = (),
        kueue: bool = False,
        unqueued: bool = False,
        state: Mapping[str, Mapping[tuple[str, str], Tree]] | None = None,
    ) -> None:
        major, minor = jobset.removeprefix("v").split(".")[:2]
        self._fill(
            kubernetes=kubernetes,
            jobset=(int(major), int(minor)),
            gates=frozenset(gates),
            kueue=kueue,
            unqueued=unqueued,
            state=state or {},
        )

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
        kubernetes=text_of(cluster.kubernetes or KUBERNETES),
        jobset=text_of(cluster.jobset or JOBSET),
        gates=cluster.gates,
        kueue="kueue" in cluster.admission,
        state=state,
    )
