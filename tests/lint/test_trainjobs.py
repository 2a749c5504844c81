"""A mistake is found alike in a JobSet and in the runtime of a TrainJob that becomes this JobSet."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.compiling import ROOT, Run, compile_in
from tests.sampling import sampled
from tests.test_cases import options

FAILING = sorted(ROOT.glob("tests/cases/verify/*/fails"))
# Mistakes that the Trainer controller mends or refuses on the way, and those that stand outside the template.
OTHERWISE = {
    "completions-missing": "the controller writes completions",
    "pods-not-all-at-once": "the controller sets completions to parallelism",
    "no-pods": "the controller writes parallelism",
    "no-containers": "the JobSet server rejects it as well",
    "pod-name-too-long": "the JobSet server rejects it first",
    "object-not-declared": "is about a whole folder",
    "server-managed-field": "stands in the metadata of the JobSet itself",
    "folded-script": "is the style of a scalar, which is written anew here",
    "slots-mismatch": "is about a ConfigMap of the JobSet's own name",
}


@pytest.mark.parametrize("case", sampled(FAILING, [case.parent.name for case in FAILING], every=4))
def test_one_mistake_one_rule(case: Path, tmp_path: Path) -> None:
    rule = case.parent.name
    (tmp_path / "input").symlink_to(case / "input")
    run = compile_in(tmp_path, *options(case))
    assert {rule} >= told(run)


@pytest.mark.parametrize(
    "case",
    sampled(
        FAILING,
        [case.parent.name for case in FAILING],
        quick=("accelerator-without-memory", "failure-rule-shadowed", "pod-security"),
    ),
)
def test_the_same_in_a_runtime(case: Path, tmp_path: Path) -> None:
    rule = case.parent.name
    if rule in OTHERWISE:
        pytest.skip(OTHERWISE[rule])
    documents = [
        tree for path in sorted((case / "input").rglob("*.yaml")) for tree in yaml.safe_load_all(path.read_text())
    ]
    wrapped = [part for tree in documents for part in (in_runtime(tree) if tree["kind"] == "JobSet" else [tree])]
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "all.yaml").write_text(yaml.safe_dump_all(wrapped, sort_keys=False), "utf-8")
    run = compile_in(tmp_path, "validate", "input", *options(case)[2:])
    assert {rule} >= told(run), run.err
    assert rule in {finding.rule.name for finding in run.findings}


def told(run: Run) -> set[str]:
    """The rules that spoke, notes left out."""
    return {finding.rule.name for finding in run.findings if finding.level in ("error", "warning")}


def in_runtime(jobset: Any) -> list[Any]:
    """A TrainJob and a runtime that together say what a JobSet says."""
    metadata = {key: value for key, value in jobset["metadata"].items() if key in ("name", "namespace")}
    kept = {key: value for key, value in jobset["metadata"].items() if key in ("labels", "annotations")}
    api = "trainer.kubeflow.org/v1alpha1"
    template = {"metadata": kept, "spec": jobset["spec"]}
    job = {"apiVersion": api, "kind": "TrainJob", "metadata": metadata, "spec": {"runtimeRef": {"name": "it"}}}
    runtime = {"apiVersion": api, "kind": "ClusterTrainingRuntime", "metadata": {"name": "it"}}
    return [job, {**runtime, "spec": {"template": template}}]
