"""Which policy wires a migrated job: where the program's launch works under it, a person edits the job alone."""

import re

import pytest

from tests.kinds.samples.texts import job, role
from tests.sampling import sampled
from trainc.changes.migrate import migrate
from trainc.changes.migrate.compared import compiled

TORCHRUN = "{name: pytorch, image: img, command: [torchrun, train.py]}"
SSH = "sshAuthMountPath: /home/mpi/.ssh"


def mpijob(launcher: str, worker: str, spec: str = "", version: str = "v2beta1") -> str:
    """An MPIJob of one launcher and two workers."""
    text = job("MPIJob", role("Launcher", 1, "", launcher), role("Worker", 2, "", worker), spec=spec)
    return text.replace("kubeflow.org/v1\n", f"kubeflow.org/{version}\n")


RUNS = "{name: mpi, image: img, command: [mpirun, train]}"
WAITS = "{name: mpi, image: img}"
ROWS = {
    "torchrun": (job("PyTorchJob", role("Worker", 2, "", TORCHRUN)), "torch", ""),
    "python": (
        job("PyTorchJob", role("Worker", 2, "", TORCHRUN.replace("torchrun", "python"))),
        "torch",
        "",
    ),
    "unlike pods": (
        job("PyTorchJob", role("Master", 1), role("Worker", 2, "", TORCHRUN)),
        "",
        "its roles have different pods",
    ),
    "elastic": (job("PyTorchJob", role("Worker", 2), spec="elasticPolicy: {maxReplicas: 2}"), "", "`elasticPolicy`"),
    "tensorflow": (job("TFJob", role("PS", 1), role("Worker", 2)), "tensorflow", ""),
    "dynamic": (job("TFJob", role("Worker", 2), spec="enableDynamicWorker: true"), "", "`enableDynamicWorker`"),
    "paddle": (job("PaddleJob", role("Worker", 3)), "paddle", ""),
    "mpi": (mpijob(RUNS, WAITS), "mpi", ""),
    "kubexec": (mpijob(RUNS, WAITS, version="v1"), "", "`kubectl exec`"),
    "intel": (mpijob(RUNS, WAITS, "mpiImplementation: Intel"), "", "the Trainer has no Intel"),
    "discovery": (mpijob(RUNS.replace("train]", "discover_hosts.sh]"), WAITS), "", "`discover_hosts.sh` is read"),
    "unknown user": (mpijob(RUNS, WAITS, SSH), "", "no field sets the user that reads the ssh keys"),
}


@pytest.mark.parametrize("name", sampled(ROWS, every=3))
def test_a_policy_or_the_reason_for_none(name: str) -> None:
    text, policy, reason = ROWS[name]
    done = migrate(text)
    assert done.problems == ()
    (outcome,) = done.outcomes
    assert outcome.policy == policy
    assert outcome.reason.startswith(reason) if policy else reason in outcome.reason
    assert migrate(done.text).text == done.text


@pytest.mark.parametrize(
    "metadata", ["[a]", "x", "{}", "{name: demo, annotations: [a]}", "{name: demo, annotations: x}"]
)
def test_metadata_of_any_shape_is_a_problem_and_no_crash(metadata: str) -> None:
    text = job("JAXJob", role("Worker", 2)).replace("{name: demo, namespace: ns1}", metadata)
    done = migrate(text)
    assert (done.text, bool(done.problems)) == (text, True)


@pytest.mark.parametrize("end", ["\r", "\x85", "\u2028", "\u2029"])
def test_other_line_ends_in_a_comment(end: str) -> None:
    """The parser counts more lines than there are `\\n`: looking for a key behind them broke."""
    text = job("JAXJob", role("Worker", 2)).replace("spec:\n", f"# a{end}# b\nspec:\n", 1)
    done = migrate(text)
    assert (done.problems, [one.policy for one in done.outcomes]) == ((), ["jax"])


def variables(text: str) -> set[str]:
    """The names of the variables of a job's trainer."""
    trainer = text.partition("---\n")[0].partition("  trainer:")[2]
    return set(re.findall(r"- name: ([A-Z_]+)", trainer))


def test_torchrun_sets_what_the_operator_set_and_a_plain_program_keeps_it() -> None:
    operators = {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"}
    same = role("Master", 1, "", TORCHRUN), role("Worker", 2, "", TORCHRUN)
    assert not variables(migrate(job("PyTorchJob", *same)).text) & operators
    done = migrate(job("PyTorchJob", *same).replace("torchrun", "python"))
    assert variables(done.text) >= operators
    assert any("`python` starts the program, which may read" in change.message for change in done.changes)


def test_torchrun_that_is_given_a_variable_keeps_it() -> None:
    """The command names WORLD_SIZE, so it stays; RANK, which nothing reads, goes."""
    container = "{name: pytorch, image: img, command: [sh, -c, 'torchrun --nnodes=$WORLD_SIZE train.py']}"
    done = migrate(job("PyTorchJob", role("Master", 1, "", container), role("Worker", 2, "", container)))
    assert {"WORLD_SIZE"} == variables(done.text) & {"WORLD_SIZE", "RANK", "MASTER_ADDR"}


def test_the_launcher_s_command_is_in_the_job_and_the_workers_are_counted_there() -> None:
    done = migrate(mpijob(RUNS, WAITS, "slotsPerWorker: 2"))
    start = done.text.partition("---\n")[0]
    assert "    numNodes: 2\n    numProcPerNode: 2\n    image: img\n    command:\n    - mpirun\n    - train\n" in start
    objects, _ = compiled(done.text.replace("numNodes: 2", "numNodes: 3"))
    (hosts,) = [tree["data"]["hostfile"] for tree in objects if tree["kind"] == "ConfigMap"]
    assert hosts == "".join(f"demo-node-0-{index}.demo slots=2\n" for index in range(3))


def test_a_launcher_that_works_stays_rank_0_and_is_one_of_the_nodes() -> None:
    done = migrate(mpijob(RUNS, WAITS, "runLauncherAsWorker: true"))
    assert [one.policy for one in done.outcomes] == ["mpi"]
    assert "numNodes: 3" in done.text
    objects, _ = compiled(done.text)
    (hosts,) = [tree["data"]["hostfile"] for tree in objects if tree["kind"] == "ConfigMap"]
    assert hosts.startswith("demo-launcher-0-0.demo")


def test_the_user_of_the_image_reads_the_ssh_keys_of_the_trainer() -> None:
    """The Trainer's keys belong to root, with mode 0640: without the group mpirun reached nobody."""
    user = ", securityContext: {runAsUser: 1000}}"
    done = migrate(mpijob(RUNS[:-1] + user, WAITS[:-1] + user, SSH))
    assert [one.policy for one in done.outcomes] == ["mpi"]
    assert done.text.count("fsGroup: 1000") == 2


def test_the_secret_of_a_job_that_no_policy_wires_is_named() -> None:
    """`secret-needed` went with the MPIJob, and nothing said any more which Secret its pods wait for."""
    said = [change.message for change in migrate(mpijob(RUNS, WAITS, SSH)).changes]
    assert "the SSH keys are in the Secret `demo-ssh`, which must exist; `validate` no longer checks that" in said


def test_a_host_in_a_text_gets_the_new_name_of_its_role() -> None:
    """`demo-worker-0` in a command went on naming a pod that is called `demo-node-0-0` now."""
    container = "{name: jax, image: img, command: [train, --coordinator=demo-worker-0]}"
    done = migrate(job("JAXJob", role("Worker", 2, "", container)))
    assert "--coordinator=demo-node-0-0.demo" in done.text
    assert "demo-worker" not in done.text.partition("---")[0]


def test_a_label_that_a_selector_looks_for_stays() -> None:
    affinity = (
        "{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: node, "
        "labelSelector: {matchLabels: {training.kubeflow.org/job-name: demo}}}]}}"
    )
    done = migrate(job("JAXJob", role("Worker", 2, affinity=affinity)))
    assert [one.policy for one in done.outcomes] == ["jax"]
    assert done.text.count("training.kubeflow.org/job-name: demo") == 2
    assert "training.kubeflow.org/operator-name" not in done.text
