"""docs/project.md shows every setting, and shows nothing that trainc would not take."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import yaml

from tests.compiling import ROOT
from tests.repository import write
from trainc.model.report import Report
from trainc.project import _FIELDS, open_project
from trainc.project.clusters import _FIELDS as OF_CLUSTERS

if TYPE_CHECKING:
    from pathlib import Path

TEXT = (ROOT / "docs" / "project.md").read_text("utf-8")
SHOWN = re.findall(r"^```yaml\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)[0]


def test_every_setting_is_shown() -> None:
    spec = yaml.load(SHOWN, yaml.CSafeLoader)["spec"]
    assert set(spec) == set(_FIELDS)
    assert set(spec["clusters"]["eu"]) == set(OF_CLUSTERS)


def test_every_setting_of_a_cluster_is_explained() -> None:
    explained = {
        name for row in re.findall(r"^\| (`.*?) \|", TEXT, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    }
    assert explained == set(OF_CLUSTERS)


def test_what_is_shown_is_taken(tmp_path: Path) -> None:
    write(tmp_path, {"trainc.yaml": SHOWN, "runtimes/a.yaml": "", "clusters/eu/a.yaml": ""})
    report = Report()
    open_project((str(tmp_path),), report)
    assert report.findings == []
