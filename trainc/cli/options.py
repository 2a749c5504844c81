"""argv -> options, from one table; small enough to start fast, strict enough to catch a typo."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import NamedTuple

from trainc.text.spelling import meant
from trainc.text.trouble import Trouble

BASELINE = ".trainc-baseline.json"  # the file beside trainc.yaml with the findings that a project accepts
PROJECT = "project"  # an option that is set where a call reaches several projects: the name of the one that runs
WIDTH = 80  # columns of help
_WIDEST = 26  # columns of an option beside its help; a wider one has a line of its own
# The commands by what they are for, each with its line in `trainc --help`.
GROUPS = {
    "write": {
        "init": "Create a repository with a job, its runtime and CI",
        "adopt": "Create a repository from the kubectl output of a cluster",
        "new": "Create a job, and the runtime it needs",
        "explain": "Describe a field, an annotation or a rule",
        "fix": "Show the safe fixes for findings, and apply them with -w",
    },
    "check": {
        "validate": "Check that jobs are valid and will run",
        "build": "Compile jobs into plain manifests",
        "show": "Show what will run: pods, hosts, ranks, accelerators",
        "why": "Show what set a field, and what it overrides",
    },
    "change": {
        "diff": "Show what changes in the compiled jobs since a revision",
        "run": "Start the next run of jobs",
        "migrate": "Rewrite jobs of other operators as TrainJobs",
    },
    "cluster": {
        "fit": "Check whether jobs can ever be admitted on their cluster",
        "inventory": "Reduce a cluster's dump to what decides whether jobs start",
        "diagnose": "Show why a job does not run, and the line that caused it",
        "rehearse": "Run a job's pods as local processes",
    },
    "connect": {
        "cmp": "Run as an Argo CD config management plugin",
        "fn": "Run as a KRM function for kustomize and kpt",
        "flux": "Add the JobSets as health checks to Flux Kustomizations",
        "lsp": "Run the language server for editors",
        "schemas": "List, print and export the schemas of every kind",
        "runtimes": "List, print and copy runtimes and components",
        "completion": "Print the completion script of a shell",
    },
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
    lines = [f"usage: trainc {command.name} {command.arguments}".rstrip(), "", *_paragraphs(command.summary), ""]
    if shown := [one for one in command.options if (is_full or not one.is_advanced) and not one.instead]:
        lines.append("options:")
        rows = [(f"{', '.join(one.names)} {one.value}".rstrip(), one.help) for one in shown]
        if len(shown) < len([one for one in command.options if not one.instead]):
            rows.append(("--help-all", "show more options"))
        width = max(len(left) for left, _ in rows if len(left) <= _WIDEST)
        for left, right in rows:
            lines.extend(_row(left, right, width))
        lines.append("")
    if command.examples:
        lines.append("examples:")
        lines.extend(f"  {example}" for example in command.examples)
        lines.append("")
    return "\n".join(lines)


def _row(left: str, right: str, width: int) -> list[str]:
    """An option and its help in two columns, or below each other where the option is wide."""
    margin = " " * (width + 4)
    is_wide = len(left) > width
    first = margin if is_wide else f"  {left:<{width}}  "
    lines = wrap(right, WIDTH, initial_indent=first, subsequent_indent=margin, break_on_hyphens=False)
    return [f"  {left}", *lines] if is_wide else lines


def _paragraphs(text: str) -> list[str]:
    """A text in lines of the width of help; indented lines are commands and stay as they are."""
    lines: list[str] = []
    prose: list[str] = []
    for line in [*text.split("\n"), ""]:
        if line and not line.startswith(" "):
            prose.append(line)
            continue
        lines += wrap(" ".join(prose), WIDTH, break_on_hyphens=False, break_long_words=False)
        prose.clear()
        lines.append(line)
    return lines[:-1]


def overview(commands: Mapping[str, Command]) -> str:
    """What `trainc --help` prints."""
    width = max(len(name) for name in commands)
    lines = [
        "usage: trainc COMMAND [ARGUMENT...]",
        "",
        "Compile Kubeflow training specs into plain manifests:",
        "no controller, no cluster, no network.",
    ]
    for group, briefs in GROUPS.items():
        lines += ["", f"{group}:", *(f"  {name:<{width}}  {brief}" for name, brief in briefs.items())]
    lines += ["", "`trainc COMMAND --help` shows options and examples of a command."]
    lines += ["`trainc --version` shows the version."]
    lines += ["exit codes: 0 clean, 1 errors found, 2 usage or I/O, 3 a bug in trainc", ""]
    return "\n".join(lines)
