"""The recorded answers of pod template validation (Kubernetes 1.36.3) to templates inside JobSets."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.verify.reading import verified
from trainc.verify.refusal import POD

RECORDED = Path(__file__).parents[3] / "shared" / "conformance" / "jobset" / "pod-templates"
CASES = sorted(p.stem for p in RECORDED.glob("*.yaml") if ".verdict" not in p.name)


@pytest.mark.skipif(not CASES, reason="the recorded answers are not beside this checkout")
def test_every_recorded_answer_is_there() -> None:
    assert len(CASES) >= 34


@pytest.mark.parametrize("case", CASES)
def test_pod_template_verdict(case: str) -> None:
    expected = yaml.safe_load((RECORDED / f"{case}.verdict.yaml").read_text())["podTemplate"]
    report = verified((RECORDED / f"{case}.yaml").read_text(), f"{case}.yaml")
    refusals = [f.refusal.text for f in report.findings if f.refusal is not None and f.refusal.by == POD]
    assert {line for text in refusals for line in text.split("\n")} == set(expected.get("messages", ()))
    assert bool(refusals) == (expected["verdict"] == "rejected")
