"""What is wrong with a component's parameters is said once, where it is written."""

from typing import Any

import pytest

from tests.compiler.resolve.inheriting import BASE, JOB, component, runtime, told

SIZE = "template.spec.replicatedJobs[node].template.spec.template.spec.volumes[shm].emptyDir.sizeLimit"
VOLUME = {"name": "shm", "emptyDir": {"sizeLimit": "1Gi"}}


def wrong(given: dict[str, Any], place: str = "emptyDir.sizeLimit", **more: Any) -> list[tuple[str, str, str]]:
    """What is said of a runtime that locks what a component of it writes: the rule, the line, what to do."""
    sets = [f"job.spec.template.spec.volumes[shm].{place}"]
    shm = component(
        "shm",
        {
            "parameters": [{"name": "size", "type": "quantity", "sets": sets}],
            "job": {"spec": {"template": {"spec": {"volumes": [VOLUME]}}}},
            **more,
        },
    )
    uses = [{"name": "shm", "with": given}]
    leaf = runtime("leaf", {"extends": "base", "components": uses, "locks": [{"path": SIZE, "reason": "ours"}]})
    return [(rule, line, one.help) for rule, line, one in told(BASE, shm, leaf, JOB)]


@pytest.mark.parametrize(
    ("given", "rule", "line", "help_text"),
    [
        ({"size": "big"}, "bad-parameter", "size: big", "write an amount, such as `16Gi`"),
        ({"sise": "1Gi"}, "unknown-parameter", "sise: 1Gi", "did you mean `size`?"),
        ({"size": 1.5}, "invalid-field", "size: 1.5", 'put it in quotes: `"1.5"`'),
        ({"size": True}, "invalid-field", "size: true", ""),
    ],
)
def test_one_mistake_is_one_finding(given: dict[str, Any], rule: str, line: str, help_text: str) -> None:
    assert wrong(given) == [(rule, line, help_text)]


def test_an_unknown_parameter_is_underlined_itself() -> None:
    leaf = runtime("leaf", {"extends": "base", "components": [{"name": "a", "with": {"size": "1Gi"}}]})
    [(rule, line, one)] = told(BASE, component("a", {}), leaf, JOB)
    assert (rule, line) == ("unknown-parameter", "size: 1Gi")
    assert one.span.end_column - one.span.column == len("size")


def test_a_parameter_is_one_value() -> None:
    path = '"job.spec.template.spec.volumes[shm].emptyDir"'
    assert wrong({"size": "1Gi"}, "emptyDir") == [
        ("parameter-without-place", path, "name a field in it that takes the value")
    ]


@pytest.mark.parametrize(
    ("name", "help_text"),
    [
        ("tol", "enable `tol`, too"),
        ("tool", "did you mean `tol`?"),
        ("zzz", "add a RuntimeComponent of that name, and enable `zzz`, too"),
    ],
)
def test_what_is_required_may_not_be_there_at_all(name: str, help_text: str) -> None:
    leaf = runtime("leaf", {"extends": "base", "components": [{"name": "a"}]})
    found = told(BASE, component("a", {"requires": [name]}), component("tol", {}), leaf, JOB)
    assert [(rule, one.help) for rule, _, one in found] == [("component-required", help_text)]
