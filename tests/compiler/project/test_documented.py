"""docs/project.md shows nothing that trainc would not take; `trainc explain` prints every setting there."""

import json
import re
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.compiling import ROOT
from tests.repository import write
from trainc.api import ProjectCluster, ProjectFile, ProjectSpec
from trainc.compiler.project import open_project
from trainc.compiler.project.settings import OF_CLUSTERS, SETTINGS
from trainc.model.report import Report
from trainc.model.settings import Project

TEXT = (ROOT / "docs" / "project.md").read_text("utf-8")
SHOWN = re.findall(r"^```yaml\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)[0]


def test_the_settings_that_are_read_are_those_of_the_model() -> None:
    """`trainc schemas generate .` writes them from it; each fills a field of the project, or is read with others."""
    assert list(SETTINGS) == [field.alias for field in ProjectSpec.model_fields.values()]
    assert list(OF_CLUSTERS) == [field.alias for field in ProjectCluster.model_fields.values()]
    fields = ProjectSpec.model_fields.keys() - {"clusters", "delivery", "policies", "requires"}
    assert fields <= Project.__annotations__.keys()


@pytest.mark.parametrize("text", [SHOWN, (ROOT / "examples/platform/trainc.yaml").read_text("utf-8")])
def test_editors_take_what_trainc_takes(text: str) -> None:
    schema = json.loads((ROOT / "schemas/json/trainc.dev/project_v1alpha1.json").read_text("utf-8"))
    ProjectFile.from_yaml(text)
    tree = yaml.load(text.replace(": off", ': "off"'), yaml.CSafeLoader)  # as YAML 1.2 reads it
    assert list(Draft202012Validator(schema).iter_errors(tree)) == []
    tree["spec"]["cluster"] = {}
    assert [error.json_path for error in Draft202012Validator(schema).iter_errors(tree)] == ["$.spec"]


def test_what_is_shown_is_taken(tmp_path: Path) -> None:
    write(tmp_path, {"trainc.yaml": SHOWN, "runtimes/a.yaml": "", "clusters/eu/a.yaml": "", "policies/a.yaml": ""})
    report = Report()
    open_project((str(tmp_path),), report)
    assert report.findings == []
