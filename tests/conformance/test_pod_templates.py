"""The recorded answers of pod template validation (Kubernetes 1.36.3) to templates inside JobSets."""

from __future__ import annotations

import pytest
import yaml

from tests.conformance.archives import members
from tests.verify.reading import verified
from trainc.schema.jobs.child import POD

FILES = members("jobset", "pod-templates")
CASES = sorted(name.removesuffix(".yaml") for name in FILES if not name.endswith(".verdict.yaml"))


def test_every_recorded_answer_is_there() -> None:
    assert len(CASES) >= 34


@pytest.mark.parametrize("case", CASES)
def test_pod_template_verdict(case: str) -> None:
    expected = yaml.safe_load(FILES[f"{case}.verdict.yaml"])["podTemplate"]
    report = verified(FILES[f"{case}.yaml"], f"{case}.yaml")
    refusals = [f.refusal.text for f in report.findings if f.refusal is not None and f.refusal.by == POD]
    assert {line for text in refusals for line in text.split("\n")} == set(expected.get("messages", ()))
    assert bool(refusals) == (expected["verdict"] == "rejected")
