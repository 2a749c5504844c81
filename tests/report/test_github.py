"""Workflow commands survive whatever stands in a message or a file's name."""

import re

import pytest

from trainc.model.finding import ERROR, NOTE, WARNING, Rule
from trainc.model.report import Report
from trainc.model.sourced import Span
from trainc.report.ci import commands
from trainc.report.lines import visible

COMMAND = re.compile(r"^::(error|warning|notice) ([^:]*(?:%3A[^:]*)*)::(.*)$")


def read(line: str) -> tuple[str, dict[str, str], str]:
    """What GitHub's runner makes of a command."""
    found = COMMAND.match(line)
    assert found, line
    pairs = (pair.partition("=") for pair in found[2].split(","))
    properties = {key: decoded(text.replace("%3A", ":").replace("%2C", ",")) for key, _, text in pairs}
    return found[1], properties, decoded(found[3])


def decoded(text: str) -> str:
    return text.replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%")


@pytest.mark.parametrize(
    "message", ["plain", "100 % of it", "a: b, c", "::error::no", "%0A", "two\nlines\r\n", "ünïcode ✓"]
)
@pytest.mark.parametrize("file", ["jobs/bert.yaml", "jobs/a, b: c%.yaml"])
def test_a_command_is_read_back(file: str, message: str) -> None:
    report = Report()
    report.add(Rule("some-rule", WARNING, "").at(Span(file, 7, 5, 7, 20), message, help="do: this"))
    lines = "".join(commands(report, lambda name: name)).splitlines()
    assert len(lines) == 1
    level, properties, said = read(lines[0])
    assert level == "warning"
    assert properties == {
        "title": "trainc (some-rule)",
        "file": file,
        "line": "7",
        "col": "5",
        "endLine": "7",
        "endColumn": "20",
    }
    assert said == f"{file}:7:5: some-rule {visible(message)}\nhelp: do: this"


def test_errors_come_first() -> None:
    report = Report()
    for line, level in enumerate((NOTE, WARNING, ERROR), 1):
        report.add(Rule(f"{level}-rule", level, "").at(Span("a.yaml", line, 1, line, 2), level))
    assert [line.split()[0] for line in commands(report, str)] == ["::error", "::warning", "::notice"]


def test_no_finding_no_line() -> None:
    assert not list(commands(Report(), str))
