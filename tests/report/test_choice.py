"""What is printed as text is chosen by level, or counted by rule; the verdict stays the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.board.board import manifests
from tests.compiling import compile_in

if TYPE_CHECKING:
    from pathlib import Path


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
    run = compile_in(folder, "validate", ".", "--statistics", "--min-level", "warning")
    lines = [line.split(maxsplit=3) for line in run.err.splitlines()]
    assert run.code == 1
    assert lines[0] == ["1", "error", "nodes-mismatch", "(1 file)"]
    assert ["1", "warning", "checkpoints-in-container", "(1 file)"] in lines
    assert "-->" not in run.err
    assert "note" not in {line[1] for line in lines if len(line) > 1}
