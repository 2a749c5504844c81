"""The folder is the test: what stands in `input/` becomes what stands in `expected/`."""

import json
import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.compiling import ROOT, Run, compile_in
from tests.origins import astray, beaten
from tests.report.official import SARIF, problems
from tests.sampling import sampled
from trainc.cli.findings import written
from trainc.model.report import Report


def names(folders: list[Path], above: str) -> list[str]:
    return [str(folder.relative_to(ROOT / above)) for folder in folders]


CASES = sorted(path.parent for path in ROOT.glob("tests/cases/**/input"))
LONG = "policy/policy-cost/fails"  # it spends all that an expression may cost
FAILING = tuple(name for name in names(CASES, "tests/cases") if name.endswith("/fails") and name != LONG)
# Between them these cases show each piece of code that sets a value.
WITH_ORIGINS = frozenset((ROOT / "tests/cases/with-origins.txt").read_text("utf-8").split())
EXAMPLES = sorted(path for path in ROOT.glob("examples/*") if path.is_dir())


@pytest.mark.parametrize("case", sampled(CASES, names(CASES, "tests/cases"), every=10, quick=FAILING))
def test_case(case: Path, tmp_path: Path, expected: Callable[[Path, Mapping[str, str]], None]) -> None:
    """Compiled alone in an empty place, so that nothing around the case can help it."""
    shutil.copytree(case / "input", tmp_path / "input")
    first = first_line(case)
    assert first.startswith("# "), f"{case}: the first line of the input says what the case shows"
    run = compile_in(tmp_path, *options(case))
    assert run.code == (1 if any(f.level == "error" for f in run.findings) else 0) or "--fail-on" in options(case)
    texts = {"findings.txt": run.err or "no findings\n"}
    if run.out:
        texts["manifests.yaml"] = run.out
    if str(case.relative_to(ROOT / "tests/cases")) in WITH_ORIGINS:
        texts["origins.txt"] = run.origins
    expected(case / "expected", texts)
    assert astray(run) == []
    assert beaten(run) == []
    assert run.report is None or problems(SARIF, sarif(run, run.report)) == []


def sarif(run: Run, report: Report) -> Any:
    """What `--report sarif` writes of a run."""

    def lines(file: str) -> list[str]:
        return (Path(run.root) / file).read_text("utf-8", "replace").splitlines()

    return json.loads("".join(written("sarif", report, str, lines)))


def test_origins_are_kept_of_cases_that_are_there() -> None:
    assert WITH_ORIGINS - set(names(CASES, "tests/cases")) == set()


def test_no_two_cases_say_that_they_show_the_same() -> None:
    """A case that was copied from another shows something else, and its first line has to say so."""
    cases: dict[str, list[str]] = {}
    for case in CASES:
        cases.setdefault(first_line(case).lower(), []).append(str(case.relative_to(ROOT / "tests/cases")))
    assert [same for same in cases.values() if len(same) > 1] == []


def first_line(case: Path) -> str:
    first = min((case / "input").glob("*.y*ml"))
    return first.read_text("utf-8", "replace").partition("\n")[0]


def options(case: Path) -> list[str]:
    """The arguments of the run: `build input` unless the case has a file `args`; notes are always shown in full."""
    written = case / "args"
    words = shlex.split(written.read_text("utf-8")) if written.exists() else ["build", "input"]
    return [*words, "-v"] if words[0] in ("build", "validate") else words


@pytest.mark.parametrize("example", sampled(EXAMPLES, names(EXAMPLES, "examples"), every=3))
def test_example(example: Path, tmp_path: Path, expected: Callable[[Path, Mapping[str, str]], None]) -> None:
    """What an example commits as its output is what it compiles to."""
    shutil.copytree(example, tmp_path / example.name, ignore=shutil.ignore_patterns("output"))
    run = compile_in(tmp_path, "build", example.name, "-o", f"{example.name}/output")
    assert run.code == 0, run.err
    written = tmp_path / example.name / "output"
    texts = {str(p.relative_to(written)): p.read_text("utf-8") for p in sorted(written.rglob("*")) if p.is_file()}
    expected(example / "output", texts)
    assert astray(run) == []
    assert beaten(run) == []
    assert readme(example), f"{example.name} has no README.md"


def readme(example: Path) -> bool:
    return (example / "README.md").exists()
