"""Runtimes with the same ancestors come out as each of them does alone, whatever comes first."""

from itertools import permutations
from typing import Any

import pytest

from tests.compiler.resolve.inheriting import BASE, JOB, component, on_pods, runtime
from tests.sampling import sampled
from trainc.compiler import pipeline
from trainc.model.report import Report
from trainc.model.settings import Project, Selection
from trainc.model.tree import leaves
from trainc.yaml.writer import dump_all

SELECTOR = "template.spec.replicatedJobs[node].template.spec.template.spec.nodeSelector"
MIDDLE = runtime(
    "middle",
    {
        "extends": "base",
        "components": [{"name": "red"}],
        "locks": [{"path": SELECTOR, "reason": "placed by hand"}],
        **on_pods({"nodeSelector": {"zone": "b"}}),
    },
)
SHARED = [
    BASE,
    MIDDLE,
    component("red", {"job": {"spec": {"template": {"spec": {"tolerations": [{"key": "red"}]}}}}}),
    component("blue", {"job": {"spec": {"template": {"spec": {"tolerations": [{"key": "blue"}]}}}}}),
]
LEAVES: dict[str, dict[str, Any]] = {
    "plain": {"extends": "middle"},
    "blue": {"extends": "middle", "components": [{"name": "blue"}, {"name": "red"}]},
    "grown": {"extends": "middle", "mlPolicy": {"numNodes": 5}, **on_pods({"priorityClassName": "high"})},
    "broken": {"extends": "middle", **on_pods({"nodeSelector": {"zone": "c"}})},
    "brief": {"extends": "base"},
}


def job(name: str) -> dict[str, Any]:
    return {**JOB, "metadata": {"name": name}, "spec": {"runtimeRef": {"name": name}, "trainer": {}}}


def made(*names: str) -> tuple[dict[str, list[str]], set[str]]:
    """What the leaves of each job's objects are, without their places, and what was found."""
    objects = [*SHARED, *[runtime(name, LEAVES[name]) for name in names], *[job(name) for name in names]]
    report = Report()
    selection = Selection((), stdin=dump_all(objects).encode())
    bundles = list(pipeline.bundles(Project("/nowhere"), selection, report))
    return {
        bundle.name: [
            f"{path} {leaf.value!r} {leaf.origin.by}" for tree in bundle.objects for path, leaf in leaves(tree)
        ]
        for bundle in bundles
    }, {finding.message for finding in report.findings}


ALONE = {name: made(name) for name in LEAVES}


@pytest.mark.parametrize(
    "names", sampled([(names,) for names in permutations(LEAVES, 3)], lambda row: "-".join(row[0]), every=6)
)
def test_each_comes_out_as_it_does_alone(names: tuple[str, ...]) -> None:
    bundles, findings = made(*names)
    assert bundles == {key: said for name in names for key, said in ALONE[name][0].items()}
    assert findings == {message for name in names for message in ALONE[name][1]}


def test_a_lock_holds_for_the_one_that_breaks_it_alone() -> None:
    broken = [name for name in LEAVES if any(", which runtime `" in message for message in ALONE[name][1])]
    assert broken == ["broken"]
