"""Runtimes that no job reaches: what trainc ships is right alone, and neither workers nor clusters change an answer."""

import shutil
from pathlib import Path

import pytest

from tests.compiling import ROOT, compile_in

CASES = ROOT / "tests/cases/resolve/runtime-alone"


@pytest.mark.slow
def test_shipped_runtimes_are_right_alone(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "runtimes", tmp_path / "all")
    run = compile_in(tmp_path, "validate", "all")
    assert not [finding for finding in run.findings if finding.level != "note"]
    shipped = len(list((ROOT / "runtimes").glob("*.yaml")))
    assert f"{shipped} runtimes, no errors" in run.err


def test_workers_change_nothing(tmp_path: Path) -> None:
    shutil.copytree(CASES / "reached/input", tmp_path / "input")
    texts = {compile_in(tmp_path, "validate", "input", "--jobs", number).err for number in ("1", "2", "4")}
    assert len(texts) == 1
    assert "1 job, 2 runtimes, 3 errors" in texts.pop()


def test_what_another_cluster_reaches_is_not_looked_at_alone(tmp_path: Path) -> None:
    """A runtime below the paths of one cluster is that cluster's; one that a job of any cluster reaches is reached."""
    (tmp_path / "trainc.yaml").write_text(
        "apiVersion: trainc.dev/v1alpha1\nkind: Project\nmetadata: {name: p}\n"
        "spec:\n  clusters:\n    eu: {paths: ['eu/**']}\n    us: {paths: ['us/**']}\n"
    )
    for place, name in (("eu", "a-job.yaml"), ("eu", "used.yaml"), ("us", "unused.yaml")):
        (tmp_path / place).mkdir(exist_ok=True)
        shutil.copy(CASES / "reached/input" / name, tmp_path / place / name)
    run = compile_in(tmp_path, "validate", ".")
    assert "1 job, 1 runtime, 2 errors" in run.err
    alone = compile_in(tmp_path, "validate", ".", "--cluster", "eu")
    assert "1 job, 1 error" in alone.err


def test_the_servers_alone_say_nothing_of_pods(tmp_path: Path) -> None:
    shutil.copytree(CASES / "fails/input", tmp_path / "input")
    run = compile_in(tmp_path, "validate", "input", "--only", "admission")
    assert run.err == "1 runtime, no errors\n"


def test_a_shipped_component_names_no_unknown_one_in_a_closed_world(tmp_path: Path) -> None:
    """Its `conflictsWith` are components of the catalogue: twelve warnings stood before those of the project."""
    words = ("new", "bert", "--on", "eks-p5", "--nodes", "2", "--image", "registry.example.com/nlp/bert:1.0.0")
    assert compile_in(tmp_path, *words, "--", "torchrun", "train.py").code == 0
    done = compile_in(tmp_path, "validate", "--closed-world")
    assert (done.code, "unknown-relation" in done.err) == (0, False)
