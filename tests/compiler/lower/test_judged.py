"""Each job of a runtime is judged for itself."""

from pathlib import Path

import pytest

from trainc.compiler import pipeline
from trainc.compiler.project import open_project
from trainc.model.report import Report
from trainc.model.settings import Selection
from trainc.model.tree import value

RUNTIME = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: shared}
spec:
  mlPolicy: {numNodes: 2, %s: {}}
  template:
    spec:
      failurePolicy: {maxRestarts: 3}
      replicatedJobs:
        - name: node
          template:
            metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
            spec:
              backoffLimit: 0
              template:
                spec:
                  containers: [{name: node, image: "example.com/train:1", resources: {%s}}]
"""
JOB = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: %s, namespace: team}
spec: {runtimeRef: {name: shared}, %s}
"""
PROJECT = """
apiVersion: trainc.dev/v1alpha1
kind: Project
metadata: {name: jobs}
spec: {%s}
"""
CPUS = "requests: {cpu: 4}"


def built(
    folder: Path, jobs: list[str], policy: str = "torch", resources: str = CPUS, spec: str = "", gang: str = ""
) -> list[str]:
    """What is found in jobs of one runtime, and for each bundle the deadline of its first Job."""
    (folder / "trainc.yaml").write_text(PROJECT % spec, "utf-8")
    (folder / "runtimes").mkdir()
    runtime = RUNTIME % (policy, resources)
    if gang:
        runtime = runtime.replace("spec:\n", f"spec:\n  podGroupPolicy: {{{gang}: {{}}}}\n", 1)
    (folder / "runtimes" / "shared.yaml").write_text(runtime, "utf-8")
    for number, said in enumerate(jobs):
        (folder / f"job-{number}.yaml").write_text(JOB % (f"job-{number}", said), "utf-8")
    report = Report()
    project = open_project((str(folder),), report)
    deadlines = [
        value(bundle.jobset, "spec", "replicatedJobs", 0, "template", "spec", "activeDeadlineSeconds")
        for bundle in pipeline.bundles(project, Selection((".",)), report)
    ]
    found = [f"{finding.rule.name} in {finding.span.file}" for finding in report.findings]
    return [*found, *[f"deadline {seconds}" for seconds in deadlines if seconds is not None]]


def patched(pod: str, trainer: str = "{}") -> str:
    """What a job says that patches the pods of its runtime."""
    job = f"{{name: node, template: {{spec: {{template: {{spec: {{{pod}}}}}}}}}}}"
    patch = f"{{manager: example.com/team, trainingRuntimeSpec: {{template: {{spec: {{replicatedJobs: [{job}]}}}}}}}}"
    return f"trainer: {trainer}, runtimePatches: [{patch}]"


POOL = patched("nodeSelector: {pool: a100}")
SILENT = "trainer: {numNodes: 3, image: 'example.com/train:2'}"
TABLE = [
    ("torch", CPUS, [SILENT, SILENT], []),
    ("torch", CPUS, [SILENT, "trainer: {env: [{name: PET_NNODES, value: '1'}]}"], ["reserved-env in job-1.yaml"]),
    ("torch", CPUS, [SILENT, "trainer: {numProcPerNode: 0}"], ["no-processes in job-1.yaml"]),
    ("torch", CPUS, [SILENT, "suspend: false"], ["no-trainer-block in job-1.yaml"]),
    ("torch", "", [SILENT, SILENT], ["one-process-per-node in job-0.yaml", "one-process-per-node in job-1.yaml"]),
    (
        "torch",
        CPUS,
        [SILENT, "trainer: {resourcesPerNode: {limits: {example.com/gpu: 1, example.org/gpu: 1}}}"],
        ["several-gpu-resources in job-1.yaml"],
    ),
    ("torch", "", [POOL, POOL], ["one-process-per-node in job-0.yaml", "one-process-per-node in job-1.yaml"]),
    (
        "torch",
        CPUS,
        [POOL, patched("nodeSelector: {pool: a100}", "{env: [{name: PET_NNODES, value: '1'}]}")],
        ["reserved-env in job-1.yaml"],
    ),
    (
        "torch",
        "",
        [f"trainer: {{resourcesPerNode: {{limits: {{cpu: '{cpu}'}}}}}}" for cpu in ("1", "2", "0")],
        ["one-process-per-node in job-2.yaml"],
    ),
    (
        "jax",
        CPUS,
        [SILENT, "trainer: {env: [{name: JAX_NUM_PROCESSES, value: '1'}]}"],
        ["rendezvous-env-replaced in job-1.yaml", "world-size-mismatch in job-1.yaml"],
    ),
]


@pytest.mark.parametrize("gang", ["", "coscheduling"])
@pytest.mark.parametrize(("policy", "resources", "jobs", "expected"), TABLE)
def test_what_a_job_says_is_judged(
    tmp_path: Path, policy: str, resources: str, jobs: list[str], expected: list[str], gang: str
) -> None:
    found = built(tmp_path, jobs, policy, resources, gang=gang)
    assert [line.replace(f"{tmp_path}/", "") for line in found if "gang" not in line] == expected


def test_a_deadline_stays_under_a_gang(tmp_path: Path) -> None:
    spec = "deadline: per-job, clusters: {here: {scheduler: volcano, queue: training}}"
    assert "deadline 60" in built(tmp_path, ["activeDeadlineSeconds: 60, trainer: {}"], spec=spec)
