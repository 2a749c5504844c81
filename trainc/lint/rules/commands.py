"""What commands do: exit codes that nobody sees, variables that nobody expands, processes that never end."""

from __future__ import annotations

from trainc.lint.facts.endless import endless, is_daemon
from trainc.lint.facts.launch import PYTHON
from trainc.lint.facts.values import texts
from trainc.model.finding import ERROR, NOTE, WARNING, Label, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Container, ExpandedRole, Findings, Job
    from trainc.model.vocabulary import Launcher

SLEEP = Rule("endless-sleep", WARNING)
ONE_WORD = Rule("command-in-one-word", ERROR)
INIT = Rule("endless-init-container", ERROR)
SIDECAR = Rule("endless-sidecar", ERROR)
BRANCH = Rule("unpinned-download", WARNING)
INSTALL = Rule("install-at-start", NOTE)
NO_LAUNCHER = Rule("launcher-missing", WARNING)
LAUNCHER_SETS = Rule("launcher-sets-it", NOTE)


_SHELL = frozenset("&|;<>$`'\"()\n")
_LONG = 60  # characters of a line that a message repeats


def endless_sleep(job: Job) -> Findings:
    for container in job.main:
        if container.devices and endless(container) and not is_daemon(container):
            yield SLEEP.at(
                job.at_word(container, "sleep", "tail"),
                f"`{container.name}` sleeps for ever and holds its accelerators",
                effect="nothing trains, and the accelerators are paid for until somebody deletes the job",
                help="run the training, or take the accelerators away",
            )


def command_in_one_word(job: Job) -> Findings:
    for container in job.containers:
        program = next(iter(texts(container.tree, "command")), "")
        if " " in program and "$(" not in program:
            yield ONE_WORD.at(
                job.at((*container.path, "command", 0)),
                f"`{container.name}` looks for a program that is called `{_short(program)}`",
                effect="there is no such file: the container never starts",
                help=_apart(program),
            )


def _apart(program: str) -> str:
    """How a line is written as a command: word by word, or for a shell where it needs one."""
    words = ", ".join(f'"{word}"' for word in program.split())
    if not _SHELL.isdisjoint(program) or len(words) > _LONG:
        return "give the line to a shell: `[sh, -c, LINE]`"
    return f"write each word apart: `[{words}]`"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONG else f"{line[:_LONG]}..."


def endless_init_container(job: Job) -> Findings:
    for role in job.roles:
        for container in role.init:
            if container.kind == "init container" and (endless(container) or is_daemon(container)):
                yield INIT.at(
                    job.at((*container.path, "name")),
                    f"init container `{container.name}` never ends",
                    effect="the containers that train never start",
                    help="add `restartPolicy: Always`: it then runs beside them and ends with them",
                )


def _counts(role: ExpandedRole) -> bool:
    from trainc.lint.facts.start_order import counts  # noqa: PLC0415 (most pods have one container)

    return counts(role)


def endless_sidecar(job: Job) -> Findings:
    for role in job.roles:
        if len(role.main) < 2 or not _counts(role):
            continue
        trains = next((c for c in role.main if _at_work(c) and not endless(c) and not is_daemon(c)), None)
        for container in role.main if trains is not None else ():
            if container is not trains and not container.devices and (endless(container) or is_daemon(container)):
                assert trains is not None
                yield SIDECAR.at(
                    job.at((*container.path, "name")),
                    f"`{container.name}` never ends, so no pod of `{role.name}` does",
                    also=[Label(job.at((*trains.path, "name")), "ends when the training does")],
                    effect="the Job never completes, and the accelerators stay held after the training",
                    help="move it to `initContainers` with `restartPolicy: Always`: it then ends with the others",
                )


def _at_work(container: Container) -> bool:
    """Whether a container is the one that trains: it has accelerators, or starts a program of the user's."""
    return bool(container.devices) or container.launch is not None


def unpinned_download(job: Job) -> Findings:
    if "http" not in job.text and "git clone" not in job.text:
        return
    for container in job.containers:
        for simple in container.commands if "http" in container.text or "git clone" in container.text else ():
            url = next((w for w in simple.words if w.startswith("http") and ("/master/" in w or "/main/" in w)), "")
            if simple.program in ("curl", "wget") and url:
                yield BRANCH.at(
                    job.at_word(container, url),
                    f"`{simple.program}` fetches what a branch holds at that moment: `{url}`",
                    effect="pods that start at different times may run different code",
                    help="use a commit or a tag in the address, or put the file into the image",
                )


def install_at_start(job: Job) -> Findings:
    if "pip" not in job.text and "apt" not in job.text:
        return
    for container in job.main:
        for simple in container.commands if "install" in container.text else ():
            words = simple.words
            if "install" not in words or not any(w.startswith(("pip", "apt")) for w in words[:3]):
                continue
            loose = [
                w
                for w in words[words.index("install") + 1 :]
                if w[:1].isalpha() and "=" not in w and "/" not in w and not w.endswith((".txt", ".whl"))
            ]
            if loose and "-r" not in words and not loose[0].startswith("git+"):
                yield INSTALL.at(
                    job.at_word(container, "install"),
                    f"each pod installs {', '.join(f'`{name}`' for name in loose[:3])} without a version when it starts",
                    effect=f"{container.role.count if container.role.several else 1} downloads at each start, and what runs may change from one restart to the next",
                    help="put them into the image, or name versions",
                )
                break


def launcher_missing(job: Job) -> Findings:
    launchers = [launcher for launcher in job.vocabulary.launchers if launcher.nodes[1] in job.names]
    for container in job.main if launchers else ():
        launch = container.launch
        fitting = [launcher for launcher in launchers if launcher.nodes[1] in container.env]
        counts = {name: n for name, n in container.devices.items() if type(n) is int}
        most = max(counts.values(), default=0)
        if launch is None or launch.name != PYTHON or most < 2 or not fitting:
            continue
        resource = next(name for name, n in counts.items() if n == most)
        yield NO_LAUNCHER.at(
            job.at_word(container, "python"),
            f"plain python starts one process in a pod with {most} accelerators",
            also=[Label(job.at((*container.path, "resources", "limits", resource)), f"{most} here")],
            effect=f"{most - 1} of {most} accelerators stand idle, and the pods do not find each other",
            help=f"start it with `{fitting[0].name}`, which reads the {_family(fitting[0])}_* variables that are set here",
        )


def _family(launcher: Launcher) -> str:
    return launcher.nodes[1].partition("_")[0]


def launcher_sets_it(job: Job) -> Findings:
    for container in job.main:
        launcher = container.launch.launcher if container.launch is not None else None
        if launcher is None:
            continue
        option = launcher.rank[0]
        for name in launcher.sets:
            if name in container.env and f"${name}" not in container.text and f"${{{name}" not in container.text:
                yield LAUNCHER_SETS.at(
                    job.at(container.env_path(name)),
                    f"`{launcher.name}` sets `{name}` itself in every process",
                    effect="the value here is never seen by the training",
                    help=f"remove it, or pass it on: `--{option}=$({name})`"
                    if option and name in job.vocabulary.ranks
                    else "remove it",
                )


CHECKS = (
    command_in_one_word,
    endless_sleep,
    endless_init_container,
    endless_sidecar,
    unpinned_download,
    install_at_start,
    launcher_missing,
    launcher_sets_it,
)
