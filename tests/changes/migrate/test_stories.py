"""Older jobs in a repository with real Git: what `migrate` writes is what was applied before, and a reviewer can read it."""

from pathlib import Path

import pytest

from tests.working_tree import WorkingTree

PROJECT = """\
apiVersion: trainc.dev/v1alpha1
kind: Project
spec:
  output: rendered
  clusters:
    eu: {paths: [jobs/eu], namespace: research, scheduler: kueue, queue: urgent}
    us: {paths: [jobs/us], namespace: vision, scheduler: volcano}
"""
ELASTIC = """\
# our elastic job
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: elastic
  clusterName: ""
spec:
  elasticPolicy: {rdzvBackend: c10d, minReplicas: 1, maxReplicas: 3}
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      restartPolicy: OnFailure
      template:
        spec:
          containers:
            - name: pytorch
              image: registry.example.com/ml/imagenet:1.4.0
              command: [torchrun, imagenet.py]
"""
SOLVER = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata:
  name: solver
spec:
  runPolicy:
    schedulingPolicy: {priorityClass: high}
  mpiReplicaSpecs:
    Launcher:
      template:
        spec:
          priorityClassName: low
          containers:
            - name: launcher
              image: registry.example.com/hpc/solver:1.0.0
              command: [sh, -c]
              args:
                - |
                  # which hosts
                  ping solver-worker-0
                  mpirun -np 2 /opt/solver
              # after the script
    Worker:
      replicas: 2
      template:
        spec:
          containers:
            - name: worker
              image: registry.example.com/hpc/solver:1.0.0  # trains
"""
SCRIPT = """\
        # which hosts
        ping solver-node-0-0.solver
        mpirun -np 2 /opt/solver
"""


@pytest.fixture
def tree(tmp_path: Path) -> WorkingTree:
    """An older job in each of two clusters, committed."""
    tree = WorkingTree(tmp_path)
    tree.write("trainc.yaml", PROJECT)
    tree.write("jobs/eu/elastic.yaml", ELASTIC)
    tree.write("jobs/us/solver.yaml", SOLVER)
    assert tree.commit().returncode == 0
    return tree


def test_what_is_written_compiles_where_it_stands(tree: WorkingTree) -> None:
    # The runtime had no namespace, the clusters gave the jobs theirs, and a project that worked did not compile.
    assert tree.run("migrate", "-w", "jobs").code == 0
    assert "\n  name: elastic\n  namespace: research\n" in tree.read("jobs/eu/elastic.yaml")
    assert "\n  name: solver\n  namespace: vision\n" in tree.read("jobs/us/solver.yaml")
    assert tree.run("validate").code == 0
    # The second time rewrote the files again.
    assert tree.commit("migrated").returncode == 0
    assert tree.run("migrate", "-w", "jobs").err == "nothing to migrate\n"
    assert tree.git("status", "--short").stdout == ""


def test_a_comment_stays_beside_its_value_and_out_of_a_script(tree: WorkingTree) -> None:
    tree.run("migrate", "-w", "jobs")
    text = tree.read("jobs/us/solver.yaml")
    # `# after the script` became a line of the shell script.
    job, _, runtime = text.partition("---\n")
    assert f"|\n{SCRIPT}" in job
    assert not text.startswith("#")
    assert text.count("# after the script\n") == 1
    # It went to the top of the file: the role `launcher` was taken for the container of that name.
    assert "image: registry.example.com/hpc/solver:1.0.0  # trains\n" in runtime
    assert tree.read("jobs/eu/elastic.yaml").startswith("# our elastic job\n")


def test_people_edit_the_job_and_not_the_runtime(tree: WorkingTree) -> None:
    # None of 115 MPIJobs had a policy: image, command and the number of nodes stood in the runtime.
    done = tree.run("migrate", "-w", "jobs", "--details")
    job, _, runtime = tree.read("jobs/us/solver.yaml").partition("---\n")
    assert "numNodes: 2\n" in job
    assert "image: registry.example.com/hpc/solver:1.0.0\n" in job
    assert "command: [sh, -c]\n" in job
    assert "    mpi:\n" in runtime
    # A field that no server takes went without a word.
    assert "`metadata.clusterName`: dropped, because only the API server writes it" in done.err
    # No share was told.
    tree.git("checkout", "-q", "--", "jobs")
    table = tree.run("migrate", "jobs", "--report", "markdown").out
    assert "| MPIJob | 1 | 1 | 1 mpi |\n| PyTorchJob | 1 | 1 | none |\n" in table


def test_a_job_that_would_mean_something_else_stays_as_it_is(tree: WorkingTree) -> None:
    tree.change("jobs/eu/elastic.yaml", "spec:\n  elastic", "spec:\n  runPolicy: {activeDeadlineSeconds: 0}\n  elastic")
    tree.commit("hopeless")
    # A file without errors became one with an error.
    assert tree.run("validate", "jobs/eu").code == 0
    done = tree.run("migrate", "-w", "jobs/eu")
    assert (done.code, "not migrated: the deadline of 0 seconds passes at once" in done.err) == (1, True)
    assert tree.git("status", "--short").stdout == ""


def test_an_elastic_job_needs_no_namespace(tree: WorkingTree) -> None:
    tree.write("trainc.yaml", PROJECT.replace(", namespace: research", ""))
    # 30 of 52 public elastic jobs were refused, the operator's own examples among them.
    built = tree.run("build", "jobs/eu", "--cluster", "eu")
    assert built.code == 0
    assert "elastic-worker-0-0.elastic.$(POD_NAMESPACE).svc" in built.out
    tree.run("migrate", "-w", "jobs/eu")
    again = tree.run("build", "jobs/eu", "--cluster", "eu")
    assert again.code == 0
    assert "elastic-worker-0-0.elastic.$(POD_NAMESPACE).svc" in again.out


def test_a_gang_has_the_priority_that_its_operator_gave_it(tree: WorkingTree) -> None:
    # The gang had no priority class: the launcher's and the workers' were not looked at.
    assert "\n  priorityClassName: high\n" in tree.run("build", "jobs/us", "--cluster", "us").out
    tree.change("jobs/us/solver.yaml", "{priorityClass: high}", "{}")
    assert "\n  priorityClassName: low\n" in tree.run("build", "jobs/us", "--cluster", "us").out


def test_a_host_of_the_operator_is_called_as_the_pods_are(tree: WorkingTree) -> None:
    # `solver-worker-0` was a host that nobody has, without a word.
    assert "ping solver-worker-0-0.solver\n" in tree.run("build", "jobs/us", "--cluster", "us").out
    assert "`solver-worker-0` is `solver-worker-0-0.solver`" in tree.run("validate", "-v", "jobs/us").err


def test_show_has_a_table_for_each_cluster_and_their_totals(tree: WorkingTree) -> None:
    # Each job was a drawing of a dozen lines, and nothing said what they are together.
    lines = tree.run("show").out.splitlines()
    assert [line for line in lines if line.startswith("cluster ")] == [
        "cluster eu: 1 job, 2 pods",
        "cluster us: 1 job, 3 pods",
    ]
    assert any(line.split()[:3] == ["research/elastic", "urgent", "2"] for line in lines)
    assert lines[-1] == "2 jobs, 5 pods"
    by_queue = tree.run("show", "--group", "queue").out
    assert "queue urgent: 1 job, 2 pods\n" in by_queue


def test_a_job_whose_rendering_is_committed_is_said_to_need_a_new_run(tree: WorkingTree) -> None:
    # `validate` and `build -w` then refused the files, and `migrate` had said nothing.
    tree.change("trainc.yaml", "scheduler: kueue, queue: urgent", "scheduler: none")
    before = tree.run("migrate", "jobs/eu")
    assert "needs a new run" not in before.err
    assert tree.run("build", "-w", "jobs/eu").code == 0
    tree.commit("rendered")
    line = "jobs/eu/elastic.yaml: `elastic` needs a new run, because rendered/eu/research/elastic.yaml cannot change in place: "
    assert line in tree.run("migrate", "jobs/eu").err
    table = tree.run("migrate", "jobs/eu", "--report", "markdown").out
    assert (
        "**need a new run, because their rendered files cannot change in place: `trainc run JOB`**\n\n- 1: elastic\n"
        in table
    )
    assert line + "`trainc run elastic`, " in tree.run("migrate", "-w", "jobs/eu").err
    assert "immutable-change" in tree.run("validate", "jobs/eu").err
    assert tree.run("run", "elastic").code == 0
    assert tree.run("build", "-w", "jobs/eu").code == 0
    assert tree.run("migrate", "jobs/eu").err == "nothing to migrate\n"
