"""The commands that rewrite files of people, comments and layout kept."""

from __future__ import annotations

from trainc.cli.shared.common_options import COLOR
from trainc.cli.shared.options import Command, Option, Options


def _run(options: Options) -> int:
    from trainc.cli.run import run  # noqa: PLC0415

    return run(options)


def _migrate(options: Options) -> int:
    from trainc.cli.migrate import migrate  # noqa: PLC0415

    return migrate(options)


def _fix(options: Options) -> int:
    from trainc.cli.fix import fix  # noqa: PLC0415

    return fix(options)


COMMANDS = (
    Command(
        "run",
        "JOB...",
        "Start the next run of jobs, given by name, glob or file. Sets `trainc.dev/run` in the job's file, or in its\n"
        "TrainJobPatch for a cluster, keeps comments, and prints how the new run differs from the last one.",
        (
            Option("--cluster", "only on this cluster, which has a TrainJobPatch; may be repeated", metavar="NAME"),
            Option("--dry-run", "show the edit without writing it"),
            COLOR,
        ),
        ("trainc run bert", "trainc run 'nlp-*' --dry-run", "trainc run jobs/bert.yaml"),
        _run,
    ),
    Command(
        "migrate",
        "[PATH...]",
        "Rewrite jobs of other operators, and earlier versions of Trainer kinds, as current TrainJobs.\n"
        "Prints the new files, and what changes in meaning and in the compiled manifests; keeps comments.",
        (
            Option("-w --write", "edit the files in place"),
            Option(
                "--runtime",
                "use this runtime for all jobs; create it from what they share if needed",
                metavar="NAME",
            ),
            Option("--details", "list every change, not a summary, for more than three jobs"),
            Option("--report", "output format", choices=("text", "markdown", "json")),
        ),
        ("trainc migrate jobs/mnist.yaml", "trainc migrate -w jobs/", "trainc migrate jobs/ --report markdown"),
        _migrate,
    ),
    Command(
        "fix",
        "[PATH...]",
        "Show the safe fixes for findings as a diff, and apply them with -w. Keeps comments and layout.",
        (
            Option("-w --write", "edit the files in place"),
            Option("--unsafe", "include edits that may change what a job does"),
            COLOR,
        ),
        ("trainc fix jobs/bert.yaml", "trainc fix -w jobs/"),
        _fix,
    ),
)
