"""What says that it knows its origins says the same as what gets its origin from its contributor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.schedulers.building import JOB, plan_of
from trainc.model.cluster import REPLICAS, ROLES, Cluster
from trainc.model.patch import Patch
from trainc.model.patches import Contribution
from trainc.model.sourced import Sourced
from trainc.model.tree import leaves, stamp
from trainc.schedulers import find

if TYPE_CHECKING:
    from trainc.model.tree import Tree


def said(contribution: Contribution) -> list[tuple[object, ...]]:
    """Every leaf of a contribution with its place, its type, its value and its origin."""
    parts: list[Tree] = [
        {
            field: list(part) if type(part) is tuple else part
            for field in Patch.__slots__
            for part in [getattr(patch, field)]
        }
        for patch in contribution.patches
    ]
    parts += [*contribution.objects, contribution.labels, contribution.annotations]
    return [
        (at, *path, type(leaf), *((leaf.value, type(leaf.value), leaf.origin) if type(leaf) is Sourced else (leaf,)))
        for at, part in enumerate(parts)
        for path, leaf in leaves(part)
    ]


CLUSTERS = [
    Cluster(),
    Cluster(queue=stamp("q", "cluster")),
    Cluster(queue=stamp("q", "cluster"), scheduler_name=stamp("mine", "cluster")),
    Cluster(topology=stamp("rack", "cluster"), unit=ROLES),
    Cluster(topology=stamp("2", "cluster"), unit=REPLICAS),
]
JOBS = {
    "a plain one": {},
    "one with wishes": {
        "labels": {"kueue.x-k8s.io/queue-name": "mine", "team": "a"},
        "annotations": {"volcano.sh/network-topology-mode": "soft", "kueue.x-k8s.io/podset-required-topology": "host"},
    },
    "one with a priority": {"labels": {"kueue.x-k8s.io/priority-class": "high"}},
}


@pytest.mark.parametrize("name", ["kueue", "volcano"])
@pytest.mark.parametrize("cluster", CLUSTERS)
@pytest.mark.parametrize("metadata", JOBS.values(), ids=list(JOBS))
def test_nothing_is_left_to_stamp_of_what_says_so(name: str, cluster: Cluster, metadata: Tree) -> None:
    back_end = find(name)
    assert back_end is not None
    text = JOB.replace("- name: node\n", "- name: node\n    replicas: 2\n")
    for each in (JOB, text):
        planned = plan_of(each, job={"kind": "TrainJob", "metadata": {"name": "llm", **metadata}, "spec": {}})
        found = back_end.gang(planned, cluster)
        assert found.sourced
        bare = Contribution(found.patches, objects=found.objects, labels=found.labels, annotations=found.annotations)
        assert said(found) == said(bare.attach_origin(name))
