"""How a script is written: lines that fall apart or run together, and commands that its shell or its pod does not have."""

from collections.abc import Iterator

from trainc.frameworks.base.vocabularies import ACCELERATE, DEEPSPEED, EVERY, TORCHRUN
from trainc.lint.facts.job import Container, Findings, each
from trainc.lint.facts.launch import names_in
from trainc.lint.facts.places import folds
from trainc.lint.facts.shell import SHELLS, Simple, broken
from trainc.model.finding import ERROR, WARNING, Finding, Label, Rule
from trainc.model.sourced import Span

FOLDED = Rule("folded-script", ERROR)
CONTINUATION = Rule("broken-continuation", ERROR)
DOCUMENT = Rule("endless-here-document", ERROR)
BASH = Rule("bash-in-sh", WARNING)
CONDA = Rule("conda-not-initialized", WARNING)
SLURM = Rule("slurm-in-pod", ERROR)
TILDE = Rule("tilde-not-expanded", WARNING)
PROGRAM = Rule("launcher-starts-wrong-program", ERROR)

# Programs that start a line of their own, and those that take no other program as their arguments.
_LAUNCHERS = frozenset(word for launcher in EVERY.launchers for word in launcher.called)
_STARTERS = _LAUNCHERS | {"set", "cd", "export", "python", "python3", "pip", "source", "exec", "echo", "mkdir"}
_SIMPLE = _LAUNCHERS | {
    *("set", "cd", "export", "python", "python3", "pip", "pip3", "source", ".", "mkdir", "ulimit", "sleep", "unset"),
    *("cp", "rm", "ls", "nvidia-smi", "git", "apt-get", "module", "conda", "wget", "curl"),
}
_PLAIN_SHELLS = frozenset(("sh", "dash", "ash"))
_OF_BASH = {"source": "`.`", "[[": "`[`", "shopt": "bash", "pushd": "`cd`", "popd": "`cd`", "mapfile": "bash"}
_HOOKS = ("conda.sh", "shell.bash", "shell.posix", "conda init", "activate", "bashrc", "profile", "micromamba")
_SLURM = frozenset(("srun", "sbatch", "scontrol", "squeue", "salloc"))
_STARTING = (TORCHRUN, ACCELERATE, DEEPSPEED)
_INTERPRETERS = frozenset(("python", "python3"))


def folded_script(container: Container) -> Findings:
    script = container.script
    places = container.script_places if " " in script else None
    joined = folds(places, script) if places else []
    for simple in container.parsed.commands if joined else ():
        if simple.program not in _SIMPLE or not simple.places:
            continue
        first = simple.places[0]
        for index, word in enumerate(simple.places):
            is_joined = index > 0 and word.start in joined
            if is_joined and word.written.rpartition("/")[2] in _STARTERS and not _takes_program(simple, word.written):
                message = f"YAML joins the lines of this script: `{word.written}` is an argument of `{first.written}`"
                effect = f"`{first.written}` gets all that follows, and `{word.written}` never runs"
                help_ = "write the script as a literal block: `|` for `>`"
                span = container.role.job.at(container.script_path)
                at = Span(span.file, span.line, span.column, span.line, span.column + 1)
                also = [Label(container.at_script(word.start, word.end), "joined to the line before")]
                yield FOLDED.at(at, message, also=also, effect=effect, help=help_)
                return


def _takes_program(simple: Simple, word: str) -> bool:
    """Whether a launcher may start a word that follows it."""
    return simple.program in _LAUNCHERS and word not in {"set", "cd", "export", "source", "mkdir"}


def broken_continuation(container: Container) -> Findings:
    pair = broken(container.parsed.commands) if "--" in container.script else None
    if pair is not None:
        yield _broken(container, *pair)


def _broken(container: Container, before: Simple, simple: Simple) -> Finding:
    option, last = simple.places[0], before.places[-1]
    between = container.script[last.end : option.start]
    place, why, help_ = last, "the line before has no `\\` at its end", "end the line before with `\\`"
    if between.lstrip(" \t").startswith("\\") and "#" in between:
        place, why = option, "a comment ends the command that the line before continues"
        help_ = "move the comment above the command"
    elif between.lstrip(" \t").startswith("\\"):
        why, help_ = "a blank follows the `\\` of the line before", "remove the blank behind `\\`"
    message = f"`{option.written}` starts a command of its own: {why}"
    effect = f"`{before.program}` runs without `{option.written}` and what follows, and the shell finds no such command"
    return CONTINUATION.at(container.at_script(place.start, place.end), message, effect=effect, help=help_)


def endless_here_document(container: Container) -> Findings:
    for document in container.parsed.endless if "<<" in container.script else ():
        start, end = document.start, document.start + len(document.delimiter)
        also: tuple[Label, ...] = ()
        message = f"the here-document `{document.delimiter}` never ends"
        help_ = f"write `{document.delimiter}` alone on a line"
        if document.lookalike is not None:
            likely = container.script.find(document.delimiter, document.lookalike)
            also = (Label(container.at_script(likely, likely + len(document.delimiter)), "does not end it"),)
            message = f"`{document.delimiter}` has blanks around it, so the here-document never ends"
            help_ = f"write `{document.delimiter}` at the start of the line"
        effect = "the shell takes the rest of the script for its text, and runs none of it"
        yield DOCUMENT.at(container.at_script(start, end), message, also=also, effect=effect, help=help_)
        return


def bash_in_sh(container: Container) -> Findings:
    shell = next((word.rpartition("/")[2] for word in container.words if word.rpartition("/")[2] in SHELLS), "")
    for simple in container.commands if container.script and shell in _PLAIN_SHELLS else ():
        if (program := simple.program) in _OF_BASH and simple.places:
            message = f"`{shell}` has no `{program}`"
            effect = "where the image's `sh` is dash, as in Debian and Ubuntu, it fails: `not found`"
            replacement = _OF_BASH[program]
            help_ = "run the script with `bash`" + ("" if replacement == "bash" else f", or use {replacement}")
            yield BASH.at(container.at_command(simple), message, effect=effect, help=help_)
            return


def conda_not_initialized(container: Container) -> Findings:
    if "conda activate" not in container.script or "l" in container.shell or "i" in container.shell.replace("pipe", ""):
        return
    ready = False
    for simple in container.commands:
        line = " ".join(simple.words)
        ready = ready or (simple.program in {"source", ".", "eval"} and any(hook in line for hook in _HOOKS))
        if simple.words[:2] == ["conda", "activate"] and not ready:
            message = "`conda activate` needs a shell that conda has set up"
            effect = "it fails, and the commands behind it run in the image's own environment, or not at all"
            help_ = (
                "run `conda run -n NAME --no-capture-output COMMAND`, or `source .../etc/profile.d/conda.sh` before it"
            )
            yield CONDA.at(container.at_command(simple), message, effect=effect, help=help_)
            return


def slurm_in_pod(container: Container) -> Findings:
    for simple in container.commands:
        is_module = simple.program == "module" and simple.words[1:2] in (["load"], ["purge"], ["use"])
        if simple.program in _SLURM or is_module:
            yield _of_slurm(container, simple, 0, f"`{simple.program}` is a command of a Slurm cluster")
            return
        for index, word in enumerate(place.written for place in simple.places):
            names = [name for name in names_in(word) if name.startswith("SLURM_")]
            if names and not _is_set(container, names[0]):
                yield _of_slurm(container, simple, index, f"nothing sets `{names[0]}` in a pod")
                return


def _is_set(container: Container, name: str) -> bool:
    return name in container.env or "envFrom" in container.tree or f"{name}=" in container.script


def _of_slurm(container: Container, simple: Simple, index: int, message: str) -> Finding:
    effect = "the command is not found, unless the image has one of that name"
    help_ = "remove it: the operator starts the pods, and the image has the software"
    if message.startswith("nothing"):
        effect = "the program gets an empty text in its place"
        help_ = "use the variables of the job, such as `$PET_NNODES` and `$JOB_COMPLETION_INDEX`"
    return SLURM.at(container.at_command(simple, index), message, effect=effect, help=help_)


def tilde_not_expanded(container: Container) -> Findings:
    for at, start, word in _unexpanded_words(container):
        value = word.partition("=")[2] if word.startswith("-") else word
        if value.startswith("~/"):
            reader = (
                "a shell expands `~` only at the start of a word" if container.script else "no shell expands `~` here"
            )
            message = f"`{word}` keeps its `~`: {reader}"
            effect = "unless the program expands it itself, it uses a directory called `~` below its working directory"
            span = container.at_script(at, at + len(word)) if container.script else container.role.job.at(start)
            yield TILDE.at(span, message, effect=effect, help="write the path out, such as `/root/...`")
            return


def _unexpanded_words(container: Container) -> Iterator[tuple[int, tuple[str | int, ...], str]]:
    """Words in which no shell expands a `~`: their offset in the script, or their path."""
    if "~/" not in container.text:
        return
    if container.script:
        for simple in container.commands:
            yield from ((word.start, (), word.written) for word in simple.places if word.written.startswith("-"))
        return
    is_shell = any(word.rpartition("/")[2] in SHELLS for word in container.words)
    yield from ((0, path, word) for path, word in container.placed_words() if not is_shell)


def launcher_starts_wrong_program(container: Container) -> Findings:
    launch = container.launch
    if launch.launcher not in _STARTING or not launch.program:
        return
    program = launch.program[0]
    base = program.rpartition("/")[2]
    is_module = not {"m", "module"}.isdisjoint(launch.flags)
    is_bare = "no_python" in launch.flags
    if is_module and program.endswith(".py"):
        message = f"`-m` takes the name of a module, not the file `{program}`"
        effect = "Python looks for a module of that name, and fails"
        help_ = f"remove `-m`, or write `-m {program.removesuffix('.py').removeprefix('./').replace('/', '.')}`"
    elif not is_module and not is_bare and base in (*_INTERPRETERS, *_LAUNCHERS):
        message = f"`{launch.name}` starts `{program}` as a Python program"
        effect = f"Python cannot read the program `{base}`, and each process fails at once"
        help_ = f"remove `{program}`, or remove `{launch.name}`"
        if base in _INTERPRETERS:
            help_ = f"remove `{program}`: `{launch.name}` starts Python itself"
    else:
        return
    for simple in container.commands:
        tail = len(simple.words) - len(launch.program)
        if simple.words[max(tail, 0) :] == launch.program:
            yield PROGRAM.at(container.at_command(simple, tail), message, effect=effect, help=help_)
            return


CHECKS = (
    each(
        lambda job: job.containers,
        folded_script, broken_continuation, endless_here_document, bash_in_sh, conda_not_initialized, slurm_in_pod,
        tilde_not_expanded,
    ),
    each(lambda job: job.main, launcher_starts_wrong_program),
)  # fmt: skip
