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
        "Start the next run of jobs, given by name, glob or file: sets `trainc.dev/run` in the job's file, or in its\n"
        "TrainJobPatch for a cluster, keeps comments, and says what the new run does otherwise than the run before.",
        (
            Option(
                "--cluster", "only the run of this cluster, which has a TrainJobPatch; may be repeated", metavar="NAME"
            ),
            Option("--dry-run", "show the edit and change nothing"),
            COLOR,
        ),
        ("trainc run bert", "trainc run 'nlp-*' --dry-run", "trainc run jobs/bert.yaml"),
        _run,
    ),
    Command(
        "migrate",
        "[PATH...]",
        "Rewrite jobs of the older operators, and earlier spellings of the Trainer's kinds, as TrainJobs of today.\n"
        "Prints the new files and says what changed in meaning and in what is compiled; comments stay.",
        (
            Option("-w --write", "change the files in place"),
            Option(
                "--runtime",
                "one runtime for the jobs: this one, made of what they share if need be",
                metavar="NAME",
            ),
            Option("--details", "every change of every job, not a summary, for more than three jobs"),
            Option("--report", "how the answer is written", choices=("text", "markdown", "json")),
        ),
        ("trainc migrate jobs/mnist.yaml", "trainc migrate -w jobs/", "trainc migrate jobs/ --report markdown"),
        _migrate,
    ),
    Command(
        "fix",
        "[PATH...]",
        "Make the safe edits that findings carry. Prints a diff; comments and layout stay.",
        (
            Option("-w --write", "change the files in place"),
            Option("--unsafe", "also edits that may change what a job does"),
            COLOR,
        ),
        ("trainc fix jobs/bert.yaml", "trainc fix -w jobs/"),
        _fix,
    ),
)
