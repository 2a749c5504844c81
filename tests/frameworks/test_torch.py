"""PyTorch and torchtune: variables, process counts, recipes, refusals."""

import pytest

from tests.frameworks.planning import env, patches, plan, refusals, role, said, sets
from trainc.frameworks.torch import choose, model
from trainc.model.plan import Plan

INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
TUNE = "command: [tune, run]"
AS_STORED = (
    'spec.trainer.env: Invalid value: [{"name":"PET_NNODES"},{"name":"A","valueFrom":{"resourceFieldRef":'
    '{"resource":"limits.cpu","divisor":"0"}}}]: must not have reserved envs, invalid envs configured: [PET_NNODES]'
)
RESERVED = (
    'spec.trainer.env: Invalid value: [{"name":"PET_NNODES","value":"1"},{"name":"A"},'
    '{"name":"PET_MASTER_ADDR","value":"x"}]: must not have reserved envs, '
    "invalid envs configured: [PET_MASTER_ADDR PET_NNODES]"
)
MANAGED = (
    'spec.trainer.args[0]: Invalid value: "output_dir=/x": must not set immutable config "output_dir" '
    "in trainer args; it is managed by the runtime"
)


def torch(job: str = "{}", resources: str = "{}", policy: str = "{torch: {}}") -> Plan:
    return plan(policy, role("node", f"{{name: node, resources: {resources}}}"), job)


def test_the_five_variables_in_order() -> None:
    assert env(torch("{numNodes: 3}")) == {
        "PET_NNODES": "3",
        "PET_NPROC_PER_NODE": "1",
        "PET_NODE_RANK": INDEX,
        "PET_MASTER_ADDR": "run-node-0-0.run",
        "PET_MASTER_PORT": "29500",
    }


def test_the_port_goes_with_the_variables() -> None:
    assert [port["containerPort"].value for patch in patches(torch(), "node") for port in patch.ports] == [29500]


@pytest.mark.parametrize(
    ("resources", "job", "expected"),
    [
        ("{}", "{}", "1"),
        ("{limits: {cpu: 4}}", "{}", "4"),
        ("{limits: {cpu: '2.5'}}", "{}", "3"),
        ("{limits: {cpu: 2500m}}", "{}", "3"),
        ("{limits: {cpu: '0.7'}}", "{}", "1"),
        ("{requests: {cpu: 3}, limits: {cpu: 8}}", "{}", "3"),
        ("{requests: {nvidia.com/gpu: 2}}", "{}", "auto"),
        ("{limits: {cpu: 6, nvidia.com/gpu: 2}}", "{}", "auto"),
        ("{limits: {cpu: 8}}", "{numProcPerNode: 3}", "3"),
        ("{limits: {nvidia.com/gpu: 8}}", "{resourcesPerNode: {requests: {cpu: 5}}}", "5"),
        ("{limits: {nvidia.com/gpu: 8}}", "{resourcesPerNode: {}}", "1"),
    ],
)
def test_processes_of_a_node(resources: str, job: str, expected: str) -> None:
    assert env(torch(job, resources))["PET_NPROC_PER_NODE"] == expected


def test_without_a_trainer_block_nothing_is_set() -> None:
    assert patches(torch(""), "node") == []
    assert said(torch("")) == ["no-trainer-block"]


def test_a_target_of_injection_gets_all_five_even_without_a_trainer_block() -> None:
    targets = "{torch: {envInjection: {targets: [{jobName: node, containerNames: [probe]}]}}}"
    injected = plan(targets, role("node", "{name: node}, {name: probe}"), "")
    assert list(env(injected, container="probe"))[-1] == "PET_MASTER_PORT"
    assert env(injected) == {}


@pytest.mark.parametrize(
    ("nodes", "procs", "gpu", "args", "expected"),
    [
        (1, "auto", 1, "", ("full_finetune_single_device", "_full_single_device")),
        (1, "auto", 1, "lora", ("lora_finetune_single_device", "_lora_single_device")),
        (1, "auto", 1, "qlora", ("lora_finetune_single_device", "_qlora_single_device")),
        (1, "auto", 4, "", ("full_finetune_distributed", "_full")),
        (1, "auto", 4, "lora", ("lora_finetune_distributed", "_lora")),
        (1, "auto", 4, "qlora", ("lora_finetune_distributed", "_qlora")),
        (2, "auto", 8, "", ("full_finetune_distributed", "_full_multinode")),
        (2, "auto", 8, "lora", ("full_finetune_distributed", "_full_multinode")),
        (1, 1, 4, "", ("full_finetune_single_device", "_full_single_device")),
        (1, 4, 4, "", ("full_finetune_distributed", "_full")),
        (1, 4, 1, "", ("full_finetune_single_device", "_full_single_device")),
        (0, 4, 4, "lora", ("full_finetune_distributed", "_full")),
        (1, "auto", 4, "dora", ("lora_finetune_distributed", "_lora")),
    ],
)
def test_recipe(nodes: int, procs: int | str, gpu: int, args: str, expected: tuple[str, str]) -> None:
    given = {
        "": (),
        "lora": ("model.lora_attn_modules=[q_proj]",),
        "qlora": ("model.quantize_base= True ",),
        "dora": ("model.lora_attn_modules=[q_proj]", "model.quantize_base=True", "model.use_dora=true"),
    }
    assert choose(nodes, procs, gpu, given[args]) == expected


@pytest.mark.parametrize(
    ("runtime", "expected"),
    [
        ("torchtune-llama3.2-1b", "llama3_2/1B"),
        ("torchtune-qwen2.5-1.5b", "qwen2_5/1.5B"),
        ("torchtune-llama3.2", ""),
        ("torchtune-llama3.2-1b-instruct", ""),
        ("", ""),
    ],
)
def test_model_of_a_runtime(runtime: str, expected: str) -> None:
    assert model(runtime) == expected


def test_the_command_of_torchtune_keeps_the_runtimes_paths_alone() -> None:
    runtime = role("node", "{name: node, command: [tune, run, x, output_dir=/out, dataset.source=parquet]}")
    tuned = plan("{torch: {}}", runtime, f"{{{TUNE}, numProcPerNode: 2}}")
    assert sets(tuned, "command") == [
        *("tune", "run", "--rdzv_endpoint=run-node-0-0.run:29500", "full_finetune_distributed"),
        *("--config", "llama3_2/1B_full", "output_dir=/out"),
    ]
    assert list(env(tuned)) == ["PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK"]
    assert said(tuned) == ["lost-recipe-setting"]


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (
            "{env: [{name: PET_NNODES, value: '1'}, {name: A}, {name: PET_MASTER_ADDR, value: x}]}",
            RESERVED,
        ),
        (
            "{env: [{name: PET_NNODES, value: ''}, {name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]}",
            AS_STORED,
        ),
        (
            f"{{{TUNE}, numNodes: 2}}",
            "spec.trainer.numNodes: Invalid value: 2: must be 1 for llama3_2/1B model",
        ),
        (
            f"{{{TUNE}, args: [output_dir=/x]}}",
            MANAGED,
        ),
        (
            f"{{{TUNE}, args: [model.quantize_base=True]}}",
            'spec.trainer.numProcPerNode: Invalid value: "auto": must be auto or 1 for llama3_2/1B model when using QLoRA',
        ),
    ],
)
def test_refusals(job: str, expected: str) -> None:
    assert expected in refusals(torch(job))


def test_processes_that_do_not_match_the_gpus() -> None:
    assert said(torch("{numProcPerNode: 4}", "{limits: {nvidia.com/gpu: 8}}")) == ["slots-gpus-mismatch"]
    assert said(torch("{numProcPerNode: 8}", "{limits: {nvidia.com/gpu: 8}}")) == []


def test_a_node_that_runs_one_process_because_nothing_says_more() -> None:
    assert said(torch()) == ["one-process-per-node"]


def test_a_node_that_may_run_no_process() -> None:
    assert said(torch("{numProcPerNode: 0}", "{limits: {cpu: 1}}")) == ["no-processes"]
