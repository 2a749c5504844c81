"""Whether torchrun on several nodes is told where the nodes meet."""

from __future__ import annotations

from trainc.frameworks.vocabularies import TORCHRUN
from trainc.model.finding import ERROR, WARNING, Label, Rule
from trainc.text.numbers import parsed_int

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Container, Findings, Job
    from trainc.lint.facts.launch import Launch

STANDALONE = Rule("standalone-on-several-nodes", ERROR)
NO_RENDEZVOUS = Rule("no-rendezvous", ERROR)
_TOLD = ("PET_MASTER_ADDR", "PET_RDZV_ENDPOINT", "PET_STANDALONE")


def standalone_on_several_nodes(job: Job) -> Findings:
    for container in job.main:
        launch = _torchrun(container)
        if launch is None or "standalone" not in launch.flags or not _several_nodes(container):
            continue
        role, nodes = container.role, _nodes(launch)
        waits = nodes is not None and nodes > 1
        knows_peers = any(name in container.env for name in (*job.vocabulary.ranks, *job.vocabulary.addresses))
        if not waits and (not knows_peers or "JOB_COMPLETION_INDEX" in container.text):
            continue  # pods that are told nothing of each other may well have work of their own
        yield STANDALONE.at(
            job.at_word(container, "--standalone"),
            f"`--standalone` keeps each of the {role.count} pods of `{role.name}` to itself",
            also=[Label(job.at((*role.spec_path, "parallelism")), f"{role.count} pods here")],
            effect=f"each pod waits for {nodes - 1} more on its own loopback address until the timeout"
            if waits and nodes is not None
            else "each pod trains the same model by itself",
            help="remove `--standalone`" + ("" if _is_told(container) else f", and {_address(container)}"),
            level=ERROR if waits else WARNING,
        )


def no_rendezvous(job: Job) -> Findings:
    for container in job.main:
        launch = _torchrun(container)
        if launch is None or "standalone" in launch.flags or not _several_nodes(container) or _is_told(container):
            continue
        nodes = _nodes(launch)
        if nodes is None or nodes < 2:
            continue
        unread = "; it does not read `MASTER_ADDR`" if "MASTER_ADDR" in container.env else ""
        yield NO_RENDEZVOUS.at(
            job.at_word(container, *TORCHRUN.words),
            f"`torchrun` is not told where its {nodes} nodes meet{unread}",
            effect="each pod waits on its own loopback address until the timeout, holding its accelerators",
            help=_address(container),
        )


def _torchrun(container: Container) -> Launch | None:
    launch = container.launch
    return launch if launch is not None and launch.launcher is TORCHRUN else None


def _several_nodes(container: Container) -> bool:
    """Whether the pods of the container's role are known to be more than one, and nobody else sets their variables."""
    return container.role.several and "envFrom" not in container.tree


def _nodes(launch: Launch) -> int | None:
    """The largest number of nodes that torchrun is told of; None where that is unknown, or where it is told of none."""
    option, variable = TORCHRUN.nodes
    nodes = launch.value(option) if option in launch.flags else launch.process.value(variable)
    return parsed_int(nodes.rpartition(":")[2]) if type(nodes) is str else None


def _is_told(container: Container) -> bool:
    launch = container.launch
    assert launch is not None
    return (
        any(option in launch.flags for option in TORCHRUN.addresses)
        or any(name in container.env or name in launch.exported for name in _TOLD)
        or any(f"{name}=" in container.script for name in _TOLD)
    )


def _address(container: Container) -> str:
    role, job = container.role, container.role.job
    if not job.dns:
        return "pass `--rdzv_backend=c10d --rdzv_endpoint=HOST:29500`"
    return f"pass `--rdzv_backend=c10d --rdzv_endpoint={role.address()}:29500`"


CHECKS = (standalone_on_several_nodes, no_rendezvous)
