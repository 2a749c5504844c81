"""What a report keeps of findings that many jobs meet."""

import pytest

from trainc.model.finding import WARNING, Rule
from trainc.model.report import Allow, Report
from trainc.model.sourced import Span

RULE = Rule("a-rule", WARNING, "something is odd", "It is.")
PLACE = Span("runtimes/r.yaml", 3, 1, 3, 5)
JOBS = ("a", "b", "c")


@pytest.mark.parametrize("level", ["", "off", "error"])
@pytest.mark.parametrize("allowed", [False, True])
def test_a_finding_that_many_jobs_meet_is_kept_once(level: str, allowed: bool) -> None:
    report = Report(level_of=lambda *_: level)
    if allowed:
        report.allow([Allow(RULE.name, "a reason", Span("runtimes/r.yaml", 2, 1, 2, 9))])
    for job in JOBS:
        report.job = job
        report.add(RULE.at(PLACE, "this is odd"))
    suppressed = allowed or level == "off"
    assert len(report.findings) == (0 if suppressed else 1)
    assert report.reached == ({} if suppressed else {report.findings[0].identity(): set(JOBS)})
