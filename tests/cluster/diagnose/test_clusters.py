"""A job that several clusters run: whose lines are shown is said, and can be chosen."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from tests.compiling import ROOT, compile_in

if TYPE_CHECKING:
    from pathlib import Path

STUCK = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: ocr, namespace: vision, uid: "1"}
spec:
  suspend: true
  replicatedJobs:
  - name: node
    template: {spec: {parallelism: 1, completions: 1, template: {spec: {containers: [{name: node, image: x}]}}}}
"""


def test_the_cluster_can_be_chosen(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/platform", tmp_path / "platform")
    (tmp_path / "dump.yaml").write_text(STUCK)
    first = compile_in(tmp_path / "platform", "diagnose", "../dump.yaml").out
    assert "in Git: jobs/vision/ocr.yaml:5:9" in first
    assert "compiled for `eu`; `--cluster` names us instead" in first
    chosen = compile_in(tmp_path / "platform", "diagnose", "../dump.yaml", "--cluster", "us").out
    assert "in Git: jobs/vision/ocr.yaml:5:9" in chosen
    assert "compiled for" not in chosen
