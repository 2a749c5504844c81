"""`trainc build` and `trainc validate`, with what an earlier run left behind where they read folders.

Hooks call these two for each commit, so they stand apart from the table of all commands.
"""

from __future__ import annotations

import os

from trainc.cli.shared.common_options import AS, REPORTING, SELECT, STAGED
from trainc.cli.shared.options import Command, Option, Options


def build(options: Options) -> int:
    """`trainc build`: compile, and write or compare."""
    if any(options.has(word) for word in ("check", "output", "write")) and _reads_folders(options):
        from trainc.cli.repeated import remembered  # noqa: PLC0415 (each command loads what it needs)

        return remembered("build", options)
    from trainc.cli.build import build as compiled  # noqa: PLC0415

    return compiled(options)


def validate(options: Options) -> int:
    """`trainc validate`: compile, and report."""
    if _reads_folders(options):
        from trainc.cli.repeated import remembered  # noqa: PLC0415

        return remembered("validate", options)
    from trainc.cli.build import validate as judged  # noqa: PLC0415

    return judged(options)


def _reads_folders(options: Options) -> bool:
    """Whether a run may be worth remembering: it reads folders, and nobody asked for one that relies on nothing."""
    folders = options.has("whole_project") or any(os.path.isdir(path) for path in options.arguments or ["."])
    return folders and not options.has("no_cache")


COMMANDS = {
    command.name: command
    for command in (
        Command(
            "build",
            "[PATH...]",
            "Compile the jobs under PATH (files or folders; - is stdin; default: here) into plain manifests.\n"
            "Manifests go to stdout, findings to stderr. If there are errors, nothing is written.",
            (
                Option("-w --write", "write one file per job to the project's output folder (default: rendered)"),
                Option("-o --output", "write one file per job to DIR; - is stdout", metavar="DIR", is_folder=True),
                Option("--check", "write nothing; exit with 1 if rendered files are out of date"),
                STAGED,
                Option("--changed-since", "build only what changed since REV, and the jobs it affects", metavar="REV"),
                Option("--rerender", "render the current run of this job again; `all` for every run", metavar="NAME"),
                Option("--format", "output format on stdout", choices=("yaml", "json")),
                Option("--include-other", "also pass through documents from files without jobs"),
                *REPORTING,
            ),
            (
                "trainc build jobs/bert.yaml",
                "trainc build -w",
                "trainc build --check",
                "trainc build -o manifests/",
                "cat job.yaml | trainc build - | kubectl diff -f -",
            ),
            build,
        ),
        Command(
            "validate",
            "[PATH...]",
            "Check that the jobs under PATH are valid and will run, without writing manifests.",
            (
                Option("--whole-project", "compile the whole project; report findings that concern PATH"),
                STAGED,
                Option("--against", "also check the edit since BASE: a file, folder or Git revision", metavar="BASE"),
                AS,
                SELECT,
                Option("--write-baseline", "accept all current findings; later runs report only new ones"),
                *REPORTING,
            ),
            ("trainc validate", "trainc validate jobs/ --fail-on warning", "trainc validate job.yaml --only admission"),
            validate,
        ),
    )
}
