"""Options that several commands take."""

from __future__ import annotations

from trainc.cli.shared.options import Option

# The words are those of trainc.changes.compare.updates, which only runs that compare load.
AS = Option(
    "--as",
    "how --against applies the edit: built manifests, or files as they are",
    choices=("server-side-apply", "client-side-apply", "put", "server-side-apply-files"),
)
STAGED = Option("--staged", "check the next commit: the contents of Git's index")
SELECT = Option("--select", "check only this rule or category, and admission; may be repeated", metavar="RULE")
COLOR = Option("--color", "color text output", choices=("auto", "always", "never"))
REPORTING = (
    Option(
        "--only", "check admission by the API server only, or rendered files only", choices=("admission", "rendered")
    ),
    Option("--cluster", "compile for this cluster of trainc.yaml only; may be repeated", metavar="NAME"),
    Option("--set", "override a cluster setting, such as scheduler=volcano or kubernetes=1.37", metavar="KEY=VALUE"),
    Option("--closed-world", "treat classes, PVCs and queues that are not in the input as missing"),
    Option("--pod-security", "check pods against this Pod Security Standard", choices=("baseline", "restricted")),
    Option(
        "--field-validation",
        "handle unknown and duplicate fields as kubectl does",
        choices=("strict", "warn", "ignore"),
    ),
    Option("--no-cache", "do not use results of earlier runs", is_advanced=True),
    Option(
        "--jobs",
        "number of workers (default: one per core, each with 100 files or more)",
        metavar="N",
        is_advanced=True,
    ),
    Option(
        "--no-forms",
        "compile every job in full, even if jobs are alike",
        is_advanced=True,
    ),
    Option(
        "--fail-on",
        "exit with 1 for warnings too, or for skipped checks as well",
        choices=("error", "warning", "skipped"),
    ),
    Option(
        "--report",
        "output format of findings",
        choices=("text", "json", "github", "gitlab", "junit", "rdjson", "sarif"),
    ),
    COLOR,
    Option("-v --verbose", "print every finding in full, with notes and without the limit of 200"),
    Option("-q --quiet", "print errors only, and no summary"),
    Option("--min-level", "", choices=("note", "warning", "error"), instead="-q for errors only, -v for notes"),
    Option("--notes", "", instead="-v"),
    Option("--all", "", instead="-v"),
    Option("--ignore", "suppress a rule or category, admission errors excepted; may be repeated", metavar="RULE"),
    Option(
        "--statistics",
        "count findings by rule and file instead of printing them",
        is_advanced=True,
    ),
)
