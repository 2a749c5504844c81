"""What editors say of runtimes that inherit and of components is what trainc says."""

import json
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.compiling import ROOT
from trainc.api import Resource, Runtime, RuntimeComponent
from trainc.apiserver.shipped import json_path

KINDS: dict[str, type[Resource]] = {"Runtime": Runtime, "RuntimeComponent": RuntimeComponent}
FILES = sorted([*ROOT.glob("runtimes/components/*.yaml"), *ROOT.glob("examples/*/runtimes/**/*.yaml")])


def documents() -> list[Any]:
    found = [one for path in FILES for one in yaml.load_all(path.read_text("utf-8"), yaml.CSafeLoader)]
    return [one for one in found if one["apiVersion"] == "trainc.dev/v1alpha1"]


def messages(document: dict[str, Any]) -> list[str]:
    schema = json.loads((ROOT / "schemas" / json_path(KINDS[document["kind"]].NAMES)).read_text("utf-8"))
    return sorted(f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(document))


@pytest.mark.parametrize("document", documents(), ids=lambda document: document["metadata"]["name"])
def test_accepted_as_shipped(document: dict[str, Any]) -> None:
    assert messages(document) == []
    assert KINDS[document["kind"]].model_validate(document).to_dict() == document


def piece(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "trainc.dev/v1alpha1", "kind": "Runtime", "metadata": {"name": "a"}, "spec": spec}


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ({"extends": "base", "mlPolicy": None}, []),
        ({"template": {"spec": {"replicatedJobs": [{"name": "node", "$patch": "delete"}]}}}, []),
        ({"numNodes": 1}, ["$.spec: Additional properties are not allowed ('numNodes' was unexpected)"]),
        ({"locks": [{"path": "a"}]}, ["$.spec.locks[0]: 'reason' is a required property"]),
        (
            {"template": {"spec": {"$patch": "merge"}}},
            ["$.spec.template.spec['$patch']: 'merge' is not one of ['delete', 'replace', None]"],
        ),
    ],
)
def test_a_piece(spec: dict[str, Any], wrong: list[str]) -> None:
    assert messages(piece(**spec)) == wrong
