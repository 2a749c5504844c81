"""A lock holds against whatever comes later, is broken where somebody says something else, and by nobody who says the same."""

from __future__ import annotations

from typing import Any

import pytest

from tests.resolve.inheriting import BASE, JOB, component, on_pods, runtime, told

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
