"""Options that several commands take."""

from __future__ import annotations

from trainc.cli.shared.options import Option

# The words are those of trainc.changes.compare.operations, which only runs that compare load.
AS = Option(
    "--as",
    "how --against writes: what trainc builds by server or client, or the files as they are",
    choices=("server-side-apply", "client-side-apply", "put", "server-side-apply-files"),
)
STAGED = Option("--staged", "judge the next commit: what Git's index holds")
SELECT = Option("--select", "check a rule or category alone, and servers' verdicts; may be repeated", metavar="RULE")
COLOR = Option("--color", "colours in text for people", choices=("auto", "always", "never"))
REPORTING = (
    Option("--only", "judge by servers' own verdicts, or by rendered files alone", choices=("admission", "rendered")),
    Option("--cluster", "compile for this cluster of trainc.yaml alone; may be repeated", metavar="NAME"),
    Option("--set", "a setting of the cluster, such as scheduler=volcano or kubernetes=1.37", metavar="KEY=VALUE"),
    Option("--closed-world", "what is not in the input does not exist: classes, claims, queues"),
    Option("--pod-security", "judge pods by this Pod Security Standard", choices=("baseline", "restricted")),
    Option("--field-validation", "unknown and duplicate fields: as kubectl", choices=("strict", "warn", "ignore")),
    Option("--no-cache", "rely on nothing that an earlier run found out", is_advanced=True),
    Option(
        "--jobs",
        "number of workers (default: one for each core, and for 100 files at least)",
        metavar="N",
        is_advanced=True,
    ),
    Option(
        "--no-forms",
        "compile every job in full, also those that differ from others in numbers alone",
        is_advanced=True,
    ),
    Option(
        "--fail-on",
        "exit with 1 for warnings too, or also for what is not checked",
        choices=("error", "warning", "skipped"),
    ),
    Option(
        "--report", "how findings are written", choices=("text", "json", "github", "gitlab", "junit", "rdjson", "sarif")
    ),
    COLOR,
    Option("-v --verbose", "print every finding in full: notes too, and more than 200"),
    Option("-q --quiet", "print errors alone, and no summary"),
    Option("--min-level", "", choices=("note", "warning", "error"), instead="-q for errors alone, -v for notes"),
    Option("--notes", "", instead="-v"),
    Option("--all", "", instead="-v"),
    Option("--ignore", "suppress a rule or category; may be repeated, a server's verdict stays", metavar="RULE"),
    Option(
        "--statistics",
        "count findings by rule and file instead of printing them",
        is_advanced=True,
    ),
)
