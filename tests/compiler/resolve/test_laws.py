"""What must hold of inheritance and components whatever anybody writes."""

from itertools import permutations
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compiler.resolve.inheriting import BASE, JOB, compiled, component, flattened, on_pods, runtime

COMPONENTS = [
    component(
        "shm",
        {
            "parameters": [
                {
                    "name": "size",
                    "type": "quantity",
                    "default": "64Gi",
                    "sets": ["job.spec.template.spec.volumes[shm].emptyDir.sizeLimit"],
                }
            ],
            "job": {
                "spec": {
                    "template": {
                        "spec": {
                            "containers": [{"name": "node", "volumeMounts": [{"name": "shm", "mountPath": "/shm"}]}],
                            "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}],
                        }
                    }
                }
            },
        },
    ),
    component(
        "red", {"job": {"spec": {"template": {"spec": {"tolerations": [{"key": "red", "operator": "Exists"}]}}}}}
    ),
    component(
        "blue",
        {
            "after": ["red"],
            "runtime": {"mlPolicy": {"numNodes": 5}},
            "job": {"spec": {"template": {"spec": {"tolerations": [{"key": "blue", "operator": "Exists"}]}}}},
        },
    ),
]
NAMES = [one["metadata"]["name"] for one in COMPONENTS]
VALUES = st.sampled_from(["1", "2", None])


@st.composite
def specs(draw: st.DrawFn) -> dict[str, Any]:
    """A piece of a runtime: some fields changed, some removed, some components switched on."""
    pod: dict[str, Any] = {}
    if draw(st.booleans()):
        pod["nodeSelector"] = draw(st.dictionaries(st.sampled_from(["zone", "pool"]), VALUES, min_size=1))
    if draw(st.booleans()):
        pod["tolerations"] = draw(
            st.lists(st.sampled_from([{"key": "red", "operator": "Exists"}, {"key": "x"}]), max_size=2)
        )
    entries = draw(st.dictionaries(st.sampled_from("ABC"), st.sampled_from(["1", "2", "$patch"]), max_size=3))
    env = [{"name": n, "$patch": "delete"} if v == "$patch" else {"name": n, "value": v} for n, v in entries.items()]
    container: dict[str, Any] = {"name": "node", **({"env": env} if env else {})}
    if draw(st.booleans()):
        container["image"] = "registry.example/train:2"
    spec = on_pods({**pod, "containers": [container]})
    if draw(st.booleans()):
        spec["mlPolicy"] = {"numNodes": draw(st.sampled_from([1, 3, None]))}
    spec["components"] = draw(st.lists(uses(), max_size=3))
    return spec


@st.composite
def uses(draw: st.DrawFn) -> dict[str, Any]:
    name = draw(st.sampled_from(NAMES))
    if name == "shm" and draw(st.booleans()):
        return {"name": name, "with": {"size": draw(st.sampled_from(["2Gi", "8Gi"]))}}
    return {"name": name}


@pytest.mark.slow
@given(middle=specs(), leaf=specs())
@settings(max_examples=60, deadline=None)
def test_flattening_a_parent_first_changes_nothing(middle: dict[str, Any], leaf: dict[str, Any]) -> None:
    below = [BASE, runtime("middle", {"extends": "base", **middle}), *COMPONENTS]
    top = [runtime("leaf", {"extends": "middle", **leaf}), JOB]
    whole, errors = compiled(*below, *top)
    assert errors == []
    flat = yaml.safe_load(flattened("middle", *below))
    assert compiled(flat, *COMPONENTS, *top) == (whole, [])


@pytest.mark.slow
@given(leaf=specs(), data=st.data())
@settings(max_examples=40, deadline=None)
def test_a_component_twice_equals_once(leaf: dict[str, Any], data: st.DataObject) -> None:
    once = [{"name": name} for name in data.draw(st.permutations(NAMES))]
    twice = [*once, *data.draw(st.lists(st.sampled_from(once), min_size=1, max_size=3))]
    results = [
        compiled(BASE, runtime("leaf", {**leaf, "extends": "base", "components": uses}), *COMPONENTS, JOB)
        for uses in (once, twice)
    ]
    assert results[0] == results[1]


@pytest.mark.slow
@given(leaf=specs())
@settings(max_examples=40, deadline=None)
def test_an_empty_child_equals_its_parent(leaf: dict[str, Any]) -> None:
    parent = compiled(BASE, runtime("leaf", {"extends": "base", **leaf}), *COMPONENTS, JOB)
    child = [runtime("parent", {"extends": "base", **leaf}), runtime("leaf", {"extends": "parent"})]
    assert compiled(BASE, *child, *COMPONENTS, JOB) == parent


@pytest.mark.slow
@given(middle=specs(), leaf=specs(), data=st.data())
@settings(max_examples=40, deadline=None)
def test_the_order_of_documents_does_not_matter(
    middle: dict[str, Any], leaf: dict[str, Any], data: st.DataObject
) -> None:
    chain = [runtime("middle", {"extends": "base", **middle}), runtime("leaf", {"extends": "middle", **leaf})]
    objects = [BASE, *chain, *COMPONENTS, JOB]
    assert compiled(*data.draw(st.permutations(objects))) == compiled(*objects)


@pytest.mark.parametrize("order", list(permutations(NAMES)))
def test_after_counts_more_than_the_order_named(order: tuple[str, ...]) -> None:
    leaf = runtime("leaf", {"extends": "base", "components": [{"name": name} for name in order]})
    objects, errors = compiled(BASE, leaf, *COMPONENTS, JOB)
    pod = objects[-1]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    assert errors == []
    assert [one["key"] for one in pod["tolerations"]] == ["blue", "red"]


def test_an_inherited_chain_may_be_of_any_depth() -> None:
    chain = [
        runtime(f"level{at}", {"extends": f"level{at - 1}" if at else "base", "mlPolicy": {"numNodes": at + 1}})
        for at in range(60)
    ]
    objects, errors = compiled(BASE, *chain, runtime("leaf", {"extends": "level59"}), JOB)
    assert errors == []
    assert objects[-1]["spec"]["replicatedJobs"][0]["template"]["spec"]["parallelism"] == 60


PIECES = st.sampled_from(
    [
        {"nodeSelector": {"zone": "1"}},
        {"nodeSelector": {"zone": "2"}},
        {"nodeSelector": {"zone": None}},
        {"nodeSelector": {"$patch": "replace", "pool": "1"}},
        {"nodeSelector": None},
        {"tolerations": [{"key": "red", "operator": "Exists"}]},
        {"tolerations": None},
        {"containers": [{"name": "node", "command": ["x"]}]},
        {"containers": [{"name": "node", "command": ["x", "y"]}]},
        {"containers": [{"name": "node", "command": None}]},
        {"containers": [{"name": "node", "env": [{"name": "A", "value": "1"}]}]},
        {"containers": [{"name": "node", "env": [{"name": "A", "$patch": "delete"}]}]},
        {"containers": [{"name": "node", "env": [{"$patch": "replace"}, {"name": "C", "value": "1"}]}]},
        {"containers": [{"name": "node", "resources": {"limits": {"cpu": "1"}}}]},
        {"containers": [{"name": "node", "resources": None}]},
    ]
)


@pytest.mark.slow
@given(PIECES, PIECES)
@settings(max_examples=80, deadline=None)
def test_components_clash_or_their_order_does_not_matter(one: dict[str, Any], two: dict[str, Any]) -> None:
    both = [component(name, {"job": {"spec": {"template": {"spec": pod}}}}) for name, pod in (("a", one), ("b", two))]
    results = []
    for order in ("ab", "ba"):
        uses = [{"name": name} for name in order]
        results.append(compiled(BASE, runtime("leaf", {"extends": "base", "components": uses}), *both, JOB))
    assert results[0][1] == results[1][1]
    assert results[0] == results[1] or results[0][1] == ["components-clash"]
