"""What the TrainJob webhook refuses of a torchtune job."""

from __future__ import annotations

from trainc.apiserver.normalise import normalise
from trainc.frameworks.base.field_errors import invalid
from trainc.frameworks.base.refusals import refuse
from trainc.frameworks.torch.torchtune import KEPT, choose, key_of, lora, model, qlora
from trainc.model.tree import dotted, get, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.model.plan import Plan
    from trainc.model.report import Report
    from trainc.model.tree import Path, Tree

SMALL_LLAMAS = ("llama3_2/1B", "llama3_2/3B")
LARGE_LLAMA = "llama3_3/70B"
QWEN = "qwen2_5/1.5B"
MODELS = (*SMALL_LLAMAS, LARGE_LLAMA, QWEN)
REF = ("spec", "runtimeRef", "name")


def refuse_job(plan: Plan, report: Report) -> None:
    """The TrainJob webhook's refusals of a torchtune job, which look at the job's own numbers alone."""
    for where, bad, detail in [*_unfit(plan), *_managed(plan)]:
        path = dotted(where)
        field = path.removeprefix("spec.").removeprefix("trainer.")
        refuse(plan, report, where, f"`{field}` {detail}", invalid(path, bad, detail))


def _unfit(plan: Plan) -> Iterator[tuple[Path, Tree, str]]:
    """What does not fit the model: where, which value, and the webhook's words."""
    name = get(plan.job, *REF)
    nodes, procs, resources = (
        plan.trainer_field(field) for field in ("numNodes", "numProcPerNode", "resourcesPerNode")
    )
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


def _managed(plan: Plan) -> Iterator[tuple[Path, Tree, str]]:
    """The arguments that set what the runtime's command sets."""
    for at, arg in enumerate(plan.trainer_field("args") or []):
        key = key_of(arg.value)
        if key in KEPT:
            detail = f'must not set immutable config "{key}" in trainer args; it is managed by the runtime'
            yield ("spec", "trainer", "args", at), arg, detail
