"""What frameworks ask of a plan before its processes can meet: a trainer, its node container, a node, keys in a Secret."""

from collections.abc import Collection, Sequence

from trainc.frameworks.base.refusals import reserved
from trainc.model.finding import ERROR, NOTE, WARNING, Finding, Label, Rule, place
from trainc.model.inference import MAX_DEVICES
from trainc.model.patches import Framework
from trainc.model.plan import NODE, TRAINER, Plan, Role
from trainc.model.report import Report
from trainc.model.sourced import Sourced, Span, derive
from trainc.model.tree import Tree, first_leaf, value
from trainc.model.vocabulary import Vocabulary
from trainc.text.counting import counted

OVERWRITTEN_ENV = Rule("overwritten-env", WARNING)
NO_PROCESSES = Rule("no-processes", ERROR)
NO_TRAINER = Rule("no-trainer", ERROR)
TWO_TRAINERS = Rule("two-trainers", WARNING)
NO_NODE_CONTAINER = Rule("no-node-container", ERROR)
NO_TRAINER_BLOCK = Rule("no-trainer-block", WARNING)
SEVERAL_GPU_NAMES = Rule("several-gpu-resources", WARNING)
MISMATCHED_SLOTS = Rule("slots-gpus-mismatch", WARNING)
UNREAD_PROCESSES = Rule("processes-per-node-ignored", WARNING)
BEATEN_ENV = Rule("rendezvous-env-replaced", WARNING)
EXISTING = "existing"  # the project names a Secret: `existing:NAME`
IN_CLUSTER = "external-secrets"  # the External Secrets operator makes it
SECRET_NEEDED = Rule("secret-needed", NOTE)


def check(plan: Plan, report: Report, names: Collection[str] = (), *, infers: bool = True) -> None:
    """Findings that hold for every framework whose processes meet; `names` are the variables it sets.

    `infers` says that process counts come from the resources.
    """
    if infers:
        check_gpus(plan, report)
    if (trainer := plan.trainer) is None:
        message = f"no replicatedJob has the trainer label, so `{plan.framework}` cannot set its variables"
        effect = "every process runs alone, and no pod gets the settings of `spec.trainer`"
        help_ = "label the Job template `trainer.kubeflow.org/trainjob-ancestor-step: trainer`"
        report.add(NO_TRAINER.at(template_span(plan), message, effect=effect, help=help_))
        return
    if not plan.wired:
        span, effect = plan.document.span(("spec",)), "every process runs alone"
        message = f"`spec.trainer` is not set, so `{plan.framework}` sets no variables"
        report.add(NO_TRAINER_BLOCK.at(span, message, effect=effect, help="add `trainer: {}`"))
    if others := [role for role in plan.roles if role.ancestor == TRAINER and role is not trainer]:
        first, second = trainer.name.value, others[0].name.value
        message = f"`{second}` is a second trainer; `{first}` is the first"
        label = "gets image, command and env, but neither nodes nor rendezvous variables"
        also = [Label(role_span(plan, trainer), "the trainer that counts")]
        effect, help_ = f"the processes of `{second}` do not know their peers", "label only one of them"
        at = role_span(plan, others[0])
        report.add(TWO_TRAINERS.at(at, message, label=label, also=also, effect=effect, help=help_))
    check_container(plan, report, trainer, "no process gets the variables: each process runs alone")
    if plan.wired:
        check_overwritten(plan, report, trainer, names)


def check_gpus(plan: Plan, report: Report) -> None:
    """A finding where it is a matter of chance which resource the controller counts as GPU."""
    inferred = plan.inferred
    if not inferred.gpu_names:
        return
    amounts = inferred.resources[inferred.part]
    first, *rest = (span_of(plan, amounts[name]) for name in inferred.gpu_names)
    message = f"{' and '.join(f'`{name}`' for name in inferred.gpu_names)} both count as GPUs"
    also = [Label(span, "not counted") for span in rest]
    effect = "the Trainer controller counts one of them at random"
    help_ = "keep one, or set `numProcPerNode`"
    report.add(SEVERAL_GPU_NAMES.at(first, message, label="counted", also=also, effect=effect, help=help_))


def check_processes(plan: Plan, report: Report) -> None:
    """A finding where the job allows a node no process."""
    processes = plan.trainer_field("numProcPerNode")
    if processes is not None and type(processes.value) is int and processes.value < 1:
        message = f"`numProcPerNode` is {processes.value}"
        effect = "no node starts a process"
        help_ = "set it to 1 or more, or remove it"
        report.add(NO_PROCESSES.at(span_of(plan, processes), message, effect=effect, help=help_))


def check_unread(plan: Plan, name: str, report: Report) -> None:
    """A finding where the job asks for several processes on a node, and nothing of its framework starts them."""
    processes = plan.trainer_field("numProcPerNode")
    if processes is not None and type(processes.value) is int and processes.value > 1:
        message = f"nothing reads `numProcPerNode` in a job of the framework `{name}`"
        effect = f"each node runs its command once, not {processes.value} times"
        help_ = "remove it, or start the processes from the command"
        report.add(UNREAD_PROCESSES.at(span_of(plan, processes), message, effect=effect, help=help_))


def check_slots(plan: Plan, report: Report, slots: Sourced[int] | None) -> None:
    """A finding where the processes that a node is told to run do not match its GPUs."""
    if slots is None or type(slots.value) is not int or slots.value < 1:
        return
    gpu = plan.inferred.gpus
    if gpu.value in (0, slots.value) or gpu.value >= MAX_DEVICES:
        return
    processes = f"{slots.value} {'process' if slots.value == 1 else 'processes'}"
    message = f"{processes} for each node, which has {counted(gpu.value, 'GPU')}"
    also = [Label(span, "GPUs of a node") for span in [place(gpu.origin)] if span is not None]
    effect = "processes share GPUs, and collectives between two on one GPU fail or hang"
    if slots.value < gpu.value:
        effect = f"{gpu.value - slots.value} GPUs of every node stay idle"
    help_ = f"set `numProcPerNode: {gpu.value}`, or request {counted(slots.value, 'GPU')}"
    report.add(MISMATCHED_SLOTS.at(span_of(plan, slots), message, also=also, effect=effect, help=help_))


def check_container(plan: Plan, report: Report, role: Role, effect: str) -> None:
    """A finding where a role lacks the container that the framework fills."""
    if role.container() is None:
        message = f"`{role.name.value}` has no container named `{NODE}`"
        help_ = f"name the container that trains `{NODE}`"
        report.add(NO_NODE_CONTAINER.at(role_span(plan, role), message, effect=effect, help=help_))


def check_overwritten(plan: Plan, report: Report, role: Role, names: Collection[str]) -> None:
    """Findings for variables of the runtime's container that the framework replaces."""
    for entry in (role.container() or {}).get("env") or ():
        if value(entry, "name") in names:
            report.add(overwritten(plan, entry["name"].value, span_of(plan, entry)))


def overwritten(plan: Plan, name: str, span: Span) -> Finding:
    """The finding for one variable whose value is lost to the framework's."""
    message = f"the `{plan.framework}` framework sets `{name}`"
    return OVERWRITTEN_ENV.at(span, message, label="the framework overwrites this value", help="remove it")


def template_span(plan: Plan) -> Span:
    """Where the runtime lists its replicatedJobs, or the job's reference to it."""
    if plan.runtime is None:
        return plan.document.span(("spec", "runtimeRef"))
    return plan.runtime.span(("spec", "template", "spec", "replicatedJobs"), key=True)


def role_span(plan: Plan, role: Role) -> Span:
    """Where a role is written."""
    return span_of(plan, role.name)


def span_of(plan: Plan, node: Tree) -> Span:
    """Where a node of the plan is written, or else the replicatedJobs are."""
    leaf = first_leaf(node)
    return (place(leaf.origin) if leaf is not None else None) or template_span(plan)


def check_reserved(plan: Plan, framework: Framework, report: Report) -> None:
    """Findings for reserved variables of a job: lost to the framework's, or in their place where its env comes first."""
    vocabulary = framework.vocabulary
    if framework.refuses_reserved:
        return
    if framework.verify is None and plan.trainer is not None and not framework.env_first:
        check_overwritten(plan, report, plan.trainer, vocabulary.reserved)
    for at, name in reserved(plan, vocabulary.reserved):
        span = plan.document.span(("spec", "trainer", "env", at, "name"))
        if not framework.env_first:
            report.add(overwritten(plan, name, span))
        elif name not in vocabulary.ranks or "value" not in plan.trainer_field("env")[at]:
            # One rank in all pods shows in any framework's pods alike.
            message = f"`{name}` replaces the value that the `{framework.name}` framework sets"
            report.add(BEATEN_ENV.at(span, message, effect=_effect(name, vocabulary), help="remove it"))


def _effect(name: str, vocabulary: Vocabulary) -> str:
    if name in vocabulary.ranks:
        return "all processes have this ID, and the coordinator rejects all but one"
    if name in vocabulary.sizes:
        return "process 0 waits for this number of processes"
    if name in vocabulary.addresses:
        return "every process waits for a coordinator at this address"
    return "the processes use this value"


def choice(plan: Plan) -> str:
    """What the project chose for the keys of MPI: `existing` (also where it is silent) or `external-secrets`."""
    chosen = plan.secrets.get("mpi")
    return chosen.value.partition(":")[0] if chosen is not None else EXISTING


def secret_name(plan: Plan, framework: str, suffix: str) -> Sourced[str]:
    """The Secret that the project names, else the job's name with `suffix`, as the Trainer controller names it."""
    if (chosen := plan.secrets.get(framework)) is not None and ":" in chosen.value:
        return derive("the project's Secret", lambda text: text.partition(":")[2], chosen)
    own: Sourced[str] = plan.job["metadata"]["name"]  # keys outlive the runs of a job
    return derive("the controller's name for this Secret", lambda job: job + suffix, own)


def note(plan: Plan, report: Report, name: str, keys: Sequence[str], recipe: str) -> None:
    """A note on the Secret a job needs: its keys, and the command that makes it."""
    where = f" -n {plan.namespace.value}" if plan.namespace is not None else ""
    message = f"the Secret `{name}` must hold {' and '.join(f'`{key}`' for key in keys)}"
    effect = "the pods wait in ContainerCreating until it exists"
    help_ = f"{recipe.replace('NAME', name)}{where}"
    report.add(SECRET_NEEDED.at(plan.document.span(("metadata", "name")), message, effect=effect, help=help_))
