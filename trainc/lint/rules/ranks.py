"""Whether every process has a rank of its own."""

from __future__ import annotations

from trainc.lint.facts.values import COMPLETION_INDEX, Varies
from trainc.lint.facts.world import PodAddress, keeps_to_itself, meetings, ranks
from trainc.model.finding import ERROR, WARNING, Label, Rule
from trainc.text.numbers import parsed_int

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Container, Findings, Job
    from trainc.model.tree import Path

CONSTANT = Rule("constant-rank", ERROR)
OVERLAP = Rule("ranks-overlap", ERROR)
MANY_JOBS = Rule("ranks-repeat-per-job", WARNING)
NO_INDEX = Rule("rank-without-index", ERROR)


def constant_rank(job: Job) -> Findings:
    if job.vocabulary.ranks.isdisjoint(job.names):
        return
    for container in job.main:
        if not container.role.several:
            continue
        for name, value in ranks(container):
            is_number = type(value) is str and parsed_int(value) is not None
            if is_number and _read(container, name) and not keeps_to_itself(container):
                yield CONSTANT.at(
                    job.at((*container.env_path(name), "value")),
                    f"`{name}` is {value} in all {container.role.count} pods of `{container.role.name}`",
                    effect="the processes cannot tell each other apart, and the rendezvous fails or never ends",
                    help="read it from the pod: `fieldPath: metadata.annotations['batch.kubernetes.io/job-completion-index']`",
                )


def constant_rank_option(job: Job) -> Findings:
    for container in job.main:
        launch = container.launch
        if not container.role.several or launch is None or launch.launcher is None or "standalone" in launch.flags:
            continue
        option = launch.launcher.rank[0]
        rank = launch.number(option) if option and "$" not in launch.flags.get(option, "$") else None
        backend = (
            launch.value("rdzv_backend") if "rdzv_backend" in launch.flags else container.value("PET_RDZV_BACKEND")
        )
        if type(rank) is not int or backend not in (None, "static"):
            continue  # a dynamic rendezvous numbers the nodes itself
        variable = launch.launcher.rank[1]
        yield CONSTANT.at(
            job.at_word(container, f"--{option}", f"--{option.replace('_', '-')}"),
            f"`--{option}` is {rank} in all {container.role.count} pods of `{container.role.name}`",
            effect="the processes cannot tell each other apart, and the rendezvous fails or never ends",
            help="remove it: " + (f"`{variable}` tells each pod its own" if variable in container.env else "")
            if variable in container.env
            else "remove it, and pass the index of the pod: `sh -c 'torchrun --node_rank=$JOB_COMPLETION_INDEX ...'`",
        )


def _read(container: Container, name: str) -> bool:
    """Whether anything reads a rank: launchers give their processes ranks, and go by few variables themselves."""
    launch = container.launch
    if launch is None or launch.launcher is None or name in container.text:
        return True
    option, variable = launch.launcher.rank
    return name == variable and option not in launch.flags


def ranks_overlap(job: Job) -> Findings:
    if len(job.roles) < 2 or job.vocabulary.ranks.isdisjoint(job.names):
        return
    first: dict[tuple[str, str], Container] = {}
    for meeting in meetings(job):
        container = meeting.container
        for name, value in ranks(container):
            start = "0" if type(value) is Varies and value.by == COMPLETION_INDEX else value
            if type(start) is not str or parsed_int(start) is None:
                continue
            other = first.setdefault((meeting.host, f"{name}={start}"), container)
            if other.role is not container.role and _goes_by(container, name) and _goes_by(other, name):
                yield OVERLAP.at(
                    job.at(container.env_path(name)),
                    f"`{name}` starts at {start} in `{container.role.name}` and in `{other.role.name}`, which meet at `{meeting.host}`",
                    also=[Label(job.at(other.env_path(name)), f"also {start} here")],
                    effect="two processes claim one rank, and the group never forms",
                    help="put all pods of the world into one role, or add the size of the first role in the start script",
                )


def _goes_by(container: Container, name: str) -> bool:
    """Whether what a container starts may go by a rank: a launcher, or a program where no launcher alone reads it."""
    launch = container.launch
    if launch is None or launch.launcher is not None:
        return launch is not None
    return name not in [launcher.rank[1] for launcher in container.role.job.vocabulary.launchers]


def ranks_repeat_per_job(job: Job) -> Findings:
    for meeting in meetings(job):
        role = meeting.container.role
        if type(role.replicas) is not int or role.replicas < 2:
            continue
        place = meeting.place
        own = [
            name for name, value in ranks(meeting.container) if type(value) is Varies and value.by == COMPLETION_INDEX
        ]
        if (
            isinstance(place, PodAddress)
            and place.role is role
            and own
            and "JOB_INDEX" not in meeting.container.text.upper()
        ):
            yield MANY_JOBS.at(
                job.at((*role.path, "replicas")),
                f"`{role.name}` has {role.replicas} Jobs that all meet at `{meeting.host}`, and in each of them `{own[0]}` counts from 0",
                also=[Label(job.at(meeting.container.env_path(own[0])), "the same ranks in every Job")],
                effect="pods of different Jobs claim the same rank",
                help="use `replicas: 1` with a larger `parallelism` and `completions`",
            )


def rank_without_index(job: Job) -> Findings:
    for role in job.roles:
        if role.indexed:
            continue
        for container in role.containers:
            for name in container.env:
                value = container.value(name)
                if type(value) is Varies and value.by == COMPLETION_INDEX:
                    yield from _unindexed(
                        job, container, container.env_path(name), f"`{name}` is read from the completion index"
                    )
            if "JOB_COMPLETION_INDEX" in container.text and "JOB_COMPLETION_INDEX" not in container.env:
                yield from _unindexed(
                    job,
                    container,
                    container.word_path("JOB_COMPLETION_INDEX"),
                    "the command uses `JOB_COMPLETION_INDEX`",
                )


def _unindexed(job: Job, container: Container, path: Path, what: str) -> Findings:
    yield NO_INDEX.at(
        job.at(path),
        f"{what}, but `{container.role.name}` is not indexed",
        also=[Label(job.at((*container.role.spec_path, "completionMode")), "not indexed here")],
        effect="it is empty in every pod",
        help="use `completionMode: Indexed`",
    )


CHECKS = (constant_rank, constant_rank_option, ranks_overlap, ranks_repeat_per_job, rank_without_index)
