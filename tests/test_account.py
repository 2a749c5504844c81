"""No job disappears: silencing a rule changes what is said, and never what is made."""

import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from tests.compiling import ROOT, Run, compile_in
from tests.random_trees import many
from tests.repository import Repository, write
from tests.sampling import sampled
from tests.test_cases import options
from trainc.compiler.emit.digest import body_digest
from trainc.compiler.header import Header
from trainc.lint.catalogue import rules
from trainc.lint.catalogue.generate import cases
from trainc.model.finding import Rule

CASES = cases(ROOT)
ERRORS = [rule for rule in rules() if rule.level == "error" and rule.name in CASES]


@pytest.mark.parametrize(
    "rule", sampled(ERRORS, [rule.name for rule in ERRORS], quick=("missing-runtime", "not-a-number"))
)
def test_a_silenced_rule_still_fails_or_its_jobs_are_compiled(rule: Rule, tmp_path: Path) -> None:
    """Of each rule its own failing example, once with `--only admission` and once with an `allow` above it."""
    case = CASES[rule.name]
    shutil.copytree(case, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("expected"))
    arguments = options(case)
    said = compile_in(tmp_path, *arguments)
    _keeps_the_folder(tmp_path, arguments)
    found = [finding for finding in said.findings if finding.rule.name == rule.name]
    assert found
    if arguments[0] == "build":
        _is_closed(compile_in(tmp_path, *arguments, "--only", "admission"))
    places = {(finding.span.file, finding.span.line) for finding in found}
    for file, line in sorted(places, reverse=True):
        if (tmp_path / file).is_file():
            _allow(tmp_path / file, line, rule.name)
    silenced = compile_in(tmp_path, *arguments)
    _is_closed(silenced)
    _keeps_the_folder(tmp_path, arguments)


def _keeps_the_folder(top: Path, arguments: list[str]) -> None:
    """A build into a folder that holds earlier renderings changes no byte of it when it fails."""
    if arguments[0] not in ("build", "validate"):
        return
    if "-w" in arguments:
        _keeps_the_project(top, arguments)
        return
    folder = top / "earlier"
    for source in ("input/gone.yaml", *sorted(str(path.relative_to(top)) for path in (top / "input").rglob("*.y*ml"))):
        name = source.replace("/", "-").rpartition(".")[0]
        body = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n"
        header = Header(source, "0" * 16, body_digest(body.encode()))
        write(folder, {f"default/{name}.yaml": f"{header}{body}"})
    before = _rendered(folder)
    again = compile_in(top, *_into(arguments, "earlier"))
    assert again.code in (0, 1, 2), again.err
    if again.code:
        assert _rendered(folder) == before
    shutil.rmtree(folder)


def _keeps_the_project(top: Path, arguments: list[str]) -> None:
    """A build that writes into the project's own folder changes no byte of the project when it fails."""
    before = _rendered(top)
    again = compile_in(top, *arguments)
    assert again.code in (0, 1, 2), again.err
    if again.code:
        assert _rendered(top) == before


def _into(arguments: list[str], folder: str) -> list[str]:
    """The same run as a build into a folder."""
    paths = [argument for argument in arguments[1:] if argument.startswith("input")]
    more = [two for one in pairwise(arguments) if one[0] in ("--cluster", "--set", "--only") for two in one]
    return ["build", *(paths or ["input"]), *more, "-o", folder]


def _is_closed(run: Run) -> None:
    assert run.code in (0, 1, 2), run.err
    assert "unaccounted-job" not in run.err
    if run.report is not None and run.code == 0:
        assert run.report.account.totals()["refused"] == 0, run.err


def _allow(file: Path, line: int, rule: str) -> None:
    lines = file.read_bytes().split(b"\n")
    indent = lines[line - 1][: len(lines[line - 1]) - len(lines[line - 1].lstrip(b" "))]
    lines.insert(line - 1, indent + f"# trainc: allow[{rule}] we know better".encode())
    file.write_bytes(b"\n".join(lines))


def _rendered(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.slow
def test_the_account_of_random_trees_closes() -> None:
    """A few runs; `python -m tests.random_trees 50000 1` makes many."""
    figures, faults = many(60, 1_000_000)
    assert faults == []
    assert all(figures[key] for key in ("compiled", "refused", "unreadable", "failed"))


def test_the_output_folder_is_no_input_of_other_objects(tmp_path: Path) -> None:
    """`--include-other` passes on what stands beside the jobs, never what stands in the output folder."""
    repository = Repository(tmp_path, "bert")
    repository.write("rendered/default/kept.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept}\n")
    before = repository.rendered()
    for _ in range(2):
        assert repository.run("build", "-o", "rendered", "--include-other").code == 0
        assert repository.rendered().keys() == {*before, "research/bert.yaml"}


def test_an_object_of_several_clusters_is_written_once(tmp_path: Path) -> None:
    """What `--include-other` passes on for each of two clusters has one file in the output folder."""
    repository = Repository(tmp_path)
    repository.setting("clusters: {eu: {paths: [jobs]}, us: {paths: [other]}}")
    repository.job("bert")
    repository.write("shared/kept.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept}\n")
    done = repository.run("build", "-w", "--include-other")
    assert done.code == 0, done.err
    assert repository.rendered().keys() == {"eu/research/bert.yaml", "shared/kept.yaml"}
