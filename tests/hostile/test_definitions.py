"""Definitions of clusters that strangers wrote: each misfit is a finding at its place, and nothing else happens."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.attempts import Attempt, attempt
from tests.repository import Repository
from tests.sampling import sampled
from trainc.apiserver.definitions import DEPTH

TEXT = {"type": "string"}
OPEN: dict[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def definition(spec: dict[str, Any], **version: Any) -> dict[str, Any]:
    """A definition of TrainJobs that lets anything through but for what `spec` says."""
    schema = {**OPEN, "properties": {"spec": {**OPEN, **spec}}}
    held = {"name": "v1alpha1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **version}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "trainjobs.trainer.kubeflow.org"},
        "spec": {
            "group": "trainer.kubeflow.org",
            "names": {"kind": "TrainJob", "plural": "trainjobs"},
            "scope": "Namespaced",
            "versions": [held],
        },
    }


def validated(folder: Path, dump: Any, *words: str) -> Attempt:
    found = Repository(folder, "good")
    (folder / "clusters").mkdir()
    (folder / "clusters" / "crd.json").write_text(json.dumps(dump, indent=1), "utf-8")
    found.setting("clusters: {eu: {folder: clusters}}")
    return attempt(folder, *(words or ("validate",)))


MISFITS: dict[str, tuple[dict[str, Any], str, str]] = {
    "rules that are not maps": ({"x-kubernetes-validations": [1]}, "[0]", "must be of type object"),
    "rules that are not a list": ({"x-kubernetes-validations": 1}, "x-kubernetes-validations", "must be of type array"),
    "a rule that is not text": ({"x-kubernetes-validations": [{"rule": 1}]}, "rule", "must be of type string"),
    "a rule that is null": ({"x-kubernetes-validations": [{"rule": None}]}, "rule", "must be of type string"),
    "an empty rule": ({"x-kubernetes-validations": [{"rule": ""}]}, "rule", "must not be empty"),
    "no rule at all": ({"x-kubernetes-validations": [{"message": "m"}]}, "[0]", "has to have rule"),
    "a message that is not text": (
        {"x-kubernetes-validations": [{"rule": "true", "message": -1}]},
        "message",
        "must be of type string",
    ),
    "half a rule": ({"x-kubernetes-validations": [{"rule": "self."}]}, "[0]", "is not CEL"),
    "a pattern that is not text": ({"properties": {"x": {**TEXT, "pattern": 1}}}, "pattern", "must be of type string"),
    "half a pattern": ({"properties": {"x": {**TEXT, "pattern": "("}}}, "pattern", "is not a regular expression"),
    "several types": ({"properties": {"x": {"type": ["string"]}}}, "type", "must be of type string"),
    "properties in a list": ({"properties": []}, "properties", "must be of type object"),
    "a property that is a text": ({"properties": {"suspend": "x"}}, "suspend", "must be of type object"),
    "other properties of 1": (
        {"properties": {"x": {"type": "object", "additionalProperties": 1}}},
        "Properties",
        "must be",
    ),
    "a restriction that is 1": ({"allOf": [{"properties": 1}]}, "properties", "must be of type object"),
    "a restricted field that is 1": (
        {"properties": {"a": TEXT}, "allOf": [{"properties": {"a": 1}}]},
        "a",
        "must be of type object",
    ),
    "a required 1": ({"required": [1]}, "[0]", "must be of type string"),
    "a default of another type": ({"properties": {"x": {**TEXT, "default": 1}}}, "default", "must be of type string"),
    "an endless bound": (
        {"properties": {"x": {"type": "number", "maximum": 10**400}}},
        "maximum",
        "must be of type number",
    ),
    "a negative length": ({"properties": {"x": {**TEXT, "maxLength": -1}}}, "maxLength", "is out of range"),
    "keys of no map list": (
        {"properties": {"x": {"type": "array", "items": TEXT, "x-kubernetes-list-map-keys": ["a"]}}},
        "map-keys",
        "belongs beside",
    ),
    "a list of no known kind": (
        {"properties": {"x": {"type": "array", "items": TEXT, "x-kubernetes-list-type": "tree"}}},
        "list-type",
        "must be one of atomic, set, map",
    ),
}


@pytest.mark.parametrize("name", sampled(MISFITS, every=4))
def test_a_shape_that_does_not_fit_is_a_finding_at_its_place(name: str, tmp_path: Path) -> None:
    spec, where, text = MISFITS[name]
    found = validated(tmp_path, definition(spec))
    [headline] = [line for line in found.err.splitlines() if line.startswith("error[not-structural]")]
    assert text in headline
    assert where in headline
    assert found.code == 1
    assert "clusters/crd.json" in {file for file, _, _ in found.places}


@pytest.mark.parametrize(
    "dump",
    [
        {"kind": "CustomResourceDefinition"},
        {"kind": "CustomResourceDefinition", "spec": 1},
        {**definition({}), "metadata": 0},
        definition({}, name={"delivery": "v1"}),
        definition({}, schema=1),
        definition({}, schema={"openAPIV3Schema": [1]}),
        definition({}, served="yes"),
        definition({}, subresources=[]),
    ],
)
def test_what_is_no_definition_is_told(dump: dict[str, Any], tmp_path: Path) -> None:
    found = validated(tmp_path, dump)
    assert ("error[not-structural]" in found.err) is (dump.get("metadata") != 0), found.err


def test_schemas_may_not_be_nested_without_end(tmp_path: Path) -> None:
    deep: dict[str, Any] = TEXT
    for _ in range(DEPTH + 5):
        deep = {"type": "array", "items": deep}
    found = validated(tmp_path, definition({"properties": {"x": deep}}))
    assert f"is nested deeper than {DEPTH} schemas" in found.err


def test_words_that_no_definition_knows_change_nothing(tmp_path: Path) -> None:
    found = validated(tmp_path, definition({"properties": {"runtimeRef": {**OPEN, "x-partial": True}}}))
    assert "not-structural" not in found.err


LOOSE = {
    "a job without a template": "{}",
    "a name that is a number": "{name: 5, template: {}}",
    "a template that is a text": "{name: a, template: x}",
}


@pytest.mark.parametrize("name", LOOSE)
def test_what_a_loose_definition_lets_through_still_has_types(name: str, tmp_path: Path) -> None:
    dump = definition({})
    dump["spec"] |= {"group": "jobset.x-k8s.io", "names": {"kind": "JobSet", "plural": "jobsets"}}
    dump["spec"]["versions"][0]["name"] = "v1alpha2"
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "odd.yaml").write_text(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: odd, namespace: n}\n"
        f"spec: {{replicatedJobs: [{LOOSE[name]}]}}\n",
        "utf-8",
    )
    found = validated(tmp_path, dump)
    assert (found.code, "jobs/odd.yaml" in found.err) == (1, True)


@pytest.mark.parametrize("command", [("build",), ("validate",), ("show",), ("why", "jobs/good.yaml:7"), ("migrate",)])
def test_a_bomb_of_a_rule_holds_up_no_command(command: tuple[str, ...], tmp_path: Path) -> None:
    bomb = "[[1]]" + ".map(x, x + x)" * 28 + "[0].size() == 1"
    spec = {
        "x-kubernetes-validations": [{"rule": bomb}],
        "properties": {"runtimeRef": {**OPEN, "properties": {"name": TEXT}}},
    }
    found = validated(tmp_path, definition(spec), *command)
    assert found.code in {0, 1}


def test_a_rule_that_overruns_its_budget_is_an_error(tmp_path: Path) -> None:
    bomb = "[['a']]" + ".map(x, x + x)" * 26 + "[0].size() == 1"
    name = {"type": "object", "properties": {"name": TEXT, "kind": TEXT, "apiGroup": TEXT}}
    trainer = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    spec = {"x-kubernetes-validations": [{"rule": bomb}], "properties": {"runtimeRef": name, "trainer": trainer}}
    found = validated(tmp_path, definition(spec))
    assert "error[unjudged-policy]: the CEL rule" in found.err, found.err
