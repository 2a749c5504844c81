"""Gangs on small clusters: the packing agrees with a placement that tries everything, and laws hold."""

from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainc.cluster.capacity.gang import fits_at_once, kinds_of, rooms
from trainc.cluster.capacity.nodes import Node, NodeClasses
from trainc.cluster.capacity.pods import PendingPod
from trainc.cluster.capacity.scheduler import SimulatedScheduler, static_refusal

CLUSTERS = 5_000


def node(
    name: str, cpu: int, gpu: int, *, labels: dict[str, str], taints: list[dict[str, Any]], cordoned: bool
) -> Node:
    amounts = {"cpu": cpu * 1000, "memory": 64, "pods": 4, **({"nvidia.com/gpu": gpu} if gpu else {})}
    return Node(
        name,
        {"kubernetes.io/hostname": name, **labels},
        amounts,
        taints=taints,
        is_unschedulable=cordoned,
    )


def pod(name: str, cpu: int, gpu: int, spec: dict[str, Any]) -> PendingPod:
    requests = {"pods": 1, "cpu": cpu * 1000, "memory": 1, **({"nvidia.com/gpu": gpu} if gpu else {})}
    return PendingPod(name, "lab", {"app": name}, spec, requests)


def cluster(random: Random, prefix: str = "n") -> list[Node]:
    return [
        node(
            f"{prefix}{index}",
            random.randint(1, 6),
            random.choice([0, 0, 1, 2]),
            labels={"pool": random.choice("ab")},
            taints=random.choice([[], [], [{"key": "spot", "value": "true", "effect": "NoSchedule"}]]),
            cordoned=random.random() < 0.1,
        )
        for index in range(random.randint(0, 4))
    ]


def gang(random: Random) -> list[tuple[PendingPod, int]]:
    found = []
    for name in ("a", "b")[: random.randint(1, 2)]:
        spec: dict[str, Any] = {}
        if random.random() < 0.3:
            spec["nodeSelector"] = {"pool": random.choice("abc")}
        if random.random() < 0.4:
            spec["tolerations"] = [{"key": "spot", "operator": "Exists"}]
        found.append((pod(name, random.randint(0, 3), random.choice([0, 0, 1]), spec), random.randint(1, 3)))
    return found


def is_possible(nodes: list[Node], members: list[tuple[PendingPod, int]]) -> bool:
    """Try every node for every pod."""
    pods = [one for one, count in members for _ in range(count)]
    for chosen in product(nodes, repeat=len(pods)):
        if any(static_refusal(one, where) for one, where in zip(pods, chosen, strict=True)):
            continue
        for where in nodes:
            mine = [one for one, there in zip(pods, chosen, strict=True) if there is where]
            total: dict[str, int] = {}
            for one in mine:
                for name, amount in one.requests.items():
                    total[name] = total.get(name, 0) + amount
            if any(amount > where.allocatable.get(name, 0) for name, amount in total.items()):
                break
        else:
            return True
    return False


def answer(nodes: list[Node], members: list[tuple[PendingPod, int]]) -> bool | None:
    pods, counts = [one for one, _ in members], [count for _, count in members]
    return fits_at_once(pods, counts, kinds_of(pods, NodeClasses(nodes, is_idle=True)))


def scheduled(nodes: list[Node], members: list[tuple[PendingPod, int]]) -> int:
    scheduler = SimulatedScheduler(nodes)
    return sum(bool(scheduler.place(one.like(f"{one.name}-{i}"))[0]) for one, n in members for i in range(n))


@pytest.mark.slow
def test_agrees_with_a_placement_that_tries_everything() -> None:
    random = Random(7)  # noqa: S311 (which clusters, not which keys)
    seen = {True: 0, False: 0}
    for _ in range(CLUSTERS):
        nodes, members = cluster(random), gang(random)
        while len(nodes) ** sum(count for _, count in members) > 300:
            nodes, members = cluster(random), gang(random)
        expected = is_possible(nodes, members)
        assert answer(nodes, members) is expected
        seen[expected] += 1
    assert min(seen.values()) > CLUSTERS // 10


@pytest.mark.slow
def test_equal_pods_are_counted_as_the_scheduler_places_them() -> None:
    random = Random(11)  # noqa: S311 (which clusters, not which keys)
    for _ in range(500):
        nodes, [(one, _), *_] = cluster(random), gang(random)
        kinds = kinds_of([one], NodeClasses(nodes, is_idle=True))
        assert scheduled(nodes, [(one, 30)]) == min(30, rooms([one], kinds)[0])


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6))
def test_a_free_node_more_never_takes_the_place_away(seed: int) -> None:
    random = Random(seed)  # noqa: S311 (which clusters, not which keys)
    nodes, members = cluster(random), gang(random)
    before, after = answer(nodes, members), answer([*nodes, *cluster(random, "more")], members)
    assert not (before is True and after is False)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6))
def test_what_the_scheduler_places_has_a_packing(seed: int) -> None:
    random = Random(seed)  # noqa: S311 (which clusters, not which keys)
    nodes, members = cluster(random), gang(random)
    if scheduled(nodes, members) == sum(count for _, count in members):
        assert answer(nodes, members) is True


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6))
def test_the_order_of_nodes_does_not_matter(seed: int) -> None:
    random = Random(seed)  # noqa: S311 (which clusters, not which keys)
    nodes, members = cluster(random), gang(random)
    assert answer(nodes, members) == answer(nodes[::-1], members) == answer(nodes, members[::-1])


def test_a_search_that_is_too_long_says_so() -> None:
    nodes = [node(f"n{index}", 30 + index % 7, 0, labels={}, taints=[], cordoned=False) for index in range(40)]
    for one in nodes:
        one.allocatable["pods"] = 110
    members = [(pod(name, cpu, 0, {}), 40) for name, cpu in (("a", 3), ("b", 5), ("c", 7), ("d", 11), ("e", 4))]
    assert answer(nodes, members) in (None, True)
