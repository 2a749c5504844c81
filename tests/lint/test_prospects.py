"""What `show` says of processes, retries, bounds and failures, where other containers and limits stand beside the usual ones."""

from pathlib import Path
from typing import Any

import pytest

from tests.compiling import compile_in
from tests.lint.reading import job_of
from trainc.lint.facts.scenarios import simulate
from trainc.lint.facts.summary import overview

JOBSET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {{name: a, namespace: ml}}
spec:
  {spec}
  replicatedJobs:
  - name: w
    template:
      spec:
        {job}
        parallelism: 2
        completions: 2
        template:
          spec:
            restartPolicy: Never
            containers: {containers}
  {more}
"""
PLAIN = '[{name: c, image: "r:1", command: [python, t.py]}]'
DRIVER = """- name: driver
    template:
      spec:
        activeDeadlineSeconds: 1800
        template: {spec: {restartPolicy: Never, containers: [{name: d, image: "r:1", command: [python, d.py]}]}}
"""
DEVICES = '[{name: c, image: "r:1", command: [python, t.py], resources: {limits: {nvidia.com/gpu: 8}}}]'


def shown(job: str = "", spec: str = "", containers: str = PLAIN, more: str = "") -> Any:
    return job_of(JOBSET.format(job=job, spec=spec, containers=containers, more=more))


@pytest.mark.parametrize(
    ("job", "spec", "last"),
    [
        ("backoffLimit: 30", "", "its Job fails (BackoffLimitExceeded); the JobSet fails (FailedJobs)"),
        ("backoffLimit: 60", "", "the pod is replaced, up to 60 times"),
        ("backoffLimit: 2147483647", "", "the pod is replaced, without limit"),
        ("backoffLimitPerIndex: 20", "", "the pod is replaced, up to 40 times"),
        ("backoffLimitPerIndex: 200", "", "the pod is replaced, up to 400 times"),
        (
            "backoffLimit: 0",
            "failurePolicy: {maxRestarts: 100}",
            "its Job fails (BackoffLimitExceeded); the JobSet restarts all Jobs, up to 100 times",
        ),
        ("backoffLimit: 12", "failurePolicy: {maxRestarts: 10}", "and so on, up to 10 restarts"),
        (
            "backoffLimit: 12",
            "failurePolicy: {maxRestarts: 10, rules: [{name: r, action: RestartJobSetAndIgnoreMaxRestarts}]}",
            "and so on, without limit",
        ),
    ],
)
def test_only_what_has_no_bound_goes_on_without_end(job: str, spec: str, last: str) -> None:
    """After forty failures all of these were said to go on without end."""
    assert simulate(shown(job, spec), [])["failures"][0]["steps"][-1] == last


def test_a_limit_without_a_limit_is_no_number(tmp_path: Path) -> None:
    """It printed 2147483647."""
    spec = "failurePolicy: {maxRestarts: 2147483647}"
    job = "backoffLimit: 2147483647\n        activeDeadlineSeconds: 60"
    text = JOBSET.format(job=job, spec=spec, containers=DEVICES, more="")
    (tmp_path / "job.yaml").write_text(text)
    done = compile_in(tmp_path, "show", "job.yaml")
    assert done.code == 0, done.err
    assert "\nrestarts    unlimited\n" in done.out
    assert "\nretries     unlimited pods of each Job of w\n" in done.out
    assert "\ntime limit  none: the number of restarts is unlimited\n" in done.out
    assert "214748364" not in done.out


@pytest.mark.parametrize(
    ("job", "retries"),
    [
        ("", 6),
        ("backoffLimit: 9", 9),
        ("backoffLimitPerIndex: 0", 0),
        ("backoffLimitPerIndex: 3", 6),
        ("backoffLimit: 4\n        backoffLimitPerIndex: 3", 4),
    ],
)
def test_retries_for_each_index(job: str, retries: int) -> None:
    assert overview(shown(job))["roles"][0]["retries"] == retries


@pytest.mark.parametrize(
    "beside", ["{name: log, image: l:1}", "{name: log, image: l:1, resources: {limits: {nvidia.com/gpu: 1}}}"]
)
def test_the_container_that_trains_is_the_one_with_the_launcher(beside: str) -> None:
    main = '{name: c, image: "r:1", command: [torchrun, --nproc-per-node=3, t.py]}'
    view = overview(shown(containers=f"[{beside}, {main}]"))
    assert (view["roles"][0]["processes"], view["worldSize"]) == (3, 6)


@pytest.mark.parametrize(
    ("spec", "hours"),
    [
        ("successPolicy: {operator: All, targetReplicatedJobs: [driver]}", 8),
        ("successPolicy: {operator: Any}", 8),
        ("successPolicy: {operator: All}", None),  # the driver may be done at once, and `w` goes on
        ("successPolicy: {operator: All, targetReplicatedJobs: [w]}", None),
        ("startupPolicy: {startupPolicyOrder: InOrder}", None),
    ],
)
def test_a_role_that_ends_the_run_bounds_it(spec: str, hours: int | None) -> None:
    view = overview(shown(spec=spec, containers=DEVICES, more=DRIVER))
    assert view["acceleratorHours"]["hours"] == hours


FLUX = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {{name: flux, labels: {{trainer.kubeflow.org/framework: flux}}}}
spec:
  mlPolicy: {{numNodes: 1, flux: {{numProcPerNode: 2}}}}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}}}
          spec: {{template: {{spec: {{containers: [{{name: node, image: "r:1"}}]}}}}}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: f1, namespace: ml}}
spec:
  runtimeRef: {{name: flux}}
  trainer: {{numNodes: 4, {own}command: [lmp, -v, x]}}
"""


@pytest.mark.parametrize(("own", "world"), [("", 8), ("numProcPerNode: 3, ", 12)])
def test_flux_starts_what_its_flags_say(own: str, world: int, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(FLUX.format(own=own), "utf-8")
    assert f"world size  {world}\n" in compile_in(tmp_path, "show", "job.yaml").out
    assert f"flags='-N 4 -n {world}'" in compile_in(tmp_path, "build", "job.yaml").out


@pytest.mark.parametrize("key", ["exclusive-topology", "subgroup-exclusive-topology"])
def test_a_group_of_several_jobs_cannot_have_a_domain_of_its_own(key: str, tmp_path: Path) -> None:
    """It went out without the placement, and nobody said so."""
    pod = '{spec: {containers: [{name: c, image: "r:1", command: [a]}]}}'
    text = f"""\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata:
  name: lw
  namespace: ml
  annotations: {{trainc.dev/run-to-completion: "true", leaderworkerset.sigs.k8s.io/{key}: rack}}
spec:
  leaderWorkerTemplate: {{size: 3, subGroupPolicy: {{subGroupSize: 3}}, LEADER workerTemplate: {pod}}}
"""
    (tmp_path / "job.yaml").write_text(text.replace("LEADER", f"leaderTemplate: {pod},"), "utf-8")
    run = compile_in(tmp_path, "build", "job.yaml")
    assert (run.code, run.out) == (1, "")
    assert f"`leaderworkerset.sigs.k8s.io/{key}` gives each group its own domain" in run.err
    (tmp_path / "job.yaml").write_text(text.replace("LEADER", ""), "utf-8")
    assert "alpha.jobset.sigs.k8s.io/exclusive-topology: rack" in compile_in(tmp_path, "build", "job.yaml").out


INITIALIZED = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {{name: rt}}
spec:
  mlPolicy:
    numNodes: 2
    torch: {{envInjection: {{targets: [{{jobName: dataset-initializer, containerNames: [dataset-initializer]}}]}}}}
  template:
    spec:
      replicatedJobs:
      - name: dataset-initializer
        template:
          metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: dataset-initializer}}}}
          spec: {{template: {{spec: {{containers: [{{name: dataset-initializer, image: "d:1", command: {command}}}]}}}}}}
      - name: node
        dependsOn: [{{name: dataset-initializer, status: Complete}}]
        template:
          metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}}}
          spec: {{template: {{spec: {{containers: [{{name: node, image: "t:1", command: [torchrun, t.py]}}]}}}}}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: a, namespace: ml}}
spec: {{runtimeRef: {{name: rt}}, trainer: {{numProcPerNode: 1}}}}
"""


@pytest.mark.parametrize(("command", "level"), [("[python, fetch.py]", "warning"), ("[torchrun, fetch.py]", "error")])
def test_a_variable_that_nobody_reads_keeps_nobody_waiting(command: str, level: str, tmp_path: Path) -> None:
    """The server takes the job, and a downloader that reads no such variable ends as ever."""
    (tmp_path / "job.yaml").write_text(INITIALIZED.format(command=command), "utf-8")
    run = compile_in(tmp_path, "validate", "job.yaml")
    assert [one.level for one in run.findings if one.rule.name == "coordinator-starts-later"] == [level]


def test_a_role_that_is_no_name_is_refused_once(tmp_path: Path) -> None:
    """JobSet's webhook refuses it; that its pods would have no host names follows."""
    text = JOBSET.format(job="", spec="", containers=PLAIN, more="").replace("name: w\n", "name: a.b\n")
    (tmp_path / "job.yaml").write_text(text, "utf-8")
    errors = [one.rule.name for one in compile_in(tmp_path, "validate", "job.yaml").findings if one.level == "error"]
    assert errors == ["refused-by-webhook"]
