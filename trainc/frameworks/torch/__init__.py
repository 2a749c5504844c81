"""PyTorch: torchrun meets its peers through PET_* variables."""

from __future__ import annotations

from trainc.frameworks.base.field_errors import invalid
from trainc.frameworks.base.refusals import refuse, refuse_env
from trainc.frameworks.base.requirements import check, check_processes, check_slots
from trainc.frameworks.vocabularies import VOCABULARIES
from trainc.model.finding import NOTE, Rule
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
from trainc.model.tree import get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.plan import Plan
    from trainc.model.report import Report
    from trainc.model.sourced import Sourced
    from trainc.model.tree import Tree

VOCABULARY = VOCABULARIES["torch"]

ONE_PROCESS = Rule(
    "one-process-per-node",
    NOTE,
    "a node runs one process because nothing sets the number",
    "Without `numProcPerNode`, GPUs or CPUs in the resources, torchrun's `auto` becomes 1 (Trainer v2.3.0).",
)


def lower(plan: Plan) -> Contribution:
    """The variables torchrun reads, on the node container and on every target of `envInjection`."""
    trainer = plan.trainer
    nodes = trainer.count if trainer is not None else literal(1, "torch")
    world = {
        "PET_NNODES": nodes,
        "PET_NPROC_PER_NODE": procs_per_node(plan),
        "PET_NODE_RANK": COMPLETION_INDEX,
    }
    whole = {**world, "PET_MASTER_ADDR": plan.host(), "PET_MASTER_PORT": PORT}
    injected = Contribution()
    for _, job, container in targets(plan):
        injected += on(plan.role(job), container, env=whole, init=True)
    if not plan.wired:
        return injected
    if tunes(plan):
        from trainc.frameworks.torch import torchtune  # noqa: PLC0415 (few jobs say `tune run`)

        tuned = torchtune.lower(plan, nodes, procs_per_node(plan))
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
    injection = plan.settings.get("envInjection")
    if injection is None:
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
        from trainc.frameworks.torch import torchtune_refusals  # noqa: PLC0415

        torchtune_refusals.refuse_job(plan, report)


def verify(plan: Plan, report: Report) -> None:
    """Findings where the processes would not meet, or too few of them start."""
    check(plan, report, VOCABULARY.reserved)
    if tunes(plan):
        from trainc.frameworks.torch import torchtune  # noqa: PLC0415

        torchtune.verify(plan, report)
    check_processes(plan, report)
    check_slots(plan, report, plan.trainer_field("numProcPerNode"))
    inferred = plan.inferred
    is_explicit = not plan.wired or plan.trainer_field("numProcPerNode") is not None
    if not is_explicit and inferred.gpus.value == 0 and inferred.cpus.value == 0:
        message = "each node runs one process: neither GPUs nor CPUs are asked for"
        at = plan.document.span(("spec", "trainer"), key=True)
        report.add(ONE_PROCESS.at(at, message, help="set `numProcPerNode` or `resourcesPerNode`"))


STARTS = {
    "torch": Start(
        "torch-distributed",
        ("torchrun", "train.py"),
        "torchrun starts a process for each GPU; the PET_* variables tell it where the nodes meet.",
        machines=(GPU, NEURON),
        has_shared_memory=True,
    ),
    "torchtune": Start(
        "torchtune-llama3.2-1b",
        ("tune", "run"),
        "torchtune's recipe and config follow from the runtime and the size of the job.",
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
