"""What the controller does to a spec that its author would not expect; trainc does the same, and says so."""

from __future__ import annotations

from trainc.model.finding import WARNING, Rule, place
from trainc.model.tree import first_leaf, get, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.plan import Plan
    from trainc.model.report import Report
    from trainc.model.tree import Tree

LOST_PORT = Rule(
    "lost-port",
    WARNING,
    "the controller overwrites a container port with another",
    "Trainer v2.3.0 treats two ports as one if their numbers or their names are equal, even if both names are absent.",
)


LOST_CLAIMS = Rule(
    "claims-dropped",
    WARNING,
    "the controller drops the device claims of the training container",
    "If a TrainJob sets `resourcesPerNode`, Trainer v2.3.0 merges only limits and requests: `claims` of the job "
    "and its runtime do not reach the pods.",
)

LOST_VALUE = Rule(
    "value-dropped",
    WARNING,
    "the controller drops the value of a variable that also has a `valueFrom`",
    "Trainer v2.3.0 copies only the `valueFrom`; in a pod template the API server rejects a variable with both.",
)


def lost_values(plan: Plan, report: Report) -> None:
    """A warning for each variable of the TrainJob that has a value and a source."""
    blocks = [("trainer",), ("initializer", "dataset"), ("initializer", "model")]
    for block in blocks:
        entries = get(plan.job, "spec", *block, "env")
        for entry in entries if type(entries) is list else ():
            if value(entry, "value") is None or get(entry, "valueFrom") is None:
                continue
            report.add(
                LOST_VALUE.at(
                    place(entry["value"].origin) or plan.document.span(("spec", *block), key=True),
                    f"the Trainer controller drops the value of `{value(entry, 'name')}`, which has a source too",
                    effect="the program reads what the source holds",
                    help="keep one of the two",
                )
            )


def lost_claims(plan: Plan, report: Report) -> None:
    """A warning for each list of device claims that `resourcesPerNode` costs the training container."""
    job_claims = get(plan.job, "spec", "trainer", "resourcesPerNode", "claims")
    lists = [("the TrainJob", job_claims)] if job_claims else []
    for patch in plan.overrides:
        container = plan.roles[patch.role].container(patch.container) if "resources" in patch.sets else None
        held = get(container, "resources", "claims")
        lists += [("the runtime", held)] if held else []
    for who, claims in lists:
        leaf = first_leaf(claims)
        report.add(
            LOST_CLAIMS.at(
                (place(leaf.origin) if leaf is not None else None) or plan.document.span(("spec", "trainer"), key=True),
                f"the Trainer controller drops the claims of {who}",
                effect="no container of the pod reaches the devices",
                help="write limits, requests and claims in the runtime, and leave out `resourcesPerNode`",
            )
        )


def lost_ports(plan: Plan, was: Tree, now: Tree, report: Report) -> None:
    """A warning for each port that a container loses when the controller writes ports back."""
    kept = [value(port, "containerPort") for port in now["ports"]]
    for port in was["ports"]:
        number = port["containerPort"]
        if number.value in kept:
            continue
        report.add(
            LOST_PORT.at(
                place(number.origin) or plan.document.span(),
                f"port {number.value} of container `{value(was, 'name')}` is overwritten by {kept[-1]}",
                effect="the Trainer controller takes two ports without a name for one and keeps the later",
                help="give every port of the container a `name`",
            )
        )
