"""docs/project.md shows every setting, and shows nothing that trainc would not take."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.compiling import ROOT
from tests.repository import write
from trainc.api import ProjectCluster, ProjectFile, ProjectSpec
from trainc.compiler.project import _FIELDS, open_project
from trainc.compiler.project.clusters import _FIELDS as OF_CLUSTERS
from trainc.model.report import Report

if TYPE_CHECKING:
    from pathlib import Path

TEXT = (ROOT / "docs" / "project.md").read_text("utf-8")
SHOWN = re.findall(r"^```yaml\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)[0]


def test_every_setting_is_shown() -> None:
    spec = yaml.load(SHOWN, yaml.CSafeLoader)["spec"]
    assert set(spec) == set(_FIELDS)
    assert set(spec["clusters"]["eu"]) == set(OF_CLUSTERS)


def test_the_model_has_every_setting() -> None:
    assert {field.alias for field in ProjectSpec.model_fields.values()} == set(_FIELDS)
    assert {field.alias for field in ProjectCluster.model_fields.values()} == set(OF_CLUSTERS)


@pytest.mark.parametrize("text", [SHOWN, (ROOT / "examples/platform/trainc.yaml").read_text("utf-8")])
def test_editors_take_what_trainc_takes(text: str) -> None:
    schema = json.loads((ROOT / "schemas/json/trainc.dev/project_v1alpha1.json").read_text("utf-8"))
    ProjectFile.from_yaml(text)
    tree = yaml.load(text.replace(": off", ': "off"'), yaml.CSafeLoader)  # as YAML 1.2 reads it
    assert list(Draft202012Validator(schema).iter_errors(tree)) == []
    tree["spec"]["cluster"] = {}
    assert [error.json_path for error in Draft202012Validator(schema).iter_errors(tree)] == ["$.spec"]


def test_every_setting_of_a_cluster_is_explained() -> None:
    explained = {
        name for row in re.findall(r"^\| (`.*?) \|", TEXT, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    }
    assert explained == set(OF_CLUSTERS)


def test_what_is_shown_is_taken(tmp_path: Path) -> None:
    write(tmp_path, {"trainc.yaml": SHOWN, "runtimes/a.yaml": "", "clusters/eu/a.yaml": "", "policies/a.yaml": ""})
    report = Report()
    open_project((str(tmp_path),), report)
    assert report.findings == []
