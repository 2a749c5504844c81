"""Judging takes time by jobs and by kinds of nodes, not by nodes: counted in calls, which no load changes."""

import sys
from typing import Any

import pytest

from tests.cluster.capacity.clusters import facts, job, node, queue
from trainc.cluster.capacity.fit import Fit
from trainc.model.tree import stamp

pytestmark = pytest.mark.slow

POOLS = 5


def calls(jobs: int, nodes: int, **options: Any) -> int:
    """How many functions are called for different jobs on a cluster that was read before."""
    pools = [node(f"n{at}", cpu=16, labels={"pool": f"p{at % POOLS}"}) for at in range(nodes)]
    fit = Fit(facts(*queue(10_000), *pools), **options)
    trees = [
        stamp(job(f"j{at}", pods=1 + at % 7, cpu=f"{1000 + at}m", queued=at % 2 == 0), "job") for at in range(jobs)
    ]
    assert fit.answer(trees[0]).status == "fits"
    count = 0

    def called(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(called)
    try:
        answers = [fit.answer(tree).status for tree in trees]
    finally:
        sys.setprofile(None)
    assert set(answers) == {"fits"}
    return count


def test_twice_the_jobs_take_twice_the_work() -> None:
    assert calls(80, 200) < 2.2 * calls(40, 200)


def test_more_nodes_of_the_same_kinds_take_no_more_work() -> None:
    assert calls(40, 800, names_nodes=False) < 1.1 * calls(40, 400, names_nodes=False)
    assert calls(40, 1_600) < 1.1 * calls(40, 800)
