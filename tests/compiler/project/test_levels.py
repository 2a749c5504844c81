"""Levels of rules in trainc.yaml, and versions that YAML cannot carry as numbers."""

from pathlib import Path

import pytest

from tests.repository import write
from trainc.compiler.project import open_project
from trainc.model.report import Report
from trainc.model.settings import Project

HEAD = "apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec:\n"


def opened(folder: Path, *lines: str) -> tuple[Project, list[str]]:
    write(folder, {"trainc.yaml": HEAD + "".join(f"  {line}\n" for line in lines)})
    report = Report()
    project = open_project((str(folder),), report)
    return project, [f"{finding.span.line}: {finding.message}" for finding in report.findings]


def test_levels_everywhere_and_below_paths(tmp_path: Path) -> None:
    project, said = opened(
        tmp_path,
        "rules: {moving-tag: off, unknown-field: error, secret-in-text: 'off'}",
        "rulesByPath:",
        "  jobs/legacy: {moving-tag: error}",
        "  jobs/legacy/a.yaml: {moving-tag: warning}",
    )
    assert said == []
    assert project.level_of("moving-tag", "jobs/b.yaml") == "off"
    assert project.level_of("moving-tag", "jobs/legacy/deep/b.yaml") == "error"
    assert project.level_of("moving-tag", "jobs/legacy/a.yaml") == "warning"
    assert project.level_of("generated-name", "jobs/b.yaml") == ""


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("moving-tags: off", "unknown rule `moving-tags`"),
        ("moving-tag: warnings", "`warnings` is not a level"),
        ("moving-tag: on", "`True` is not a level"),
        ("moving-tag: {a: b}", "`None` is not a level"),
        ("unknown-field: off", "`unknown-field` is an error of the API server and cannot be suppressed"),
        ("unknown-field: warning", "`unknown-field` is an error of the API server and cannot be suppressed"),
    ],
)
def test_a_level_that_would_be_ignored_is_refused(rules: str, said: str, tmp_path: Path) -> None:
    project, found = opened(tmp_path, f"rules: {{{rules}}}")
    assert f"4: {said}" in found
    assert project.rules == {}


def test_rules_of_packages_are_theirs_to_know(tmp_path: Path) -> None:
    project, said = opened(tmp_path, "rulesFrom: [nobody]", "rules: {their-rule: off}")
    assert project.rules == {"their-rule": "off"}
    assert not any("there is no rule" in text for text in said)


@pytest.mark.parametrize(
    ("version", "known"),
    [("1.34", (1, 34)), ('"1.30"', (1, 30)), ("v1.30", (1, 30)), ("1.30", None), ("1.3", None), ("1", None)],
)
def test_a_version_whose_zero_a_number_loses(version: str, known: tuple[int, int] | None, tmp_path: Path) -> None:
    project, said = opened(tmp_path, f"clusters: {{eu: {{kubernetes: {version}}}}}")
    assert project.clusters[0].kubernetes == known
    assert bool(said) is (known is None)
