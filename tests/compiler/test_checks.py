"""What is reported changes nothing of what is compiled."""

import shutil
from pathlib import Path

import pytest

from tests.compiling import ROOT, compile_in
from tests.sampling import sampled
from trainc.model.settings import Checks

INPUTS = sorted(ROOT.glob("tests/cases/**/input")) + sorted(ROOT.glob("examples/*/trainc.yaml"))
LONG = "policy-cost"  # its policies spend all that an expression may cost
FOLDERS = [path.parent if path.name == "trainc.yaml" else path for path in INPUTS if LONG not in str(path)]
# Options that choose checks; each field of Checks has one.
OPTIONS = {
    "admission_only": ["--only", "admission"],
    "closed_world": ["--closed-world"],
    "field_validation": ["--field-validation", "warn"],
    "pod_security": ["--pod-security", "baseline"],
    "rules": ["--ignore", "style", "--ignore", "storage", "--ignore", "resources"],
}
JOB = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: bert, namespace: research}
spec:
  runtimeRef: {name: torch-distributed}
  managedBy: kueue.x-k8s.io/multikueue
  activeDeadlineSeconds: 3600
  trainer: {image: "registry.example.com/bert:1", command: [torchrun, train.py]}
"""
PROJECT = "apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec: {deadline: per-job}\n"


def test_each_field_that_checks_has_is_asked_about() -> None:
    """Capacity is asked about by no option: `fit` gives its own answers."""
    assert {*OPTIONS} - {"rules"} == {*Checks._fields} - {"capacity"}


@pytest.mark.parametrize("folder", sampled(FOLDERS, [str(path.relative_to(ROOT)) for path in FOLDERS], every=40))
def test_no_check_changes_a_manifest(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "input")
    whole = compile_in(tmp_path, "build", "input")
    for field, words in OPTIONS.items():
        run = compile_in(tmp_path, "build", "input", *words)
        if not run.code and not whole.code:
            assert run.out == whole.out, field


@pytest.mark.parametrize("words", OPTIONS.values(), ids=OPTIONS)
def test_no_check_costs_a_job_its_deadline_or_its_manager(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "trainc.yaml").write_text(PROJECT)
    (tmp_path / "job.yaml").write_text(JOB)
    assert compile_in(tmp_path, "runtimes", "copy", "torch-distributed").code == 0
    (jobset,) = (made for made in compile_in(tmp_path, "build", *words).objects if made["kind"] == "JobSet")
    assert jobset["spec"]["managedBy"] == "kueue.x-k8s.io/multikueue"
    (job,) = jobset["spec"]["replicatedJobs"]
    assert job["template"]["spec"]["activeDeadlineSeconds"] == 3600
