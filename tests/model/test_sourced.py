"""Values that know where they came from, and do not let it get lost."""

import pytest

from tests.schedulers.building import JOB, plan_of
from trainc.model.cluster import REPLICAS, ROLES, Cluster
from trainc.model.patch import Patch
from trainc.model.patches import Contribution
from trainc.model.sourced import Origin, Sourced, Span, derive, known
from trainc.model.tree import Tree, leaves, stamp
from trainc.schedulers import find

HERE = Span("a.yaml", 3, 5, 3, 6)
THERE = Span("b.yaml", 1, 1, 2, 1)


def test_text() -> None:
    assert str(HERE) == "a.yaml:3:5"
    assert str(Origin(HERE)) == "a.yaml:3:5"
    assert str(Origin(None, "torch")) == "torch"
    assert str(Origin(None, "product", (Origin(HERE), Origin(by="jax")))) == "product (a.yaml:3:5, jax)"
    assert repr(Sourced("x", Origin(HERE))) == "'x' @ a.yaml:3:5"


def test_spans_are_the_nearest_first_and_once() -> None:
    inner = Origin(None, "sum", (Origin(THERE), Origin(HERE)))
    assert Origin(None, "product", (Origin(HERE), inner, Origin(by="literal"))).spans() == (HERE, THERE)
    assert Origin(HERE, "x", (Origin(THERE),)).spans() == (HERE,)
    assert Origin(by="literal").spans() == ()


def test_derived_values() -> None:
    nodes, each = Sourced(4, Origin(HERE)), Sourced(8, Origin(THERE))
    product = derive("world size", lambda n, e: n * e, nodes, each)
    assert product.value == 32
    assert product.origin == Origin(None, "world size", (Origin(HERE), Origin(THERE)))
    assert nodes.map(str).value == "4"
    assert nodes.map(str).origin is nodes.origin


def test_equality_is_of_values() -> None:
    assert Sourced(1, Origin(HERE)) == Sourced(1, Origin(THERE))
    assert Sourced(1, Origin(HERE)) == 1
    assert Sourced(1, Origin(HERE)) != 2
    assert len({Sourced("a", Origin(HERE)), Sourced("a", Origin(THERE))}) == 1


def test_what_would_lose_the_origin_raises() -> None:
    leaf = Sourced("x", Origin(HERE))
    with pytest.raises(TypeError, match="value"):
        bool(leaf)
    with pytest.raises(TypeError, match="derive"):
        f"{leaf}"
    with pytest.raises(TypeError, match="value"):
        _ = not leaf


def test_what_a_value_rests_on_is_worked_out_when_somebody_asks() -> None:
    written = Sourced(2, ("a.yaml", 1, 1, 1, 2))
    twice = derive("twice", lambda n: n * 2, written)
    both = known("4 2", "both", (twice, written))
    assert (both.by, twice.by, written.by) == ("both", "twice", "")
    assert written.origin == Origin(Span("a.yaml", 1, 1, 1, 2))
    assert both.origin == Origin(None, "both", (Origin(None, "twice", (written.origin,)), written.origin))
    assert both.origin is both.origin
    assert (both.by, written.by, both.map(len).origin) == ("both", "", both.origin)


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
