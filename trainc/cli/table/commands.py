"""The table of commands."""

from __future__ import annotations

from trainc.cli.capacity import COMMANDS as CAPACITY
from trainc.cli.shared.common_options import COLOR
from trainc.cli.shared.options import Command, Option, Options
from trainc.cli.table.authoring import COMMANDS as AUTHORING
from trainc.cli.table.compiling import COMMANDS as COMPILING
from trainc.cli.table.delivery import COMMANDS as DELIVERY
from trainc.cli.table.diagnosis import COMMANDS as DIAGNOSIS
from trainc.cli.table.rewriting import COMMANDS as REWRITING


def _runtimes(options: Options) -> int:
    from trainc.cli.runtimes import runtimes  # noqa: PLC0415

    return runtimes(options)


def _rehearse(options: Options) -> int:
    from trainc.cli.rehearse import rehearse  # noqa: PLC0415

    return rehearse(options)


def _why(options: Options) -> int:
    from trainc.cli.why import why  # noqa: PLC0415

    return why(options)


def _init(options: Options) -> int:
    from trainc.cli.init import init  # noqa: PLC0415

    return init(options)


def _diff(options: Options) -> int:
    from trainc.cli.diff import diff  # noqa: PLC0415

    return diff(options)


def _show(options: Options) -> int:
    from trainc.cli.show import show  # noqa: PLC0415

    return show(options)


def _rules(options: Options) -> int:
    from trainc.cli.rules import rules  # noqa: PLC0415

    return rules(options)


def _completion(options: Options) -> int:
    from trainc.cli.completion import completion  # noqa: PLC0415

    return completion(options, COMMANDS)


def _schemas(options: Options) -> int:
    from trainc.cli.schemas import schemas  # noqa: PLC0415

    return schemas(options)


COMMANDS = {
    command.name: command
    for command in (
        *COMPILING.values(),
        Command(
            "why",
            "FILE[:LINE] [FIELD]",
            "Show what set a field: the layer and file:line it comes from, and the values it overrides.\n"
            "FIELD is part of a path in the output of the job FILE (- is stdin); `*` and `**` match any steps. LINE also\n"
            "works on rendered files. For a line or field of a job, runtime, component or trainc.yaml, it shows where the\n"
            "value ends up.",
            (Option("--report", "output format", choices=("text", "json")), COLOR),
            ("trainc why jobs/bert.yaml parallelism", "trainc why rendered/nlp/bert.yaml:57"),
            _why,
        ),
        Command(
            "show",
            "[PATH...]",
            "Show what will run: roles, pods, host names, ranks, accelerators, start order.\n"
            "Several jobs print as one line each, with queue, accelerators, run and the state of the rendering, plus totals.\n"
            "--rank prints one pod's environment and command. --lifecycle prints the start order and what happens when a\n"
            "pod fails; it simulates each EVENT of --after (`ready: POD`, `succeeded JOB`, `failed POD exit 3`, `resumed`)\n"
            "and prints what exists afterwards.",
            (
                Option("--details", "draw each job instead of one line per job"),
                Option("--group", "list the jobs grouped by this", choices=("cluster", "queue", "folder")),
                Option("--rendered", "also show each job as its rendered file has it"),
                Option("--rank", "show this pod only", metavar="N"),
                Option("--lifecycle", "show the start order, and what happens when a pod fails"),
                Option("--after", "simulate an event; may be repeated", metavar="EVENT", many=True),
                Option(
                    "--report",
                    "output format; html is a page for browsers, mermaid a diagram for Markdown",
                    choices=("text", "markdown", "json", "mermaid", "html"),
                ),
                Option("-o --output", "write the --report html page to FILE; - is stdout", metavar="FILE"),
                COLOR,
                Option("--cluster", "show this cluster only; may be repeated", metavar="NAME"),
                Option(
                    "--set", "override a cluster setting, such as scheduler=volcano", metavar="KEY=VALUE", many=True
                ),
            ),
            (
                "trainc show jobs/bert.yaml",
                "trainc show --group queue",
                "trainc show jobs/bert.yaml --rank 1",
                "trainc show jobs/bert.yaml --lifecycle",
                "trainc show --report html -o training.html",
            ),
            _show,
        ),
        Command(
            "diff",
            "[BASE | FOLDER FOLDER]",
            "Show semantic changes since BASE (a Git revision, default HEAD), or between two folders:\n"
            "jobs added, removed, renamed or edited, which edit affects them, and what the API server would reject.",
            (
                Option("--report", "output format", choices=("text", "markdown", "comment", "json")),
                COLOR,
                Option("--exit-code", "exit with 1 if anything changes"),
                Option("--cluster", "compare for this cluster only; may be repeated", metavar="NAME"),
                Option(
                    "--set",
                    "override a cluster setting on both sides; may be repeated",
                    metavar="KEY=VALUE",
                ),
                Option("--include-other", "also compare documents from files without jobs, as in build"),
            ),
            ("trainc diff", "trainc diff main --report markdown", "trainc diff old/ new/ --exit-code"),
            _diff,
        ),
        *REWRITING,
        Command(
            "rules",
            "[NAME]",
            "List every rule with its level, or show one with its reason and the smallest input that fails it.",
            (
                Option("--kind", "list the differences from this kind's operator", metavar="KIND"),
                Option("--report", "output format", choices=("text", "json")),
            ),
            ("trainc rules", "trainc rules reserved-env", "trainc rules --kind PyTorchJob"),
            _rules,
        ),
        Command(
            "runtimes",
            "[list|show NAME|copy NAME... [DIR/]|flatten NAME]",
            "List, print and copy runtimes and components: the project's, with the jobs that use them, and those trainc ships.\n"
            "`copy` writes them to runtimes/ and runtimes/components/, where you can edit them. `flatten` prints the\n"
            "ClusterTrainingRuntime that a runtime resolves to.",
            (Option("--cluster", "flatten with the additions of this cluster in trainc.yaml", metavar="NAME"),),
            (
                "trainc runtimes",
                "trainc runtimes show torch-distributed",
                "trainc runtimes copy torch-distributed",
                "trainc runtimes flatten llm-base",
            ),
            _runtimes,
        ),
        Command(
            "rehearse",
            "PATH",
            "Run the pods of the job under PATH as local processes, with the environment and commands of its manifests, and\n"
            "report whether they all connected. Asks for confirmation first, because it executes those commands.",
            (
                Option("--nodes", "scale the job down to N nodes", metavar="N"),
                Option("--command", "run this command instead of the pods' own", metavar="COMMAND"),
                Option("--directory", "working directory (default: the project's folder)", metavar="DIR"),
                Option("--timeout", "time limit in seconds (default: 120)", metavar="SECONDS"),
                Option("--logs", "write the output of each process to its own file below DIR", metavar="DIR"),
                Option("--yes", "do not ask for confirmation"),
            ),
            (
                "trainc rehearse examples/jax-cpu",
                "trainc rehearse jobs/bert.yaml --nodes 2 --command 'torchrun probe.py'",
            ),
            _rehearse,
        ),
        Command(
            "schemas",
            "[list|show NAME|export DIR|generate [CHECKOUT]]",
            "List, print and export the schemas of every kind trainc reads or writes: CRDs for clusters, JSON Schemas for editors.",
            (Option("--format", "output format of `show`", choices=("yaml", "json")),),
            ("trainc schemas", "trainc schemas show TrainJob", "trainc schemas export .schemas/"),
            _schemas,
        ),
        Command(
            "init",
            "[DIR]",
            "Create a repository in DIR (default: here): a job, its runtime, trainc.yaml, a folder for dumps of the cluster,\n"
            "pre-commit hooks, a CI workflow. What is already there stays.",
            (
                Option("--cluster", "name of the cluster (default: main)", metavar="NAME"),
                Option("--delivery", "tool that applies the rendered manifests", choices=("argocd", "flux")),
                Option("--policies", "add admission policies: runtimes, registries, accelerators, labels"),
            ),
            ("trainc init", "trainc init training --delivery argocd", "trainc init --policies"),
            _init,
        ),
        Command(
            "completion",
            "bash|zsh|fish|words [-- WORD...]",
            "Print the shell completion script for commands, options, rules, runtimes, clusters and fields.\n"
            "`words` prints the candidates for the last WORD; the scripts call it.",
            (),
            (
                "source <(trainc completion bash)",
                "trainc completion zsh > ~/.zfunc/_trainc",
                "trainc completion fish > ~/.config/fish/completions/trainc.fish",
            ),
            _completion,
        ),
        *AUTHORING,
        *CAPACITY,
        *DIAGNOSIS,
        *DELIVERY,
    )
}
