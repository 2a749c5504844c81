"""Exit codes that nobody sees: a failed training that counts as a success."""

from __future__ import annotations

from trainc.frameworks.vocabularies import EVERY
from trainc.model.finding import ERROR, WARNING, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Container, Findings, Job
    from trainc.lint.facts.shell import Simple

MASKED = Rule("masked-exit-code", ERROR)


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


_PIPES = ("|", "|&")
_LAUNCHERS = tuple(dict.fromkeys(word for launcher in EVERY.launchers for word in launcher.words))
_TRAINING = (*_LAUNCHERS, "torch.distributed", "python", ".py", "train")


def masked_exit_code(job: Job) -> Findings:
    for container in job.main:
        script = container.script
        if not script or not any(mark in script for mark in (";", "|", "&", "\n")):
            continue
        masked = _masked(container)
        if masked is None:
            continue
        simple, next_, (how, help_) = masked
        program = _called(simple)
        lost = f"when `{program}` fails, "
        yield MASKED.at(
            job.at_word(container, program, program.partition(" ")[0]),
            f"the exit code of `{program}` is lost: {how}",
            label="the exit status is discarded here",
            effect=f"{lost}the script goes on with `{_called(next_)}`"
            if next_ is not None
            else f"{lost}the pod ends as a success and the Job counts as complete",
            help=help_,
            level=ERROR if next_ is None else WARNING,
        )


def _masked(container: Container) -> tuple[Simple, Simple | None, tuple[str, str]] | None:
    """A program whose exit code is lost, the like of it that runs later, and how and what helps.

    Nothing is said of what prepares or watches the training: its failure is not that of the pod.
    """
    sequence = _Sequence(container)
    for index, (simple, weight) in enumerate(zip(sequence.commands, sequence.weights, strict=True)):
        lost = _lost(sequence, index) if weight else None
        if lost is None:
            continue
        best = sequence.heaviest[sequence.after[index]]
        weight_later = 0 if best is None else sequence.weights[best]
        if weight_later < weight:
            return simple, None, lost
        if weight_later == weight and simple.end != "&" and best is not None:
            return simple, sequence.commands[best], lost
    return None


class _Sequence:
    """The commands of a script with what is asked about those behind each, found in one pass from the end.

    `weights` say how much each looks like the training; `after` is where the pipeline of each has ended, `heaviest`
    the heaviest foreground command from an index on, `harmless` and `waiting` tell about all from an index on.
    """

    __slots__ = ("after", "commands", "harmless", "has", "heaviest", "pipefail", "strict", "waiting", "weights")

    def __init__(self, container: Container) -> None:
        self.commands = commands = container.commands
        self.weights = [_weight(simple) for simple in commands]
        count = len(commands)
        self.after = list(range(1, count + 1))
        self.heaviest: list[int | None] = [None] * (count + 1)
        self.harmless = [True] * (count + 1)
        self.waiting = [False] * (count + 1)
        for index in range(count - 1, -1, -1):
            self._look(index, commands[index], last=index == count - 1)
        words = ("PIPESTATUS", "wait", "$?", "trap")
        self.has = frozenset(word for word in words if word in container.script)
        self.pipefail = "pipefail" in container.script or "pipefail" in container.shell
        self.strict = _strict(container)

    def _look(self, index: int, simple: Simple, *, last: bool) -> None:
        if simple.end in _PIPES and not last:
            self.after[index] = self.after[index + 1]
        best = self.heaviest[index + 1]
        if simple.end != "&" and (best is None or self.weights[index] >= self.weights[best]):
            best = index
        self.heaviest[index] = best
        self.harmless[index] = self.harmless[index + 1] and bool(simple.words) and simple.program in _HARMLESS
        self.waiting[index] = self.waiting[index + 1] or simple.program in ("wait", "fg", "tail")


def _weight(simple: Simple) -> int:
    """How much a command looks like the training: 2 for a launcher, 1 for another program, 0 for what is none."""
    if not _trains(simple):
        return 0
    line = " ".join(simple.words)
    return 2 if any(word in line for word in _LAUNCHERS) else 1


def _lost(sequence: _Sequence, index: int) -> tuple[str, str] | None:
    """How a script loses the exit code of one of its commands, and what helps."""
    simple, following = sequence.commands[index], sequence.commands[index + 1 : index + 2]
    first = following[0].program if following else ""
    if simple.end in _PIPES and following and "PIPESTATUS" not in sequence.has:
        if sequence.pipefail:
            return None
        return f"the pipe ends with the exit code of `{first}`", "begin the script with `set -o pipefail`"
    if simple.end == "||" and first in ("true", ":", "echo"):
        return f"`|| {first}` makes a success of it", f"remove `|| {first}`"
    if simple.end == "&" and not (sequence.waiting[index + 1] or "wait" in sequence.has):
        help_ = "remove the `&`, or `wait $!` for it at the end"
        return "it runs in the background, and nobody waits for it", help_
    if simple.end in (";", "\n") and not sequence.strict and _only_harmless(sequence, index + 1):
        how = f"the script goes on and ends with that of `{sequence.commands[-1].program}`"
        return how, "begin the script with `set -e`, or keep `$?` and `exit` with it"
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


def _only_harmless(sequence: _Sequence, start: int) -> bool:
    if start >= len(sequence.commands) or not sequence.has.isdisjoint(("$?", "trap")):
        return False
    return sequence.harmless[start] and sequence.commands[-1].program != "wait"


CHECKS = (masked_exit_code,)
