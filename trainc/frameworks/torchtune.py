"""torchtune: a job that says `tune run` gets the recipe, the config and the runtime's own paths written out."""

from __future__ import annotations

from trainc.model.finding import WARNING, Rule, place
from trainc.model.inference import PORT, gpus
from trainc.model.patches import Contribution, on
from trainc.model.plan import TRAINER
from trainc.model.refusals import refuse
from trainc.model.sourced import derive
from trainc.model.tree import get, plain
from trainc.model.wiring import template_span
from trainc.model.wording import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.model.finding import Report
    from trainc.model.plan import Plan
    from trainc.model.sourced import Sourced
    from trainc.model.tree import Path, Tree

SMALL_LLAMAS = ("llama3_2/1B", "llama3_2/3B")
LARGE_LLAMA = "llama3_3/70B"
QWEN = "qwen2_5/1.5B"
MODELS = (*SMALL_LLAMAS, LARGE_LLAMA, QWEN)
REF = ("spec", "runtimeRef", "name")
KEPT = ("output_dir", "tokenizer.path", "checkpointer.checkpoint_dir", "tokenizer.merges_file")

LOST_SETTING = Rule(
    "lost-recipe-setting",
    WARNING,
    "a setting in the runtime's torchtune command does not reach the job",
    "A job that says `tune run` keeps only the output, tokenizer and checkpoint paths of the runtime's command.",
)


def selected(plan: Plan) -> bool:
    """Whether the job's own command is exactly `tune run`."""
    return bool(plain(plan.asked("command")) == ["tune", "run"])


def lower(plan: Plan, nodes: Sourced[int], procs: Sourced[int | str]) -> Contribution:
    """The whole command, on the node container of every trainer."""
    args = plan.asked("args") or []
    gpu = gpus(plan.resources)
    command = list(plan.asked("command"))
    if nodes.value > 1 or _many(procs.value, gpu.value):
        endpoint = derive("rendezvous of torchrun", lambda host: f"--rdzv_endpoint={host}:{PORT}", plan.host())
        command.append(endpoint)
    chosen = derive("torchtune recipe", lambda n, p, g, *a: choose(n, p, g, a), nodes, procs, gpu, *args)
    name = get(plan.job, *REF)
    command.append(derive("torchtune recipe", lambda pair: pair[0], chosen))
    command.append("--config")
    command.append(derive("torchtune config", lambda ref, pair: model(ref) + pair[1], name, chosen))
    command += [item for item in runtime_settings(plan) if _key(item.value) in KEPT]
    trainers = (role for role in plan.roles if role.ancestor == TRAINER)
    return sum((on(role, command=command) for role in trainers), Contribution())


def choose(nodes: int, procs: int | str, gpu: int, args: tuple[str, ...]) -> tuple[str, str]:
    """The recipe and the ending of its config, from the size of the job and what its arguments ask for."""
    kind = "_qlora" if _qlora(args) else "_lora" if _lora(args) else "_full"
    recipe = "full_finetune" if kind == "_full" else "lora_finetune"
    if nodes == 1 and (procs == 1 or gpu == 1):
        return f"{recipe}_single_device", f"{kind}_single_device"
    if nodes > 1:
        return "full_finetune_distributed", "_full_multinode"
    if nodes == 1:
        return f"{recipe}_distributed", kind
    return "full_finetune_distributed", "_full"


def model(runtime: str) -> str:
    """The pretrained model that a runtime's name stands for: `torchtune-llama3.2-1b` is `llama3_2/1B`."""
    parts = runtime.split("-")
    return f"{parts[1].replace('.', '_')}/{parts[2].upper()}" if len(parts) == 3 else ""


def runtime_settings(plan: Plan) -> Iterator[Sourced[str]]:
    """The items of the runtime's own command, over all trainers."""
    for role in plan.roles:
        node = role.container() if role.ancestor == TRAINER else None
        yield from (node or {}).get("command") or []


def refuse_job(plan: Plan, report: Report) -> None:
    """The TrainJob webhook's refusals of a torchtune job, which look at the job's own numbers alone."""
    for where, bad, detail in [*_unfit(plan), *_managed(plan)]:
        path = "".join(f"[{step}]" if type(step) is int else f".{step}" for step in where)[1:]
        refuse(plan, report, where, detail, invalid(path, bad, detail))


def _unfit(plan: Plan) -> Iterator[tuple[Path, Tree, str]]:
    """What does not fit the model: where, which value, and the webhook's words."""
    name = get(plan.job, *REF)
    nodes, procs, resources = (plan.asked(field) for field in ("numNodes", "numProcPerNode", "resourcesPerNode"))
    args = tuple(plain(plan.asked("args") or []))
    n, p = nodes.value if nodes is not None else 1, procs.value if procs is not None else "auto"
    kind, known = choose(n, p, gpus(plan.resources).value, args)[1], model(name.value)
    trainer = ("spec", "trainer")
    if known not in MODELS:
        yield REF, name, f"must have a supported pretrained model, invalid model configured: {known}"
    if n > 1 and known != LARGE_LLAMA:
        yield (*trainer, "numNodes"), nodes, f"must be 1 for {known} model"
    if "_qlora" in kind and known == QWEN:
        yield REF, name, f"QLoRA is not supported for {QWEN} model"
    if kind == "_qlora" and known in SMALL_LLAMAS:
        yield (*trainer, "numProcPerNode"), procs, f"must be auto or 1 for {known} model when using QLoRA"
        detail = f"must have gpu resource with value 1 for {known} model when using QLoRA"
        yield (*trainer, "resourcesPerNode"), resources, detail
    if n > 1 and (_lora(args) or _qlora(args)):
        yield (*trainer, "numNodes"), nodes, "LoRA fine-tuning is not supported for multi-node training in TorchTune"


def _managed(plan: Plan) -> Iterator[tuple[Path, Tree, str]]:
    """The arguments that set what the runtime's command sets."""
    for at, arg in enumerate(plan.asked("args") or []):
        key = _key(arg.value)
        if key in KEPT:
            detail = f'must not set immutable config "{key}" in trainer args; it is managed by the runtime'
            yield ("spec", "trainer", "args", at), arg, detail


def verify(plan: Plan, report: Report) -> None:
    """Findings for settings of the runtime that the rewritten command leaves out and the job does not repeat."""
    repeated = {_key(arg) for arg in plain(plan.asked("args") or [])}
    for item in runtime_settings(plan):
        key = _key(item.value)
        if "=" in item.value and not key.startswith("-") and key not in KEPT and key not in repeated:
            report.add(
                LOST_SETTING.at(
                    place(item.origin) or template_span(plan),
                    f"`{item.value}` of the runtime's command does not reach this job",
                    help="repeat it in `spec.trainer.args`",
                )
            )


def _many(procs: int | str, gpu: int) -> bool:
    return gpu > 1 if procs == "auto" else int(procs) > 1


def _key(item: str) -> str:
    return item.partition("=")[0]


def _lora(args: tuple[str, ...]) -> bool:
    return any("model.lora_attn_modules" in arg for arg in args)


def _qlora(args: tuple[str, ...]) -> bool:
    return _true(args, "model.quantize_base") and not _true(args, "model.use_dora")


def _true(args: tuple[str, ...], key: str) -> bool:
    return any(key in k and v.strip().lower() == "true" for k, mark, v in (a.partition("=") for a in args) if mark)
