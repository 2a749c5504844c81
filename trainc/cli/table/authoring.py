"""The commands for people who write jobs, as part of the table of all commands."""

from __future__ import annotations

from trainc.cli.shared.options import Command, Option, Options

GET_JOBS = (
    "kubectl get trainjobs,clustertrainingruntimes,trainingruntimes,jobsets,jobs,"
    "pytorchjobs,mpijobs,tfjobs,rayjobs -A -o yaml"
)


def _new(options: Options) -> int:
    from trainc.cli.new import new  # noqa: PLC0415

    return new(options)


def _explain(options: Options) -> int:
    from trainc.cli.explain import explain  # noqa: PLC0415

    return explain(options)


def _lsp(options: Options) -> int:
    from trainc.cli.lsp import lsp  # noqa: PLC0415

    return lsp(options)


def _adopt(options: Options) -> int:
    from trainc.cli.adopt import adopt  # noqa: PLC0415

    return adopt(options)


COMMANDS = (
    Command(
        "adopt",
        "DIR [FILE...]",
        "Write a repository of what runs on a cluster, from what kubectl prints (default: standard input): a file for\n"
        "each job and runtime, renderings that keep what runs, and an account of every other object. Nothing is\n"
        "overwritten. Leave out kinds that the cluster lacks:\n\n"
        f"  {GET_JOBS} \\\n    | trainc adopt DIR",
        (
            Option("--cluster", "the cluster's name (default: main)", metavar="NAME"),
            Option(
                "--finished",
                "where finished jobs go, which would train again: archive/ or nowhere",
                choices=("archive", "skip"),
            ),
            Option("--migrate", "write jobs of the older operators as TrainJobs"),
            Option("--delivery", "who will apply the rendered manifests", choices=("argocd", "flux")),
            Option("--report", "how the answer is written", choices=("text", "json")),
        ),
        ("kubectl get trainjobs,jobsets -A -o yaml | trainc adopt training", "trainc adopt . dump.yaml --cluster eu"),
        _adopt,
    ),
    Command(
        "new",
        "NAME [-- COMMAND...]",
        "Write a job from a few words, and the runtime that it needs where the project has none. Nothing is overwritten.\n"
        "On a terminal it asks for what is not said; with any option, or without a terminal, it asks nothing.",
        (
            Option(
                "--framework",
                "what the processes meet with: torch, jax, mpi, ... (default: torch); `list` shows all",
                metavar="NAME",
            ),
            Option("--nodes", "how many nodes (default: 1)", metavar="N"),
            Option("--gpus", "NVIDIA GPUs of each node", metavar="N"),
            Option("--cpu", "cores of each node", metavar="N"),
            Option("--memory", "memory of each node, such as 64Gi", metavar="AMOUNT"),
            Option("--image", "the image that holds the program (default: the runtime's)", metavar="IMAGE"),
            Option("--on", "machines to run on, such as gke-a3-mega or eks-p5; `list` shows all", metavar="MACHINES"),
            Option("--with", "a value for the machines, such as topology=4x4x4", metavar="KEY=VALUE"),
            Option("--checkpoints", "claim that keeps checkpoints; failed jobs then restart", metavar="CLAIM"),
            Option("--namespace", "namespace of the job (default: training)", metavar="NAME"),
            Option("--scheduler", "who places the pods, for a project without trainc.yaml", metavar="NAME"),
            Option("--kubernetes", "version of the cluster, which --scheduler native needs", metavar="VERSION"),
            Option("--queue", "queue of Kueue or Volcano", metavar="NAME"),
            Option("--runtime", "start from this runtime of the project", metavar="NAME"),
            Option(
                "--dir", "folder of the job's file (default: jobs at the top of the project, else here)", metavar="DIR"
            ),
            Option("--yes", "ask nothing"),
        ),
        (
            "trainc new bert --nodes 4 --gpus 8 --image registry.example.com/bert:1 -- torchrun train.py",
            "trainc new llama --framework jax --on tpu-v5p --with topology=4x4x4",
            "trainc new bert --on eks-p5 --nodes 4 --checkpoints bert-checkpoints",
        ),
        _new,
    ),
    Command(
        "explain",
        "[KIND.FIELD | ANNOTATION | RULE | CATEGORY | rules]",
        "Describe a field of any kind, of trainc.yaml or an annotation (type, default, an example), or a rule (reason, the\n"
        "smallest input that fails it). `rules` lists all rules by category; without an argument it lists the kinds.",
        (
            Option("--recursive", "list every field below it"),
            Option("--kind", "list the differences from the operator of this kind, such as PyTorchJob", metavar="KIND"),
            Option("--report", "how the answer is written", choices=("text", "json")),
        ),
        (
            "trainc explain TrainJob.spec.trainer",
            "trainc explain trainc.yaml.spec.clusters",
            "trainc explain trainc.dev/run",
            "trainc explain nodes-mismatch",
            "trainc explain rules",
        ),
        _explain,
    ),
    Command(
        "lsp",
        "",
        "Answer an editor over the Language Server Protocol, on standard input and output: findings while you type, what a\n"
        "field is and who set it, where a name is defined, what fits here, and the edits of `trainc fix`.\n"
        "It needs the extra: pip install 'trainc[lsp]'.",
        (),
        ("trainc lsp",),
        _lsp,
    ),
)
