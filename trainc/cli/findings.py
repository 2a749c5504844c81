"""What a run reports at its end: findings as text or in a format for programs, without those of the project's baseline."""

import os
import sys
from collections.abc import Callable, Iterable

from trainc.cli.options import BASELINE, PROJECT, Options
from trainc.cli.output import tell, terminal
from trainc.compiler.load.walk import contents
from trainc.model.finding import ERROR, LEVELS, NOTE, WARNING, Finding
from trainc.model.internal_error import internal_error
from trainc.model.report import Report
from trainc.report.alike import Group, groups, others_line
from trainc.report.text import finding_lines, headline, statistics, summary
from trainc.text.counting import counted
from trainc.text.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.text.line_diff import Replacement
Shown = Callable[[str], str]
Lines = Callable[[str], list[str]]

_MAX_FINDINGS = 200  # findings that are printed as text
_TRIED = 50_000  # characters of files in which a run tries edits, to show them as text: each takes the whole file
# How often each rule (the second) may be found in each file. Lines are not kept, so that edits elsewhere in a file
# change nothing.
Counts = dict[tuple[str, str], int]


def print_findings(report: Report, options: Options, lines: Lines, shown: Shown, link: Shown) -> None:
    """Print the findings of a run to standard error, errors first; `link` gives a file's address for a link."""
    # The findings that are printed, by level; of one level causes come before what follows from them, else by place.
    # What fails is never silent.
    levels = (ERROR, WARNING) if options.one("fail_on") in (WARNING, "skipped") else (ERROR,)
    least = LEVELS.index(options.one("min_level", NOTE))
    wanted = [finding for finding in report.findings if LEVELS.index(finding.level) >= least]
    if options.has("quiet"):
        wanted = [finding for finding in wanted if finding.level in levels]
    findings = sorted(wanted, key=lambda finding: (-LEVELS.index(finding.level), finding.rule.turn))
    if options.has("statistics"):
        tell(*statistics(findings))
        return
    color = options.one("color", "auto")
    shape = terminal(sys.stderr, color)
    # Notes are printed in full where they are asked for, chosen by their rule, or the judgement of an edit.
    asking = ("verbose", "against", "all", "notes", "select")
    wants_notes = options.one("min_level") == NOTE or any(options.has(word) for word in asking)
    notes = [] if wants_notes else [finding for finding in findings if finding.level == NOTE]
    findings = findings[: len(findings) - len(notes)]
    is_full = options.has("verbose") or options.has("all")
    shown_groups = [Group(finding, ()) for finding in findings] if is_full else groups(findings)
    most = len(shown_groups) if is_full else _MAX_FINDINGS
    printed: set[str] = set()
    for group in shown_groups[:most]:
        finding = group.first
        reached = report.jobs_reached(finding)
        reach = [f"  reaches {reached} jobs"] if reached > 1 else []
        links = link if shape.links else None
        try:
            block = finding_lines(finding, lines, shown, width=shape.width, link=links, printed=printed)
        except Exception as error:  # noqa: BLE001 (a mistake in trainc costs the form of one finding)
            broken = internal_error(error, finding.span, f"the text of `{finding.rule.name}`: {finding.message}")
            report.add(broken)
            block = finding_lines(broken, no_lines, str)
        others = [f"  {others_line(group, shown)}; -v shows each"] if group.others else []
        tell(*block, *reach, *others, "", color=color)
    if len(shown_groups) > most:
        left = sum(1 + len(group.others) for group in shown_groups[most:])
        tell(f"and {left} more findings; -v shows them", "")
    if notes:
        from trainc.report.fold import folded  # noqa: PLC0415

        tell(headline(NOTE, folded(notes, report.account.kinds_in)), "", color=color)


def no_lines(_file: str) -> list[str]:
    """The lines of a file that is not shown."""
    return []


def print_summary(report: Report, options: Options, jobs: int | None, accepted: int, gone: int) -> None:
    """Print what was read and found; how many findings the baseline holds back, and how many that it lists are gone."""
    where = f"{options.one(PROJECT)}: " if options.has(PROJECT) else ""
    runtimes = len(report.alone)
    account = report.account
    read = None if jobs is None or (runtimes and not (account.has_jobs or account.unread)) else jobs + account.refusals
    others_listed = account.others_listed() if jobs == 0 and not runtimes else ""
    if others_listed:
        tell(f"{where}{others_listed}")
    elif jobs == 0 and not (runtimes or account.has_jobs or account.unread or account.unasked or account.blank):
        paths = ", ".join(f"`{path}`" for path in options.arguments or (".",))
        tell(f"{where}warning: no training job under {paths}")
    counts = {"job": read, "unreadable document": len(account.unread) or None, "runtime": runtimes or None}
    tell(f"{where}{summary(report.count(ERROR), report.count(WARNING), counts, report.unknown)}")
    if accepted:
        tell(f"{counted(accepted, 'finding')} in the baseline, not shown")
    if gone:
        tell(f"{counted(gone, 'finding')} of the baseline gone; run `trainc validate --write-baseline` to shrink it")


def written(form: str, report: Report, shown: Shown, lines: Lines) -> Iterable[str]:
    """The findings of a run in a form, part by part; each form loads what it needs."""
    if form == "json":
        from trainc.report.json import document  # noqa: PLC0415

        return document(report, shown)
    if form == "sarif":
        from trainc.report.sarif import log  # noqa: PLC0415

        return log(report, shown, _suggesting(lines))
    from trainc.report import ci  # noqa: PLC0415

    if form == "rdjson":
        return ci.diagnostics(report, shown, lines, _suggesting(lines))
    return {"github": ci.commands, "gitlab": ci.code_quality, "junit": ci.suites}[form](report, shown)


def _suggesting(lines: Lines) -> "Callable[[Finding], list[Replacement]]":
    """What the safe edits of a finding replace in the file of its first place, for the first findings that carry some."""
    left = _TRIED

    def suggested(finding: Finding) -> "list[Replacement]":
        nonlocal left
        file = finding.span.file
        if not finding.fix or any(edit.file != file for edit in finding.fix):
            return []
        text = "".join(f"{line}\n" for line in lines(file))
        if len(text) > left:
            return []
        from trainc.changes.fix import replacements  # noqa: PLC0415 (most findings carry no edit)

        left -= len(text)
        return replacements(text, finding, file)

    return suggested


def without_baseline(report: Report, baseline: Counts, *, compiles: bool) -> tuple[Report, int]:
    """The report without the findings of the baseline, and how many these are.

    A run that `compiles` keeps errors: no manifest comes of a job that has one. Where a rule is found more often than
    the baseline says, all of its findings in that file are reported: nobody can tell which of them is new.
    """
    if not baseline:
        return report, 0
    found = _count(report)
    accepted = {key for key, most in baseline.items() if found.get(key, 0) <= most}
    left = report.only(lambda one: (one.span.file, one.rule.name) not in accepted or (compiles and one.level == ERROR))
    return left, len(report.findings) - len(left.findings)


def surplus(baseline: Counts, report: Report) -> int:
    """How many findings the baseline lists that are gone."""
    found = _count(report) if baseline else {}
    return sum(max(0, most - found.get(key, 0)) for key, most in baseline.items())


def _count(report: Report) -> Counts:
    from collections import Counter  # noqa: PLC0415 (few projects have a baseline)

    return Counter((finding.span.file, finding.rule.name) for finding in report.findings)


def read_baseline(root: str) -> Counts:
    """The baseline of a project, empty where it has none; Trouble for a file that trainc did not write."""
    path = os.path.join(root, BASELINE)
    if not os.path.lexists(path):
        return {}
    from trainc.text.embedded_json import json_value  # noqa: PLC0415 (few projects have a baseline)

    try:
        stored = json_value(contents(root, BASELINE).decode("utf-8", "surrogateescape"))
    except ValueError:
        stored = None
    files = stored.get("files") if isinstance(stored, dict) else None
    if isinstance(files, dict) and all(isinstance(rules, dict) for rules in files.values()):
        counts = {(file, rule): most for file, rules in files.items() for rule, most in rules.items()}
        if all(type(most) is int and most > 0 for most in counts.values()):
            return counts
    raise Trouble(f"{BASELINE} is not a baseline; run `trainc validate --write-baseline` to write it again")


def write_baseline(root: str, report: Report) -> str:
    """Write the findings of a whole project as its baseline; the path of the file."""
    import json  # noqa: PLC0415 (each validation loads this module, and hardly any writes a baseline)

    from trainc.compiler.emit.spool.disk import replace  # noqa: PLC0415

    files: dict[str, dict[str, int]] = {}
    for (file, rule), number in sorted(_count(report).items()):
        files.setdefault(file, {})[rule] = number
    text = json.dumps({"version": 1, "files": files}, indent=2, ensure_ascii=False) + "\n"
    path = os.path.join(root, BASELINE)
    replace(path, text.encode("utf-8", "surrogateescape"))
    return path
