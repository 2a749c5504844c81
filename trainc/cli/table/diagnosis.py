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
        "Say for each job of a cluster where it stands and what went wrong first, and name the line in Git.\n"
        "Reads what kubectl prints (default: standard input), never a cluster. Leave out kinds that the cluster lacks:\n\n"
        f"  {_GET} \\\n    | trainc diagnose -",
        (
            Option("--repository", "the repository of the jobs (default: the project here)", metavar="DIR"),
            Option("--cluster", "compile the repository for this cluster of trainc.yaml", metavar="NAME"),
            Option("--report", "how the answer is written", choices=("text", "json")),
        ),
        ("kubectl get jobset,job,pod,event -o yaml | trainc diagnose -", "trainc diagnose dump.yaml --report json"),
        _diagnose,
    ),
)
