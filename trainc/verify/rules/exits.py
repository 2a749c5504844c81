"""Exit codes that nobody sees: a failed training that counts as a success."""

from __future__ import annotations

from trainc.model.finding import ERROR, Rule

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
                job.at_word(container, program, program.partition(" ")[0]),
                f"the exit code of `{program}` is lost: {how}",
                label="nobody learns how it ends",
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
