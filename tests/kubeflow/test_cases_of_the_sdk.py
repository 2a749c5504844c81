"""The SDK's own cases, held against both backends: what it would send to a cluster is what lands in the file."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.compiling import ROOT
from tests.repository import Repository
from trainc.kubeflow import trainer_client

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

with warnings.catch_warnings():  # the SDK's own models are written for an older pydantic
    warnings.simplefilter("ignore")
    sdk = pytest.importorskip("kubeflow.trainer", reason="the Kubeflow SDK is not installed")
    options = pytest.importorskip("kubeflow.trainer.options")
    from tests.kubeflow.server import Server, ServerBackend
    from trainc.kubeflow.repository import ExistingJobError, JobError

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # what trainc warns of is tested elsewhere

TORCH, TUNE = "torch-distributed", "torchtune-llama3.2-1b"
RUNTIMES = (TORCH, TUNE, "deepspeed-distributed", "mlx-distributed", "jax-distributed", "xgboost-distributed")
ALPACA, LLAMA = "hf://tatsu-lab/alpaca/data", "hf://meta-llama/Llama-3.2-1B-Instruct"


def learn() -> None:
    """What is trained where nothing is handed over."""
    print("Hello World")  # noqa: T201


def learn_with(learning_rate: float, batch_size: int) -> None:
    """What is trained with arguments."""
    print(learning_rate, batch_size)  # noqa: T201


def tune(**config: Any) -> Any:
    """A trainer of torchtune."""
    return sdk.BuiltinTrainer(config=sdk.TorchTuneConfig(**config))


def environment(**values: str) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]


def patch(**spec: Any) -> Any:
    """A patch of the pods of role `node`."""
    pod = options.PodTemplatePatch(spec=options.PodSpecPatch(**spec))
    job = options.JobTemplatePatch(spec=options.JobSpecPatch(template=pod))
    roles = [options.ReplicatedJobPatch(name="node", template=job)]
    template = options.JobSetTemplatePatch(spec=options.JobSetSpecPatch(replicated_jobs=roles))
    return options.RuntimePatch(training_runtime_spec=options.TrainingRuntimeSpecPatch(template=template))


def patched(template: dict[str, Any]) -> dict[str, Any]:
    """The patch as it stands in a job."""
    return {
        "runtimePatches": [
            {"manager": "trainer.kubeflow.org/kubeflow-sdk", "trainingRuntimeSpec": {"template": template}}
        ]
    }


HUGGING_FACE = sdk.Initializer(
    dataset=sdk.HuggingFaceDatasetInitializer(storage_uri=ALPACA),
    model=sdk.HuggingFaceModelInitializer(storage_uri=LLAMA, ignore_patterns=["*.bin"]),
)
S3 = sdk.Initializer(
    dataset=sdk.S3DatasetInitializer(storage_uri="s3://data/alpaca", region="eu-west-1"),
    model=sdk.S3ModelInitializer(storage_uri="s3://models/llama", ignore_patterns=None),
)
NODE_SELECTOR = {"node-type": "gpu-a100"}
FIVE_CPUS = {"cpu": 5, "nvidia.com/gpu": 3}
# What is asked, and what of the job's spec is expected; the program of a function is looked at for itself.
TRAIN: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "nothing but defaults": ({}, {}),
    "a runtime by name": ({"runtime": "jax-distributed"}, {}),
    "torchtune": (
        {
            "runtime": TUNE,
            "trainer": tune(batch_size=2, epochs=2, loss=sdk.Loss.CEWithChunkedOutputLoss, dtype=sdk.DataType.BF16),
        },
        {
            "trainer": {
                "command": ["tune", "run"],
                "args": [
                    "dtype=bf16",
                    "batch_size=2",
                    "epochs=2",
                    "loss=torchtune.modules.loss.CEWithChunkedOutputLoss",
                ],
            }
        },
    ),
    "torchtune with LoRA": (
        {
            "runtime": TUNE,
            "trainer": tune(
                peft_config=sdk.LoraConfig(apply_lora_to_mlp=True, lora_rank=8, lora_alpha=16, lora_dropout=0.1)
            ),
        },
        {
            "trainer": {
                "command": ["tune", "run"],
                "args": [
                    "model.apply_lora_to_mlp=True",
                    "model.lora_rank=8",
                    "model.lora_alpha=16",
                    "model.lora_dropout=0.1",
                    "model.lora_attn_modules=[q_proj,v_proj,output_proj]",
                ],
            }
        },
    ),
    "torchtune on data of its own": (
        {
            "runtime": TUNE,
            "initializer": HUGGING_FACE,
            "trainer": tune(
                dataset_preprocess_config=sdk.TorchTuneInstructDataset(
                    source=sdk.DataFormat.PARQUET, split="train[:9%]"
                ),
                resources_per_node={"memory": "200G", "gpu": 1},
            ),
        },
        {
            "initializer": {
                "dataset": {"storageUri": ALPACA, "env": []},
                "model": {"storageUri": LLAMA, "env": environment(IGNORE_PATTERNS="*.bin")},
            },
            "trainer": {
                "command": ["tune", "run"],
                "args": [
                    "dataset.data_dir=/workspace/dataset/data",
                    "dataset=torchtune.datasets.instruct_dataset",
                    "dataset.source=parquet",
                    "dataset.split=train[:9%]",
                ],
                "resourcesPerNode": {
                    "limits": {"memory": "200G", "nvidia.com/gpu": 1},
                    "requests": {"memory": "200G", "nvidia.com/gpu": 1},
                },
            },
        },
    ),
    "data and model from S3": (
        {"runtime": TUNE, "initializer": S3, "trainer": tune(epochs=1)},
        {
            "initializer": {
                "dataset": {"storageUri": "s3://data/alpaca", "env": environment(REGION="eu-west-1")},
                "model": {"storageUri": "s3://models/llama", "env": []},
            },
            "trainer": {"command": ["tune", "run"], "args": ["epochs=1"]},
        },
    ),
    "a function": ({"trainer": sdk.CustomTrainer(func=learn)}, {"trainer": {}}),
    "a function with arguments, packages, variables and an image": (
        {
            "trainer": sdk.CustomTrainer(
                func=learn_with,
                func_args={"learning_rate": 0.001, "batch_size": 32},
                packages_to_install=["numpy", "transformers[torch]>=4"],
                pip_index_urls=["https://pypi.example.com/simple", "https://more.example.com/simple"],
                num_nodes=2,
                env={"TEST_ENV": "test_value", "ANOTHER_ENV": "another_value"},
                image="registry.example.com/ml/custom:1",
            )
        },
        {
            "trainer": {
                "numNodes": 2,
                "image": "registry.example.com/ml/custom:1",
                "env": environment(TEST_ENV="test_value", ANOTHER_ENV="another_value"),
            }
        },
    ),
    "a function over MPI": (
        {
            "runtime": "deepspeed-distributed",
            "trainer": sdk.CustomTrainer(func=learn, num_nodes=4, resources_per_node={"GPU": 1}),
        },
        {
            "trainer": {
                "numNodes": 4,
                "resourcesPerNode": {"limits": {"nvidia.com/gpu": 1}, "requests": {"nvidia.com/gpu": 1}},
            }
        },
    ),
    "a function over MLX": (
        {"runtime": "mlx-distributed", "trainer": sdk.CustomTrainer(func=learn, num_nodes=2)},
        {"trainer": {"numNodes": 2}},
    ),
    "a function over XGBoost": (
        {"runtime": "xgboost-distributed", "trainer": sdk.CustomTrainer(func=learn, num_nodes=2)},
        {"trainer": {"numNodes": 2}},
    ),
    "a slice of a GPU": (
        {"trainer": sdk.CustomTrainer(func=learn, resources_per_node={"mig-1g.5gb": 1})},
        {
            "trainer": {
                "resourcesPerNode": {"limits": {"nvidia.com/mig-1g.5gb": 1}, "requests": {"nvidia.com/mig-1g.5gb": 1}}
            }
        },
    ),
    "a container": (
        {
            "trainer": sdk.CustomTrainerContainer(
                image="registry.example.com/ml/line:1",
                num_nodes=2,
                resources_per_node={"cpu": 5, "gpu": 3},
                env={"A": "b"},
            )
        },
        {
            "trainer": {
                "image": "registry.example.com/ml/line:1",
                "numNodes": 2,
                "resourcesPerNode": {"limits": FIVE_CPUS, "requests": FIVE_CPUS},
                "env": environment(A="b"),
            }
        },
    ),
    "a container with a command": (
        {
            "trainer": sdk.CustomTrainerContainer(image="registry.example.com/ml/line:1"),
            "options": [options.TrainerCommand(["torchrun", "line.py"]), options.TrainerArgs(["--epochs=3"])],
        },
        {
            "trainer": {
                "image": "registry.example.com/ml/line:1",
                "command": ["torchrun", "line.py"],
                "args": ["--epochs=3"],
            }
        },
    ),
    "labels and annotations": (
        {"options": [options.Labels({"team": "ml-platform"}), options.Annotations({"created-by": "sdk"})]},
        {},
    ),
    "a patch of the pods": (
        {"options": [patch(node_selector=NODE_SELECTOR)]},
        patched(
            {
                "spec": {
                    "replicatedJobs": [
                        {
                            "name": "node",
                            "template": {"spec": {"template": {"spec": {"nodeSelector": NODE_SELECTOR}}}},
                        }
                    ]
                }
            }
        ),
    ),
    "a patch of the JobSet's labels": (
        {
            "options": [
                options.Labels({"owner": "ml-team"}),
                options.RuntimePatch(
                    training_runtime_spec=options.TrainingRuntimeSpecPatch(
                        template=options.JobSetTemplatePatch(metadata={"labels": {"app": "training"}})
                    )
                ),
            ]
        },
        patched({"metadata": {"labels": {"app": "training"}}}),
    ),
    "a template of a job": (
        dict(
            **sdk.TrainJobTemplate(
                runtime=TORCH,
                trainer=sdk.CustomTrainer(func=learn, num_nodes=3, resources_per_node={"cpu": 2}),
            )
        ),
        {"trainer": {"numNodes": 3, "resourcesPerNode": {"limits": {"cpu": 2}, "requests": {"cpu": 2}}}},
    ),
}
# What the SDK itself refuses: the same error, in its own words, and no file.
REFUSED: dict[str, tuple[dict[str, Any], type[Exception]]] = {
    "a function where torchtune runs": ({"runtime": TUNE, "trainer": sdk.CustomTrainer(func=learn)}, ValueError),
    "torchtune where a function runs": ({"trainer": tune(epochs=1)}, ValueError),
    "a trainer of another type": ({"trainer": "learn"}, ValueError),
    "something that cannot be called": ({"trainer": sdk.CustomTrainer(func="learn")}, ValueError),
    "two kinds of slices": (
        {"trainer": sdk.CustomTrainer(func=learn, resources_per_node={"mig-1g.5gb": 1, "mig-2g.10gb": 1})},
        ValueError,
    ),
    "a command beside a function": (
        {"trainer": sdk.CustomTrainer(func=learn), "options": [options.TrainerCommand(["python"])]},
        ValueError,
    ),
    "a runtime that is not there": ({"runtime": "nobody"}, RuntimeError),
}
# What a cluster takes and a repository does not: the finding says why.
FINDINGS: dict[str, tuple[dict[str, Any], str]] = {
    "a deadline": ({"options": [options.ActiveDeadlineSeconds(seconds=3600)]}, "deadline-not-enforced"),
    "an initializer where none runs": ({"initializer": HUGGING_FACE}, "initializer-without-home"),
    "a variable of the framework": (
        {"trainer": sdk.CustomTrainer(func=learn, env={"PET_NNODES": "2"})},
        "reserved-env",
    ),
    "a name that is not one": ({"options": [options.Name("Not_A_Name")]}, "invalid-field"),
}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path)
    for name in RUNTIMES:
        repository.write(f"runtimes/{name}.yaml", (ROOT / f"runtimes/{name}.yaml").read_text("utf-8"))
    return repository


@pytest.fixture
def client(repository: Repository) -> Any:
    return trainer_client(repository.folder, namespace="research")


@pytest.fixture
def server(repository: Repository) -> Server:
    return Server(amounts_as_texts(yaml.safe_load(repository.read(f"runtimes/{name}.yaml"))) for name in RUNTIMES)


def amounts_as_texts(tree: Any, *, within: str = "") -> Any:
    """A tree as a server gives it: quantities are texts there."""
    if isinstance(tree, dict):
        return {
            key: amounts_as_texts(value, within=key if within not in ("limits", "requests") else within)
            for key, value in tree.items()
        }
    if isinstance(tree, list):
        return [amounts_as_texts(value) for value in tree]
    return str(tree) if within in ("limits", "requests") else tree


@pytest.mark.parametrize("case", TRAIN)
def test_what_lands_in_the_file_is_what_the_sdk_sends(
    case: str, client: Any, server: Server, repository: Repository
) -> None:
    given, expected = TRAIN[case]
    asked = {**given, "options": [*given.get("options", ()), options.Name("bert")]}
    assert client.train(**asked) == ServerBackend(server, "research").train(**asked) == "bert"
    sent = server.objects["trainjobs", "bert"]
    job = yaml.safe_load(repository.read("jobs/bert.yaml"))
    created = {name: value for name, value in sent["metadata"].items() if name != "creationTimestamp"}
    assert job == {**sent, "metadata": created}
    spec = dict(job["spec"])
    reference = spec.pop("runtimeRef")
    runtime = given.get("runtime", TORCH)
    assert reference == {"kind": "ClusterTrainingRuntime", "name": runtime}
    program = spec["trainer"].pop("command")[-1] if _runs_a_function(given) else ""
    assert spec == expected
    assert ("Hello World" in program or "learn_with(**{'learning_rate': 0.001" in program) is _runs_a_function(given)


def _runs_a_function(given: dict[str, Any]) -> bool:
    return isinstance(given.get("trainer"), sdk.CustomTrainer)


def test_packages_are_installed_before_the_function_runs(client: Any, repository: Repository) -> None:
    given, _ = TRAIN["a function with arguments, packages, variables and an image"]
    client.train(**given, options=[options.Name("bert")])
    program = yaml.safe_load(repository.read("jobs/bert.yaml"))["spec"]["trainer"]["command"][-1]
    assert "PACKAGES=(numpy 'transformers[torch]>=4')" in program
    assert "--index-url https://pypi.example.com/simple --extra-index-url https://more.example.com/simple" in program
    assert program.index("PACKAGES=(") < program.index("def learn_with")


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_sdk_refuses_is_refused_in_its_words(
    case: str, client: Any, server: Server, repository: Repository
) -> None:
    given, error = REFUSED[case]
    with pytest.raises(error) as here:
        client.train(**given)
    with pytest.raises(error) as there:
        ServerBackend(server, "research").train(**given)
    assert str(here.value).partition("Runtime(")[0] == str(there.value).partition("Runtime(")[0]
    assert not (repository.folder / "jobs").exists()


@pytest.mark.parametrize("case", FINDINGS)
def test_what_no_repository_can_keep_is_a_finding(case: str, client: Any, repository: Repository) -> None:
    given, rule = FINDINGS[case]
    with pytest.raises(JobError, match=rf"error\[{rule}\]"):
        client.train(**given)
    assert not (repository.folder / "jobs").exists()


@pytest.mark.parametrize("name", RUNTIMES)
def test_a_runtime_is_read_as_the_sdk_reads_it(name: str, client: Any, server: Server) -> None:
    here, there = client.get_runtime(name), ServerBackend(server, "research").get_runtime(name)
    assert here == there
    assert here.trainer.command == there.trainer.command


def test_jobs_are_read_as_the_sdk_reads_them(client: Any, server: Server) -> None:
    backend = ServerBackend(server, "research")
    for name, runtime in (("bert", TORCH), ("gpt", TUNE), ("llama", TUNE)):
        for one in (client, backend):
            one.train(runtime=runtime, options=[options.Name(name)])
    here, there = client.list_jobs(), backend.list_jobs()
    for one in (*here, *there):
        one.creation_timestamp = None  # the time of a file, and one that the server made up
    assert here == there
    only = client.list_jobs(client.get_runtime(TUNE))
    assert [job.name for job in only] == ["gpt", "llama"]


def test_a_runtime_of_the_namespace_comes_before_that_of_the_cluster(client: Any, repository: Repository) -> None:
    own = repository.read(f"runtimes/{TORCH}.yaml").replace("ClusterTrainingRuntime", "TrainingRuntime")
    own = own.replace(f"  name: {TORCH}\n", f"  name: {TORCH}\n  namespace: research\n").replace("pytorch:", "own:")
    repository.write("runtimes/own.yaml", own)
    runtime = client.get_runtime(TORCH)
    assert (runtime.kind, ":" in runtime.trainer.image) == (sdk.RuntimeKind.TRAINING_RUNTIME, True)
    assert "/own:" in runtime.trainer.image
    kinds = {one.name: one.kind for one in client.list_runtimes()}
    assert len(kinds) == len(RUNTIMES) + 1  # with the one that every repository of the tests has
    assert kinds[TORCH] == sdk.RuntimeKind.TRAINING_RUNTIME
    assert kinds[TUNE] == sdk.RuntimeKind.CLUSTER_TRAINING_RUNTIME
    client.train(runtime=runtime, options=[options.Name("bert")])
    assert "kind: TrainingRuntime\n" in repository.read("jobs/bert.yaml")
    assert client.get_job("bert").runtime == runtime
    elsewhere = trainer_client(repository.folder, namespace="elsewhere")
    with pytest.raises(RuntimeError, match=f"Failed to get Runtime: {TORCH}") as caught:
        elsewhere.get_runtime(TORCH)
    assert "error[duplicate-runtime]" in str(caught.value.__cause__)


def test_a_second_job_of_that_name_is_an_error_of_the_sdks_kind(client: Any, server: Server) -> None:
    backend = ServerBackend(server, "research")
    for one in (client, backend):
        one.train(options=[options.Name("bert")])
        with pytest.raises(RuntimeError) as caught:
            one.train(options=[options.Name("bert")])
        assert isinstance(caught.value, ExistingJobError) is (one is client)


WAITS: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "logs": (
        lambda client: list(client.get_job_logs("nobody")),
        RuntimeError,
        "Failed to get TrainJob: research/nobody",
    ),
    "events": (lambda client: client.get_job_events("nobody"), RuntimeError, "Failed to get TrainJob: research/nobody"),
    "status": (
        lambda client: client.wait_for_job_status("nobody"),
        RuntimeError,
        "Failed to get TrainJob: research/nobody",
    ),
    "job": (lambda client: client.get_job("nobody"), RuntimeError, "Failed to get TrainJob: research/nobody"),
    "a status that is none": (
        lambda client: client.wait_for_job_status("bert", {"Invalid"}),
        ValueError,
        "must be a subset",
    ),
    "an interval over the timeout": (
        lambda client: client.wait_for_job_status("bert", timeout=1, polling_interval=2),
        ValueError,
        "strictly less than timeout",
    ),
    "no interval": (lambda client: client.wait_for_job_status("bert", polling_interval=0), ValueError, "positive"),
    "packages of torchtune": (
        lambda client: client.get_runtime_packages(client.get_runtime(TUNE)),
        ValueError,
        "BuiltinTrainer",
    ),
}


@pytest.mark.parametrize("case", WAITS)
def test_questions_that_the_sdk_refuses_are_refused_alike(case: str, client: Any, server: Server) -> None:
    ask, error, words = WAITS[case]
    for one in (client, ServerBackend(server, "research")):
        one.train(options=[options.Name("bert")])
        with pytest.raises(error, match=words):
            ask(one)


def test_a_job_is_created_as_soon_as_it_is_written(client: Any) -> None:
    client.train(options=[options.Name("bert")])
    seen: list[str] = []
    job = client.wait_for_job_status("bert", {"Created"}, callbacks=[lambda one: seen.append(one.status)])
    assert (job.name, job.status, job.steps, seen) == ("bert", "Created", [], ["Created"])
    with pytest.raises(NotImplementedError, match=r"wait jobset/bert --for=condition=Completed --timeout=60s`"):
        client.wait_for_job_status("bert", timeout=60)


@pytest.mark.parametrize(
    ("runtime", "step", "role", "container"),
    [
        (TORCH, "node-1", "replicatedjob-name=node,batch.kubernetes.io/job-completion-index=1", "node"),
        (TUNE, "dataset-initializer", "replicatedjob-name=dataset-initializer", "dataset-initializer"),
        ("deepspeed-distributed", "node-0", "replicatedjob-name=launcher", "node"),
        (
            "deepspeed-distributed",
            "node-2",
            "replicatedjob-name=node,batch.kubernetes.io/job-completion-index=1",
            "node",
        ),
    ],
)
def test_logs_are_those_of_the_pod_that_the_sdk_means(
    runtime: str, step: str, role: str, container: str, client: Any
) -> None:
    client.train(runtime=runtime, options=[options.Name("bert")])
    words = (
        rf"`kubectl --namespace research logs --selector jobset\.sigs\.k8s\.io/jobset-name=bert,"
        rf"jobset\.sigs\.k8s\.io/{role} --container {container} --tail=-1 --follow`"
    )
    with pytest.raises(NotImplementedError, match=words):
        client.get_job_logs("bert", step=step, follow=True)


def test_runtimes_without_what_the_sdk_takes_for_granted_are_served(client: Any, repository: Repository) -> None:
    """A label of the framework, a policy and a device; one that cannot be read does not hide the others."""
    text = repository.read("runtimes/torch.yaml")
    label = "  labels:\n    trainer.kubeflow.org/framework: torch\n"
    bare = text.replace(label, "").replace("name: torch\n", "name: bare\n", 1).replace('              cpu: "4"\n', "")
    assert bare.count("\n") == text.count("\n") - 3
    repository.write("runtimes/bare.yaml", bare)
    none = bare.replace("name: bare\n", "name: none\n", 1)
    repository.write("runtimes/none.yaml", none.replace("  mlPolicy:\n    numNodes: 1\n    torch: {}\n", ""))
    repository.write(
        "runtimes/wrong.yaml", bare.replace("name: bare\n", "name: wrong\n", 1).replace("numNodes: 1", "numNodes: a")
    )
    with pytest.warns(UserWarning, match=r"not read: .*wrong\.yaml:\d+:\d+: error\[invalid-field\]"):
        runtimes = {one.name: one.trainer for one in client.list_runtimes()}
    assert (runtimes["bare"].framework, runtimes["bare"].device) == ("torch", "Unknown")
    assert runtimes["none"].framework == "plain"
    assert "wrong" not in runtimes
    client.train(runtime="bare", options=[options.Name("bert")])
    assert [one.name for one in client.list_jobs()] == ["bert"]


def test_a_folder_within_a_project_is_that_project(client: Any, repository: Repository) -> None:
    client.train(options=[options.Name("bert")])
    inner = trainer_client(repository.folder / "jobs", folder="team", namespace="research")
    assert inner.get_job("bert").name == "bert"
    inner.train(options=[options.Name("gpt")])
    assert "name: gpt\n" in repository.read("jobs/team/gpt.yaml")
    assert [one.name for one in client.list_jobs()] == ["bert", "gpt"]
    with pytest.raises(ExistingJobError, match=r"^jobs/bert\.yaml: there is a job `bert`"):
        inner.train(options=[options.Name("bert")])
    with pytest.raises(JobError):
        inner.train(trainer=sdk.CustomTrainer(func=learn, env={"PET_NNODES": "2"}))
    assert sorted(path.name for path in (repository.folder / "jobs").rglob("*.yaml")) == ["bert.yaml", "gpt.yaml"]


def test_the_platform_example_is_read_and_written(tmp_path: Path) -> None:
    import shutil  # noqa: PLC0415 (one test alone)

    platform = shutil.copytree(ROOT / "examples/platform", tmp_path / "platform")
    here = trainer_client(platform, folder="jobs/llm", namespace="llm")
    assert {"llm", "torch-gpu"} <= {one.name for one in here.list_runtimes()}
    assert "base-7b" in [one.name for one in trainer_client(platform).list_jobs()]
