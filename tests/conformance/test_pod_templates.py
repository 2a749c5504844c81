"""The recorded answers of pod template validation (Kubernetes 1.36.3) to templates inside JobSets."""

import pytest
import yaml

from tests.conformance.archives import members
from tests.lint.reading import verified
from trainc.apiserver.jobs.child import POD

FILES = members("jobset", "pod-templates")
CASES = sorted(name.removesuffix(".yaml") for name in FILES if not name.endswith(".verdict.yaml"))

# What was recorded is the template alone; JobSet and the Job API have a say as well.
OTHERWISE = {"subdomain-uppercase": "JobSet writes its own subdomain over the one of the template"}
OF_THE_JOB = 'supported values: "OnFailure", "Never"'


def test_every_recorded_answer_is_there() -> None:
    assert len(CASES) >= 34


@pytest.mark.parametrize("case", CASES)
def test_pod_template_verdict(case: str) -> None:
    expected = yaml.safe_load(FILES[f"{case}.verdict.yaml"])["podTemplate"]
    report = verified(FILES[f"{case}.yaml"], f"{case}.yaml")
    if case in OTHERWISE:
        expected = {"verdict": "accepted"}
    refusals = [f.refusal.text for f in report.findings if f.refusal is not None and f.refusal.by == POD]
    lines = {line for text in refusals for line in text.split("\n") if OF_THE_JOB not in line}
    assert lines == set(expected.get("messages", ()))
    assert bool(refusals) == (expected["verdict"] == "rejected")
