"""A job gets one verdict, whoever asks: its file, its folder, its project, the hook and the plugin."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from unittest.mock import patch

import pytest
import yaml

from tests.compiling import ROOT, Run, compile_in
from tests.sampling import sampled
from tests.test_cases import CASES
from trainc.changes.compare.committed import FOREIGN_OUTPUT
from trainc.model.finding import Finding

PROJECTS = [case / "input" for case in CASES if (case / "input/trainc.yaml").exists()]


@pytest.mark.parametrize(
    "case", sampled(PROJECTS, lambda case: str(case.parent.relative_to(ROOT / "tests/cases")), every=20)
)
def test_the_same_verdict(case: Path, tmp_path: Path) -> None:
    """All five are asked as a repository that Argo CD applies asks them, because the plugin has no other way."""
    shutil.copytree(case, tmp_path / "project")
    project = tmp_path / "project"
    _deliver(project / "trainc.yaml")
    for words in (("init", "-q", "--template="), ("add", "-A")):
        subprocess.run(["git", *words], cwd=project, check=True)
    whole = compile_in(project, "validate", "--no-cache")
    assert whole.report is not None or whole.code == 2
    assert _said(compile_in(project, "validate", "--staged")) == _said(whole)
    files = whole.report.account.files if whole.report is not None else set()
    for file in sorted(files):
        asked = {_about(compile_in(project, "validate", "--no-cache", path), file) for path in (file, _folder(file))}
        assert asked == {_about(whole, file)}, file
        alone = compile_in(project, "validate", file)
        assert _said(alone) <= _said(whole), file
    clusters = dict.fromkeys((yaml.safe_load((project / "trainc.yaml").read_text())["spec"]).get("clusters") or ())
    for name in clusters or ("",):
        # What is committed as rendered stays, as with `build -w`.
        is_rendered = (project / "rendered").exists()
        generated = _generated(project, name)
        built = compile_in(project, "build", *(["-w"] * is_rendered), *(("--cluster", name) if name else ()))
        if any(one.rule is FOREIGN_OUTPUT for one in built.findings):
            # `build -w` overwrites no file that it did not write; the plugin writes none, and gives what is compiled.
            assert (generated.code, generated.out) == (0, compile_in(project, "build").out), name
            continue
        assert generated.code == built.code, name
        assert is_rendered or generated.out == built.out, name
        refused = {line.partition("]")[0] for line in generated.err.splitlines() if ": error[" in line}
        assert refused == {_place(one) for one in built.findings if one.level == "error"}, name


def _deliver(file: Path) -> None:
    """Let Argo CD apply what a project renders."""
    config = yaml.safe_load(file.read_text("utf-8"))
    config["spec"] = {**(config.get("spec") or {}), "delivery": "argocd"}
    for cluster in (config["spec"].get("clusters") or {}).values():
        (cluster or {}).pop("delivery", None)
    file.write_text(yaml.safe_dump(config), "utf-8")


def _folder(file: str) -> str:
    return os.path.dirname(file) or "."


def _said(run: Run) -> frozenset[str]:
    return frozenset(f"{one.level}[{one.rule.name}] {one.span} {one.message}" for one in run.findings)


def _about(run: Run, file: str) -> frozenset[str]:
    """What a run says about one file; what it says of several files is for who looks at all of them."""
    found = [one for one in run.findings if {label.span.file for label in one.labels} == {file}]
    return frozenset(f"{one.level}[{one.rule.name}] {one.span} {one.message}" for one in found)


def _place(finding: Finding) -> str:
    """The start of the line in which the plugin shows a finding."""
    span = finding.span
    return f"{span.file}:{span.line}:{span.column}: {finding.level}[{finding.rule.name}"


def _generated(project: Path, cluster: str) -> Run:
    given = [{"name": "cluster", "string": cluster}] if cluster else []
    environment = {"ARGOCD_APP_SOURCE_PATH": ".", "ARGOCD_APP_PARAMETERS": json.dumps(given)}
    with patch.dict(os.environ, environment):
        return compile_in(project, "cmp", "generate")
