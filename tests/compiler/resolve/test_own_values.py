"""What a runtime says itself stands, whatever the components that it lists say."""

from typing import Any

import pytest

from tests.compiler.resolve.inheriting import BASE, JOB, compiled, component, on_pods, runtime
from trainc.compiler import pipeline
from trainc.model.report import Report
from trainc.model.settings import Project, Selection
from trainc.yaml.writer import dump_all

RESTARTS = {
    "name": "restarts",
    "type": "integer",
    "default": 3,
    "sets": ["runtime.template.spec.failurePolicy.maxRestarts"],
}
COLOR = {"name": "color", "type": "string", "default": "red", "sets": ["job.metadata.labels.color"]}
SAFE = component(
    "safe",
    {
        "parameters": [RESTARTS, COLOR],
        "runtime": {"template": {"spec": {"failurePolicy": {"maxRestarts": 1}}}},
        "job": {"metadata": {"labels": {"color": "none"}}},
    },
)
FIVE = {"template": {"spec": {"failurePolicy": {"maxRestarts": 5}}}}


def on_job(**annotations: str) -> dict[str, Any]:
    keys = {f"safe.trainc.dev/{name}": content for name, content in annotations.items()}
    return {**JOB, "metadata": {"name": "bert", "annotations": keys}}


def jobset(*objects: dict[str, Any]) -> Any:
    built, errors = compiled(*objects)
    assert errors == []
    (found,) = [each for each in built if each["kind"] == "JobSet"]
    return found["spec"]


def pod(*objects: dict[str, Any]) -> Any:
    (role,) = jobset(*objects)["replicatedJobs"]
    return role["template"]["spec"]["template"]["spec"]


def notes(*objects: dict[str, Any]) -> list[str]:
    report = Report()
    list(pipeline.bundles(Project("/nowhere"), Selection((), stdin=dump_all(objects).encode()), report))
    return [each.message for each in report.findings if each.rule.name == "component-value-replaced"]


def llm(own: dict[str, Any], *names: str) -> dict[str, Any]:
    return runtime("leaf", {"extends": "base", "components": [{"name": name} for name in names], **own})


def listed(**fields: Any) -> dict[str, Any]:
    """A component that says something of the pods of `node`."""
    return component("part", {"job": {"spec": {"template": {"spec": fields}}}})


def test_a_value_of_the_runtime_stands() -> None:
    files = (BASE, SAFE, llm(FIVE, "safe"), JOB)
    assert jobset(*files)["failurePolicy"]["maxRestarts"] == 5
    path = "template.spec.failurePolicy.maxRestarts"
    assert notes(*files) == [f"runtime `leaf` sets `{path}` to `5`, a component that it lists to `3`"]


def test_the_value_of_a_parent_gives_way_to_a_component() -> None:
    parent = runtime("middle", {"extends": "base", **FIVE})
    leaf = runtime("leaf", {"extends": "middle", "components": [{"name": "safe"}]})
    assert jobset(BASE, SAFE, parent, leaf, JOB)["failurePolicy"]["maxRestarts"] == 3
    assert notes(BASE, SAFE, parent, leaf, JOB) == []


def test_a_child_stands_above_the_parent_and_its_component() -> None:
    parent = runtime("middle", {"extends": "base", "components": [{"name": "safe"}], **FIVE})
    leaf = runtime("leaf", {"extends": "middle", "template": {"spec": {"failurePolicy": {"maxRestarts": 7}}}})
    assert jobset(BASE, SAFE, parent, leaf, JOB)["failurePolicy"]["maxRestarts"] == 7


def test_a_job_that_gives_the_value_stands_above_both() -> None:
    files = (BASE, SAFE, llm(FIVE, "safe"))
    assert jobset(*files, on_job(restarts="2"))["failurePolicy"]["maxRestarts"] == 2
    # Also where it says what the component says unasked.
    assert jobset(*files, on_job(restarts="3"))["failurePolicy"]["maxRestarts"] == 3


def test_a_job_that_gives_another_value_leaves_this_one() -> None:
    found = jobset(BASE, SAFE, llm(FIVE, "safe"), on_job(color="blue"))
    assert found["failurePolicy"]["maxRestarts"] == 5
    assert found["replicatedJobs"][0]["template"]["metadata"]["labels"]["color"] == "blue"


def test_lists_that_components_add_to_hold_what_both_say() -> None:
    tolerations = [{"key": "team", "operator": "Exists"}, {"key": "spot", "operator": "Exists"}]
    own, part = on_pods({"tolerations": tolerations[:1]}), listed(tolerations=tolerations[1:])
    found = pod(BASE, part, llm(own, "part"), JOB)["tolerations"]
    assert sorted(found, key=str) == sorted(tolerations, key=str)
    assert notes(BASE, part, llm(own, "part"), JOB) == []


def test_a_variable_is_a_value_or_a_reference() -> None:
    reference = {"name": "A", "value": None, "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    part = listed(containers=[{"name": "node", "env": [reference, {"name": "C", "value": "2"}]}])
    own = on_pods({"containers": [{"name": "node", "env": [{"name": "A", "value": "1"}]}]})
    env = {each["name"]: each for each in pod(BASE, part, llm(own, "part"), JOB)["containers"][0]["env"]}
    assert env["A"] == {"name": "A", "value": "1"}
    assert env["C"] == {"name": "C", "value": "2"}


@pytest.mark.parametrize("own", [None, {}])
def test_what_the_runtime_removes_stays_away(own: dict[str, Any] | None) -> None:
    """A null removes a field; an empty map says nothing of its fields."""
    selector = pod(BASE, listed(nodeSelector={"zone": "b"}), llm(on_pods({"nodeSelector": own}), "part"), JOB)
    assert selector.get("nodeSelector") == (None if own is None else {"zone": "b"})


def test_equal_values_are_not_told() -> None:
    three = {"template": {"spec": {"failurePolicy": {"maxRestarts": 3}}}}
    assert notes(BASE, SAFE, llm(three, "safe"), JOB) == []


def test_components_of_one_runtime_still_stand_in_their_order() -> None:
    red, blue = (
        component(name, {"after": after, "job": {"metadata": {"labels": {"color": name}}}})
        for name, after in (("red", []), ("blue", ["red"]))
    )
    (role,) = jobset(BASE, red, blue, llm({}, "blue", "red"), JOB)["replicatedJobs"]
    assert role["template"]["metadata"]["labels"]["color"] == "blue"
