"""Command lines of the fuzzer: every command and option of trainc's own table, with fitting and with odd values."""

import json
import random

from trainc.cli.commands import COMMANDS
from trainc.cli.options import Option

COMMON = (
    "build",
    "validate",
    "validate",
    "show",
    "why",
    "why",
    "diff",
    "migrate",
    "fix",
    "cmp",
    "fn",
    "rehearse",
    "fit",
)
ON_DUMPS = ("diagnose", "diagnose", "inventory", "fit")  # what is asked of what kubectl printed
# What runs the user's own programs, or writes outside the folder, is not a command for strangers' input.
NEVER = frozenset(("--yes", "--directory"))
NUMBERS = ("0", "1", "2", "3", "-1", "", "²", "٣", "1e3", "9" * 30, "9" * 5000, "0x10", " 1", "1_0")
TEXTS = ("x", "", "eu", "us", "prod", "main", "lab", "HEAD", "HEAD~1", "old", ".", "-", "a/b", "..", "\x1b[31m", "a\nb", "é", "\udcff", "::x",
    "jobs", "all", "scheduler=volcano", "scheduler=kueue", "kubernetes=1.37", "kubernetes=²", "kubernetes=1." + "9" * 40, "a=b", "=", "x" * 3000)  # fmt: skip
FIELDS = (
    "parallelism",
    "spec",
    "env",
    "metadata.name",
    "image",
    "x:y",
    "spec.suspend",
    "queueingStrategy",
    "containers[0]",
    "[",
    "a[9999999]",
    "",
    "*",
)
WORDS = {
    "schemas": ("list", "show", "TrainJob", "JobSet", "x", "export", "there"),
    "runtimes": ("list", "show", "copy", "flatten", "torch-distributed", "x", "there", "aws-efa"),
    "rules": ("reserved-env", "x", "unknown-field"),
    "cmp": ("generate", "generate", "generate", "parameters", "x"),
    "init": ("there", ".", "a/b"),
}
VALUES = {  # of options that take words of their own
    "--after": ("ready", "ready: a-node-0-0", "succeeded node", "failed node exit 3", "failed node-0-0 exit ²", "failed node-0", "resumed", "failed node exit " + "9" * 5000,
        "deleted node-0-0", "failed node Evicted", "ready: ", "succeeded a-node-0", "failed a-node-0-0", "failed a-worker-0-0 DisruptionTarget"),
    "--what-if": ("numNodes=8", "numNodes=0", "numNodes=²", "numNodes=" + "9" * 5000, "numNodes=999999", "x=1", "numNodes="),
    "--date": ("2026-08-01T00:00:00Z", "x", "", "2026-13-01", "9" * 5000),
}  # fmt: skip
NAMES = ("cluster", "cluster", "paths", "paths", "x", "")
SETTINGS = (
    ("scheduler=volcano",),
    ("scheduler=coscheduling",),
    ("scheduler=native", "kubernetes=1.36"),
    ("scheduler=kueue", "admission=kueue"),
)


def arguments(chance: random.Random, files: list[str], common: tuple[str, ...] = COMMON) -> tuple[str, ...]:
    """One command line for a folder with these files, most often of a common command."""
    name = chance.choice(common) if chance.random() < 0.93 else chance.choice(list(COMMANDS))
    command = COMMANDS[name]
    argv = [name, *_operands(name, chance, files)]
    options = [option for option in command.options if not NEVER.intersection(option.names)]
    for option in chance.sample(options, min(len(options), chance.choice((0, 0, 1, 1, 2, 3)))):
        argv += _option(option, chance, files)
    if any(option.names[-1] == "--set" for option in options) and chance.random() < 0.2:
        argv += [word for setting in chance.choice(SETTINGS) for word in ("--set", setting)]
    return tuple(argv)


def _operands(name: str, chance: random.Random, files: list[str]) -> list[str]:
    if name in WORDS:
        return chance.choices(WORDS[name], k=1 if name == "cmp" else chance.randrange(4))
    if name == "why":
        line = f":{chance.randrange(1, 60)}" if chance.random() < 0.4 else ""
        return [_path(chance, files) + line, *chance.choices(FIELDS, k=chance.randrange(2))]
    if name == "diff":
        return chance.choices(("old", ".", "HEAD", "x"), k=chance.randrange(3))
    if chance.random() < 0.4:
        return []
    return [_path(chance, files) for _ in range(chance.choice((1, 1, 2)))]


def _path(chance: random.Random, files: list[str]) -> str:
    if not files or chance.random() < 0.15:
        return chance.choice((".", "-", "jobs", "x", "..", "\udcff.yaml", "a\nb", "jobs/../jobs", "x" * 300))
    path = chance.choice(files)
    return path if chance.random() < 0.8 else path.rpartition("/")[0] or "."


def _option(option: Option, chance: random.Random, files: list[str]) -> list[str]:
    flag = chance.choice(option.names)
    if not option.value:
        return [flag]
    if option.choices:
        return [flag, chance.choice(option.choices)]
    if option.names[-1] in VALUES:
        return [flag, chance.choice(VALUES[option.names[-1]])]
    if option.names[-1] == "--inventory":
        return [flag, _path(chance, files)]
    if option.names[-1] == "--jobs":  # many workers would cost more than all else
        return [flag, chance.choice(("1", "1", "1", "2", *NUMBERS[4:]))]
    return [flag, chance.choice(NUMBERS if option.value in {"N", "SECONDS"} else TEXTS)]


def plugin_request(chance: random.Random) -> dict[str, str]:
    """The environment that a plugin server gives, as it should be or not."""
    request: dict[str, str] = {}
    if chance.random() < 0.7:
        request["ARGOCD_APP_PARAMETERS"] = _parameters(chance)
    if chance.random() < 0.5:
        request["ARGOCD_APP_NAMESPACE"] = chance.choice(("team", "", "a\nb", "x" * 300, "\x1b[2J", "Ünïcode", "::x"))
    if chance.random() < 0.5:
        request["ARGOCD_APP_SOURCE_PATH"] = chance.choice((".", "", "a/b", "..", "/", "jobs", "a\nb", "x" * 3000))
    if chance.random() < 0.1:
        request["ARGOCD_GRPC_MAX_SIZE_MB"] = chance.choice(("0", "1", "²", "", "9" * 5000, "-1"))
    return request


def _parameters(chance: random.Random) -> str:
    odd: tuple[object, ...] = (
        None,
        "",
        "eu",
        "prod",
        "x\ny",
        "\x1b[31m",
        ["jobs"],
        ["."],
        [""],
        [".."],
        ["\0"],
        [1],
        [None],
        {},
        1,
        10**40,
        True,
        "\ud800",
    )
    listed = [
        {"name": chance.choice(NAMES), chance.choice(("string", "array", "map", "x")): chance.choice(odd)}
        for _ in range(chance.randrange(4))
    ]
    text = json.dumps(chance.choice((listed, listed, listed, None, {}, [1], "x", 10**40, [[]])))
    return text[: chance.randrange(len(text))] if chance.random() < 0.05 else text
