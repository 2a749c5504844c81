"""Variants of one runtime and its job beside each other, of which people apply one."""

from pathlib import Path

from tests.compiling import compile_in
from tests.matrix.kinds import KINDS
from tests.matrix.mistakes import HEALTHY
from trainc.yaml.writer import dump


def _write_variants(folder: Path) -> None:
    (kind,) = [kind for kind in KINDS if kind.name == "TrainJob/runtime"]
    text = "---\n".join(map(dump, kind.documents(HEALTHY, HEALTHY, 2)))
    for name in ("slow", "fast"):
        (folder / f"{name}.yaml").write_text(text.replace("train:1.0", f"train:{name}"))


def test_a_runtime_of_the_named_file_wins_over_its_neighbors(tmp_path: Path) -> None:
    _write_variants(tmp_path)
    run = compile_in(tmp_path, "build", "fast.yaml")
    assert [finding.rule.name for finding in run.findings if finding.level == "error"] == []
    assert "train:fast" in run.out
    assert "train:slow" not in run.out


def test_variants_that_are_built_together_are_duplicates(tmp_path: Path) -> None:
    _write_variants(tmp_path)
    run = compile_in(tmp_path, "validate", ".")
    assert "duplicate-runtime" in {finding.rule.name for finding in run.findings}
