"""Variables that nobody expands, or that are not there when they are."""

import itertools

from trainc.frameworks.base.vocabularies import TORCHRUN
from trainc.lint.facts.job import Container, Findings, Job, each
from trainc.lint.facts.launch import Launch, names_in
from trainc.lint.facts.shell import SHELLS, script_of
from trainc.lint.facts.values import is_program_text, rows, substituted, table, templated, text, texts
from trainc.model.finding import ERROR, WARNING, Label, Rule
from trainc.model.tree import Path, leaves
from trainc.text.placeholders import is_placeholder
from trainc.text.spelling import intended, meant

NOT_EXPANDED = Rule("variable-without-shell", ERROR)
UNDEFINED = Rule("undefined-variable", ERROR)
POD_FIELD_LOST = Rule("pod-field-lost", ERROR)
IN_ENV = Rule("shell-variable-in-env", WARNING)
NO_CONTAINER = Rule("resource-of-no-container", ERROR)

# Whose controllers label the pods of their own kinds; none of them labels those of a JobSet.
_OPERATORS = ("training.kubeflow.org/", "volcano.sh/", "leaderworkerset.sigs.k8s.io/", "ray.io/")
# Programs that hand the words behind them to a shell of their own.
_TO_A_SHELL = frozenset(("ssh", "su", "runuser", "pdsh", "parallel", "xargs", "ray", "watch", "script", "eval"))
_OF_PATTERNS = frozenset("^|()[]{}\\*+?")  # regular expressions, JSON, `${VAR}`: there `$` has a meaning of its own
_ALONE = "${TRAINJOB_"  # what a job is called while its runtime is judged without one
# Variables of every container that the kubelet does not know: it expands those of `env` and of Services alone.
_OF_IMAGE = ("HOME", "PATH", "HOSTNAME")
_SERVICE_LINKS = ("_SERVICE_HOST", "_SERVICE_PORT", "_PORT")  # how the variables end that the kubelet sets for Services
# Commands of a shell that set the variables they are given the names of.
_SETTING = frozenset(("read", "for", "select", "mapfile", "readarray", "getopts", "printf", "let"))
# What a sourced file is called that sets up a shell and none of a job's variables.
_HARMLESS = ("activate", "conda.sh", "setvars.sh", "profile", ".bashrc")


def resource_of_no_container(container: Container) -> Findings:
    for index, entry in enumerate(rows(container.tree, "env")):
        source = table(entry, "valueFrom") if "valueFrom" in entry else {}
        name = text(table(source, "resourceFieldRef"), "containerName") if source else ""
        names = [other.name for other in container.role.containers] if name else []
        if name and name not in names and not substituted(name):
            at = container.at("env", index, "valueFrom", "resourceFieldRef", "containerName")
            effect = "the container stays in CreateContainerConfigError"
            help_ = meant(name, names, "remove `containerName` to read the container's own resources")
            yield NO_CONTAINER.at(at, f"the pod has no container `{name}`", effect=effect, help=help_)


def pod_field_lost(container: Container) -> Findings:
    metadata = container.role.metadata
    for index, entry in enumerate(rows(container.tree, "env")):
        source = table(entry, "valueFrom") if "valueFrom" in entry else {}
        path = text(table(source, "fieldRef"), "fieldPath") if "fieldRef" in source else ""
        section, _, key = path.removesuffix("']").partition("['")
        field = section.removeprefix("metadata.")
        if key.startswith(_OPERATORS) and field in ("labels", "annotations") and key not in table(metadata, field):
            at = container.at("env", index, "valueFrom", "fieldRef", "fieldPath")
            message = f"the pods of a JobSet have no {field.removesuffix('s')} `{key}`"
            effect = f"`{text(entry, 'name')}` is empty in every pod"
            help_ = "read the index of a pod from `metadata.annotations['batch.kubernetes.io/job-completion-index']`, and write constants"
            yield POD_FIELD_LOST.at(at, message, effect=effect, help=help_)


def variable_without_shell(job: Job) -> Findings:
    for container in job.containers if "$" in job.text else ():
        words = _unexpanded(container) if "$" in container.text else []
        read = _read_by_launcher(container) if words else []
        for path, word in words:
            name = _shell_variable(word)
            in_env = name in container.env and container.literals.get(name) != f"${name}"
            is_set = in_env or name in (*_OF_IMAGE, "JOB_COMPLETION_INDEX")
            launcher = next((launcher for launcher, value in read if word.endswith(value)), "")
            # Whether the word is more likely to mean a variable that is not set here than these characters.
            is_like = name.isupper() or word == f"${name}" or word.endswith(f"=${name}")
            if not is_set and not launcher and not (is_like and _OF_PATTERNS.isdisjoint(word)):
                continue
            # A tool such as envsubst fills in a file that holds what no server takes, or says `${NAME}`, too.
            if not is_set and (f"${{{name}}}" in job.text or _filled_elsewhere(job)):
                job.report.skip(f"the value of `${name}`")
                continue
            effect = f"the program gets the literal text `${name}`"
            if launcher:
                effect = (
                    f"`{launcher}` gets the literal text `${name}` where it needs a number or an address, and fails"
                )
            help_ = "run the command in a shell: `[sh, -c, LINE]`"
            if name in container.env or name == "JOB_COMPLETION_INDEX":
                help_ = f"write `$({name})`, which Kubernetes expands, or {help_}"
            elif name not in _OF_IMAGE:
                help_ = f"add `{name}` to `env` and write `$({name})`, or {help_}"
            level = ERROR if "command" in container.tree and (is_set or launcher) else WARNING
            message = f"no shell expands `${name}` here"
            yield NOT_EXPANDED.at(job.at(path), message, effect=effect, help=help_, level=level)


def _unexpanded(container: Container) -> list[tuple[Path, str]]:
    """The words of a command with a `$NAME` that no shell reads, and where they stand."""
    words = container.words
    bases = [word.rpartition("/")[2] for word in words]
    if not _TO_A_SHELL.isdisjoint(bases):
        return []
    scripts = {script_of(words[at:])[0] for at, base in enumerate(bases) if base in SHELLS}
    scripts.update(after for word, after in itertools.pairwise(words) if word == "-c")
    if "command" not in container.tree:
        scripts.update(words[:1])  # the image's own command may be a shell
    read = ((path, word) for path, word in container.placed_words() if "$" in word and word not in scripts)
    return [(path, word) for path, word in read if _shell_variable(word)]


def _read_by_launcher(container: Container) -> list[tuple[str, str]]:
    """What a launcher of the command reads as a number or an address and holds a `$`, each with the launcher's name."""
    own = container.launch.launcher
    options = (own.nodes[0], own.processes[0], own.rank[0], *own.numbers, *own.addresses, *own.addresses.values())
    return [(own.name, value) for option, value in container.launch.flags.items() if option in options and "$" in value]


def _shell_variable(word: str) -> str:
    """The name in the first `$NAME` of a word; `$$` is Kubernetes' own, `${NAME}` may be a template's."""
    for part in word.replace("$$", " ").split("$")[1:]:
        name = "".join(itertools.takewhile(lambda char: char.isalnum() or char == "_", part))
        if name and not name[0].isdigit():
            return name
    return ""


def undefined_variable(job: Job) -> Findings:
    if (plan := job.bundle.plan) is not None and plan.barred:
        if any("$" in text for container in job.containers for text in (container.text, *container.literals.values())):
            job.report.skip("the variables of an unknown framework")
        return
    for container in job.containers:
        if "envFrom" in container.tree:
            continue
        seen: set[str] = set()
        for index, entry in enumerate(rows(container.tree, "env") if container.has_references else ()):
            value = text(entry, "value")
            if "$(" in value:
                for name in _references(value):
                    if name not in seen:
                        yield from _undefined(container, name, index)
            seen.add(text(entry, "name"))
        has_shell = "-c" in container.words or any(word.rpartition("/")[2] in SHELLS for word in container.words[:6])
        if "$(" in container.text and not container.script and not has_shell and texts(container.tree, "command"):
            for name in _references(container.text):
                if name not in container.env and name != "JOB_COMPLETION_INDEX" and not name.endswith(_SERVICE_LINKS):
                    message = f"`$({name})` is not set in `{container.name}`"
                    effect = f"the program gets the literal text `$({name})`"
                    help_ = f"add `{name}` to `env`"
                    yield UNDEFINED.at(container.at_word(f"$({name})"), message, effect=effect, help=help_)


def unset_in_launcher(job: Job) -> Findings:
    """Variables in the options of a launcher, or of a program, that nothing sets: an image sets none that say who a pod is."""
    if "$" not in job.text or _filled_elsewhere(job):
        return
    for container in job.main:
        launch = container.launch
        if not container.script or "envFrom" in container.tree or _sources(container):
            continue
        words = launch.flags.values() if launch.by_launcher else launch.program
        for name in dict.fromkeys(name for word in words for name in _names(word)):
            is_set = name in container.env or name in job.withheld or name == "JOB_COMPLETION_INDEX"
            if not is_set and not _assigned(container, name):
                yield from _unset(job, container, launch, name)


def _names(word: str) -> list[str]:
    """The variables of a word that the kubelet or the shell fills in; a shell runs commands in `$(...)`, but none in capitals."""
    return [*names_in(word), *[name for name in _references(word) if name.isupper()]]


def _unset(job: Job, container: Container, launch: Launch, name: str) -> Findings:
    vocabulary = job.vocabulary
    telling = vocabulary.ranks | vocabulary.sizes | vocabulary.addresses.keys() | set(TORCHRUN.sets)
    near, is_misspelt = _meant(container, name)
    is_of_family = name.startswith(vocabulary.prefixes)
    option = next((option for option, word in launch.flags.items() if name in _names(word)), "")
    is_like = near or is_of_family or name in vocabulary.variables
    if name not in telling and not (launch.by_launcher and is_like):
        if option in launch.launcher.addresses:
            job.report.skip(f"the address in `--{option}` is unknown")
        return
    is_certain = launch.by_launcher and (is_of_family or is_misspelt or name in telling)
    written = f"$({name})" if f"$({name})" in container.script else f"${name}"
    message = f"`{written}` is not set in `{container.name}`"
    effect = "the program gets an empty text in its place"
    if option:
        effect = f"`{launch.name}` gets no value for `--{option}`, and fails"
    help_ = f"did you mean `${near}`?" if near else _instead(container, name)
    level = ERROR if is_certain and "command" in container.tree else WARNING
    yield UNDEFINED.at(container.at_word(written, f"${{{name}}}"), message, effect=effect, help=help_, level=level)


def _meant(container: Container, name: str) -> tuple[str, bool]:
    """The variable of the container that was meant, and whether its name is misspelt: else it lacks its family."""
    variables = container.role.job.vocabulary.variables
    if name in variables:
        return "", False
    slips = intended(name, container.env)
    bare = [other for other in container.env if other in variables and other.endswith(f"_{name}")]
    return next(iter([*slips, *bare]), ""), bool(slips)


def _instead(container: Container, name: str) -> str:
    """What to write for a variable that nothing sets: another one that holds the same, or the value itself."""
    role, vocabulary = container.role, container.role.job.vocabulary
    for kind in (vocabulary.ranks, vocabulary.addresses, vocabulary.sizes):
        if name in kind:
            held = next((other for other in container.env if other in kind), "")
            if not held and kind is vocabulary.ranks and role.indexed and role.replicas == 1:
                held = "JOB_COMPLETION_INDEX"
            if held:
                return f"use `${held}`"
    if name in vocabulary.addresses and role.job.dns and vocabulary.addresses[name]:
        return f"use `{role.address()}`, or set `{name}` in `env`"
    return f"set `{name}` in `env`"


def _assigned(container: Container, name: str) -> bool:
    """Whether the script gives a variable a value somewhere."""
    import re  # noqa: PLC0415 (few commands hold such a variable)

    return re.search(rf"(?<![\w$]){name}[+:]?=(?!=)", container.script) is not None or any(
        simple.program in _SETTING and name in simple.words for simple in container.commands
    )


def _sources(container: Container) -> bool:
    """Whether the script reads a file, or runs a text, that may set variables."""
    return any(
        simple.program == "eval" or (simple.program in (".", "source") and not simple.words[-1].endswith(_HARMLESS))
        for simple in container.commands
    )


def _filled_elsewhere(job: Job) -> bool:
    """Whether a tool such as envsubst fills in this file later, and with it what looks like a variable of a shell."""
    return any(
        is_placeholder(leaf.value) and not is_program_text(path) and _ALONE not in leaf.value
        for path, leaf in leaves(job.tree)
        if "$" in str(leaf.value)
    )


def _references(value: str) -> list[str]:
    names = []
    head, *parts = value.split("$(")
    for part in parts:
        name, closed, _ = part.partition(")")
        if closed and name.isidentifier() and not head.endswith("$"):
            names.append(name)
        head = part
    return names


def _undefined(container: Container, name: str, index: int) -> Findings:
    if name.endswith(_SERVICE_LINKS):
        return
    later = name in container.env
    also = [Label(container.env_at(name), "set only here")] if later else ()
    help_ = f"{'move' if later else 'add'} `{name}` above it"
    if name == "JOB_COMPLETION_INDEX":
        help_ = (
            "Kubernetes adds this variable at the end of the list: set your own variable from the same field above it"
        )
    message = f"`$({name})` is {'set later in the list' if later else 'not set'}"
    effect = f"the value keeps the literal text `$({name})`"
    yield UNDEFINED.at(container.at("env", index, "value"), message, also=also, effect=effect, help=help_)


def shell_variable_in_env(container: Container) -> Findings:
    for index, entry in enumerate(rows(container.tree, "env")):
        if "$" not in (value := text(entry, "value")):
            continue
        name, own = _shell_variable(value), text(entry, "name")
        if name and f"${name}" in container.role.job.name:
            continue  # the job's own name is filled in before Kubernetes sees either
        if not name or templated(value) or value == f"${name}":
            if name or templated(value):
                container.role.job.report.skip("a variable is substituted by another tool")
            if not name or value != f"${name}" or name == own or name not in (*container.env, "HOME", "PATH"):
                continue
        path_like = own.endswith("PATH") and name == own
        at = container.at("env", index, "value")
        message = f"Kubernetes does not expand `${name}` in the value of `{own}`"
        effect, help_ = f"the program gets the literal text `${name}`", f"write `$({name})` if it is set above"
        if path_like:
            effect = "the old path is lost and programs and libraries are not found"
            help_ = "set it in the start script, where a shell expands it, or write the full path"
        has_programs = not {"/bin", "/usr/bin", "/usr/local/bin"}.isdisjoint(value.split(":"))  # of every image
        level = ERROR if name == "PATH" and path_like and not has_programs else WARNING
        yield IN_ENV.at(at, message, effect=effect, help=help_, level=level)


CHECKS = (
    each(lambda job: job.containers, resource_of_no_container, shell_variable_in_env, pod_field_lost),
    variable_without_shell, undefined_variable, unset_in_launcher,
)  # fmt: skip
