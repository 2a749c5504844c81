"""argv -> options, from one table; small enough to start fast, strict enough to catch a typo."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from trainc.text.spelling import meant
from trainc.text.trouble import Trouble

BASELINE = ".trainc-baseline.json"  # the file beside trainc.yaml with the findings that a project accepts
PROJECT = "project"  # an option that is set where a call reaches several projects: the name of the one that runs
GROUPS = {
    "write": ("init", "adopt", "new", "explain", "fix"),
    "check": ("validate", "build", "show", "why"),
    "change": ("diff", "run", "migrate"),
    "cluster": ("fit", "inventory", "diagnose", "rehearse"),
    "connect": ("cmp", "fn", "flux", "lsp", "schemas", "runtimes", "completion"),
}
DEPRECATED = ("rules",)  # they work, and no list shows them


class Option(NamedTuple):
    """One flag: its spellings, its help line, and what it takes (`metavar`, or `choices` if few), unless it is a switch."""

    spellings: str
    help: str
    metavar: str = ""
    choices: tuple[str, ...] = ()
    is_folder: bool = False  # for output: `-` stands for standard output, which is where it goes without one
    is_advanced: bool = False  # only --help-all shows it
    instead: str = ""  # of a deprecated one: what to write now

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.spellings.split())

    @property
    def value(self) -> str:
        """What it takes as help shows it, empty for a switch."""
        return self.metavar or "|".join(self.choices)

    @property
    def key(self) -> str:
        """The name under which the value is kept: the last spelling without its dashes."""
        return self.names[-1].lstrip("-").replace("-", "_")


class Command(NamedTuple):
    """One verb: its arguments, what it is for, its options and examples. The module of its name runs it."""

    name: str
    arguments: str
    summary: str
    options: tuple[Option, ...]
    examples: tuple[str, ...]

    def run(self, options: "Options", *more: object) -> int:
        """Load the module of this command, and no other one's, and run it."""
        module = __import__(f"trainc.cli.{self.name}", fromlist=["run"])
        code: int = module.run(options, *more)
        return code


class Options(NamedTuple):
    """The arguments of one call, and the values of each option that was given."""

    arguments: list[str]
    values: dict[str, list[str]]
    tail: Sequence[str] = ()  # the arguments that follow `--`
    deprecated: Sequence[str] = ()  # a sentence for each option that is about to go

    def has(self, key: str) -> bool:
        return key in self.values

    def one(self, key: str, default: str = "") -> str:
        """The last value given for an option."""
        return self.values[key][-1] if key in self.values else default

    def all(self, key: str) -> list[str]:
        """Every value given for an option, in order."""
        return self.values.get(key, [])


# What kubectl's users type before a path; here paths are arguments.
FILE = Option("-f --filename", "file or folder, as in kubectl", metavar="PATH")


def parse(command: Command, argv: Sequence[str]) -> Options:
    """The options of one call; Trouble for one that the command does not have, or a value that it cannot take."""
    known = {name: option for option in command.options for name in option.names}
    arguments: list[str] = []
    values: dict[str, list[str]] = {}
    deprecated: list[str] = []
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return Options([*arguments, *rest], values, rest, deprecated)
        if not word.startswith("-") or word == "-":
            arguments.append(word)
            continue
        name, equals, given = word.partition("=")
        option = known.get(name)
        if option is None and name in FILE.names and "PATH" in command.arguments:
            arguments.append(given if equals else _next(command, FILE, rest))
            continue
        if option is None:
            hint = meant(name, known, f"see trainc {command.name} --help")
            raise Trouble(f"trainc {command.name} has no option {name}; {hint}")
        if option.instead:
            deprecated.append(f"{name} is deprecated and will be removed in 0.3; use {option.instead}")
        if option.value:
            given = given if equals else _next(command, option, rest)
            if option.choices and given not in option.choices:
                hint = meant(given, option.choices)
                raise Trouble(f"{name} must be one of {', '.join(option.choices)}, not `{given}`{hint and f'; {hint}'}")
            if option.is_folder and given in ("yaml", "json"):  # a slip of kubectl's users
                short = option.names[0]
                raise Trouble(
                    f"{short} takes a folder; for {given} on standard output omit it and use --format {given}"
                )
            if option.is_folder and given == "-":
                continue
        elif equals:
            raise Trouble(f"{name} takes no value")
        values.setdefault(option.key, []).append(given)
    return Options(arguments, values, deprecated=deprecated)


def _next(command: Command, option: Option, rest: list[str]) -> str:
    if not rest:
        raise Trouble(
            f"{option.names[-1]} needs a value: {option.names[-1]} {option.value}; see trainc {command.name} --help"
        )
    return rest.pop(0)


def help_text(command: Command, *, is_full: bool = False) -> str:
    """What `--help` prints for one command; with `is_full` what `--help-all` does."""
    lines = [f"usage: trainc {command.name} {command.arguments}".rstrip(), "", command.summary, ""]
    if shown := [one for one in command.options if (is_full or not one.is_advanced) and not one.instead]:
        lines.append("options:")
        rows = [(f"{', '.join(one.names)} {one.value}".rstrip(), one.help) for one in shown]
        if len(shown) < len([one for one in command.options if not one.instead]):
            rows.append(("--help-all", "show more options"))
        width = max(len(left) for left, _ in rows)
        lines.extend(f"  {left:<{width}}  {right}" for left, right in rows)
        lines.append("")
    if command.examples:
        lines.append("examples:")
        lines.extend(f"  {example}" for example in command.examples)
        lines.append("")
    return "\n".join(lines)


def overview(commands: Mapping[str, Command]) -> str:
    """What `trainc --help` prints."""
    from textwrap import fill  # noqa: PLC0415 (few ask for help)

    width = max(len(name) for name in commands)
    lines = [
        "usage: trainc COMMAND [ARGUMENT...]",
        "",
        "Compile Kubeflow training specs into plain manifests: no controller, no cluster, no network.",
    ]
    for group, names in GROUPS.items():
        lines += ["", f"{group}:"]
        for name in names:  # with the first sentence of its help
            sentence = commands[name].summary.replace("\n", " ").partition(". ")[0].rstrip(".") + "."
            first, further = f"  {name:<{width}}  ", " " * (width + 4)
            lines.append(fill(sentence, 120, initial_indent=first, subsequent_indent=further, break_on_hyphens=False))
    lines += ["", "trainc COMMAND --help shows options and examples. trainc --version shows the version."]
    lines += ["exit codes: 0 clean, 1 findings at level error, 2 usage or I/O, 3 a bug in trainc.", ""]
    return "\n".join(lines)
