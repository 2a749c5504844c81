"""`trainc new` writes jobs without a finding, whatever the framework, the scheduler and the machines."""

import re
from collections.abc import Sequence
from itertools import cycle, product
from pathlib import Path

import pytest
import yaml

from tests.compiling import ROOT, compile_in
from tests.sampling import sampled
from trainc.authoring.new import HARDWARE, STARTS, Hardware
from trainc.cli.commands import COMMANDS
from trainc.cli.options import parse
from trainc.compiler.load.shipped import COMPONENTS, shipped_names
from trainc.frameworks import FRAMEWORKS
from trainc.lint.tables.machines import DEVICES, MACHINES
from trainc.schedulers import TABLE
from trainc.text.object_keys import GPU_RESOURCE, NEURON_RESOURCE

IMAGE = "registry.example.com/team/train:1.0.0"
QUEUED = ("kueue", "volcano")


def words(framework: str, machines: str, scheduler: str, checkpoints: str) -> list[str]:
    found = ["new", "first", "--framework", framework, "--image", IMAGE]
    sizes = {"gpu": ["--gpus", "8"], "cpu": ["--cpu", "4", "--memory", "8Gi"]}
    found += sizes.get(machines) or ["--on", machines]
    is_sliced = machines in HARDWARE and not HARDWARE[machines].count
    if not (STARTS[framework].is_named or is_sliced):
        found += ["--nodes", "3"]
    if scheduler:
        found += ["--scheduler", scheduler]
    if scheduler == "native":
        found += ["--kubernetes", "1.37"]
    if scheduler in QUEUED:
        found += ["--queue", "research"]
    return found + (["--checkpoints", checkpoints] if checkpoints and not STARTS[framework].is_named else [])


def combinations(framework: str) -> list[tuple[str, str, str]]:
    """Every scheduler with GPUs and with cores alone, and every machine type under one scheduler after the other."""
    fitting = [name for name, hardware in HARDWARE.items() if framework in hardware.frameworks]
    sizes = ["gpu"] if STARTS[framework].is_named else ["gpu", "cpu"]
    claims = cycle(("", "claim"))
    schedulers = cycle(TABLE)
    found = [(size, scheduler, next(claims)) for size, scheduler in product(sizes, ["", *TABLE])]
    return found + [(name, next(schedulers), next(claims)) for name in fitting]


@pytest.mark.parametrize("framework", sampled(STARTS, quick=("torchtune",)))
def test_what_is_written_validates_without_a_finding(framework: str, tmp_path: Path) -> None:
    for at, (machines, scheduler, checkpoints) in enumerate(combinations(framework)):
        folder = tmp_path / str(at)
        folder.mkdir()
        argv = words(framework, machines, scheduler, checkpoints)
        run = compile_in(folder, *argv)
        assert run.code == 0, (argv, run.err)
        judged = compile_in(folder, "validate")
        assert (judged.code, judged.findings) == (0, []), (argv, judged.err)
        assert judged.err.startswith("1 job, no errors"), argv
        if machines in HARDWARE:
            every_role_has_its_accelerators(folder, HARDWARE[machines], argv)


def every_role_has_its_accelerators(folder: Path, hardware: Hardware, argv: Sequence[str]) -> None:
    """Also the nodes that mpirun reaches: two machines' components gave theirs to the launcher alone."""
    (jobset,) = [one for one in compile_in(folder, "build").objects if one["kind"] == "JobSet"]
    for role in jobset["spec"]["replicatedJobs"]:
        containers = role["template"]["spec"]["template"]["spec"]["containers"]
        (limits,) = [one["resources"].get("limits", {}) for one in containers if one["name"] == "node"]
        assert any(resource in DEVICES for resource in limits), (argv, role["name"])
        assert int(limits.get(GPU_RESOURCE, hardware.count)) == hardware.count, (argv, role["name"])


def test_every_framework_and_runtime_can_be_started_from() -> None:
    frameworks = set(FRAMEWORKS)
    labels = set()
    for name in shipped_names():
        runtime = yaml.safe_load((ROOT / "runtimes" / f"{name}.yaml").read_text("utf-8"))
        labels.add(runtime["metadata"]["labels"]["trainer.kubeflow.org/framework"])
    assert frameworks | labels == set(STARTS)


def test_every_component_of_machines_belongs_to_some() -> None:
    used = {component for hardware in HARDWARE.values() for component in hardware.uses}
    general = {"checkpoints", "maintenance-safe", "spot", "tpu-multislice"}
    assert used | general == set(shipped_names(COMPONENTS))


def test_machines_have_what_is_known_of_them() -> None:
    for name, hardware in HARDWARE.items():
        machine = next((MACHINES[word] for word in hardware.about.replace(",", "").split() if word in MACHINES), None)
        assert machine is not None or hardware.count == 0, name
        if machine is not None:
            cores = 2 if machine.resource == NEURON_RESOURCE else 1
            assert hardware.count == machine.devices * cores, name


def test_the_examples_in_components_are_commands() -> None:
    for name in shipped_names(COMPONENTS):
        text = (ROOT / "runtimes" / COMPONENTS / f"{name}.yaml").read_text("utf-8")
        for line in re.findall("^# Example: trainc (.*)$", text, re.MULTILINE):
            options = parse(COMMANDS["new"], line.split()[1:])
            assert name in HARDWARE[options.one("on")].uses


def test_the_values_of_options_are_listed(tmp_path: Path) -> None:
    frameworks = compile_in(tmp_path, "new", "--framework", "list").out.splitlines()
    assert [line.split()[0] for line in frameworks] == list(STARTS)
    assert [line.split()[0] for line in compile_in(tmp_path, "new", "--on", "list").out.splitlines()] == list(HARDWARE)
    fitting = compile_in(tmp_path, "new", "--on", "list", "--framework", "jax").out.splitlines()
    assert [line.split()[0] for line in fitting] == [name for name, row in HARDWARE.items() if "jax" in row.frameworks]
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    assert compile_in(tmp_path, "new", "bert", "--image", IMAGE).code == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.yaml")}
    again = compile_in(tmp_path, "new", "bert", "--image", "other:1")
    assert again.code == 2
    assert "jobs/bert.yaml already exists" in again.err
    other = compile_in(tmp_path, "new", "second", "--image", IMAGE)
    assert other.out.startswith("wrote jobs/second.yaml\n\nnext:\n")
    assert all(path.read_bytes() == text for path, text in before.items())


@pytest.mark.parametrize(
    ("machines", "cpu", "memory"),
    [("eks-p4d", "90", "1008Gi"), ("eks-p5", "180", "1792Gi"), ("eks-p6-b300", "180", "3584Gi")],
)
def test_a_job_takes_most_of_a_whole_machine(machines: str, cpu: str, memory: str, tmp_path: Path) -> None:
    """It was half of the cores and a quarter of the memory of a machine that nobody else can use."""
    run = compile_in(tmp_path, "new", "bert", "--image", IMAGE, "--on", machines)
    assert run.code == 0
    assert f"        cpu: {cpu}\n        memory: {memory}\n" in (tmp_path / "jobs/bert.yaml").read_text("utf-8")


def test_a_job_of_a_runtime_that_is_there_gets_no_second_one(tmp_path: Path) -> None:
    compile_in(tmp_path, "new", "bert", "--image", IMAGE, "--on", "eks-p5")
    assert compile_in(tmp_path, "new", "gpt", "--image", IMAGE, "--runtime", "torch-eks-p5").code == 0
    assert "name: torch-eks-p5" in (tmp_path / "jobs/gpt.yaml").read_text("utf-8")


def test_the_nodes_of_a_second_mpi_job_have_its_image(tmp_path: Path) -> None:
    machines = ("--framework", "mpi", "--gpus", "8", "--nodes", "2")
    long = "g" * 40
    images = {
        "one": IMAGE,
        "same": IMAGE,
        "two": "registry.example.com/team/other:1.0.0",
        long: "registry.example.com/team/long:1",
    }
    for name, image in images.items():
        assert compile_in(tmp_path, "new", name, "--image", image, *machines).code == 0
    judged = compile_in(tmp_path, "validate")
    assert (judged.code, judged.findings) == (0, []), judged.err
    for name, image in images.items():
        built = compile_in(tmp_path, "build", f"jobs/{name}.yaml").objects
        (jobset,) = [each for each in built if each["kind"] == "JobSet"]
        pods = [role["template"]["spec"]["template"]["spec"] for role in jobset["spec"]["replicatedJobs"]]
        assert {container["image"] for pod in pods for container in pod["containers"]} == {image}, name
    assert "name: mpi-gpu\n" in (tmp_path / "jobs/same.yaml").read_text("utf-8")
    refused = compile_in(tmp_path, "new", "three", "--image", "other:1", "--runtime", "mpi-gpu", *machines)
    assert (refused.code, "omit --runtime" in refused.err) == (2, True)
    assert not (tmp_path / "jobs/three.yaml").exists()


def test_nodes_get_the_image_beside_a_runtime_that_was_written_without(tmp_path: Path) -> None:
    assert compile_in(tmp_path, "new", "one", "--framework", "mpi", "--gpus", "8").code == 0
    assert compile_in(tmp_path, "new", "two", "--framework", "mpi", "--gpus", "8", "--image", IMAGE).code == 0
    assert f"image: {IMAGE}\n" in (tmp_path / "runtimes/mpi-gpu-two.yaml").read_text("utf-8")


@pytest.mark.parametrize("framework", ["mpi", "flux"])
def test_the_secret_is_the_one_that_the_settings_name(framework: str, tmp_path: Path) -> None:
    (tmp_path / "trainc.yaml").write_text(
        f"apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec:\n  secrets: {{{framework}: existing:team-keys}}\n",
        "utf-8",
    )
    assert compile_in(tmp_path, "new", "one", "--framework", framework, "--gpus", "8", "--image", IMAGE).code == 0
    text = (tmp_path / "jobs/one.yaml").read_text("utf-8")
    assert "kubectl create secret generic team-keys " in text
    assert "one-" not in text


def test_keys_that_an_operator_makes_are_not_asked_for(tmp_path: Path) -> None:
    (tmp_path / "trainc.yaml").write_text(
        "apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec:\n  secrets: {mpi: external-secrets}\n", "utf-8"
    )
    sizes = ("--gpus", "8", "--nodes", "2")
    assert compile_in(tmp_path, "new", "one", "--framework", "mpi", "--image", IMAGE, *sizes).code == 0
    assert "Secret" not in (tmp_path / "jobs/one.yaml").read_text("utf-8")
    judged = compile_in(tmp_path, "validate")
    assert (judged.code, judged.findings) == (0, []), judged.err


def test_each_job_has_a_claim_of_its_own(tmp_path: Path) -> None:
    """It was in the shared runtime: a later job, in another namespace, mounted the same one without a word."""
    for name, claim in (("bert", "bert-data"), ("gpt", "gpt-data")):
        words = ["--image", IMAGE, "--gpus", "8", "--namespace", name, "--checkpoints", claim]
        done = compile_in(tmp_path, "new", name, *words, "--", "torchrun", "train.py")
        assert done.code == 0, done.err
    assert compile_in(tmp_path, "new", "plain", "--image", IMAGE, "--gpus", "8").code == 0
    for name, claims, restarts in (("bert", ["bert-data"], 3), ("gpt", ["gpt-data"], 3), ("plain", [], None)):
        jobset = next(
            one for one in compile_in(tmp_path, "build", f"jobs/{name}.yaml").objects if one["kind"] == "JobSet"
        )
        pod = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
        mounted = [
            one["persistentVolumeClaim"]["claimName"] for one in pod["volumes"] if "persistentVolumeClaim" in one
        ]
        assert (mounted, jobset["spec"]["failurePolicy"].get("maxRestarts")) == (claims, restarts)
    assert (
        "claim" not in (tmp_path / "runtimes/torch-gpu.yaml").read_text("utf-8").partition("spec:")[2].partition("#")[0]
    )


def test_restarts_are_left_to_a_runtime_or_component_that_says_them(tmp_path: Path) -> None:
    words = ["--image", IMAGE, "--gpus", "8", "--checkpoints", "c"]
    assert compile_in(tmp_path, "new", "a", *words).code == 0
    runtime = tmp_path / "runtimes/torch-gpu.yaml"
    runtime.write_text(runtime.read_text("utf-8").replace("maxRestarts: 0", "maxRestarts: 7"), "utf-8")
    assert compile_in(tmp_path, "new", "b", *words).code == 0
    assert "restarts" not in (tmp_path / "jobs/b.yaml").read_text("utf-8")
    assert "maxRestarts: 7" in compile_in(tmp_path, "build", "jobs/b.yaml").out
    runtime.write_text(runtime.read_text("utf-8").replace("maxRestarts: 7", "maxRestarts: 0"), "utf-8")
    component = tmp_path / "runtimes/components/checkpoints.yaml"
    text = component.read_text("utf-8")
    start, end = text.index("    - name: restarts"), text.index("  roles:")
    component.write_text(
        text[:start] + text[end:].replace("          maxRestarts: null\n", "          maxRestarts: 2\n"), "utf-8"
    )
    done = compile_in(tmp_path, "new", "c", *words)
    assert done.code == 0, done.err
    assert "restarts" not in (tmp_path / "jobs/c.yaml").read_text("utf-8")


def test_another_topology_gets_a_runtime_of_its_own(tmp_path: Path) -> None:
    # It was refused: `omit --with, or edit the runtime`.
    def runtime_of(name: str, *words: str) -> str:
        machines = ("--framework", "jax", "--on", "tpu-v5e", "--image", IMAGE)
        run = compile_in(tmp_path, "new", name, *machines, *words)
        assert run.code == 0, run.err
        job = yaml.safe_load((tmp_path / f"jobs/{name}.yaml").read_text("utf-8"))
        return str(job["spec"]["runtimeRef"]["name"])

    assert runtime_of("first", "--with", "topology=4x4") == "jax-tpu-v5e"
    assert runtime_of("smaller", "--with", "topology=2x4") == "jax-tpu-v5e-2x4"
    assert runtime_of("small-too", "--with", "topology=2x4") == "jax-tpu-v5e-2x4"
    assert runtime_of("again", "--with", "topology=4x4") == "jax-tpu-v5e"
    assert runtime_of("plainly") == "jax-tpu-v5e"
    jobs = {one["metadata"]["name"]: one for one in compile_in(tmp_path, "build").objects if one["kind"] == "JobSet"}
    pods = {name: one["spec"]["replicatedJobs"][0]["template"]["spec"]["parallelism"] for name, one in jobs.items()}
    assert pods == {"first": 4, "smaller": 2, "small-too": 2, "again": 4, "plainly": 4}
    named = ("--runtime", "jax-tpu-v5e", "--framework", "jax", "--on", "tpu-v5e", "--with", "topology=2x2")
    assert "omit --with" in compile_in(tmp_path, "new", "named", *named).err


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("components: [{name: tpu-v5e, with: all}]", ("topology=2x4",)),
        ("components: {tpu-v5e: 2x4}", ("topology=2x4",)),
        ("extends: jax-distributed", ("topology=2x4",)),
    ],
)
def test_a_runtime_of_another_shape_has_other_values(text: str, values: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "runtimes").mkdir()
    head = "apiVersion: trainc.dev/v1alpha1\nkind: Runtime\nmetadata: {name: jax-tpu-v5e}\n"
    (tmp_path / "runtimes/own.yaml").write_text(f"{head}spec: {{{text}}}\n")
    compile_in(tmp_path, "new", "llama", "--framework", "jax", "--on", "tpu-v5e", "--image", IMAGE, "--with", *values)
    assert "    name: jax-tpu-v5e-2x4\n" in (tmp_path / "jobs/llama.yaml").read_text("utf-8")


def test_a_job_without_an_image_says_where_it_belongs(tmp_path: Path) -> None:
    compile_in(tmp_path, "new", "bert")
    assert "\n    # image: REGISTRY/IMAGE:TAG\n" in (tmp_path / "jobs/bert.yaml").read_text("utf-8")
    compile_in(tmp_path, "new", "gpt", "--runtime", "torch-cpu")
    assert "image" not in (tmp_path / "jobs/gpt.yaml").read_text("utf-8").partition("\nspec:")[2]


def test_a_command_after_two_dashes_is_the_jobs(tmp_path: Path) -> None:
    command = ["torchrun", "train.py", "--lr", "1e-3", "--name=a, b", "--", "[x]", "yes", ""]
    run = compile_in(tmp_path, "new", "bert", "--image", IMAGE, "--", *command)
    assert run.code == 0
    job = yaml.safe_load((tmp_path / "jobs/bert.yaml").read_text("utf-8"))
    assert job["spec"]["trainer"]["command"] == command


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ((), "a job needs a name"),
        (("Bert",), "is not a valid job name"),
        (("b" * 41,), "41 characters"),
        (("bert", "--framework", "torhc"), "did you mean `torch`?"),
        (("bert", "--on", "eks-p6"), "did you mean `eks-p"),
        (("bert", "--on", "eks-p5.48xlarge"), "did you mean `eks-p5`?"),
        (("bert", "--on", "p5.48xlarge"), "did you mean `eks-p5`?"),
        (("bert", "--on", "a3-megagpu-8g"), "did you mean `gke-a3-mega`?"),
        (("bert", "--nodes", "0"), "--nodes must be a whole number of 1 or more"),
        (("bert", "--memory", "8GB"), "--memory must be a quantity"),
        (("bert", "--framework", "paddle", "--on", "tpu-v5p"), "paddle does not run on tpu-v5p"),
        (("bert", "--framework", "jax", "--on", "tpu-v5p", "--nodes", "2"), "--with topology=SHAPE"),
        (("bert", "--on", "eks-p5", "--gpus", "4"), "a job takes all of them"),
        (("bert", "--with", "topology=2x2x1"), "add --on"),
        (("bert", "--runtime", "llm"), "this project has no runtime `llm`"),
        (("bert", "--queue", "q"), "--queue needs a scheduler"),
        (("bert", "--scheduler", "native"), "add --kubernetes VERSION"),
        (("bert", "--scheduler", "slurm"), "no scheduler `slurm`"),
        (("bert", "gpt"), "a job has one name, not 2"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_written(argv: tuple[str, ...], said: str, tmp_path: Path) -> None:
    run = compile_in(tmp_path, "new", *argv)
    assert run.code == 2
    assert said in run.err
    assert list(tmp_path.iterdir()) == []


def test_values_reach_the_component_of_the_machines(tmp_path: Path) -> None:
    run = compile_in(
        tmp_path, "new", "llama", "--framework", "jax", "--on", "tpu-v5p", "--with", "topology=2x2x2", "--image", IMAGE
    )
    assert run.code == 0
    built = compile_in(tmp_path, "build")
    job = next(one for one in built.objects if one["kind"] == "JobSet")["spec"]["replicatedJobs"][0]["template"]["spec"]
    assert job["parallelism"] == 2
    assert job["template"]["spec"]["nodeSelector"]["cloud.google.com/gke-tpu-topology"] == "2x2x2"


@pytest.mark.parametrize(
    ("clusters", "said"),
    [
        ("  clusters:\n    main:\n      kueue: '0.19'\n", "the cluster at trainc.yaml:5 (`main` names none)"),
        ("  clusters:\n    main: {}\n", "the cluster at trainc.yaml:5 (`main` names none)"),
        ("  output: rendered\n", "to `spec` in trainc.yaml"),
    ],
)
def test_a_scheduler_that_a_project_does_not_name_is_asked_for_at_its_place(
    clusters: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "trainc.yaml").write_text(f"apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec:\n{clusters}", "utf-8")
    run = compile_in(tmp_path, "new", "bert", "--image", IMAGE, "--scheduler", "kueue")
    assert run.code == 2
    assert said in run.err
    assert not (tmp_path / "jobs").exists()


def test_the_scheduler_of_a_project_counts(tmp_path: Path) -> None:
    assert (
        compile_in(tmp_path, "new", "bert", "--image", IMAGE, "--scheduler", "kueue", "--queue", "research").code == 0
    )
    other = compile_in(tmp_path, "new", "gpt", "--image", IMAGE, "--scheduler", "volcano")
    assert other.code == 2
    line = 1 + (tmp_path / "trainc.yaml").read_text("utf-8").splitlines().index("      scheduler: kueue")
    assert f"write `scheduler: volcano` for the cluster at trainc.yaml:{line} (`main` has `kueue`)" in other.err
    assert compile_in(tmp_path, "new", "gpt", "--image", IMAGE, "--queue", "research").code == 0
    assert "kueue.x-k8s.io/queue-name: research" in (tmp_path / "jobs/gpt.yaml").read_text("utf-8")


@pytest.mark.parametrize(("folder", "is_queued"), [("jobs/gke", True), ("jobs/eks", False)])
def test_the_cluster_whose_paths_hold_the_job_counts(folder: str, is_queued: bool, tmp_path: Path) -> None:
    clusters = "{gke: {paths: [jobs/gke], scheduler: kueue}, eks: {paths: [jobs/eks]}}"
    text = f"apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec:\n  clusters: {clusters}\n"
    (tmp_path / "trainc.yaml").write_text(text)
    queue = ("--queue", "research") if is_queued else ()
    done = compile_in(tmp_path, "new", "bert", "--image", IMAGE, "--dir", folder, *queue)
    assert done.code == 0, done.err
    job = (tmp_path / folder / "bert.yaml").read_text("utf-8")
    assert ("kueue.x-k8s.io/queue-name: research" in job) is is_queued
    refused = compile_in(tmp_path, "new", "t5", "--image", IMAGE, "--dir", "jobs/eks", "--queue", "research")
    assert refused.code == 2


def test_a_queue_in_a_project_without_a_scheduler(tmp_path: Path) -> None:
    """Each of two messages named what the other refused."""
    assert compile_in(tmp_path, "init").code == 0
    words = "write `scheduler: kueue` for the cluster at trainc.yaml:9 (`main` names none)"
    for more in (("--queue", "research"), ("--queue", "research", "--scheduler", "kueue")):
        done = compile_in(tmp_path, "new", "bert", "--image", IMAGE, *more)
        assert (done.code, words in done.err) == (2, True)
    assert "--scheduler kueue" not in compile_in(tmp_path, "new", "bert", "--image", IMAGE, "--queue", "q").err


def test_init_sets_the_scheduler(tmp_path: Path) -> None:
    assert compile_in(tmp_path, "init", "--scheduler", "kueue").code == 0
    assert compile_in(tmp_path, "new", "bert", "--image", IMAGE, "--queue", "research").code == 0
    again = compile_in(tmp_path, "init", "--scheduler", "volcano")
    assert "trainc.yaml is kept: set `scheduler: volcano` under `clusters.main` there.\n" in again.out
