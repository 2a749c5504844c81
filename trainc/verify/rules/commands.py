"""What commands do: exit codes that nobody sees, variables that nobody expands, processes that never end."""

from __future__ import annotations

from trainc.model.finding import ERROR, NOTE, WARNING, Label, Rule
from trainc.verify.endless import endless, is_daemon
from trainc.verify.launch import PYTHON
from trainc.verify.values import rows, substituted, text, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.verify.containers import Container
    from trainc.verify.job import Job
    from trainc.verify.shell import Simple

MASKED = Rule(
    "masked-exit-code",
    ERROR,
    "the container's exit code is not the program's",
    "Jobs, restarts and success policies go by the exit code. A script ends with the code of its last command, a "
    "pipeline with that of its last part: a failed training then counts as a success.",
)
NOT_EXPANDED = Rule(
    "variable-without-shell",
    ERROR,
    "a command uses `$VAR`, but no shell is there to expand it",
    "Kubernetes expands only `$(VAR)`. Without a shell the program gets the dollar sign and the name as they stand.",
)
UNDEFINED = Rule(
    "undefined-variable",
    ERROR,
    "a `$(VAR)` refers to a variable that is not set, or is set further down",
    "Kubernetes expands variables in the order of the list and leaves what it does not know as it stands.",
)
IN_ENV = Rule(
    "shell-variable-in-env",
    WARNING,
    "the value of a variable holds `$VAR`, which Kubernetes does not expand",
    "Only `$(VAR)` is expanded in env. `PATH: $PATH:/opt/bin` replaces the path by these very characters.",
)
SLEEP = Rule(
    "endless-sleep",
    WARNING,
    "a container with accelerators sleeps for ever",
    "The accelerators are held until somebody deletes the job.",
)
INIT = Rule(
    "endless-init-container",
    ERROR,
    "an init container never ends",
    "The other containers start only after it has ended. A daemon must say `restartPolicy: Always`, which makes it a sidecar.",
)
SIDECAR = Rule(
    "endless-sidecar",
    ERROR,
    "a helper that never ends stands among the containers that the pod's end waits for",
    "A pod ends when all its containers have ended: the Job never completes, and the accelerators stay held.",
)
BRANCH = Rule(
    "unpinned-download",
    WARNING,
    "the command fetches code from a branch each time it starts",
    "What runs then depends on the day, and may differ from pod to pod.",
)
INSTALL = Rule(
    "install-at-start",
    NOTE,
    "each pod installs packages without versions when it starts",
    "A package index that is slow, or a new release, then stops or changes the training.",
)
NO_LAUNCHER = Rule(
    "launcher-missing",
    WARNING,
    "plain python in a pod that is set up for torchrun, with several accelerators",
    "Variables like PET_NPROC_PER_NODE are read by torchrun alone; plain python starts one process on one accelerator.",
)
LAUNCHER_SETS = Rule(
    "launcher-sets-it",
    NOTE,
    "a variable that torchrun sets itself is set by hand",
    "torchrun overwrites it in every process it starts.",
)

_HARMLESS = frozenset(
    (
        "touch",
        "echo",
        "date",
        "sync",
        "sleep",
        "true",
        "ls",
        "rm",
        "cp",
        "gsutil",
        "aws",
        "gcloud",
        "cat",
        "printf",
        ":",
        "kill",
        "wait",
    )
)
_TAILS = frozenset(("tee", "cat", "head", "tail", "grep", "sed", "awk", "ts", "logger"))
_SAFE_PROGRAMS = frozenset(
    (
        "apt", "apt-get", "cd", "cp", "curl", "date", "df", "echo", "env", "export", "find", "free", "git", "grep", "hostname", "ip", "kill", "ldconfig", "ls", "lscpu", "mkdir", "mount", "nvidia-smi", "pip", "pip3", "pkill", "ps", "pwd", "rm", "service", "set", "sleep", "source", "sysctl", "touch", "trap", "ulimit", "unset", "wget", "which", "yum", "cat", "ln", "printf", "test", "[", "[[", "chmod", "chown", "tar", "unzip", "true", ":", "nproc", "ssh-keyscan", "getent", "nslookup", "ping", "nc", "modprobe", "ibstat", "ibv_devinfo", "ss", "lsof", "id", "whoami", "uname", "rocm-smi", "jq", "mv", "gsutil", "gcloud", "aws", "tee", "if", "fi", "done", "read", "shift", "local", "declare",
    )
)  # fmt: skip
_TRAINING = ("torchrun", "torch.distributed", "accelerate", "deepspeed", "mpirun", "mpiexec", "python", ".py", "train")


def masked_exit_code(job: Job) -> None:
    for container in job.main:
        script = container.script
        if not script or not any(mark in script for mark in (";", "|", "&", "\n")):
            continue
        found = _masked(container)
        if found is None:
            continue
        program, how, help_ = found
        job.report.add(
            MASKED.at(
                job.at(container.word_path(script)),
                f"the exit code of `{program}` is lost: {how}",
                label="in this script",
                effect=f"when `{program}` fails, the pod ends as a success and the Job counts as complete",
                help=help_,
            )
        )


def _masked(container: Container) -> tuple[str, str, str] | None:
    commands = container.commands
    strict = _strict(container)
    pipefail = "pipefail" in container.script or "pipefail" in container.shell
    for index, simple in enumerate(commands):
        if not _trains(simple):
            continue
        program = _called(simple)
        following = commands[index + 1 :]
        if simple.end in ("|", "|&") and not pipefail and "PIPESTATUS" not in container.script and following:
            return (
                program,
                f"the pipe ends with the exit code of `{following[0].program}`",
                "begin the script with `set -o pipefail`",
            )
        if simple.end == "||" and following and following[0].program in ("true", ":", "echo"):
            return program, f"`|| {following[0].program}` makes a success of it", f"remove `|| {following[0].program}`"
        if simple.end == "&" and not _waited(following, container.script):
            return (
                program,
                "it runs in the background, and nobody waits for it",
                "remove the `&`, or `wait $!` for it at the end",
            )
        if simple.end in (";", "\n") and not strict and _only_harmless(following, container.script):
            last = following[-1].program
            return (
                program,
                f"the script goes on and ends with that of `{last}`",
                "begin the script with `set -e`, or keep `$?` and `exit` with it",
            )
    return None


def _strict(container: Container) -> bool:
    options = container.shell.split()
    if any(o.startswith("-") and not o.startswith("--") and "e" in o.replace("pipefail", "") for o in options):
        return True
    for simple in container.commands:
        if simple.program == "set":
            for word in simple.words[1:]:
                if word == "errexit" or (word.startswith("-") and "e" in word):
                    return True
    return False


def _trains(simple: Simple) -> bool:
    if not simple.words or simple.program in _SAFE_PROGRAMS or simple.program.startswith(("$", "apt", "pip")):
        return False
    if simple.words[1:3] == ["-m", "pip"] or "--version" in simple.words or "-c" in simple.words[1:2]:
        return False
    line = " ".join(simple.words)
    return any(word in line for word in _TRAINING)


def _called(simple: Simple) -> str:
    words = simple.words
    if simple.program.startswith("python") and len(words) > 1:
        return " ".join([simple.program, *words[1:3]]) if words[1] == "-m" else f"{simple.program} {words[1]}"
    return simple.program


def _waited(following: list[Simple], script: str) -> bool:
    return any(simple.program in ("wait", "fg", "tail") for simple in following) or "wait" in script


def _only_harmless(following: list[Simple], script: str) -> bool:
    if not following or "$?" in script or "trap" in script:
        return False
    for simple in following:
        if not simple.words or simple.program not in _HARMLESS:
            return False
    return following[-1].program not in ("wait", "kill") or following[-1].program == "kill"


def variable_without_shell(job: Job) -> None:
    for container in job.containers:
        if "$" not in container.text or container.script or _has_shell(container):
            continue
        for field in ("command", "args"):
            for index, word in enumerate(texts(container.tree, field)):
                name = _shell_variable(word)
                if name and (
                    name in container.env
                    or name in ("HOME", "PATH", "HOSTNAME", "JOB_COMPLETION_INDEX")
                    or word.startswith("$")
                ):
                    job.report.add(
                        NOT_EXPANDED.at(
                            job.at((*container.path, field, index)),
                            f"no shell expands `${name}` here",
                            effect=f"the program gets the characters `${name}`",
                            help=f"write `$({name})`, which Kubernetes expands, or run the command in `sh -c`",
                        )
                    )


def _has_shell(container: Container) -> bool:
    from trainc.verify.shell import SHELLS  # noqa: PLC0415

    return (
        any(word.rpartition("/")[2] in SHELLS for word in container.words[:6])
        or "-c" in container.words
        or not texts(container.tree, "command")
    )


def _shell_variable(word: str) -> str:
    """The name in the first `$NAME` of a word; `${NAME}` may be a template's and does not count."""
    index = word.find("$")
    while index >= 0:
        name = ""
        for char in word[index + 1 :]:
            if not (char.isalnum() or char == "_"):
                break
            name += char
        if name and not name[0].isdigit():
            return name
        index = word.find("$", index + 1)
    return ""


def undefined_variable(job: Job) -> None:
    for container in job.containers:
        if "envFrom" in container.tree:
            continue
        seen: set[str] = set()
        for index, entry in enumerate(rows(container.tree, "env")):
            value = text(entry, "value")
            if "$(" in value:
                for name in _references(value):
                    if name not in seen:
                        _undefined(job, container, name, index)
            seen.add(text(entry, "name"))
        if "$(" in container.text and not container.script and not _has_shell(container):
            for name in _references(container.text):
                if name not in container.env and name != "JOB_COMPLETION_INDEX" and not _service_link(name):
                    job.report.add(
                        UNDEFINED.at(
                            job.at(container.word_path(f"$({name})")),
                            f"`$({name})` is not set in `{container.name}`",
                            effect=f"the program gets the characters `$({name})`",
                            help=f"add `{name}` to `env`",
                        )
                    )


def _references(value: str) -> list[str]:
    found = []
    head, *parts = value.split("$(")
    for part in parts:
        name, closed, _ = part.partition(")")
        if closed and name.isidentifier() and not head.endswith("$"):
            found.append(name)
        head = part
    return found


def _service_link(name: str) -> bool:
    return name.endswith(("_SERVICE_HOST", "_SERVICE_PORT", "_PORT"))


def _undefined(job: Job, container: Container, name: str, index: int) -> None:
    if _service_link(name):
        return
    later = name in container.env
    also = [Label(job.at(container.env_path(name)), "set only here")] if later else ()
    help_ = f"move `{name}` above it" if later else f"add `{name}` above it"
    if name == "JOB_COMPLETION_INDEX":
        help_ = "Kubernetes adds this variable at the end of the list: set one of your own from the same field above it"
    job.report.add(
        UNDEFINED.at(
            job.at((*container.path, "env", index, "value")),
            f"`$({name})` is {'set further down' if later else 'not set'}",
            also=also,
            effect=f"the value keeps the characters `$({name})`",
            help=help_,
        )
    )


def shell_variable_in_env(job: Job) -> None:
    for container in job.containers:
        for index, entry in enumerate(rows(container.tree, "env")):
            leaf = entry.get("value")
            value = leaf.value if leaf is not None and hasattr(leaf, "value") else None
            if type(value) is not str or "$" not in value:
                continue
            name = _shell_variable(value)
            if not name or substituted(value) or value == f"${name}":
                if value and substituted(value):
                    job.report.skip("a variable is filled in by another tool")
                if not name or value != f"${name}" or not (name in container.env or name in ("HOME", "PATH")):
                    continue
            path_like = text(entry, "name").endswith("PATH") and name == text(entry, "name")
            job.report.add(
                IN_ENV.at(
                    job.at((*container.path, "env", index, "value")),
                    f"Kubernetes does not expand `${name}` in the value of `{text(entry, 'name')}`",
                    effect=f"{'nothing of the old path is left' if path_like else 'the program'} "
                    + ("and programs and libraries are not found" if path_like else f"sees the characters `${name}`"),
                    help=f"write `$({name})` if it is set above"
                    if not path_like
                    else "set it in the start script, where a shell expands it, or write the whole path",
                    level=ERROR if path_like else WARNING,
                )
            )


def endless_sleep(job: Job) -> None:
    for container in job.main:
        if container.devices and endless(container) and not is_daemon(container):
            job.report.add(
                SLEEP.at(
                    job.at(container.word_path("sleep", "tail")),
                    f"`{container.name}` sleeps for ever and holds its accelerators",
                    effect="nothing trains, and the accelerators are paid for until somebody deletes the job",
                    help="run the training, or take the accelerators away",
                )
            )


def endless_init_container(job: Job) -> None:
    for role in job.roles:
        for container in role.init:
            if container.kind == "init container" and (endless(container) or is_daemon(container)):
                job.report.add(
                    INIT.at(
                        job.at((*container.path, "name")),
                        f"init container `{container.name}` never ends",
                        effect="the containers that train never start",
                        help="add `restartPolicy: Always`: it then runs beside them and ends with them",
                    )
                )


def endless_sidecar(job: Job) -> None:
    for role in job.roles:
        if len(role.main) < 2:
            continue
        for container in role.main:
            others = [
                other for other in role.main if other is not container and not endless(other) and not is_daemon(other)
            ]
            if others and not container.devices and (endless(container) or is_daemon(container)):
                job.report.add(
                    SIDECAR.at(
                        job.at((*container.path, "name")),
                        f"`{container.name}` never ends, so no pod of `{role.name}` does",
                        also=[Label(job.at((*others[0].path, "name")), "ends when the training does")],
                        effect="the Job never completes, and the accelerators stay held after the training",
                        help="move it to `initContainers` with `restartPolicy: Always`: it then ends with the others",
                    )
                )


def unpinned_download(job: Job) -> None:
    if "http" not in job.text and "git clone" not in job.text:
        return
    for container in job.containers:
        for simple in container.commands if "http" in container.text or "git clone" in container.text else ():
            url = next((w for w in simple.words if w.startswith("http") and ("/master/" in w or "/main/" in w)), "")
            if simple.program in ("curl", "wget") and url:
                job.report.add(
                    BRANCH.at(
                        job.at(container.word_path(url)),
                        f"`{simple.program}` fetches what a branch holds at that moment: `{url}`",
                        effect="pods that start at different times may run different code",
                        help="use a commit or a tag in the address, or put the file into the image",
                    )
                )


def install_at_start(job: Job) -> None:
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
                job.report.add(
                    INSTALL.at(
                        job.at(container.word_path("install")),
                        f"each pod installs {', '.join(f'`{name}`' for name in loose[:3])} without a version when it starts",
                        effect=f"{container.role.count if container.role.several else 1} downloads at each start, and what runs may change from one restart to the next",
                        help="put them into the image, or name versions",
                    )
                )
                break


def launcher_missing(job: Job) -> None:
    if "PET_NPROC_PER_NODE" not in job.names and "PET_NNODES" not in job.names:
        return
    for container in job.main:
        launch = container.launch
        counts = [n for n in container.devices.values() if type(n) is int]
        if (
            launch is None
            or launch.name != PYTHON
            or not counts
            or max(counts) < 2
            or "PET_NNODES" not in container.env
        ):
            continue
        job.report.add(
            NO_LAUNCHER.at(
                job.at(container.word_path("python")),
                f"plain python starts one process in a pod with {max(counts)} accelerators",
                also=[Label(job.at((*container.path, "resources", "limits")), f"{max(counts)} here")],
                effect=f"{max(counts) - 1} of {max(counts)} accelerators stand idle, and the pods do not find each other",
                help="start it with `torchrun`, which reads the PET_* variables that are set here",
            )
        )


def launcher_sets_it(job: Job) -> None:
    for name in ("LOCAL_RANK", "RANK", "GROUP_RANK", "LOCAL_WORLD_SIZE"):
        if name not in job.names:
            continue
        for container in job.main:
            if (
                name in container.env
                and container.launch is not None
                and container.launch.name == "torchrun"
                and f"${name}" not in container.text
                and f"${{{name}" not in container.text
            ):
                job.report.add(
                    LAUNCHER_SETS.at(
                        job.at(container.env_path(name)),
                        f"`torchrun` sets `{name}` itself in every process",
                        effect="the value here is never seen by the training",
                        help=f"remove it, or pass it on: `--node_rank=$({name})`" if name == "RANK" else "remove it",
                    )
                )
