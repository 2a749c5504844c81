"""The names under which pods reach each other, and how long a list of them may become."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainc.model.finding import ERROR, Rule
from trainc.model.patch import Patch
from trainc.model.patches import Contribution, on, variable
from trainc.model.plan import NODE, TRAINER, Plan, Role
from trainc.model.report import Report
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import Tree, get, given, value

LONGEST = 1 << 20  # bytes: what a ConfigMap holds, and well below what etcd takes
LONGEST_VARIABLE = 1 << 17  # bytes: what Linux takes as one string of an environment

TOO_MANY_HOSTS = Rule("too-many-hosts", ERROR, verdict=True)
LONG_VARIABLE = Rule("long-variable", ERROR)


def domain(plan: Plan) -> Sourced[str]:
    """The subdomain of the job's pods: the runtime's, else the job's name."""
    name: Sourced[str] = given(get(plan.template, "spec", "network", "subdomain"), plan.name)
    return name


def hosts(job: str, subdomain: str, role: str, replicas: int, count: int) -> Iterator[str]:
    """The DNS names of all pods of one role, in order, as JobSet publishes them."""
    for replica in range(replicas):
        for index in range(count):
            yield f"{job}-{role}-{replica}-{index}.{subdomain}"


def length(plan: Plan, counts: Mapping[int, Sourced[int]]) -> int:
    """About how many bytes a list of all pods of some roles (by index) takes, found without writing it."""
    pods = sum(plan.roles[index].replicas.value * max(count.value, 0) for index, count in counts.items())
    return int(pods * (2 * len(plan.name.value) + 24))


def refuse_length(plan: Plan, report: Report, size: int) -> None:
    """A refusal where a list of hosts would not fit into an object."""
    if size > LONGEST:
        span = plan.document.span(("spec", "trainer", "numNodes"))
        report.add(TOO_MANY_HOSTS.at(span, "the list of hosts would be larger than 1 MiB", help="request fewer nodes"))


def check_length(plan: Plan, report: Report, name: str, size: int) -> None:
    """A finding where a list of hosts would not fit into a variable."""
    if LONGEST >= size > LONGEST_VARIABLE:
        span = plan.document.span(("spec", "trainer", "numNodes"))
        effect = "no process starts: `argument list too long`"
        message = f"`{name}` would be longer than 128 KiB"
        report.add(LONG_VARIABLE.at(span, message, effect=effect, help="request fewer nodes"))


def port_of(container: Tree, name: str, default: int) -> int:
    """The port of that name, the default where the container declares none."""
    ports = get(container, "ports") or []
    return next((value(port, "containerPort") for port in ports if value(port, "name") == name), default)


def shared_counts(plan: Plan, sized: str) -> dict[int, Sourced[int]]:
    """Counts where several roles are one trainer: `numNodes` is for the role called `sized`, others keep their own."""
    nodes = given(plan.trainer_field("numNodes"), get(plan.policy, "numNodes"))
    return {
        role.index: given(nodes if role.name.value == sized else None, own_count(role))
        for role in plan.roles
        if role.ancestor == TRAINER
    }


def own_count(role: Role) -> Sourced[int]:
    """The number of pods that the runtime writes for a role, 1 where it writes none."""
    count: Sourced[int] = given(get(role.tree, "template", "spec", "parallelism"), Sourced(1, Origin(by="Job default")))
    return count


def around(
    plan: Plan, role: Role, before: Mapping[str, Any], after: Mapping[str, Any], ports: Iterable[int] = ()
) -> Contribution:
    """The node container's whole list of variables: those that others refer to first, the framework's own last.

    An upsert alone would leave `after` where a user wrote it, above what it refers to.
    """
    if role.container() is None:
        return Contribution()
    first = [variable(name, content) for name, content in before.items()]
    last = [variable(name, content) for name, content in after.items()]
    # The node container's variables with the job's own laid on, as they stand before the framework's.
    laid = [patch.env for patch in plan.overrides if patch.role == role.index and patch.container == NODE]
    listed = [get(role.container(), "env") or [], *laid]
    entries = {value(entry, "name"): entry for env in listed for entry in env}
    kept = [entry for name, entry in entries.items() if name not in {*before, *after}]
    return on(role, ports=ports) + Contribution([Patch(role.index, NODE, sets={"env": [*first, *kept, *last]})])
