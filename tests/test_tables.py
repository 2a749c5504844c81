"""One table per kind of thing: what a table names must be there whole, and nothing may stand outside it."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.compiling import ROOT
from tests.test_house import PACKAGE, calls
from trainc.authoring.explain import ANNOTATIONS
from trainc.lint.rules.annotations import _READ

SETTINGS = (ROOT / "docs/project.md").read_text("utf-8")
# It takes 64 MiB, or a million values; it takes a stage that forgets a job, or one that raises.
UNSHOWN = frozenset({"internal-error", "script-not-read", "unaccounted-job", "yaml-size"})


def holding(text: str) -> list[Path]:
    """The files of the package that hold a text; to read all of them takes a tenth of the time of parsing them."""
    return [path for path in PACKAGE if text in path.read_text("utf-8")]


@cache
def rules() -> list[str]:
    """The name of every rule that the package declares."""
    found = [call for path in holding("Rule(") for called, call in calls(path) if called.split(".")[-1] == "Rule"]
    return [str(call.args[0].value) for call in found if call.args and isinstance(call.args[0], ast.Constant)]


def test_a_rule_has_one_name_and_one_declaration() -> None:
    names = rules()
    assert sorted(set(names)) == sorted(names)
    assert [name for name in names if not re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", name)] == []


def test_every_rule_is_shown_by_a_case() -> None:
    findings = "".join(path.read_text("utf-8") for path in ROOT.glob("tests/cases/**/expected/findings.txt"))
    missing = {rule for rule in rules() if f"[{rule}]" not in findings}
    assert UNSHOWN - missing == set(), "shown after all: take it out of UNSHOWN"
    advice = [
        f"no case shows `{rule}`: write tests/cases/verify/{rule}/fails/input/job.yaml, which has the finding, and "
        f"tests/cases/verify/{rule}/passes/input/job.yaml, which only just has not; the first line of each is a comment "
        f"that says what it shows; then run `pytest tests/test_cases.py -k {rule} --snapshot-update`"
        for rule in sorted(missing - UNSHOWN)
    ]
    assert advice == []


def test_a_failing_case_has_a_passing_one_beside_it() -> None:
    """The one that only just has not the finding shows where a rule ends."""
    lacking = [
        folder for folder in sorted(ROOT.glob("tests/cases/verify/*/fails")) if not folder.with_name("passes").is_dir()
    ]
    assert [f"write {folder.with_name('passes').relative_to(ROOT)}/input/job.yaml" for folder in lacking] == []


def test_every_annotation_of_a_job_is_documented() -> None:
    every = [named for path in holding(".asks(") for named in calls(path)]
    asked = {str(call.args[0].value) for name, call in every if name.endswith(".asks")}  # type: ignore[attr-defined]
    name = r'(?:"trainc\.dev/|\{TRAINC_PREFIX\}|TRAINC_PREFIX \+ ")([a-z-]+)"'
    named = set(re.findall(name, "".join(path.read_text("utf-8") for path in PACKAGE)))
    missing = [one for one in sorted(asked | named) if f"trainc.dev/{one} " not in SETTINGS]
    assert missing == ["metadata", "shared-runtime"]  # managers of patches that `trainc migrate` writes


def test_annotations_that_are_explained_are_those_that_are_read() -> None:
    ours = {name.removeprefix("trainc.dev/") for name in ANNOTATIONS if name.startswith("trainc.dev/")}
    assert ours == set(_READ)
    assert ANNOTATIONS.keys() - {f"trainc.dev/{name}" for name in ours} == {"checkpoints.trainc.dev/claim"}
