"""torchtune: a job that says `tune run` gets the recipe, the config and the runtime's own paths written out."""

from __future__ import annotations

from trainc.frameworks.base.requirements import template_span
from trainc.model.finding import WARNING, Rule, place
from trainc.model.inference import PORT
from trainc.model.patches import Contribution, on
from trainc.model.plan import TRAINER
from trainc.model.sourced import derive
from trainc.model.tree import get, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.model.plan import Plan
    from trainc.model.report import Report
    from trainc.model.sourced import Sourced

KEPT = ("output_dir", "tokenizer.path", "checkpointer.checkpoint_dir", "tokenizer.merges_file")

LOST_SETTING = Rule(
    "lost-recipe-setting",
    WARNING,
    "a setting of the runtime's torchtune command does not reach the job",
    "A job with its own `tune run` keeps only the output, tokenizer and checkpoint paths of the runtime's command.",
)


def lower(plan: Plan, nodes: Sourced[int], procs: Sourced[int | str]) -> Contribution:
    """The whole command, on the node container of every trainer."""
    args = plan.trainer_field("args") or []
    gpu = plan.inferred.gpus
    command = list(plan.trainer_field("command"))
    if nodes.value > 1 or _many(procs.value, gpu.value):
        endpoint = derive("rendezvous of torchrun", lambda host: f"--rdzv_endpoint={host}:{PORT}", plan.host())
        command.append(endpoint)
    chosen = derive("torchtune recipe", lambda n, p, g, *a: choose(n, p, g, a), nodes, procs, gpu, *args)
    name = get(plan.job, "spec", "runtimeRef", "name")
    command.append(derive("torchtune recipe", lambda pair: pair[0], chosen))
    command.append("--config")
    command.append(derive("torchtune config", lambda ref, pair: model(ref) + pair[1], name, chosen))
    command += [item for item in runtime_settings(plan) if key_of(item.value) in KEPT]
    trainers = (role for role in plan.roles if role.ancestor == TRAINER)
    return sum((on(role, command=command) for role in trainers), Contribution())


def choose(nodes: int, procs: int | str, gpu: int, args: tuple[str, ...]) -> tuple[str, str]:
    """The recipe and the ending of its config, from the size of the job and what its arguments ask for."""
    kind = "_qlora" if qlora(args) else "_lora" if lora(args) else "_full"
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


def verify(plan: Plan, report: Report) -> None:
    """Findings for settings of the runtime that the rewritten command leaves out and the job does not repeat."""
    repeated = {key_of(arg) for arg in plain(plan.trainer_field("args") or [])}
    for item in runtime_settings(plan):
        key = key_of(item.value)
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


def key_of(item: str) -> str:
    return item.partition("=")[0]


def lora(args: tuple[str, ...]) -> bool:
    return any("model.lora_attn_modules" in arg for arg in args)


def qlora(args: tuple[str, ...]) -> bool:
    return _true(args, "model.quantize_base") and not _true(args, "model.use_dora")


def _true(args: tuple[str, ...], key: str) -> bool:
    return any(key in k and v.strip().lower() == "true" for k, mark, v in (a.partition("=") for a in args) if mark)
