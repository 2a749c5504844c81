"""MPI: a launcher reaches the nodes over ssh and learns of them from a hostfile (Open MPI)."""

from __future__ import annotations

from trainc.frameworks.base.field_errors import invalid
from trainc.frameworks.base.hosts import LONGEST, length, refuse_length
from trainc.frameworks.base.refusals import policy_span, refuse, refuse_env, unbuildable
from trainc.frameworks.base.requirements import (
    check_gpus,
    check_overwritten,
    check_processes,
    check_slots,
    template_span,
)
from trainc.frameworks.mpi import keys as mpi_keys
from trainc.frameworks.mpi.hosts import HOSTFILE, LAUNCHER, as_node, host_counts, hostfile, node_count, slots_per_node
from trainc.frameworks.mpi.peers import check_peers
from trainc.frameworks.vocabularies import VOCABULARIES
from trainc.model.finding import WARNING, Rule, place
from trainc.model.patches import Contribution, Framework, Start, on, pod
from trainc.model.plan import NODE
from trainc.model.sourced import derive
from trainc.model.tree import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.plan import Plan, Role
    from trainc.model.report import Report
    from trainc.model.sourced import Sourced

VOCABULARY = VOCABULARIES["mpi"]

SEVERAL_LAUNCHERS = Rule(
    "several-launchers",
    WARNING,
    "more than one launcher starts",
    "`mlPolicy.numNodes` sizes the replicatedJob labelled as trainer, which is the launcher (Trainer v2.3.0).",
)
SURPLUS_NODE = Rule(
    "surplus-node",
    WARNING,
    "an MPI job of one node gets a second one",
    "A launcher that runs as a node counts in `numNodes`, but the replicatedJob `node` never shrinks below one "
    "pod (Trainer v2.3.0).",
)


def lower(plan: Plan) -> Contribution:
    """Keys on launcher and nodes, hostfile and variables on the launcher, and the number of nodes."""
    slots = slots_per_node(plan)
    out = Contribution(counts=node_count(plan)) + mpi_keys.lower(plan)
    launcher = plan.role(LAUNCHER)
    if launcher is not None:
        out += launch(plan, launcher, slots)
    if length(plan, host_counts(plan)) > LONGEST:
        return out
    name, data = {"name": _hostfile_name(plan)}, {"hostfile": hostfile(plan, slots)}
    return out + Contribution(objects=[{"apiVersion": "v1", "kind": "ConfigMap", "metadata": name, "data": data}])


def launch(plan: Plan, launcher: Role, slots: Sourced[int]) -> Contribution:
    """What the launcher alone has: the hostfile, and the variables that make Open MPI read it."""
    source = {"name": _hostfile_name(plan), "items": [{"key": "hostfile", "path": "hostfile", "mode": 0o444}]}
    return pod(launcher, volumes=[{"name": "mpi-hostfile", "configMap": source}]) + on(
        launcher,
        env=dict(zip(VOCABULARY.reserved, (HOSTFILE, "true", slots, "-o ConnectionAttempts=10"), strict=True)),
        mounts=[{"name": "mpi-hostfile", "mountPath": "/etc/mpi"}],
    )


def _hostfile_name(plan: Plan) -> Sourced[str]:
    return derive("name of the hostfile's ConfigMap", lambda job: f"{job}-mpi-hostfile", plan.name)


def refuse_job(plan: Plan, report: Report) -> None:
    """The TrainJob webhook's refusals of an MPI job, and what the controller cannot build."""
    nodes, launcher = plan.trainer_field("numNodes"), plan.role(LAUNCHER)
    if as_node(plan) and nodes is not None and nodes.value >= 2 and (launcher is None or plan.role(NODE) is None):
        detail = (
            "must have 1 when MPI trainingRuntime with enabled runLauncherAsNode does not have either launcher and node"
        )
        message = "`numNodes` above 1 needs a runtime with both `launcher` and `node`"
        refuse(plan, report, ("spec", "trainer", "numNodes"), message, invalid("spec.trainer.numNodes", nodes, detail))
    refuse_env(plan, report, VOCABULARY.reserved, ", or set `numProcPerNode` instead")
    if value(plan.settings, "mpiImplementation") == "" and launcher is not None and launcher.container() is not None:
        message = "`mpiImplementation` is empty, and the launcher cannot be set up for no implementation"
        text = "MPI implementation for <pointer> doesn't supported"
        unbuildable(plan, report, policy_span(plan), message, text, "set `mpiImplementation: OpenMPI`, or leave it out")
    refuse_length(plan, report, length(plan, host_counts(plan)))


def verify(plan: Plan, report: Report) -> None:
    """Findings where mpirun would not start, or would not reach its nodes."""
    check_gpus(plan, report)
    check_processes(plan, report)
    check_slots(plan, report, slots_per_node(plan))
    mpi_keys.verify(plan, report)
    check_peers(plan, report)
    launcher, nodes = plan.role(LAUNCHER), plan.trainer_field("numNodes")
    if nodes is not None and nodes.value < 2 and as_node(plan) and launcher is not None and plan.role(NODE) is not None:
        message = f"`numNodes: {nodes.value}` starts two pods that work: the launcher, and one of `node`"
        effect = "mpirun starts processes on both, and both hold what a node asks for"
        advice = "write `numNodes: 2`, or name a runtime without `runLauncherAsNode`"
        report.add(SURPLUS_NODE.at(place(nodes.origin) or template_span(plan), message, effect=effect, help=advice))
    if launcher is not None:
        check_overwritten(plan, report, launcher, VOCABULARY.reserved)
        if launcher.count.value > 1:
            message = f"{launcher.count.value} launchers start, each with an mpirun of its own"
            span = place(launcher.count.origin) or template_span(plan)
            advice = "leave `mlPolicy.numNodes` at 1: the job's `numNodes` sizes the role `node`"
            report.add(SEVERAL_LAUNCHERS.at(span, message, help=advice))


def start(runtime: str, needs: str = "") -> Start:
    """A job whose launcher runs mpirun; `needs` is what its image has to hold."""
    return Start(
        runtime,
        ("mpirun", "-n", "{processes}", "python", "train.py"),
        f"mpirun on the launcher starts the processes on every node{needs}.",
        has_launcher=True,
        has_shared_memory=True,
    )


STARTS = {
    "deepspeed": start("deepspeed-distributed"),
    "mlx": start("mlx-distributed"),
    "mpi": start("deepspeed-distributed", "; the image needs Open MPI and sshd"),
}

FRAMEWORK = Framework(
    "mpi",
    lower,
    vocabulary=VOCABULARY,
    refuse=refuse_job,
    refuses_reserved=True,
    env_first=True,
    verify=verify,
    starts=STARTS,
    has_slots=True,
)
