"""What is made ready says the same as what is stamped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.frameworks.planning import plan, role
from tests.schedulers.building import JOB, plan_of
from trainc.frameworks.torch import lower as torch
from trainc.frameworks.torch import procs_per_node
from trainc.model.cluster import REPLICAS, ROLES, Cluster
from trainc.model.inference import PORT
from trainc.model.patches import COMPLETION_INDEX, Contribution, Patch, on
from trainc.model.ready import contributed, equipped, on_container
from trainc.model.shared import Shared
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import leaves, stamp
from trainc.schedulers import find

if TYPE_CHECKING:
    from trainc.model.plan import Plan
    from trainc.model.tree import Tree

GPUS = "{name: node, resources: {limits: {cpu: 4, nvidia.com/gpu: 8}}}"
CPUS = "{name: node, resources: {requests: {cpu: 3}}}"


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


def stamped_torch(plan: Plan) -> Contribution:
    """The variables of torch as any other framework would contribute them."""
    assert plan.trainer is not None
    env = {
        "PET_NNODES": plan.trainer.count,
        "PET_NPROC_PER_NODE": procs_per_node(plan),
        "PET_NODE_RANK": COMPLETION_INDEX,
        "PET_MASTER_ADDR": plan.host(),
        "PET_MASTER_PORT": PORT,
    }
    return on(plan.trainer, env=env, ports=(PORT,)).stamped("torch")


@pytest.mark.parametrize("container", [GPUS, CPUS, "{name: node}", "{name: other}"])
@pytest.mark.parametrize(
    "job", ["{}", "{numNodes: 3}", "{numProcPerNode: 2}", "{resourcesPerNode: {limits: {cpu: 5}}}"]
)
def test_torch_says_what_a_stamp_would_say(container: str, job: str) -> None:
    planned = plan("{torch: {}}", role("node", container), job)
    wanted = said(stamped_torch(planned))
    found = torch(planned)
    assert found.sourced
    assert said(found) == said(found.stamped("torch")) == wanted


@pytest.mark.parametrize("container", [GPUS, CPUS])
def test_jobs_that_leave_their_resources_to_the_runtime_share_a_variable(container: str) -> None:
    first, second = (plan("{torch: {}}", role("node", container), "{}") for _ in range(2))
    second.roles, second.trainer, second.shared = first.roles, first.trainer, Shared(first.template)
    first.shared = second.shared
    one, other = torch(first), torch(second)
    assert one.patches[0].env[1] is other.patches[0].env[1]
    first.shared = None
    assert said(torch(first)) == said(one)


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
        assert said(found) == said(bare.stamped(name))


def test_jobs_that_say_nothing_to_kueue_get_the_same_labels() -> None:
    back_end, cluster = find("kueue"), Cluster(queue=stamp("q", "cluster"))
    assert back_end is not None
    one, other = (back_end.gang(plan_of(JOB), cluster) for _ in range(2))
    assert one is other
    assert one.labels == {"kueue.x-k8s.io/queue-name": cluster.queue}


def test_patches_and_contributions_are_those_that_their_classes_make() -> None:
    leaf = Sourced("x", Origin(by="test"))
    env, ports, sets = ({"name": leaf},), ({"containerPort": leaf},), {"image": leaf}
    quick, slow = on_container(1, "node", env, ports, sets), Patch(1, "node", env=env, ports=ports, sets=sets)
    assert [getattr(quick, field) for field in Patch.__slots__] == [getattr(slow, field) for field in Patch.__slots__]
    for given in ((), (quick,)):
        ours, theirs = contributed(given, labels=sets), Contribution(given, labels=sets)
        fields = [field for field in Contribution.__slots__ if field != "sourced"]
        assert [getattr(ours, field) for field in fields] == [getattr(theirs, field) for field in fields]
    assert contributed().empty


def test_nothing_is_equipped_that_is_not_there() -> None:
    planned = plan("{torch: {}}", role("node", "{name: other}"))
    assert equipped(planned.trainer, (), ()).empty
    assert equipped(None, (), ()).empty
