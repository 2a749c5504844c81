"""`trainc completion`: what shells need to complete a command line."""

import os
from collections.abc import Iterable, Sequence

from trainc.cli.commands import COMMANDS
from trainc.cli.options import Command, Option, Options
from trainc.cli.output import answer, data
from trainc.model.report import Report
from trainc.text.object_keys import TRAINC_PREFIX
from trainc.text.spelling import meant
from trainc.text.trouble import Trouble

_HELP = ("--help", "--version")
_VERBS = {
    "runtimes": ("list", "show", "copy", "flatten"),
    "schemas": ("list", "show", "export", "generate"),
    "cmp": ("generate", "parameters", "paths"),
    "completion": ("bash", "zsh", "fish"),
}


def run(options: Options) -> int:
    """Print the script of a shell, or the candidates for the last of the words."""
    verb = options.arguments[0] if options.arguments else ""
    if verb == "words":
        answer(*candidates(options.tail))
        return 0
    shells = _VERBS["completion"]
    if verb not in shells or len(options.arguments) > 1:
        hint = meant(verb, shells, "see trainc completion --help") if verb else "see trainc completion --help"
        raise Trouble(f"usage: trainc completion bash|zsh|fish; {hint}")
    # Where trainc has no candidate, each shell completes files.
    with open(os.path.join(os.path.dirname(__file__), "shells", f"trainc.{verb}"), encoding="utf-8") as stream:
        data(stream.read())
    return 0


def candidates(words: Sequence[str]) -> list[str]:
    """The candidates for the last word, sorted; none where a file is wanted, which shells complete themselves."""
    words = [word for word in words if word != "="]  # bash cuts `--report=json` into three
    *before, current = words or [""]
    try:
        fitting = _found(before, current)
    except Trouble:
        return []  # nobody asked for anything yet
    return sorted({word for word in fitting if word.startswith(current)})


def _found(before: list[str], current: str) -> Iterable[str]:
    if not before:
        return [*COMMANDS, "help", *_HELP]
    if (command := COMMANDS.get(before[0])) is None:
        return COMMANDS if before[0] == "help" else ()
    if "--" in before:
        return ()
    if (option := _option(command, before[-1])) is not None:
        return _values(option, command)
    if current.startswith("-"):
        name, equals, _ = current.partition("=")
        option = _option(command, name) if equals else None
        if option is not None:
            return [f"{name}={value}" for value in _values(option, command)]
        return [*(name for one in command.options if not one.instead for name in one.names), "--help"]
    return _arguments(before[0], before[1:], current)


def _option(command: Command, word: str) -> Option | None:
    return next((one for one in command.options if word in one.names and one.value), None)


def _values(option: Option, command: Command) -> Iterable[str]:
    if option.choices:
        return option.choices
    if option.key == "cluster" and command.name != "init":
        from trainc.compiler.project import open_project  # noqa: PLC0415

        return [cluster.name for cluster in open_project((".",), Report()).clusters]
    if option.key in ("framework", "on"):
        from trainc.authoring.new import HARDWARE, STARTS  # noqa: PLC0415

        return STARTS if option.key == "framework" else HARDWARE
    if option.key == "scheduler":
        from trainc.schedulers import TABLE  # noqa: PLC0415

        return TABLE
    if option.metavar == "RULE":
        return _rules()
    return _own_runtimes() if option.key == "runtime" else ()


def _arguments(command: str, given: list[str], current: str) -> Iterable[str]:
    words = [word for word in given if not word.startswith("-")]
    if command == "rules" and not words:
        return _rules()
    if command == "explain" and not words:
        # Kinds and annotations, and behind a kind its fields one step at a time; a point follows what has fields.
        from trainc.authoring.explain import ANNOTATIONS, find  # noqa: PLC0415

        parent, point, _ = current.rpartition(".")
        if not point or current.startswith(TRAINC_PREFIX):
            return [*(f"{kind}." for kind in _kinds()), *ANNOTATIONS, "annotations", *_rules()]
        return [
            f"{parent}.{name}{'.' if any(True for _ in child.children()) else ''}"
            for field in find(parent)
            for name, child in field.children()
        ]
    if command == "run":
        from trainc.compiler.project import open_project  # noqa: PLC0415
        from trainc.compiler.usage import jobs  # noqa: PLC0415

        return jobs(open_project((".",), Report()))
    if command in _VERBS and not words:
        return _VERBS[command]
    if command == "runtimes" and words[0] in ("show", "copy"):
        return _shipped()
    if command == "runtimes" and words[0] == "flatten":
        return [*_own_runtimes(), *_shipped()]
    if command == "schemas" and words[0] == "show":
        return _kinds()
    return ()


def _rules() -> Iterable[str]:
    from trainc.model.rule_selection import rule_categories, rule_facts  # noqa: PLC0415 (each word needs little of all this)

    return [*rule_facts(), *rule_categories()]


def _shipped() -> Iterable[str]:
    from trainc.compiler.load.shipped import COMPONENTS, shipped_names  # noqa: PLC0415

    return [*shipped_names(), *shipped_names(COMPONENTS)]


def _own_runtimes() -> Iterable[str]:
    from trainc.compiler.project import open_project  # noqa: PLC0415
    from trainc.compiler.usage import blueprints, paths_here  # noqa: PLC0415

    project = open_project((".",), Report())
    return [one.name for one in blueprints(project, paths_here(project)) if not one.is_component]


def _kinds() -> Iterable[str]:
    from trainc.apiserver.shipped import listed  # noqa: PLC0415

    return [one.kind for one in listed()]
