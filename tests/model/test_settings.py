"""A project is one value: no part of it can be changed, and what follows from its clusters follows from the present ones."""

from dataclasses import replace

import pytest

from trainc.model.cluster import Cluster
from trainc.model.settings import Project
from trainc.model.sourced import Origin, Sourced

EAST = Cluster(name="east", paths=(Sourced("jobs/east", Origin()),), delivery="flux")
WEST = Cluster(name="west", paths=(Sourced("jobs/west", Origin()),))


@pytest.mark.parametrize("field", Project.__annotations__)
def test_no_field_changes(field: str) -> None:
    project = Project("/nowhere", clusters=(EAST, WEST))
    with pytest.raises(AttributeError, match=r"cannot (assign to|delete) field"):
        setattr(project, field, getattr(project, field))
    with pytest.raises(AttributeError, match=r"cannot (assign to|delete) field"):
        delattr(project, field)


def test_holders_are_the_present_clusters() -> None:
    project = Project("/nowhere", clusters=(EAST, WEST))
    assert project.holders["jobs/east/bert.yaml"] == [EAST]
    placed = project.serving(tuple(replace(one, namespace=Sourced("team", Origin())) for one in project.clusters))
    assert placed.cluster is placed.clusters[0]
    for cluster in placed.clusters:
        (held,) = placed.holders[f"jobs/{cluster.name}/bert.yaml"]
        assert placed.at(held).cluster is held is cluster


def test_only_its_own_cluster_can_be_the_present_one() -> None:
    with pytest.raises(ValueError, match="`west` is not in this project"):
        Project("/nowhere", clusters=(EAST,)).at(WEST)


def test_the_tool_of_one_cluster_is_not_that_of_the_next() -> None:
    project = Project("/nowhere", clusters=(EAST, WEST), default_delivery="argocd")
    assert project.at(EAST).delivery == "flux"
    assert project.at(EAST).at(WEST).delivery == "argocd"
