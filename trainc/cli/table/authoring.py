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
        "Create a repository from the kubectl output of a cluster (default: standard input): a file for each job and\n"
        "runtime, rendered manifests that keep running jobs as they are, and a list of every other object. Existing\n"
        "files are never overwritten. Omit kinds that the cluster does not have:\n\n"
        f"  {GET_JOBS} \\\n    | trainc adopt DIR",
        (
            Option("--cluster", "name of the cluster (default: main)", metavar="NAME"),
            Option(
                "--finished",
                "finished jobs, which would train again: write to archive/, or skip",
                choices=("archive", "skip"),
            ),
            Option("--migrate", "rewrite jobs of other operators as TrainJobs"),
            Option("--delivery", "tool that applies the rendered manifests", choices=("argocd", "flux")),
            Option("--report", "output format", choices=("text", "json")),
        ),
        ("kubectl get trainjobs,jobsets -A -o yaml | trainc adopt training", "trainc adopt . dump.yaml --cluster eu"),
        _adopt,
    ),
    Command(
        "new",
        "NAME [-- COMMAND...]",
        "Create a job, and the runtime it needs if the project has none. Existing files are never overwritten.\n"
        "On a terminal it prompts for missing values; with any option, or without a terminal, it never prompts.",
        (
            Option(
                "--framework",
                "training framework: torch, jax, mpi, ... (default: torch); `list` shows all",
                metavar="NAME",
            ),
            Option("--nodes", "number of nodes (default: 1)", metavar="N"),
            Option("--gpus", "NVIDIA GPUs per node", metavar="N"),
            Option("--cpu", "CPU cores per node", metavar="N"),
            Option("--memory", "memory per node, such as 64Gi", metavar="AMOUNT"),
            Option("--image", "container image (default: the runtime's)", metavar="IMAGE"),
            Option("--on", "machine type, such as gke-a3-mega or eks-p5; `list` shows all", metavar="MACHINES"),
            Option("--with", "set a parameter of the machine type, such as topology=4x4x4", metavar="KEY=VALUE"),
            Option("--checkpoints", "PVC for checkpoints; failed jobs then restart", metavar="CLAIM"),
            Option("--namespace", "namespace of the job (default: training)", metavar="NAME"),
            Option("--scheduler", "scheduler of the cluster, for a project without trainc.yaml", metavar="NAME"),
            Option("--kubernetes", "Kubernetes version of the cluster; --scheduler native needs it", metavar="VERSION"),
            Option("--queue", "Kueue or Volcano queue", metavar="NAME"),
            Option("--runtime", "base the job on this runtime of the project", metavar="NAME"),
            Option(
                "--dir", "folder for the job's file (default: jobs at the top of the project, else here)", metavar="DIR"
            ),
            Option("--yes", "do not prompt"),
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
        "Describe a field of any kind or of trainc.yaml, an annotation (type, default, example), or a rule (reason, minimal\n"
        "failing input). `rules` lists all rules by category; with no argument, it lists the kinds.",
        (
            Option("--recursive", "list all nested fields"),
            Option("--kind", "list the differences from this kind's operator, such as PyTorchJob", metavar="KIND"),
            Option("--report", "output format", choices=("text", "json")),
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
        "Run the language server for editors, on standard input and output: findings while you type, hover, go to\n"
        "definition, completion, and the edits of `trainc fix` as quick fixes.\n"
        "Requires the extra: pip install 'trainc[lsp]'.",
        (),
        ("trainc lsp",),
        _lsp,
    ),
)
