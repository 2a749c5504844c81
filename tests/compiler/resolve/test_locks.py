"""A lock holds against whatever comes later, is broken where somebody says something else, and by nobody who says the same."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compiler.resolve.inheriting import BASE, JOB, compiled, component, on_pods, runtime, told
from trainc.model.paths import at_path, parsed

LIMIT = "resources.limits[nvidia.com/gpu]"
CONTAINER = "template.spec.replicatedJobs[node].template.spec.template.spec.containers[node]"


def on_node(fields: dict[str, Any]) -> dict[str, Any]:
    return on_pods({"containers": [{"name": "node", **fields}]})


def broken(path: str, *later: dict[str, Any], **spec: Any) -> list[tuple[str, str]]:
    """Who breaks a lock on four accelerators of a container, and the line that is blamed."""
    limits = {"resources": {"limits": {"nvidia.com/gpu": 4}}}
    locks = [{"path": path, "reason": "ours"}]
    locked = runtime("locked", {"extends": "base", "locks": locks, **on_node(limits)})
    found = told(BASE, locked, *later, {**JOB, "spec": {**JOB["spec"], **spec}})
    return sorted((one.message.partition(" changes")[0], line) for rule, line, one in found if rule == "locked-field")


def leaf(fields: dict[str, Any]) -> dict[str, Any]:
    return runtime("leaf", {"extends": "locked", **on_node(fields)})


def asking(count: int) -> dict[str, Any]:
    return {"resourcesPerNode": {"limits": {"nvidia.com/gpu": count}}}


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"resources": {"limits": {"nvidia.com/gpu": 8}}}, "nvidia.com/gpu: 8"),
        ({"resources": {"limits": None}}, "limits: null"),
        ({"resources": None}, "resources: null"),
        ({"image": "other", "$patch": "delete"}, '"$patch": delete'),
        ({"resources": {"limits": {"cpu": 1, "$patch": "replace"}}}, '"$patch": replace'),
    ],
)
@pytest.mark.parametrize("asked", [None, 4])
def test_what_takes_a_field_away_is_blamed_and_nobody_who_puts_it_back(
    fields: dict[str, Any], line: str, asked: int | None
) -> None:
    trainer = {} if asked is None else asking(asked)
    assert broken(f"{CONTAINER}.{LIMIT}", leaf(fields), trainer=trainer) == [("runtime `leaf`", line)]


@pytest.mark.parametrize("amount", [4, "4", "4000m", "4e0"])
def test_another_spelling_of_an_amount_is_no_change(amount: Any) -> None:
    same = leaf({"resources": {"limits": {"nvidia.com/gpu": amount}}})
    assert broken(f"{CONTAINER}.{LIMIT}", same, trainer=asking(4)) == []


def test_a_lock_on_a_whole_template_holds_against_patches_components_and_jobs() -> None:
    tolerant = component("tol", {"job": {"spec": {"template": {"spec": {"tolerations": [{"key": "gpu"}]}}}}})
    metadata = {"metadata": {"name": "bert", "annotations": {"trainc.dev/components": "tol"}}}
    patch = {"manager": "me.example.com/it", "trainingRuntimeSpec": on_pods({"nodeSelector": {"zone": "b"}})}
    empty = runtime("leaf", {"extends": "locked"})
    locks = {"extends": "base", "locks": [{"path": "template", "reason": "ours"}]}
    job = {**JOB, **metadata, "spec": {**JOB["spec"], "runtimePatches": [patch], "trainer": {"image": "mine"}}}
    found = told(BASE, runtime("locked", locks), empty, tolerant, job)
    assert {(one.message.partition(" changes")[0], line) for _, line, one in found} == {
        ("component `tol`", "key: gpu"),
        ("the patch of `me.example.com/it`", "zone: b"),
        ("the job", "image: mine"),
    }


HELD = {
    "image": "registry.example/train:1",
    "command": ["torchrun", "train.py"],
    "args": ["--lr=1"],
    "resources": {"limits": {"nvidia.com/gpu": 4, "memory": "8Gi"}},
}
POD = CONTAINER.rpartition(".containers")[0]
PATHS = [
    "template",
    POD,
    f"{POD}.nodeSelector",
    CONTAINER,
    *[f"{CONTAINER}.{field}" for field in (*HELD, "env", "env[A]", "env[A].value", "resources.limits", LIMIT)],
]


@pytest.mark.parametrize(
    ("field", "trainer", "line"),
    [
        ("args", {"args": []}, "args: []"),
        ("args", {"args": ["--lr=1", "--seed=2"]}, "seed=2"),
        ("command", {"args": ["--lr=1"], "command": []}, "command: []"),
        ("resources", {"resourcesPerNode": {"limits": {"memory": "9Gi"}}}, "memory: 9Gi"),
        ("env", {"env": [{"name": "A", "value": "1"}]}, "value: '1'"),
        ("env", {"env": [{"name": "C"}]}, "name: C"),
    ],
)
def test_what_a_job_takes_away_from_a_locked_field_is_refused_at_its_own_line(
    field: str, trainer: dict[str, Any], line: str
) -> None:
    # An empty list took locked arguments away without a word: the finding had no value to stand at.
    locked = runtime(
        "leaf", {"extends": "base", "locks": [{"path": f"{CONTAINER}.{field}", "reason": "ours"}], **on_node(HELD)}
    )
    found = told(BASE, locked, {**JOB, "spec": {**JOB["spec"], "trainer": trainer}})
    assert [(rule, at.replace('"', "'")) for rule, at, _ in found] == [("locked-field", line)]


texts = st.lists(st.sampled_from(["torchrun", "train.py", "--lr=1", "-x"]), max_size=3)
amounts = st.dictionaries(
    st.sampled_from(["nvidia.com/gpu", "memory"]), st.sampled_from([4, "4", 8, "8Gi"]), max_size=2
)
variables = st.lists(
    st.builds(
        lambda name, value: {"name": name, "value": value}, st.sampled_from("ABC"), st.sampled_from(["", "0", "1"])
    ),
    max_size=2,
    unique_by=lambda variable: variable["name"],
)
asked = st.fixed_dictionaries(
    {},
    optional={
        "image": st.sampled_from(["registry.example/train:1", "mine"]),
        "command": texts,
        "args": texts,
        "env": variables,
        "resourcesPerNode": st.fixed_dictionaries({}, optional={"limits": amounts, "requests": amounts}),
    },
)
patched = st.fixed_dictionaries(
    {},
    optional={
        "nodeSelector": st.sampled_from([{"zone": "a"}, {"zone": "b"}, {"zone": None}, {"rack": "1"}, {}, None]),
        "containers": st.builds(
            lambda args, env: [{"name": "node", **args, **env}],
            st.sampled_from([{}, {"args": []}, {"args": None}, {"args": ["--lr=1"]}, {"image": None}]),
            st.sampled_from(
                [{}, {"env": []}, {"env": [{"name": "A", "$patch": "delete"}]}, {"env": [{"name": "A", "value": "0"}]}]
            ),
        ),
    },
)


def pods_of(objects: list[Any], path: str) -> Any:
    """What the compiled JobSet has at a path of the runtime."""
    [jobset] = [tree for tree in objects if tree["kind"] == "JobSet"]
    inner = path.removeprefix("template").removeprefix(".")
    steps = parsed(inner, jobset) if inner else None
    return at_path(jobset, steps) if steps else jobset["spec"] if not inner else None


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.sampled_from(PATHS), asked, patched)
def test_a_locked_field_keeps_its_value_or_the_job_is_refused(
    path: str, trainer: dict[str, Any], pod: dict[str, Any]
) -> None:
    patches = [{"manager": "me.example.com/it", "trainingRuntimeSpec": on_pods(pod)}] if pod else []
    job = {**JOB, "spec": {**JOB["spec"], "trainer": trainer, "runtimePatches": patches}}
    free = runtime("leaf", {"extends": "base", **on_node(HELD)})
    locked = runtime("leaf", {"extends": "base", "locks": [{"path": path, "reason": "ours"}], **on_node(HELD)})
    changed, errors = compiled(BASE, free, job)
    if errors:
        return
    before, _ = compiled(BASE, free, JOB)
    _, refused = compiled(BASE, locked, job)
    if pods_of(before, path) != pods_of(changed, path):
        assert refused == ["locked-field"] * len(refused) != []
