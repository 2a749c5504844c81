"""What the controller does to a spec that its author would not expect; trainc does the same, and says so."""

from __future__ import annotations

from trainc.model.finding import WARNING, Rule, place
from trainc.model.tree import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.plan import Plan
    from trainc.model.report import Report
    from trainc.model.tree import Tree

LOST_PORT = Rule(
    "lost-port",
    WARNING,
    "the controller overwrites a container port with another one",
    "Trainer v2.3.0 takes two ports for one when their numbers or their names are equal, two absent names included.",
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
