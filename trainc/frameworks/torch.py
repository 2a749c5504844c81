"""PyTorch: the `PET_*` variables of torchrun, port 29500; torchtune's recipe if the job's command is `tune run`."""

from collections.abc import Iterator

from trainc.apiserver.normalise import normalise
from trainc.frameworks.base.refusals import invalid, refuse, refuse_env
from trainc.frameworks.base.requirements import check, check_processes, check_slots, span_of
from trainc.frameworks.base.vocabularies import VOCABULARIES
from trainc.model.finding import NOTE, WARNING, Rule
from trainc.model.inference import PORT, processes
from trainc.model.patches import (
    COMPLETION_INDEX,
    GPU,
    NEURON,
    PODS,
    PROCESSES,
    Contribution,
    Framework,
    Start,
    literal,
    on,
)
from trainc.model.plan import TRAINER, Plan
from trainc.model.report import Report
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import Path, Tree, dotted, get, plain

VOCABULARY = VOCABULARIES["torch"]

ONE_PROCESS = Rule("one-process-per-node", NOTE)
KEPT = ("output_dir", "tokenizer.path", "checkpointer.checkpoint_dir", "tokenizer.merges_file")
LOST_SETTING = Rule("lost-recipe-setting", WARNING)
SMALL_LLAMAS = ("llama3_2/1B", "llama3_2/3B")
LARGE_LLAMA = "llama3_3/70B"
QWEN = "qwen2_5/1.5B"
MODELS = (*SMALL_LLAMAS, LARGE_LLAMA, QWEN)
REF = ("spec", "runtimeRef", "name")


def lower(plan: Plan) -> Contribution:
    """The variables torchrun reads, on the node container and on every target of `envInjection`."""
    trainer = plan.trainer
    nodes = trainer.count if trainer is not None else literal(1, "torch")
    world = {"PET_NNODES": nodes, "PET_NPROC_PER_NODE": procs_per_node(plan), "PET_NODE_RANK": COMPLETION_INDEX}
    whole = {**world, "PET_MASTER_ADDR": plan.host(), "PET_MASTER_PORT": PORT}
    injected = Contribution()
    for _, job, container in targets(plan):
        injected += on(plan.role(job), container, env=whole, init=True)
    if not plan.wired:
        return injected
    if tunes(plan):
        tuned = lower_torchtune(plan, nodes, procs_per_node(plan))
        return on(trainer, env=world, ports=(PORT,)) + tuned + injected
    return on(trainer, env=whole, ports=(PORT,)) + injected


def tunes(plan: Plan) -> bool:
    """Whether the job's own command is exactly `tune run`, which selects torchtune."""
    command = plan.block.get("command") if type(plan.block) is dict else None
    return type(command) is list and len(command) == 2 and command[0].value == "tune" and command[1].value == "run"


def procs_per_node(plan: Plan) -> Sourced[int | str]:
    """What the job asks for; else `auto` where there are GPUs; else one for each CPU, and at least one."""
    setting: Sourced[int | str] | None = plan.trainer_field("numProcPerNode")
    return processes(plan.inferred) if setting is None else setting


def targets(plan: Plan) -> list[tuple[Tree, str, str]]:
    """Every container that `envInjection` names: the target it stands in, its role and its name."""
    if (injection := plan.settings.get("envInjection")) is None:
        return []
    entries = get(injection, "targets") or ()
    return [(one, one["jobName"].value, container.value) for one in entries for container in one["containerNames"]]


def refuse_job(plan: Plan, report: Report) -> None:
    """The TrainJob webhook's refusals of a torch job."""
    for target, job, container in targets(plan):
        role = plan.role(job)
        if role is None or (role.container(container) or role.init_container(container)) is None:
            detail = f'envInjection target podSet "{job}" container "{container}" not found in runtime template'
            message = f"the runtime injects variables into `{container}` of `{job}`, which it does not have"
            hint = "name a container of the runtime in `mlPolicy.torch.envInjection`"
            refuse(plan, report, ("spec", "runtimeRef"), message, invalid("spec.runtimeRef", target, detail), hint)
    refuse_env(plan, report, VOCABULARY.reserved, ", or set `numNodes` or `numProcPerNode` instead")
    if tunes(plan):
        refuse_torchtune(plan, report)


def verify(plan: Plan, report: Report) -> None:
    """Findings where the processes would not meet, or too few of them start."""
    check(plan, report, VOCABULARY.reserved)
    if tunes(plan):
        verify_torchtune(plan, report)
    check_processes(plan, report)
    check_slots(plan, report, plan.trainer_field("numProcPerNode"))
    inferred = plan.inferred
    is_explicit = not plan.wired or plan.trainer_field("numProcPerNode") is not None
    if not is_explicit and inferred.gpus.value == 0 and inferred.cpus.value == 0:
        message = "each node runs one process: it requests neither GPUs nor CPUs"
        at = plan.document.span(("spec", "trainer"), key=True)
        report.add(ONE_PROCESS.at(at, message, help="set `numProcPerNode` or `resourcesPerNode`"))


STARTS = {
    "torch": Start(
        "torch-distributed",
        ("torchrun", "train.py"),
        "torchrun starts one process per GPU; the PET_* variables configure its rendezvous.",
        machines=(GPU, NEURON),
        has_shared_memory=True,
    ),
    "torchtune": Start(
        "torchtune-llama3.2-1b",
        ("tune", "run"),
        "The runtime and the size of the job set torchtune's recipe and config.",
        machines=(),
        args=(
            "dataset=torchtune.datasets.instruct_dataset",
            "dataset.source=parquet",
            "dataset.data_dir=/workspace/dataset/data",
        ),
        has_shared_memory=True,
        is_named=True,
    ),
}

FRAMEWORK = Framework(
    "torch",
    lower,
    vocabulary=VOCABULARY,
    refuse=refuse_job,
    refuses_reserved=True,
    verify=verify,
    # torchrun counts for itself; torchtune's recipe follows from how many nodes there are.
    computes=lambda plan: (PODS, PROCESSES) if tunes(plan) else (PROCESSES,),
    starts=STARTS,
    has_slots=True,
)


def lower_torchtune(plan: Plan, nodes: Sourced[int], procs: Sourced[int | str]) -> Contribution:
    """The whole command, on the node container of every trainer."""
    args, gpu = plan.trainer_field("args") or [], plan.inferred.gpus
    command = list(plan.trainer_field("command"))
    is_one = gpu.value <= 1 if procs.value == "auto" else int(procs.value) <= 1
    if nodes.value > 1 or not is_one:
        command.append(derive("rendezvous of torchrun", lambda host: f"--rdzv_endpoint={host}:{PORT}", plan.host()))
    chosen = derive("torchtune recipe", lambda n, p, g, *a: choose(n, p, g, a), nodes, procs, gpu, *args)
    config = derive("torchtune config", lambda ref, pair: model(ref) + pair[1], get(plan.job, *REF), chosen)
    command += [derive("torchtune recipe", lambda pair: pair[0], chosen), "--config", config]
    command += [item for item in runtime_settings(plan) if key_of(item.value) in KEPT]
    trainers = (role for role in plan.roles if role.ancestor == TRAINER)
    return sum((on(role, command=command) for role in trainers), Contribution())


def choose(nodes: int, procs: int | str, gpu: int, args: tuple[str, ...]) -> tuple[str, str]:
    """The recipe and the ending of its config, from the size of the job and what its arguments ask for."""
    kind = "_qlora" if qlora(args) else "_lora" if lora(args) else "_full"
    recipe = "full_finetune" if kind == "_full" else "lora_finetune"
    if nodes == 1 and (procs == 1 or gpu == 1):
        return f"{recipe}_single_device", f"{kind}_single_device"
    if nodes == 1:
        return f"{recipe}_distributed", kind
    return "full_finetune_distributed", "_full_multinode" if nodes > 1 else "_full"


def model(runtime: str) -> str:
    """The pretrained model that a runtime's name stands for: `torchtune-llama3.2-1b` is `llama3_2/1B`."""
    parts = runtime.split("-")
    return f"{parts[1].replace('.', '_')}/{parts[2].upper()}" if len(parts) == 3 else ""


def runtime_settings(plan: Plan) -> Iterator[Sourced[str]]:
    """The items of the runtime's own command, over all trainers."""
    for role in plan.roles:
        node = role.container() if role.ancestor == TRAINER else None
        yield from (node or {}).get("command") or []


def verify_torchtune(plan: Plan, report: Report) -> None:
    """Findings for settings of the runtime that the rewritten command leaves out and the job does not repeat."""
    repeated = {key_of(arg) for arg in plain(plan.trainer_field("args") or [])}
    for item in runtime_settings(plan):
        key = key_of(item.value)
        if "=" in item.value and not key.startswith("-") and key not in KEPT and key not in repeated:
            message = f"`{item.value}` of the runtime's command does not reach this job"
            help_ = "repeat it in `spec.trainer.args`"
            report.add(LOST_SETTING.at(span_of(plan, item), message, help=help_))


def key_of(item: str) -> str:
    return item.partition("=")[0]


def lora(args: tuple[str, ...]) -> bool:
    return any("model.lora_attn_modules" in arg for arg in args)


def qlora(args: tuple[str, ...]) -> bool:
    return _true(args, "model.quantize_base") and not _true(args, "model.use_dora")


def _true(args: tuple[str, ...], key: str) -> bool:
    return any(key in k and v.strip().lower() == "true" for k, mark, v in (a.partition("=") for a in args) if mark)


def refuse_torchtune(plan: Plan, report: Report) -> None:
    """The TrainJob webhook's refusals of a torchtune job, which look at the job's own numbers alone."""
    managed = [
        (("spec", "trainer", "args", at), arg, key_of(arg.value))
        for at, arg in enumerate(plan.trainer_field("args") or [])
        if key_of(arg.value) in KEPT
    ]
    words = 'must not set immutable config "{}" in trainer args; it is managed by the runtime'
    for where, bad, detail in [*_unfit(plan), *((where, arg, words.format(key)) for where, arg, key in managed)]:
        path = dotted(where)
        field = path.removeprefix("spec.").removeprefix("trainer.")
        refuse(plan, report, where, f"`{field}` {detail}", invalid(path, bad, detail))


def _unfit(plan: Plan) -> Iterator[tuple[Path, Tree, str]]:
    """What does not fit the model: where, which value, and the webhook's words."""
    name = get(plan.job, *REF)
    nodes, procs, resources = map(plan.trainer_field, ("numNodes", "numProcPerNode", "resourcesPerNode"))
    args = tuple(plain(plan.trainer_field("args") or []))
    n, p = nodes.value if nodes is not None else 1, procs.value if procs is not None else "auto"
    kind, known = choose(n, p, plan.inferred.gpus.value, args)[1], model(name.value)
    trainer = ("spec", "trainer")
    if known not in MODELS:
        yield REF, name, f"must have a supported pretrained model, invalid model configured: {known}"
    if n > 1 and known != LARGE_LLAMA:
        yield (*trainer, "numNodes"), nodes, f"must be 1 for {known} model"
    if "_qlora" in kind and known == QWEN:
        yield REF, name, f"QLoRA is not supported for {QWEN} model"
    if kind == "_qlora" and known in SMALL_LLAMAS:
        yield (*trainer, "numProcPerNode"), p, f"must be auto or 1 for {known} model when using QLoRA"
        detail = f"must have gpu resource with value 1 for {known} model when using QLoRA"
        yield (*trainer, "resourcesPerNode"), normalise(resources, "resources"), detail
    if n > 1 and (lora(args) or qlora(args)):
        yield (*trainer, "numNodes"), nodes, "LoRA fine-tuning is not supported for multi-node training in TorchTune"
