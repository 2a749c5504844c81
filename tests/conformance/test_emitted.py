"""What trainc emits for the recorded TrainJobs, sent to the JobSet server."""

from pathlib import Path

import pytest

from tests.compiling import compile_in
from tests.conformance.harness import Case, cases
from tests.conformance.test_trainer import leniency, reason
from tests.origins import astray
from tests.sampling import sampled
from trainc.apiserver.profile import Profile
from trainc.apiserver.schema.node import load
from trainc.apiserver.verdict import verdict

# Cases that the Trainer controller builds and the JobSet server refuses, each with the rule it breaks.
REFUSED = {
    "initializers/volume-claim-policies": "volume name conflicts with VolumeClaimPolicy template name",
    "metadata/empty-pod-template": "containers: Required value",
    "runtime-patches/smp-directive-in-jobset-labels": 'metadata.labels: Invalid value: "$patch"',
    "runtime-patches/unknown-job-accepted": "containers: Required value",
    "runtime-patches/unknown-job-behind-known": "containers: Required value",
    "torch/long-job-name": "JobSet name is too long",
    "torch/several-unnamed-ports": "ports[2]: Duplicate value",
    "torch/unnamed-ports-without-trainer": "ports[1]: Duplicate value",
}
CASES = [case for case in cases() if not case.refusals and not reason(case)]


@pytest.mark.parametrize(
    "case", sampled(CASES, [case.id for case in CASES], quick=("coscheduling/empty-policy", "mpi/env-plain-launcher"))
)
def test_the_server_takes_the_jobset_as_it_is(case: Case, tmp_path: Path) -> None:
    (tmp_path / "input.yaml").write_text(case.text, "utf-8")
    run = compile_in(tmp_path, "build", "input.yaml", "--only", "admission", "--closed-world", *leniency(case))
    answers = [verdict(bundle.jobset, load(), Profile()) for bundle in run.bundles]
    said = "; ".join(message for answer in answers for message in answer.messages)
    if case.id in REFUSED:
        assert REFUSED[case.id] in said
        whole = compile_in(tmp_path, "validate", "input.yaml", *leniency(case))
        assert any(finding.rule.name == "jobset-refused" and finding.level == "error" for finding in whole.findings)
    else:
        assert (said, [answer.empty_patch for answer in answers]) == ("", [True] * len(answers))


def test_the_table_names_cases() -> None:
    assert {case.id for case in CASES} >= REFUSED.keys()


@pytest.mark.parametrize(
    "case",
    sampled(CASES, [case.id for case in CASES], quick=("coscheduling/empty-policy", "mpi/node-container-other-name")),
)
def test_every_leaf_knows_where_it_comes_from(case: Case, tmp_path: Path) -> None:
    (tmp_path / "input.yaml").write_text(case.text, "utf-8")
    run = compile_in(tmp_path, "build", "input.yaml", "--only", "admission", "--closed-world", *leniency(case))
    assert run.bundles
    assert astray(run) == []
