"""What pod validation says of templates, line by line, and what goes unsaid while a text is still to be filled in."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.lint.reading import verified
from trainc.apiserver.jobs.child import POD

ROWS = yaml.load((Path(__file__).parent / "refused.yaml").read_text("utf-8"), yaml.CSafeLoader)
BELOW = "spec.replicatedJobs[0].template.spec.template."


def said(template: Any) -> list[str]:
    """The lines of all refusals of a JobSet with this pod template, each once."""
    job = {"name": "w", "template": {"spec": {"completions": 1, "parallelism": 1, "template": template}}}
    tree = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "reef"},
        "spec": {"replicatedJobs": [job]},
    }
    found = verified(json.dumps(tree)).findings
    refusals = [finding.refusal.text for finding in found if finding.refusal and finding.refusal.by == POD]
    lines = [line.removeprefix(BELOW) for text in refusals for line in text.split("\n")]
    assert len(set(lines)) == len(lines)
    return sorted(lines)


@pytest.mark.parametrize("row", ROWS, ids=[row["shows"] for row in ROWS])
def test_pod_validation(row: dict[str, Any]) -> None:
    assert said(row["template"]) == row["says"]


def test_what_is_filled_in_later_is_not_refused() -> None:
    container = {
        "name": "c",
        "image": "i",
        "terminationMessagePolicy": "${POLICY}",
        "env": [
            {"name": "A", "valueFrom": {"secretKeyRef": {"name": "${SECRET}", "key": "${KEY}"}}},
            {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "${FIELD}"}}},
            {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['${LABEL}']"}}},
        ],
    }
    template = {"spec": {"restartPolicy": "Never", "serviceAccountName": "${ACCOUNT}", "containers": [container]}}
    assert said(template) == []
