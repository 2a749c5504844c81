"""What the SDK's own cases ask of a client: the calls, and what comes of each."""

import warnings
from typing import Any

from tests import extras

with warnings.catch_warnings():  # the SDK's own models are written for an older pydantic
    warnings.simplefilter("ignore")
    sdk = extras.package("kubeflow.trainer")
    options = extras.package("kubeflow.trainer.options")

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
