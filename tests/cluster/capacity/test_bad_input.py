"""Dumps that are half, odd or broken: findings or no answer, in bounded time, and never a verdict from missing facts."""

from copy import deepcopy
from random import Random
from typing import Any

import pytest
import yaml

from tests.cluster.capacity.clusters import ask, facts, job, node, queue, thing, topology
from tests.conformance.archives import groups, members
from tests.effort import cpu, within
from tests.sampling import sampled
from trainc.cluster.capacity.facts import ClusterFacts
from trainc.cluster.capacity.fit import Fit
from trainc.cluster.inventory import Dump, inventory
from trainc.compiler.project.dumps import read_dump
from trainc.model.report import Report
from trainc.model.tree import stamp
from trainc.yaml.reader import read

ODD: list[Any] = [
    *(None, True, -1, 0, 10**30, 0.5, "", "x", "-1", "1e400", "9" * 400, "10 Gi", "1Ki1", "NaN", "0x10", "\u0661"),
    *([], {}, [[]], [[[{}]]], {"a": {"b": [1]}}, [None], {"": ""}),
]
CASES = [
    (group, name.removesuffix(".json"))
    for group in groups("admission")
    for name in sorted(members("admission", group))
    if name.endswith(".json")
]
RENAMED = {"cohortName": "cohort", "parentName": "parent", "v1beta2": "v1beta1"}


def holders(tree: Any) -> list[tuple[Any, Any]]:
    """Every place of a tree: the map or list, and the key."""
    found: list[tuple[Any, Any]] = []
    todo = [tree]
    while todo:
        one = todo.pop()
        keys = one.keys() if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ()
        found += [(one, key) for key in keys]
        todo += [one[key] for key in keys]
    return found


def broken(trees: list[Any], random: Random) -> list[Any]:
    """The objects of a cluster with something wrong in them."""
    out = deepcopy(trees)
    for _ in range(random.randint(1, 4)):
        places = [
            place for tree in out if isinstance(tree, dict) and tree.get("kind") != "JobSet" for place in holders(tree)
        ]
        holder, key = random.choice(places)
        if random.random() < 0.3:
            del holder[key]
        else:
            holder[key] = deepcopy(random.choice(ODD))
    if random.random() < 0.2:
        out = [[tree] for tree in out]
    return out


def answered(trees: list[Any], *, closed: bool = False) -> list[str]:
    """The answers for the jobs among the objects, empty where the dump itself is refused."""
    report = Report()
    text = yaml.safe_dump_all(trees)
    jobs = [document.tree for document in read(text, "case.yaml", Report()) if document.kind == "JobSet"]
    known = read_dump(text.encode(), "case.yaml", report)
    for is_idle in (True, False):
        found = ClusterFacts(known, closed=closed)
        if report.findings or found.malformed:
            return []
        answers = [Fit(found, is_idle=is_idle).answer(tree).status for tree in jobs]
    return answers


@pytest.mark.slow
def test_odd_dumps_are_findings_or_get_an_answer() -> None:
    random = Random(23)  # noqa: S311 (which dumps, not which keys)
    refused = 0
    for _ in range(250):
        group, case = random.choice(CASES)
        trees = list(yaml.safe_load_all(members("admission", group)[f"{case}.yaml"]))
        made = broken(trees, random)
        refused += not answered(made)
        found = Dump(made)
        if not found.faults:
            inventory(found)
    assert refused > 50


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_kind_that_is_not_in_the_dump_turns_no_answer_around(seed: int) -> None:
    random = Random(seed)  # noqa: S311 (which dumps, not which keys)
    for _ in range(25):
        group, case = random.choice([pair for pair in CASES if pair[0] != "pods"])
        trees = list(yaml.safe_load_all(members("admission", group)[f"{case}.yaml"]))
        kinds = {tree["kind"] for tree in trees} - {"JobSet", "LimitRange", "ResourceQuota", "Configuration"}
        kind = random.choice(sorted(kinds))
        whole, half = answered(trees, closed=True), answered([tree for tree in trees if tree["kind"] != kind])
        for before, after in zip(whole, half, strict=True):
            if kind in {"Workload", "WorkloadPriorityClass", "PriorityClass", "Pod"}:
                continue  # what these add is known to be missing only where they are listed
            assert after in {before, "unknown", "admitted"}, (group, case, kind, before, after)


@pytest.mark.parametrize(("group", "case"), sampled(CASES[::9], every=6))
def test_both_versions_of_kueue_are_read(group: str, case: str) -> None:
    text = members("admission", group)[f"{case}.yaml"]
    older = text
    for new, old in RENAMED.items():
        older = older.replace(f"{new}:" if new.endswith("Name") else new, f"{old}:" if new.endswith("Name") else old)
    both = [answered(list(yaml.safe_load_all(one)), closed=True) for one in (text, older)]
    assert both[0] == both[1]


@pytest.mark.slow
def test_five_thousand_different_nodes_take_bounded_time() -> None:
    nodes = [node(f"n{at}", cpu=4 + at % 60, labels={"own": str(at), "rack": f"r{at % 70}"}) for at in range(5_000)]
    known = facts(*queue(flavor={"topologyName": "tree"}), topology("rack", "kubernetes.io/hostname"), *nodes)
    tree = stamp(job(pods=300, queued=True), "job")

    def ask_both() -> None:
        assert Fit(known).answer(tree).status == "never"
        assert Fit(known).answer(stamp(job(pods=600), "job")).status == "fits"

    within(20, lambda: cpu(ask_both))  # a second or so where nothing else runs


def test_cohorts_in_a_circle_admit_nothing_and_end() -> None:
    circle = [thing("Cohort", name, spec={"parentName": above}) for name, above in (("a", "b"), ("b", "c"), ("c", "a"))]
    found = ask(job(queued=True), *queue(cohortName="a"), node("n1"), *circle)
    assert found.status == "never"
    assert "inactive" in found.reason


def test_what_an_unknown_cohort_may_lend_is_unknown() -> None:
    large = job(queued=True, pods=2, cpu=8)
    nodes = [node("n1", cpu=16)]
    assert ask(large, *queue(8), *nodes).status == "never"
    assert ask(large, *queue(8, cohortName="c"), *nodes).status == "unknown"
    assert ask(large, *queue(8, cohortName="c"), *nodes, thing("Cohort", "other", spec={})).status == "never"


@pytest.mark.parametrize(
    "tree",
    [
        job(cpu="${CPUS}"),
        job(pods="${NODES}"),  # type: ignore[arg-type]
        job(nodeSelector={"pool": "${POOL}"}),
        job(pod_annotations={"kueue.x-k8s.io/podset-required-topology": "${RACK}"}, queued=True),
    ],
)
def test_what_is_filled_in_later_is_unknown(tree: dict[str, Any]) -> None:
    found = ask(tree, *queue(), node("n1"))
    assert (found.status, "is a placeholder" in found.reason) == ("unknown", True)


def test_what_decides_nothing_may_be_filled_in_later() -> None:
    assert ask(job(volumes=[{"name": "${VOLUME}"}]), node("n1")).status == "fits"
