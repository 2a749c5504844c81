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
            "Say who set a field: the layer and file:line it comes from, and what it beat.\n"
            "FIELD is part of a path in the output of the job FILE (- is stdin), with `*` and `**` for any steps. A LINE of\n"
            "a rendered file is asked for in the same way; for a line, or a field, of a job, a runtime, a component or\n"
            "trainc.yaml it says where that lands.",
            (Option("--report", "how the answer is written", choices=("text", "json")), COLOR),
            ("trainc why jobs/bert.yaml parallelism", "trainc why rendered/nlp/bert.yaml:57"),
            _why,
        ),
        Command(
            "show",
            "[PATH...]",
            "Show what will run: roles, pods, host names, ranks, accelerators, start order.\n"
            "Several jobs are a line each, with queue, accelerators, run and the state of their rendering, and totals.\n"
            "With --rank, that pod's environment and command. With --lifecycle, the order of the start, and what happens\n"
            "when a pod fails: each EVENT of --after (`ready: POD`, `succeeded JOB`, `failed POD exit 3`, `resumed`) is\n"
            "played through, and what exists after it is shown.",
            (
                Option("--details", "draw each of several jobs, not a line for each"),
                Option("--group", "jobs as lines, grouped by this", choices=("cluster", "queue", "folder")),
                Option("--rendered", "also what the rendered file of each job says"),
                Option("--rank", "show this pod alone", metavar="N"),
                Option("--lifecycle", "show how the job starts, and what happens when a pod fails"),
                Option("--after", "play an event through; may be repeated", metavar="EVENT", many=True),
                Option(
                    "--report",
                    "how the answer is written; html is a page for a browser, mermaid a diagram for Markdown",
                    choices=("text", "markdown", "json", "mermaid", "html"),
                ),
                Option("-o --output", "write the page of --report html to FILE; - is stdout", metavar="FILE"),
                COLOR,
                Option("--cluster", "for this cluster alone; may be repeated", metavar="NAME"),
                Option("--set", "a setting of the cluster, such as scheduler=volcano", metavar="KEY=VALUE", many=True),
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
            "Say what changed in meaning since BASE (a Git revision, default HEAD), or between two folders:\n"
            "jobs that are new, gone, renamed or edited, which edit reaches them, and what the API server would refuse.",
            (
                Option("--report", "how the answer is written", choices=("text", "markdown", "comment", "json")),
                COLOR,
                Option("--exit-code", "exit with 1 when anything changes"),
                Option("--cluster", "compare for this cluster alone; may be repeated", metavar="NAME"),
                Option(
                    "--set",
                    "a setting of the cluster on both sides, as for build; may be repeated",
                    metavar="KEY=VALUE",
                ),
                Option("--include-other", "compare other documents of other files as well, as build passes them on"),
            ),
            ("trainc diff", "trainc diff main --report markdown", "trainc diff old/ new/ --exit-code"),
            _diff,
        ),
        *REWRITING,
        Command(
            "rules",
            "[NAME]",
            "What trainc looks for: every rule with its level, or one with its reason and the smallest input that fails it.",
            (
                Option("--kind", "say what differs from the operator of this older kind", metavar="KIND"),
                Option("--report", "how the answer is written", choices=("text", "json")),
            ),
            ("trainc rules", "trainc rules reserved-env", "trainc rules --kind PyTorchJob"),
            _rules,
        ),
        Command(
            "runtimes",
            "[list|show NAME|copy NAME... [DIR/]|flatten NAME]",
            "The project's runtimes and components with who uses them, and those that trainc ships: list them, print one, or\n"
            "copy some to own them (to runtimes/ and runtimes/components/). `flatten` prints the plain ClusterTrainingRuntime that one amounts to.",
            (Option("--cluster", "flatten with what this cluster of trainc.yaml adds", metavar="NAME"),),
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
            "Run the pods of the job under PATH as processes on this machine, with the environment and the commands of\n"
            "its manifests, and say whether all of them met. It runs what the manifests say, and asks first.",
            (
                Option("--nodes", "scale the job down to N nodes", metavar="N"),
                Option("--command", "run this instead of the pods' own command", metavar="COMMAND"),
                Option("--directory", "where to run it (default: the project's folder)", metavar="DIR"),
                Option("--timeout", "seconds before it is over (default: 120)", metavar="SECONDS"),
                Option("--logs", "keep what each process writes, in a file of its own below DIR", metavar="DIR"),
                Option("--yes", "do not ask"),
            ),
            (
                "trainc rehearse examples/jax-cpu",
                "trainc rehearse jobs/bert.yaml --nodes 2 --command 'torchrun probe.py'",
            ),
            _rehearse,
        ),
        Command(
            "schemas",
            "[list|show KIND|export DIR|generate [CHECKOUT]]",
            "The schemas of every kind that trainc reads and writes: CRDs for clusters, JSON Schemas for editors.",
            (Option("--format", "what `show` prints", choices=("yaml", "json")),),
            ("trainc schemas", "trainc schemas show TrainJob", "trainc schemas export .schemas/"),
            _schemas,
        ),
        Command(
            "init",
            "[DIR]",
            "Start a repository in DIR (default: here): a job, its runtime, trainc.yaml, a folder for what is known of the\n"
            "cluster, pre-commit, a workflow. What is there already stays.",
            (
                Option("--cluster", "the cluster's name (default: main)", metavar="NAME"),
                Option("--delivery", "who applies the rendered manifests", choices=("argocd", "flux")),
                Option("--policies", "add admission policies: runtimes, registries, accelerators, labels"),
            ),
            ("trainc init", "trainc init training --delivery argocd", "trainc init --policies"),
            _init,
        ),
        Command(
            "completion",
            "bash|zsh|fish|words [-- WORD...]",
            "Print what makes a shell complete commands, options, rules, runtimes, clusters and fields.\n"
            "`words` is what the shells ask: the candidates for the last of these words.",
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
