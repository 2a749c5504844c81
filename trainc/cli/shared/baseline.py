"""The baseline of a project: findings that were there when it began to use trainc, and that do not count any more.

`.trainc-baseline.json` beside trainc.yaml says for each file how often each rule was found. Lines are not kept, so that edits
elsewhere in a file change nothing. Where a rule is found more often than the baseline says, all of its findings in that file
are reported: nobody can tell which of them is new.
"""

from __future__ import annotations

import os
from collections import Counter

from trainc.cli.shared.output import tell
from trainc.compiler.load.walk import contents
from trainc.model.finding import ERROR
from trainc.report.text import counted
from trainc.text.embedded_json import json_value
from trainc.text.trouble import Reaching, Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.model.report import Report

FILE = ".trainc-baseline.json"


class Baseline:
    """How often each rule may be found in each file of a project; empty for a project without a baseline."""

    __slots__ = ("counts",)

    def __init__(self, counts: Mapping[str, Mapping[str, int]]) -> None:
        self.counts = counts

    def applied(self, report: Report, *, compiles: bool) -> tuple[Report, int]:
        """The report without the findings of the baseline, and how many these are.

        A run that `compiles` keeps errors: no manifest comes of a job that has one.
        """
        if not self.counts:
            return report, 0
        found = count(report)
        accepted = {
            (file, rule)
            for file, rules in self.counts.items()
            for rule, most in rules.items()
            if found.get((file, rule), 0) <= most
        }
        left = report.only(
            lambda finding: (
                (finding.span.file, finding.rule.name) not in accepted or (compiles and finding.level == ERROR)
            )
        )
        return left, len(report.findings) - len(left.findings)

    def surplus(self, report: Report) -> int:
        """How many findings the baseline lists that are gone."""
        found = count(report)
        return sum(
            max(0, most - found.get((file, rule), 0))
            for file, rules in self.counts.items()
            for rule, most in rules.items()
        )


def count(report: Report) -> Mapping[tuple[str, str], int]:
    """How often each rule is found in each file."""
    return Counter((finding.span.file, finding.rule.name) for finding in report.findings)


def read(root: str) -> Baseline:
    """The baseline of a project.

    Raises:
        Trouble: where the file is not one that `trainc validate --write-baseline` wrote.
    """
    path = os.path.join(root, FILE)
    if not os.path.lexists(path):
        return Baseline({})
    try:
        stored = json_value(contents(root, FILE).decode("utf-8", "replace"))
    except ValueError:
        stored = None
    files = stored.get("files") if isinstance(stored, dict) else None
    if not isinstance(files, dict) or not all(_is_counts(rules) for rules in files.values()):
        raise Trouble(f"{FILE} is not a baseline; run `trainc validate --write-baseline` to write it again")
    return Baseline(files)


def _is_counts(rules: object) -> bool:
    return isinstance(rules, dict) and all(type(number) is int and number > 0 for number in rules.values())


def write(root: str, report: Report) -> str:
    """Write the findings of a whole project as its baseline; the path of the file.

    Raises:
        Trouble: where the file cannot be written.
    """
    import json  # noqa: PLC0415 (each validation loads this module, and hardly any writes a baseline)

    files: dict[str, dict[str, int]] = {}
    for (file, rule), number in sorted(count(report).items()):
        files.setdefault(file, {})[rule] = number
    text = json.dumps({"version": 1, "files": files}, indent=2, ensure_ascii=False) + "\n"
    path = os.path.join(root, FILE)
    with Reaching(path):
        temporary = f"{path}.{os.getpid()}"
        with open(temporary, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        os.replace(temporary, path)
    return path


def tell_of_baseline(accepted: int, surplus: int) -> None:
    """Say how many findings do not count, and how many of those that the baseline lists are gone."""
    if accepted:
        tell(f"{counted(accepted, 'finding')} in the baseline, not shown")
    if surplus:
        tell(f"{counted(surplus, 'finding')} of the baseline gone; run `trainc validate --write-baseline` to shrink it")
