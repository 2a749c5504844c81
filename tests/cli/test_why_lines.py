"""`trainc why FILE:LINE` on what people wrote: where it lands, or why it does not."""

import json
from pathlib import Path

import pytest

from tests.compiling import compile_in

RUNTIMES = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata:
  name: base
spec:
  mlPolicy:
    numNodes: 2
    torch: {}
  template:
    spec:
      replicatedJobs:
        - name: node
          template:
            metadata:
              labels:
                trainer.kubeflow.org/trainjob-ancestor-step: trainer
            spec:
              template:
                spec:
                  containers:
                    - name: node
                      image: registry.example/train:1
---
apiVersion: trainc.dev/v1alpha1
kind: Runtime
metadata:
  name: site
spec:
  extends: base
  locks:
    - path: template.spec.replicatedJobs[node].template.spec.template.spec.containers[node].image
      reason: signed
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata:
  name: bare
spec:
  template:
    spec:
      replicatedJobs:
        - name: worker
          template:
            spec:
              template:
                spec:
                  containers:
                    - name: node
                      image: registry.example/train:1
"""
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: bert
  labels:
    team: nlp
    kueue.x-k8s.io/queue-name: small
spec:
  suspend: false
  runtimeRef:
    name: {runtime}
  trainer:
    image: registry.example/mine:1
    numNodes: 4
    numProcPerNode: 2
    resourcesPerNode:
      requests:
        cpu: 2
      claims:
        - name: a
    env:
      - name: EPOCHS
        value: "3"
"""


def project(place: Path, runtime: str) -> None:
    (place / ".git").mkdir()
    for folder, text in (("runtimes/all.yaml", RUNTIMES), ("jobs/bert.yaml", JOB.format(runtime=runtime))):
        (place / folder).parent.mkdir()
        (place / folder).write_text(text, "utf-8")


@pytest.mark.parametrize(
    ("runtime", "line", "said"),
    [
        ("base", 2, "reaches no manifest: identifies this document"),
        ("base", 4, "lands in Service/bert, JobSet/bert metadata.name"),
        ("base", 6, "reaches no manifest: wrong level"),
        ("base", 7, "lands in JobSet/bert metadata.labels[kueue.x-k8s.io/queue-name]"),
        ("base", 9, "reaches no manifest: a queue owns `suspend`: only true is written"),
        ("base", 11, "reaches no manifest: names the runtime that the job starts from"),
        (
            "base",
            13,
            "lands in JobSet/bert spec.replicatedJobs[node].template.spec.template.spec.containers[node].image",
        ),
        ("base", 14, "lands in JobSet/bert spec.replicatedJobs[node].template.spec.parallelism"),
        (
            "base",
            15,
            "lands in JobSet/bert spec.replicatedJobs[node].template.spec.template.spec.containers[node].env[PET_NPROC_PER_NODE].value",
        ),
        ("base", 20, "reaches no manifest: not overridable upstream: limits and requests are merged, claims are not"),
        (
            "bare",
            13,
            "reaches no manifest: wrong container: no replicated job of the runtime is labeled as the trainer",
        ),
        ("bare", 18, "reaches no manifest: wrong container"),
        (
            "site",
            13,
            "rejected: the job changes `template.spec.replicatedJobs[node].template.spec.template.spec.containers[node].image`",
        ),
    ],
)
def test_a_line_of_a_job(runtime: str, line: int, said: str, tmp_path: Path) -> None:
    project(tmp_path, runtime)
    run = compile_in(tmp_path, "why", f"jobs/bert.yaml:{line}")
    assert (run.code, f"  {said}" in run.out) == (0, True), run.out + run.err


def test_a_line_of_a_runtime_is_followed_through_all_jobs(tmp_path: Path) -> None:
    project(tmp_path, "base")
    answer = compile_in(tmp_path, "why", "runtimes/all.yaml:7").out
    assert answer.splitlines()[0] == "runtimes/all.yaml:7:15 spec.mlPolicy.numNodes: 2"
    assert "beaten in JobSet/bert spec.replicatedJobs[node].template.spec.parallelism by overrides" in answer
    assert "jobs/bert.yaml:14:15: 4" in answer


SETTINGS = """\
apiVersion: trainc.dev/v1alpha1
kind: Project
spec:
  output: rendered
  clusters:
    eu:
      paths: ["jobs/*"]
      kubernetes: "1.36"
      namespace: nlp
      patch:
        template: {metadata: {labels: {team: speech}}}
"""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (2, "reaches no manifest: identifies this document"),
        (4, "reaches no manifest: a setting of the project: it controls how jobs are compiled"),
        (7, "reaches no manifest: selects the jobs that the cluster runs"),
        (8, "reaches no manifest: a setting of the cluster: it controls how jobs are compiled"),
        (9, "lands in Service/bert, JobSet/bert metadata.namespace"),
        (11, "lands in JobSet/bert metadata.labels.team"),
    ],
)
def test_a_line_of_the_project(line: int, said: str, tmp_path: Path) -> None:
    project(tmp_path, "base")
    (tmp_path / "trainc.yaml").write_text(SETTINGS, "utf-8")
    run = compile_in(tmp_path, "why", f"trainc.yaml:{line}")
    assert (run.code, f"  {said}" in run.out) == (0, True), run.out + run.err


def test_a_value_whose_name_is_at_fault_is_refused(tmp_path: Path) -> None:
    project(tmp_path, "base")
    job = JOB.format(runtime="base").replace("EPOCHS", "PET_NNODES")
    (tmp_path / "jobs/bert.yaml").write_text(job, "utf-8")
    for line in (22, 23):
        run = compile_in(tmp_path, "why", f"jobs/bert.yaml:{line}")
        assert "  rejected: " in run.out, run.out + run.err


def test_a_file_without_jobs_wants_a_line(tmp_path: Path) -> None:
    project(tmp_path, "base")
    run = compile_in(tmp_path, "why", "runtimes/all.yaml")
    assert run.code == 2
    assert "no job in runtimes/all.yaml compiles; give a line" in run.err


def test_as_json(tmp_path: Path) -> None:
    project(tmp_path, "site")
    found = json.loads(compile_in(tmp_path, "why", "jobs/bert.yaml:13", "--report", "json").out)
    assert [(one["outcome"], one["path"], one["value"], one["findings"][0]["rule"]) for one in found] == [
        ("refused", "spec.trainer.image", "registry.example/mine:1", "locked-field")
    ]
    (landed,) = json.loads(compile_in(tmp_path, "why", "jobs/bert.yaml:7", "--report", "json").out)
    assert (landed["outcome"], landed["at"]) == ("lands", {"file": "jobs/bert.yaml", "line": 7, "column": 32})
    assert [field["path"] for field in landed["fields"]] == ["metadata.labels[kueue.x-k8s.io/queue-name]"]


def test_a_line_of_a_rendered_file_names_the_locking_chain(tmp_path: Path) -> None:
    project(tmp_path, "base")
    assert compile_in(tmp_path, "build", "jobs", "-o", "out").code == 0
    rendered = tmp_path / "out/default/bert.yaml"
    at = next(n for n, text in enumerate(rendered.read_text("utf-8").splitlines(), 1) if "parallelism" in text)
    answer = compile_in(tmp_path, "why", f"out/default/bert.yaml:{at}").out
    assert answer.splitlines()[1:] == [
        "  set by overrides (spec.trainer, spec.initializer) at jobs/bert.yaml:14:15",
        "  over   runtime (base) at runtimes/all.yaml:7:15: 2",
    ]


def test_a_line_without_a_value(tmp_path: Path) -> None:
    project(tmp_path, "base")
    (tmp_path / "jobs/bert.yaml").write_text("# nothing here\n" + JOB.format(runtime="base"), "utf-8")
    assert compile_in(tmp_path, "why", "jobs/bert.yaml:1").code == 2
