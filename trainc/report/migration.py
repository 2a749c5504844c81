"""Answers of `trainc migrate` about many files: a screen in the terminal, and Markdown for a pull request."""

from collections.abc import Iterable
from typing import Any

from trainc.report.markdown import code, sentence
from trainc.report.tables import aligned
from trainc.text.counting import few

View = dict[str, Any]


_MAX_ROWS = 6  # rows of one table
_NAMED = 3  # jobs that are named beside what holds for them


def migration_lines(view: View) -> list[str]:
    lines = [_headline(view), ""]
    lines += [f"  {line}" for line in aligned([("KIND", "JOBS", "MIGRATED", "POLICY"), *map(_row, view["kinds"])])]
    for title, rows in _tables(view):
        more = [("", f"and {len(rows) - _MAX_ROWS} more")] if len(rows) > _MAX_ROWS else []
        lines += ["", f"{title}:", *(f"  {count:>4}  {text}" for count, text in [*rows[:_MAX_ROWS], *more])]
    return [*lines, "", "`--details` lists every change of every job"]


def migration_markdown(view: View) -> list[str]:
    lines = [sentence(_headline(view))]
    if view["jobs"]:
        lines += ["", "| kind | jobs | migrated | policy |", "|---|---|---|---|"]
        lines += [f"| {' | '.join(map(sentence, _row(one)))} |" for one in view["kinds"]]
    for title, rows in _tables(view):
        lines += ["", f"**{title}**", "", *(f"- {count}: {sentence(text)}" for count, text in rows)]
    return [*lines, *_every_job(view["jobs"])] if view["jobs"] else lines


def new_run_lines(view: View) -> list[str]:
    """A line for each job that needs a new run."""
    return [
        f"{one['file']}: `{one['job']}` needs a new run, because {one['rendering']} cannot change in place: `trainc run {one['job']}`, "
        f"or `trainc build -w --rerender {one['job']}` if it was never applied"
        for one in view["newRuns"]
    ]


def _every_job(jobs: Iterable[View]) -> list[str]:
    lines = ["", "<details><summary>Every job</summary>", ""]
    for job in jobs:
        lines.append(f"- {code(job['file'])}: {job['kind']} {code(job['name'])}")
        lines += [f"  - {sentence(text)}" for text in (*job["changes"], *job["compiledOtherwise"])]
    return [*lines, "", "</details>"]


def _headline(view: View) -> str:
    if not view["jobs"]:
        return "no jobs of other operators" if view["problems"] or view["respelled"] else "nothing to migrate"
    jobs, migrated = len(view["jobs"]), sum(job["migrated"] for job in view["jobs"])
    wired = sum(job["policy"] is not None for job in view["jobs"])
    left = f", {jobs - migrated} not migrated" if migrated < jobs else ""
    return f"{migrated} of {jobs} jobs of other operators migrated to TrainJobs, {wired} of them with an mlPolicy{left}"


def _row(kind: View) -> tuple[str, str, str, str]:
    policies = ", ".join(f"{number} {name}" for name, number in kind["policies"].items()) or "none"
    return kind["kind"], str(kind["jobs"]), str(kind["migrated"]), policies


def _tables(view: View) -> list[tuple[str, list[tuple[int, str]]]]:
    """The tables that have rows: how many jobs a sentence holds for, and the sentence."""
    unwired = [(job["reason"], job) for job in view["jobs"] if job["migrated"] and job["reason"]]
    left = [(text, job) for job in view["jobs"] for text in job["left"]]
    reasons = [(text, job) for job in view["jobs"] for text in job["reasons"]]
    refused = [(1, f"{one['file']}:{one['line']}:{one['column']}: {one['message']}") for one in view["problems"]]
    new_run = "need a new run, because their rendered files cannot change in place: `trainc run JOB`"
    runs = [one["job"] for one in view["newRuns"]]
    tables = [
        ("not migrated", refused),
        ("no mlPolicy configures them, so `numNodes` cannot scale them", _counted(unwired)),
        ("dropped, or kept from the operator", _counted(left)),
        ("compiled differently", _counted(reasons)),
        (new_run, [(len(runs), few(runs, _NAMED))] if runs else []),
        ("with the current field names", [(1, f"{one['file']}: {one['message']}") for one in view["respelled"]]),
    ]
    return [(title, rows) for title, rows in tables if rows]


def _counted(pairs: Iterable[tuple[str, View]]) -> list[tuple[int, str]]:
    """Each sentence with the number of its jobs, the most frequent first, and some of them by name."""
    by_text: dict[str, list[str]] = {}
    for text, job in pairs:
        by_text.setdefault(text, []).append(job["name"])
    rows = sorted(by_text.items(), key=lambda row: (-len(row[1]), row[0]))
    return [(len(names), f"{text} ({few(names, _NAMED)})") for text, names in rows]
