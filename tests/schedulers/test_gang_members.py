"""Which roles run together, and how many pods they are."""

import pytest

from trainc.model.report import Report
from trainc.schedulers.gang import members, roles_of, size
from trainc.yaml.reader import read


def job(name: str, width: int = 1, *, replicas: int = 1, after: str = "", ready: str = "", step: str = "") -> str:
    waits = f"dependsOn: [{{name: {after or ready}, status: {'Complete' if after else 'Ready'}}}], " * bool(
        after or ready
    )
    label = f"metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: {step}}}}}, " * bool(step)
    spec = f"spec: {{parallelism: {width}, completions: {width}}}"
    return f"- {{name: {name}, replicas: {replicas}, {waits}template: {{{label}{spec}}}}}"


TABLE = [
    ("all at once", [job("launcher"), job("node", 4)], ["launcher", "node"], 5),
    ("replicas multiply", [job("node", 4, replicas=2)], ["node"], 8),
    ("no replicas, no member", [job("node", 4), job("spare", 1, replicas=0)], ["node"], 4),
    ("no parallelism, no member", [job("node", 4), job("spare", 0)], ["node"], 4),
    ("what finishes first is left out", [job("data"), job("node", 4, after="data")], ["node"], 4),
    (
        "a chain of initializers",
        [job("data"), job("model", after="data"), job("node", 4, after="model")],
        ["node"],
        4,
    ),
    (
        "an initializer before both",
        [job("data"), job("launcher", after="data"), job("node", 4, after="data")],
        ["launcher", "node"],
        5,
    ),
    (
        "a launcher that starts at once while the nodes wait",
        [job("data"), job("launcher"), job("node", 4, after="data")],
        ["launcher", "node"],
        5,
    ),
    ("what starts afterwards is left out", [job("node", 4), job("export", after="node")], ["node"], 4),
    ("the trainer's label decides", [job("node", step="trainer"), job("export", 9, after="node")], ["node"], 1),
    ("of equal sizes the last is what the others prepare", [job("data"), job("node", after="data")], ["node"], 1),
    (
        "an initializer that nobody waits for",
        [job("data", step="dataset-initializer"), job("node", 4, step="trainer")],
        ["node"],
        4,
    ),
    (
        "a chain beside the trainers keeps its end",
        [job("fetch"), job("serve", after="fetch"), job("node", 4)],
        ["serve", "node"],
        5,
    ),
    ("waiting for Ready keeps both", [job("node", 4), job("launcher", ready="node")], ["node", "launcher"], 5),
    (
        "a cache that an initializer needed is left behind",
        [job("cache"), job("data", ready="cache"), job("node", 4, after="data")],
        ["node"],
        4,
    ),
]


@pytest.mark.parametrize(("jobs", "names", "pods"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_members(jobs: list[str], names: list[str], pods: int) -> None:
    (document,) = read("replicatedJobs:\n" + "\n".join(jobs), "job.yaml", Report())
    found = members(roles_of(document.tree))
    assert [role.name.value for role in found] == names
    assert size(found, "test").value == pods


@pytest.mark.parametrize(
    ("spec", "pods"),
    [
        ("{}", 1),
        ("{parallelism: 4}", 4),
        ("{parallelism: 4, completions: 2}", 2),
        ("{parallelism: 2, completions: 8}", 2),
        ("{completions: 8}", 1),
        ("{parallelism: null}", 1),
    ],
)
def test_pods_at_once(spec: str, pods: int) -> None:
    (document,) = read(f"replicatedJobs: [{{name: node, template: {{spec: {spec}}}}}]", "job.yaml", Report())
    assert size(roles_of(document.tree), "test").value == pods


@pytest.mark.parametrize("text", ["{}", "{replicatedJobs: 3}", "{replicatedJobs: [{replicas: 1}]}"])
def test_what_has_no_roles(text: str) -> None:
    (document,) = read(text, "job.yaml", Report())
    assert roles_of(document.tree) == ()
    assert members(()) == ()
