"""The roles and containers that MPI's keys and hostfile are made for."""

from __future__ import annotations

from trainc.frameworks.base.requirements import check_container, template_span
from trainc.frameworks.mpi.hosts import LAUNCHER, as_node, brings_hosts
from trainc.model.finding import ERROR, Rule
from trainc.model.plan import NODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.plan import Plan
    from trainc.model.report import Report

NO_PEER = Rule(
    "no-launcher",
    ERROR,
    "an MPI runtime lacks the replicatedJob `launcher` or `node`",
    "MPI relies on these names: one pod runs mpirun, the others run the processes that it starts.",
)
EFFECTS = {
    LAUNCHER: "no process runs mpirun, and the nodes wait for ssh connections for ever",
    NODE: "the hostfile is empty, and mpirun has nowhere to start processes",
}


def check_peers(plan: Plan, report: Report) -> None:
    """Findings for what the controller's keys and hostfile are made for, and the runtime does not have; none where it names its hosts."""
    if brings_hosts(plan):
        return
    for name, effect in EFFECTS.items():
        role = plan.role(name)
        if role is not None:
            check_container(plan, report, role, "it gets neither keys nor hostfile, and mpirun waits for it for ever")
        elif name == LAUNCHER or not as_node(plan):
            success = ", and `targetReplicatedJobs: [launcher]` to `successPolicy`" if name == LAUNCHER else ""
            beside = f"add a replicatedJob `{name}` beside `{NODE if success else LAUNCHER}`{success}"
            help_ = (
                beside if plan.role(NODE if success else LAUNCHER) is not None else f"name the replicatedJob `{name}`"
            )
            missing = f"the runtime has no replicatedJob named `{name}`"
            report.add(NO_PEER.at(template_span(plan), missing, effect=effect, help=help_))
