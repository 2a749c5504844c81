"""What is printed as text is chosen by level, or counted by rule; the verdict stays the same."""

from pathlib import Path

import pytest

from tests.board.board import manifests
from tests.compiling import compile_in


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files of one mistake each, one of them with warnings and notes."""
    named = {manifest.name: manifest for manifest in manifests("pytorchjob")}
    for name in ("fsdp-eks-relative-checkpoints", "fsdp-eks-two-nodes-told-four"):
        (tmp_path / f"{name}.yaml").write_text(named[name].text.replace("fsdp-llama", name), "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("level", "left_out"), [("note", ()), ("warning", ("note[",)), ("error", ("note[", "warning["))]
)
def test_levels_below_the_least_are_left_out(level: str, left_out: tuple[str, ...], folder: Path) -> None:
    run = compile_in(folder, "validate", ".", "--min-level", level)
    assert run.code == 1
    assert "error[nodes-mismatch]" in run.err
    for mark in ("note[", "warning["):
        assert (mark in run.err) == (mark not in left_out)


def test_statistics_count_each_rule_and_its_files(folder: Path) -> None:
    run = compile_in(folder, "validate", ".", "--statistics")
    lines = [line.split(maxsplit=3) for line in run.err.splitlines()]
    assert run.code == 1
    assert lines[0] == ["1", "error", "nodes-mismatch", "(1 file)"]
    assert ["1", "warning", "checkpoints-in-container", "(1 file)"] in lines
    assert "-->" not in run.err


def rules_of(folder: Path, *words: str) -> set[str]:
    return {finding.rule.name for finding in compile_in(folder, "validate", ".", *words).findings}


def test_an_ignored_rule_is_neither_printed_nor_counted(folder: Path) -> None:
    every = rules_of(folder)
    run = compile_in(folder, "validate", ".", "--ignore", "nodes-mismatch,checkpoints-in-container")
    assert run.code == 0
    assert {f.rule.name for f in run.findings} == every - {"nodes-mismatch", "checkpoints-in-container"}
    assert "nodes-mismatch" not in run.err


def test_a_selected_rule_is_alone(folder: Path) -> None:
    assert rules_of(folder, "--select", "nodes-mismatch") == {"nodes-mismatch"}
    assert rules_of(folder, "--select", "nodes-mismatch", "--ignore", "nodes-mismatch") == set()


def test_servers_verdicts_stand_beside_what_is_selected(folder: Path) -> None:
    broken = folder / "fsdp-eks-two-nodes-told-four.yaml"
    broken.write_text(broken.read_text("utf-8").replace("name: fsdp-eks", "name: Fsdp_eks"), "utf-8")
    run = compile_in(folder, "validate", ".", "--select", "debug-left-on")
    assert run.code == 1
    assert {f.level for f in run.findings if f.rule.verdict} == {"error"}
    assert all(f.rule.verdict or f.rule.name == "debug-left-on" for f in run.findings)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--ignore", "unknown-field"], "is an API server's rejection and cannot be ignored"),
        (["--ignore", "nodes-mismatched"], "did you mean `nodes-mismatch`?"),
        (["--select", "nodes-mismatched"], "did you mean `nodes-mismatch`?"),
    ],
)
def test_rules_that_cannot_be_chosen(words: list[str], told: str, folder: Path) -> None:
    run = compile_in(folder, "validate", ".", *words)
    assert run.code == 2
    assert told in run.err


def test_an_ignored_error_comes_back_where_the_job_is_not_compiled(tmp_path: Path) -> None:
    """Silence changes what is said, never what is made."""
    named = {manifest.name: manifest for manifest in manifests("pytorchjob")}
    text = named["fsdp-eks-relative-checkpoints"].text
    text = text.replace("restartPolicy: OnFailure", "restartPolicy: Sometimes")
    (tmp_path / "job.yaml").write_text(text, "utf-8")
    run = compile_in(tmp_path, "build", "job.yaml", "--ignore", "unknown-policy")
    assert run.code == 1
    assert "error[unknown-policy]" in run.err
    assert "`--ignore unknown-policy` cannot suppress this: the job is not compiled" in run.err
    assert run.out == ""
