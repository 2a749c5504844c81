"""A cluster with an older JobSet: what is written for it, and what its server does not take."""

from pathlib import Path

import pytest

from tests.compiling import ROOT, compile_in

TRAINJOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: bert}
spec:
  runtimeRef: {name: torch-distributed}
  trainer: {image: "registry.example/bert:1", numNodes: 2, command: [torchrun, train.py]}
"""

JOBSET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: bert}
spec:
  failurePolicy:
    restartStrategy: STRATEGY
    rules:
      - name: host
        action: ACTION
        onJobFailureMessagePatterns: [maintenance]
  volumeClaimPolicies:
    - templates:
        - metadata: {name: data}
          spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
  replicatedJobs:
    - name: first
      groupName: group
      template:
        spec:
          template:
            spec:
              containers:
                - name: node
                  image: "registry.example/bert:1"
                  volumeMounts: [{name: data, mountPath: /data}]
    - name: second
      template: {spec: {template: {spec: {containers: [{name: node, image: "registry.example/bert:1"}]}}}}
    - name: third
      dependsOn: [{name: first, status: Ready}, {name: second, status: Ready}]
      template: {spec: {template: {spec: {containers: [{name: node, image: "registry.example/bert:1"}]}}}}
"""
GATES = "gates=RestartJob,InPlaceRestart"


@pytest.mark.parametrize(("version", "is_there"), [("0.8", False), ("0.9", True), ("0.12", True)])
def test_the_default_group_is_written_only_where_the_crd_has_it(
    tmp_path: Path, version: str, *, is_there: bool
) -> None:
    (tmp_path / "job.yaml").write_text(TRAINJOB)
    run = compile_in(tmp_path, "build", "job.yaml", "--set", f"jobset={version}")
    assert run.code == 0, run.err
    assert ("groupName" in run.out) is is_there
    with_group = compile_in(tmp_path, "build", "job.yaml").out
    assert "groupName: default\n" in with_group
    lines = [line for line in with_group.splitlines() if is_there or "groupName" not in line]
    assert lines == run.out.splitlines()


@pytest.mark.parametrize(
    ("version", "unknown"),
    [
        ("0.7", {"dependsOn": "0.8", "groupName": "0.9", "onJobFailureMessagePatterns": "0.10", "volumeClaimPolicies": "0.11"}),
        ("0.8", {"groupName": "0.9", "onJobFailureMessagePatterns": "0.10", "volumeClaimPolicies": "0.11"}),
        ("0.9", {"onJobFailureMessagePatterns": "0.10", "volumeClaimPolicies": "0.11"}),
        ("0.10", {"volumeClaimPolicies": "0.11"}),
        ("0.11", {}),
    ],
)  # fmt: skip
def test_fields_that_the_crd_does_not_have_are_errors_at_their_lines(
    tmp_path: Path, version: str, unknown: dict[str, str]
) -> None:
    text = JOBSET.replace("STRATEGY", "Recreate").replace("ACTION", "FailJobSet")
    (tmp_path / "job.yaml").write_text(text)
    run = compile_in(tmp_path, "validate", "job.yaml", "--set", f"jobset={version}")
    assert run.report is not None
    faults = {f.labels[0].span.line: f.help for f in run.report.findings if f.rule.name == "unknown-field"}
    lines = text.splitlines()
    expected = {
        next(number for number, line in enumerate(lines, 1) if f"{name}:" in line): f"JobSet {since} or later"
        for name, since in unknown.items()
    }
    assert faults.keys() == expected.keys()
    assert all(since in faults[line] for line, since in expected.items())
    assert run.code == (1 if unknown else 0)


@pytest.mark.parametrize(("version", "code"), [("0.8", 1), ("0.9", 0)])
def test_a_second_dependency_needs_0_9(tmp_path: Path, version: str, code: int) -> None:
    text = JOBSET.replace("    restartStrategy: STRATEGY\n", "").replace("ACTION", "FailJobSet")
    start, end = text.index("  volumeClaimPolicies:"), text.index("  replicatedJobs:")
    text = (text[:start] + text[end:]).replace("                  volumeMounts: [{name: data, mountPath: /data}]\n", "")
    text = text.replace("        onJobFailureMessagePatterns: [maintenance]\n", "").replace(
        "      groupName: group\n", ""
    )
    (tmp_path / "job.yaml").write_text(text)
    run = compile_in(tmp_path, "validate", "job.yaml", "--set", f"jobset={version}")
    assert run.code == code
    assert ("must have at most 1 items" in run.out + run.err) is (code == 1)


@pytest.mark.parametrize(("strategy", "action", "since"), [
    ("InPlaceRestart", "FailJobSet", "0.11"),
    ("Recreate", "RestartJob", "0.12"),
    ("Recreate", "RestartJobAndIgnoreMaxRestarts", "0.12"),
])  # fmt: skip
def test_words_that_the_crd_does_not_have_are_errors(tmp_path: Path, strategy: str, action: str, since: str) -> None:
    (tmp_path / "job.yaml").write_text(JOBSET.replace("STRATEGY", strategy).replace("ACTION", action))
    before = f"0.{int(since[2:]) - 1}"
    older = compile_in(tmp_path, "validate", "job.yaml", "--set", f"jobset={before}", "--set", GATES)
    assert older.code == 1
    assert f"JobSet {since} or later" in older.out + older.err
    newer = compile_in(tmp_path, "validate", "job.yaml", "--set", f"jobset={since}", "--set", GATES)
    assert f"JobSet {since} or later" not in newer.out + newer.err


def test_claims_of_a_runtime_are_refused_before_0_11() -> None:
    folder = ROOT / "examples" / "torchtune"
    run = compile_in(folder, "validate", "--set", "jobset=0.10")
    assert run.code == 1
    assert "volumeClaimPolicies" in run.out + run.err
    assert "JobSet 0.11 or later" in run.out + run.err
    assert compile_in(folder, "validate", "--set", "jobset=0.11").code == 0
