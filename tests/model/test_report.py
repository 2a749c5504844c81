"""What a report keeps of findings that many jobs meet."""

from __future__ import annotations

import pytest

from trainc.model.finding import WARNING, Finding, Rule
from trainc.model.report import Allow, Report
from trainc.model.sourced import Origin, Sourced, Span

RULE = Rule("a-rule", WARNING, "something is odd", "It is.")
PLACE = Span("runtimes/r.yaml", 3, 1, 3, 5)
LEAF = Sourced(1, Origin(PLACE))
JOBS = ("a", "b", "c")


def told(report: Report) -> int:
    """Tell of one leaf in several jobs; how often the finding was made."""
    made: list[str] = []

    def make(name: str) -> Finding:
        made.append(name)
        return RULE.at(PLACE, "this is odd")

    for job in JOBS:
        report.job = job
        report.tell(RULE, LEAF, make, job)
    return len(made)


def added(report: Report) -> None:
    """The same without a memory."""
    for job in JOBS:
        report.job = job
        report.add(RULE.at(PLACE, "this is odd"))


@pytest.mark.parametrize("level", ["", "off", "error"])
@pytest.mark.parametrize("allowed", [False, True])
def test_telling_of_a_leaf_is_adding_what_is_said_of_it(level: str, allowed: bool) -> None:
    one, other = (Report(level_of=lambda *_: level) for _ in range(2))
    for report in (one, other):
        if allowed:
            report.allow([Allow(RULE.name, "a reason", Span("runtimes/r.yaml", 2, 1, 2, 9))])
    assert told(one) == 1
    added(other)
    assert [repr(finding) for finding in one.findings] == [repr(finding) for finding in other.findings]
    assert one.reached == other.reached
    assert one.reached == ({} if allowed or level == "off" else {one.findings[0].identity(): set(JOBS)})


def test_another_leaf_is_told_of_by_itself() -> None:
    report = Report()
    told(report)
    report.tell(RULE, Sourced(1, LEAF.origin), lambda: RULE.at(PLACE, "this is odd too"))
    assert len(report.findings) == 2
