"""Jobs one field away from one that runs, and what Kubernetes' own validation of Jobs and pods says of each."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.compiling import ROOT
from tests.lint.reading import bundle_of
from tests.sampling import sampled
from trainc.apiserver.jobs.child import CREATION, children
from trainc.apiserver.schema.features import Features
from trainc.apiserver.versions import KUBERNETES

RECORDED: Path = ROOT / "tests/conformance/recorded/validation/jobs.jsonl"
ROWS = [json.loads(line) for line in RECORDED.read_text("utf-8").splitlines()]
ROLE = re.compile(r"^spec\.replicatedJobs\[0\]\.template\.")
FEATURES = Features(KUBERNETES, frozenset())


def words_of(spec: dict[str, Any]) -> tuple[set[str], set[str]]:
    """What trainc says of the Job of a JobSet, and of its pods by themselves; admission plugins were not asked."""
    job = {"name": "w", "replicas": 1, "template": {"spec": spec}}
    tree = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "js", "namespace": "default"},
        "spec": {"replicatedJobs": [job]},
    }
    of_job, of_pod = set(), set()
    for fault in children(bundle_of(json.dumps(tree)).jobset, FEATURES, {}).faults:
        line = ROLE.sub("", fault.message)
        if fault.kind != CREATION:
            of_job.add(line)
        elif not line.startswith('pods "'):
            of_pod.add(line.removeprefix("spec.template."))
    return of_job, of_pod


def test_the_record_is_there() -> None:
    assert len(ROWS) > 2_000
    assert sum(not row["job"] and not row["pod"] for row in ROWS) > 300


@pytest.mark.parametrize("start", sampled(range(0, len(ROWS), 100), every=6))
def test_as_recorded(start: int) -> None:
    differing = []
    for row in ROWS[start : start + 100]:
        of_job, of_pod = words_of(row["spec"])
        # A Job that is refused makes no pod.
        if of_job != set(row["job"]) or (not of_job and of_pod != set(row["pod"])):
            differing.append((row["spec"], of_job ^ set(row["job"]), of_pod ^ set(row["pod"])))
    assert differing == []
