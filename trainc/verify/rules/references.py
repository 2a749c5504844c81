"""Variables that nobody expands, or that are not there when they are."""

from __future__ import annotations

from trainc.model.finding import ERROR, WARNING, Label, Rule
from trainc.verify.values import rows, templated, text, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.verify.containers import Container
    from trainc.verify.job import Job

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


def variable_without_shell(job: Job) -> None:
    for container in job.containers:
        if "$" not in container.text or container.script or _has_shell(container):
            continue
        for field in ("command", "args"):
            for index, word in enumerate(texts(container.tree, field)):
                name = _shell_variable(word)
                if name in ("HOME", "PATH", "HOSTNAME", "JOB_COMPLETION_INDEX") or (
                    name in container.env and container.literals.get(name) != f"${name}"
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
    plan = job.bundle.plan
    if plan is not None and plan.barred:
        if any(
            "$" in written for container in job.containers for written in (container.text, *container.literals.values())
        ):
            job.report.skip("the variables of a framework that was not asked")
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
                        _undefined(job, container, name, index)
            seen.add(text(entry, "name"))
        if "$(" in container.text and not container.script and not _has_shell(container):
            for name in _references(container.text):
                if name not in container.env and name != "JOB_COMPLETION_INDEX" and not _service_link(name):
                    job.report.add(
                        UNDEFINED.at(
                            job.at_word(container, f"$({name})"),
                            f"`$({name})` is not set in `{container.name}`",
                            effect=f"the program gets the characters `$({name})`",
                            help=f"add `{name}` to `env`",
                        )
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
            if name and f"${name}" in job.name:
                continue  # the job's own name is filled in before Kubernetes sees either
            if not name or templated(value) or value == f"${name}":
                if name or templated(value):
                    job.report.skip("a variable is filled in by another tool")
                own = text(entry, "name")
                if not name or value != f"${name}" or name == own or name not in (*container.env, "HOME", "PATH"):
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
                    level=ERROR if name == "PATH" and path_like and not _finds_programs(value) else WARNING,
                )
            )


def _finds_programs(path: str) -> bool:
    """Whether a search path names a directory in which every image has its programs."""
    return not {"/bin", "/usr/bin", "/usr/local/bin"}.isdisjoint(path.split(":"))


CHECKS = (variable_without_shell, undefined_variable, shell_variable_in_env)
