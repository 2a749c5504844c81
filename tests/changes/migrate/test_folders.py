"""`trainc migrate` of a folder of jobs, as a platform engineer runs it."""

import json

import pytest

from tests.changes.migrate.test_round_trip import older
from tests.repository import Repository
from trainc.changes.migrate.compared import UNEXPLAINED, Difference, by_reason

JOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: {name}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: {count}
      restartPolicy: Never
      template:
        spec:
          nodeSelector: {{pool: {pool}}}
          containers:
            - name: pytorch
              image: registry.example/{name}:1
              command: [python, train.py]
              volumeMounts: [{{name: shm, mountPath: /dev/shm}}]
          volumes: [{{name: shm, emptyDir: {{medium: Memory}}}}]
"""


@pytest.fixture
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository(tmp_path_factory.mktemp("repository"))


def write_jobs(repository: Repository, number: int = 4) -> None:
    """Jobs that differ in their image, their size and where they run."""
    for index in range(number):
        text = JOB.format(name=f"job{index}", count=index + 1, pool="large" if index % 2 else "small")
        repository.write(f"jobs/job{index}.yaml", text)


@pytest.mark.slow
def test_a_folder_of_22_jobs_is_a_screen_and_the_rest_on_request(repository: Repository) -> None:
    """22 jobs printed 600 lines, and what mattered was lost among them."""
    for seed in range(22):
        repository.write(f"jobs/j{seed}.yaml", older(seed).replace("name: demo", f"name: demo{seed}"))
    done = repository.run("migrate", "jobs")
    assert done.code == 0
    assert done.err.startswith("22 of 22 jobs of other operators migrated to TrainJobs, ")
    assert done.err.count("\n") <= 45
    assert "MPIJob" in done.err
    details = repository.run("migrate", "jobs", "--details")
    assert details.err.count("\n") > 200
    answer = json.loads(repository.run("migrate", "jobs", "--report", "json").out)
    assert len(answer["jobs"]) == 22
    assert sum(kind["jobs"] for kind in answer["kinds"]) == 22
    markdown = repository.run("migrate", "-w", "jobs", "--report", "markdown").out
    assert "| MPIJob | " in markdown
    assert "kind: TrainJob" in repository.read("jobs/j0.yaml")


def test_what_is_dropped_is_known_from_the_job_and_not_from_the_words(repository: Repository) -> None:
    """A resource with the words of a sentence about dropped fields in its name was counted as dropped."""
    for index in range(4):
        text = JOB.format(name=f"stay{index}", count=2, pool="large")
        if index == 3:
            text = text.replace("spec:\n", "spec:\n  runPolicy: {cleanPodPolicy: All}\n", 1)
        repository.write(f"jobs/job{index}.yaml", text)
    answer = json.loads(repository.run("migrate", "jobs", "--report", "json").out)
    left = {job["name"]: [text for text in job["left"] if "is dropped" in text] for job in answer["jobs"]}
    sentence = "`spec.runPolicy.cleanPodPolicy` is dropped: a JobSet deletes running pods and keeps finished ones"
    assert left == {"stay0": [], "stay1": [], "stay2": [], "stay3": [sentence]}
    assert all(set(job["left"]) <= set(job["changes"]) for job in answer["jobs"])
    assert not [text for job in answer["jobs"] for text in job["left"] if "`stay" in text]
    screen = repository.run("migrate", "jobs").err
    assert f"   1  {sentence} (stay3)" in screen
    assert "`stay0` in the same file" not in screen


def test_jobs_share_a_runtime_that_is_made_of_what_they_have_in_common(repository: Repository) -> None:
    write_jobs(repository)
    done = repository.run("migrate", "-w", "jobs", "--runtime", "train")
    assert (done.code, done.err.splitlines()[0]) == (0, "wrote runtimes/train.yaml: the runtime that the jobs share")
    runtime = repository.read("runtimes/train.yaml")
    assert "kind: ClusterTrainingRuntime" in runtime
    assert "mountPath: /dev/shm" in runtime
    assert "nodeSelector" not in runtime
    assert "pool: large" in repository.read("jobs/job3.yaml")
    assert repository.run("validate").code == 0
    assert repository.run("migrate", "-w", "jobs", "--runtime", "train").err == "nothing to migrate\n"


JOB_OF = {
    "job0": JOB.format(name="job0", count=1, pool="small"),
    "job3": JOB.format(name="job3", count=4, pool="large"),
}


def test_a_shared_runtime_compiles_to_what_own_runtimes_compile_to(repository: Repository) -> None:
    write_jobs(repository)
    repository.run("migrate", "-w", "jobs")
    own = repository.run("build", "jobs").out
    write_jobs(repository)
    repository.run("migrate", "-w", "jobs", "--runtime", "train")
    assert repository.run("build", "jobs").out == own


def test_a_job_that_no_patch_makes_alike_keeps_its_own_runtime(repository: Repository) -> None:
    write_jobs(repository)
    repository.write("jobs/odd.yaml", JOB_OF["job0"].replace("job0", "odd").replace("Never", "OnFailure"))
    done = repository.run("migrate", "-w", "jobs", "--runtime", "train", "--details")
    assert "odd: it keeps its own runtime: it differs from `train` in `" in done.err
    assert "kind: TrainingRuntime" in repository.read("jobs/odd.yaml")
    assert repository.run("validate").code == 0


def test_a_runtime_of_the_platform_decides_what_the_jobs_leave_open(repository: Repository) -> None:
    """The catalogue's runtime restarts the JobSet three times; the jobs could not say that."""
    write_jobs(repository, 1)
    refused = repository.run("migrate", "jobs", "--runtime", "torch-distributed")
    assert "it keeps its own runtime: `torch-distributed` is a runtime that trainc ships" in refused.err
    repository.run("runtimes", "copy", "torch-distributed")
    done = repository.run("migrate", "-w", "jobs", "--runtime", "torch-distributed")
    assert done.code == 0
    assert "\n  the runtime `torch-distributed` sets it: " in done.err
    text = repository.read("jobs/job0.yaml")
    assert "name: torch-distributed" in text
    assert text.count("apiVersion") == 1
    checked = repository.run("validate")
    assert checked.code == 0, checked.err


CLUSTERS = """\
apiVersion: trainc.dev/v1alpha1
kind: Project
spec:
  clusters:
    eu: {namespace: research, paths: [jobs/eu/**]}
    us: {namespace: training}
"""


def test_a_job_of_one_of_several_clusters_is_migrated(repository: Repository) -> None:
    """It was refused: the job names a cluster, and the text was compiled without its project's clusters."""
    repository.write("trainc.yaml", CLUSTERS)
    repository.write("jobs/eu/a.yaml", JOB_OF["job0"])
    annotated = JOB_OF["job3"].replace("job3\n", "job3\n  annotations: {trainc.dev/cluster: us}\n")
    repository.write("jobs/b.yaml", annotated)
    done = repository.run("migrate", "-w", "jobs")
    assert done.code == 0, done.err
    assert "namespace: research" in repository.read("jobs/eu/a.yaml")
    assert "namespace: training" in repository.read("jobs/b.yaml")
    assert repository.run("validate").code == 0


def test_differences_are_told_by_reason_and_the_gravest_first() -> None:
    """What nobody can explain stands first and in full, what the pods have before labels; `--details` tells each field."""
    several = [
        Difference("JobSet/a/spec/template/metadata/labels/one", "x", None, "labels of an operator"),
        Difference("JobSet/a/spec/template/metadata/labels/two", "x", None, "labels of an operator"),
        Difference("JobSet/a/spec/containers[node]/env[RANK]/value", "0", "1", "set by the policy"),
        Difference("JobSet/a/spec/containers[node]/image", "a", "b", UNEXPLAINED),
    ]
    assert by_reason(several) == [
        f"JobSet/a/spec/containers[node]/image: 'a' -> 'b' ({UNEXPLAINED})",
        "set by the policy: env[RANK]",
        "labels of an operator: labels/one, labels/two",
    ]


def test_a_folder_without_older_jobs_is_told_in_every_form(repository: Repository) -> None:
    """Markdown said "0 of 0 jobs are TrainJobs now, 0 of them wired by a policy", above an empty table."""
    repository.job("bert")
    assert repository.run("migrate", "jobs").err == "nothing to migrate\n"
    assert repository.run("migrate", "jobs", "--report", "markdown").out == "nothing to migrate\n"


MPIJOB = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {{name: {name}, namespace: vision}}
spec:
  slotsPerWorker: 4
  runPolicy: {{cleanPodPolicy: Running}}
  mpiReplicaSpecs:
    Launcher:
      template:
        spec:
          containers:
          - name: mpi
            image: registry.example/horovod:1
            command: [mpirun, -np, "16", python, train.py, --master, {name}-worker-0.{name}]
    Worker:
      replicas: 4
      template:
        spec:
          containers:
          - name: mpi
            image: registry.example/horovod:1
            resources: {{limits: {{nvidia.com/gpu: 4}}}}
"""


def test_mpijobs_that_differ_in_their_name_share_a_runtime_without_it(repository: Repository) -> None:
    """The search domain of one job stood in the runtime of all, and kept the others from sharing it."""
    for name in ("bert", "resnet"):
        repository.write(f"jobs/{name}.yaml", MPIJOB.format(name=name))
    done = repository.run("migrate", "-w", "jobs", "--runtime", "horovod")
    lines = done.err.splitlines()
    assert lines[:3] == [
        "wrote runtimes/horovod.yaml: the runtime that the jobs share",
        "wrote jobs/bert.yaml",
        "wrote jobs/resnet.yaml",
    ]
    for sentence in (
        "the container `mpi` is now `node`: `kubectl logs -c node`",
        "`-np 16` stays when `numNodes` changes: without it, mpirun starts a process for each slot of the hostfile",
        "`trainer.image` is the image of the launcher; that of the nodes is in role `node` of the runtime",
    ):
        assert lines.count(f"  {sentence}") == 2
    assert [repository.read(f"jobs/{name}.yaml").count("Runtime\n") for name in ("bert", "resnet")] == [1, 1]
    assert not any(name in repository.read("runtimes/horovod.yaml") for name in ("bert", "resnet"))
    assert "--master, resnet-node-0-0.resnet]" in repository.read("jobs/resnet.yaml")


def test_what_a_jobset_does_anyway_is_not_called_dropped(repository: Repository) -> None:
    repository.write("job.yaml", MPIJOB.format(name="resnet"))
    assert "cleanPodPolicy" not in repository.run("migrate", "job.yaml").err


def test_a_field_that_no_server_knows_is_dropped_aloud(repository: Repository) -> None:
    repository.write("job.yaml", MPIJOB.format(name="resnet").replace("slotsPerWorker", "slotPerWorker"))
    err = repository.run("migrate", "job.yaml").err
    assert "  dropped: MPIJob has no field `slotPerWorker` here; did you mean `slotsPerWorker`?\n" in err
    repository.write("job.yaml", MPIJOB.format(name="resnet"))
    assert "dropped: MPIJob" not in repository.run("migrate", "job.yaml").err


def test_a_warning_that_only_the_migrated_job_has_is_shown(repository: Repository) -> None:
    """The operator's key has mode 0600, the Trainer's 0640, which ssh refuses from root."""
    repository.write("job.yaml", MPIJOB.format(name="resnet"))
    warning = "  `validate` reports: `node` runs ssh as root, and the private key `id_rsa` has mode 0640\n"
    assert warning in repository.run("migrate", "job.yaml").err
    user = "        spec:\n          securityContext: {runAsUser: 1000}\n          containers:"
    repository.write("job.yaml", MPIJOB.format(name="resnet").replace("        spec:\n          containers:", user))
    assert "`validate` reports" not in repository.run("migrate", "job.yaml").err


def test_a_summary_counts_what_is_dropped(repository: Repository) -> None:
    for number in range(4):
        text = MPIJOB.replace("Policy: Running", "Policy: None").format(name=f"job{number}")
        repository.write(f"jobs/job{number}.yaml", text)
    assert "   4  `spec.runPolicy.cleanPodPolicy` is dropped: " in repository.run("migrate", "jobs").err


def test_modes_are_shown_as_octal_numbers_too(repository: Repository) -> None:
    repository.write("job.yaml", MPIJOB.format(name="resnet"))
    assert "secret/defaultMode: 384 (0600) -> 256 (0400) " in repository.run("migrate", "job.yaml", "--details").err
    assert ".mode: 292 (0444)\n" in repository.run("why", "job.yaml", "**mode").out
