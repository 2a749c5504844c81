"""Claim templates as JobSet's webhook stores them: up to 0.11 with an empty status, without which a second apply fails."""

import pytest

from tests.compiling import ROOT, compile_in


@pytest.mark.parametrize(("version", "status"), [("0.11", {}), ("0.12", None)])
def test_claim_templates_are_written_as_they_are_stored(version: str, status: object) -> None:
    run = compile_in(ROOT / "examples/torchtune", "build", "--set", f"jobset={version}")
    [jobset] = [tree for tree in run.objects if tree["kind"] == "JobSet"]
    [policy] = jobset["spec"]["volumeClaimPolicies"]
    assert [template.get("status") for template in policy["templates"]] == [status]
