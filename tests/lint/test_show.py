"""What will run, drawn: each folder of `shown/` holds a JobSet and its drawings, checked by hand."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.lint.reading import job_of
from trainc.lint.facts.summary import one_pod, overview
from trainc.report.drawing import overview_lines, overview_markdown, pod_lines, pod_markdown
from trainc.report.lines import text_of

SHOWN = sorted(path for path in (Path(__file__).parent / "shown").iterdir())


@pytest.mark.parametrize("folder", SHOWN, ids=[path.name for path in SHOWN])
def test_drawings(folder: Path, expected: Callable[[Path, Mapping[str, str]], None]) -> None:
    job = job_of((folder / "jobset.yaml").read_text("utf-8"))
    view, pod = overview(job), one_pod(job, 1)
    assert pod is not None
    texts = {
        "job.txt": text_of(overview_lines(view)),
        "job.md": text_of(overview_markdown(view)),
        "job.json": json.dumps(view, indent=2) + "\n",
        "rank-1.txt": text_of(pod_lines(pod)),
        "rank-1.md": text_of(pod_markdown(pod)),
    }
    expected(folder / "expected", texts)


def test_no_pod_of_a_rank_that_is_not_there() -> None:
    assert one_pod(job_of((SHOWN[0] / "jobset.yaml").read_text("utf-8")), 10_000) is None


def test_a_reference_to_what_only_the_cluster_knows_is_marked() -> None:
    env = (
        "[{name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}, {name: AT, value: $(IP):1}, "
        "{name: AS_WRITTEN, value: $$(IP)}]"
    )
    pod = one_pod(job_of(QUEUED.replace("env: []", f"env: {env}")), 0)
    assert pod is not None
    shown = pod["containers"][0]["env"]
    assert (shown["AT"], shown["AS_WRITTEN"]) == ("<status.podIP>:1", "$(IP)")


def test_the_queue_and_the_gang_of_a_job() -> None:
    view = overview(job_of(QUEUED))
    assert (view["queue"], view["gangs"]) == ("research", [{"name": "run", "pods": 1}])
    text = text_of(overview_lines(view))
    assert "queue       research\ngang        run of 1 pod\n" in text


QUEUED = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: run, labels: {kueue.x-k8s.io/queue-name: research}}
spec:
  replicatedJobs:
  - name: node
    template: {spec: {template: {spec: {containers: [{name: a, image: b, env: []}]}}}}
---
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: run}
spec: {minMember: 1}
"""
