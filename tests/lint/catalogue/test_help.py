"""Help works: a rule's failing input, edited as its help says, has neither the rule nor a new error.

An edit may concern the file `args` of a case as well: the command line that gives the finding.
"""

import re
import shutil
from pathlib import Path

import pytest

from tests.board.board import edited
from tests.compiling import ROOT, Run, compile_in
from tests.sampling import sampled
from tests.test_cases import options
from trainc.lint.catalogue import rules
from trainc.lint.catalogue.generate import cases

CASES = ROOT / "tests" / "cases"
OWN = cases(ROOT)
PAIRS = sorted(name for name, case in OWN.items() if case.name == "fails" and (case.parent / "passes").is_dir())
PARTS = re.split(
    r"^-- (\S+) @ (\S+) --\n", (ROOT / "tests/lint/catalogue/help.txtar").read_text("utf-8"), flags=re.MULTILINE
)[1:]
EDITS = list(zip(PARTS[::3], PARTS[1::3], PARTS[2::3], strict=True))

# Rules whose help is about something that the failing input does not hold, or that say a fact and ask for nothing.
ELSEWHERE = {
    "backoff-per-job": "a sum that a person weighs",
    "claim-stays": "a claim is deleted by hand, once its data are not needed",
    "static-host-discovery": "a fact about elastic Horovod",
}


def judged(case: Path, folder: Path, edits: str = "") -> Run:
    shutil.copytree(case, folder, ignore=shutil.ignore_patterns("expected"), dirs_exist_ok=True)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for line in edits.splitlines():
        old = line.partition(" =>")[0].replace("\\n", "\n")
        holding = [file for file in files if old in file.read_text("utf-8")]
        assert holding, f"nothing to edit at {old!r}"
        for file in holding:
            file.write_text(edited(file.read_text("utf-8"), line, file.name), "utf-8")
    return compile_in(folder, *options(folder))


def errors(run: Run) -> set[str]:
    return {finding.rule.name for finding in run.findings if finding.level == "error"}


@pytest.mark.parametrize(
    ("rule", "case", "edits"),
    sampled(
        EDITS,
        [name for name, _, _ in EDITS],
        quick=("api-not-served", "maintenance-half-handled", "success-uncountable"),
    ),
)
def test_help_works_on_the_failing_input(rule: str, case: str, edits: str, tmp_path: Path) -> None:
    before = judged(CASES / case, tmp_path / "before")
    assert any(finding.help for finding in before.findings if finding.rule.name == rule), "the rule gives no help here"
    after = judged(CASES / case, tmp_path / "after", edits)
    assert rule not in {finding.rule.name for finding in after.findings}, after.err
    assert errors(after) <= errors(before), after.err


@pytest.mark.parametrize(
    "rule", sampled(PAIRS, quick=("addresses-only-when-ready", "generated-name", "processes-by-host-cpus"))
)
def test_the_near_miss_has_neither_the_rule_nor_an_error(rule: str, tmp_path: Path) -> None:
    case = OWN[rule].parent / "passes"
    run = judged(case, tmp_path)
    if "--field-validation" not in options(case):  # which lets what the server accepts pass as a warning
        assert rule not in {finding.rule.name for finding in run.findings}, run.err
    assert errors(run) == set(), run.err


def test_every_rule_has_a_near_miss_or_an_edit() -> None:
    """Facts that hold for every job of an older kind, and notes without help, ask for nothing."""
    told = {name for name, _, _ in EDITS}
    asking = {rule.name for rule in rules() if not rule.differs and rule.name not in PAIRS}
    helpful = {name for name in asking if name in OWN and _has_help(name)}
    missing = sorted(helpful - told - ELSEWHERE.keys())
    assert not missing, f"no case `passes` beside `fails`, and no edit in help.txtar: {', '.join(missing)}"
    assert ELSEWHERE.keys() <= asking


def _has_help(name: str) -> bool:
    text = (OWN[name] / "expected" / "findings.txt").read_text("utf-8")
    return any(" = help: " in block for block in text.split("\n\n") if f"[{name}]" in block.partition("\n")[0])
