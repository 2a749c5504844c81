"""`trainc diagnose` as a command: what it takes and what it is for."""

from __future__ import annotations

from trainc.cli.shared.options import Command, Option, Options

_GET = "kubectl get jobset,job,pod,event,workload,podgroup,service -n NAMESPACE -o yaml"


def _diagnose(options: Options) -> int:
    from trainc.cli.diagnose import diagnose  # noqa: PLC0415 (each command loads what it needs)

    return diagnose(options)


COMMANDS = (
    Command(
        "diagnose",
        "[FILE...]",
        "Show the state of each job on a cluster, what went wrong first, and the line in Git that caused it.\n"
        "Reads kubectl output (default: standard input), never a cluster. Omit kinds that the cluster does not have:\n\n"
        f"  {_GET} \\\n    | trainc diagnose -",
        (
            Option("--repository", "repository of the jobs (default: the current project)", metavar="DIR"),
            Option("--cluster", "compile the repository for this cluster of trainc.yaml", metavar="NAME"),
            Option("--report", "output format", choices=("text", "json")),
        ),
        ("kubectl get jobset,job,pod,event -o yaml | trainc diagnose -", "trainc diagnose dump.yaml --report json"),
        _diagnose,
    ),
)
