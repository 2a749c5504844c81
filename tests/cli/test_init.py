"""A new repository works from its first minute."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.compiling import compile_in

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("delivery", ["", "argocd", "flux"])
def test_a_new_repository_builds(tmp_path: Path, delivery: str) -> None:
    words = ["--delivery", delivery] if delivery else []
    done = compile_in(tmp_path, "init", "--cluster", "east", *words)
    assert done.code == 0
    assert done.out.count("wrote ") == (8 if delivery else 7)
    assert "next:" in done.out
    assert done.out.count("\n  ") == 3
    assert "> clusters/east/cluster.yaml" in done.out
    built = compile_in(tmp_path, "build", "-w")
    assert built.code == 0, built.err
    assert "error" not in built.err.replace("no errors", "")
    assert (tmp_path / "rendered/east/training/hello.yaml").exists()
    assert compile_in(tmp_path, "build", "--check", "--fail-on", "warning").code == 0


def test_what_is_there_stays(tmp_path: Path) -> None:
    (tmp_path / "trainc.yaml").write_text("mine\n")
    done = compile_in(tmp_path, "init")
    assert "kept  ./trainc.yaml" in done.out
    assert (tmp_path / "trainc.yaml").read_text() == "mine\n"
    again = compile_in(tmp_path, "init")
    assert "wrote" not in again.out


def test_in_another_folder(tmp_path: Path) -> None:
    done = compile_in(tmp_path, "init", "training")
    assert "cd training && kubectl get" in done.out
    assert (tmp_path / "training/jobs/hello.yaml").exists()


def test_a_bad_name(tmp_path: Path) -> None:
    done = compile_in(tmp_path, "init", "--cluster", "../up")
    assert done.code == 2
    assert list(tmp_path.iterdir()) == []


def test_every_file_is_what_it_claims_to_be(tmp_path: Path) -> None:
    assert compile_in(tmp_path, "init", "--delivery", "flux").code == 0
    for path in tmp_path.rglob("*.yaml"):
        assert list(yaml.safe_load_all(path.read_text("utf-8"))), path
    words = [sys.executable, "-m", "pre_commit", "validate-config", str(tmp_path / ".pre-commit-config.yaml")]
    assert subprocess.run(words, check=False).returncode == 0
