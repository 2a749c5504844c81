"""The hooks under the real prek, lefthook and husky, with the snippets that docs/delivery.md shows."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.compiling import ROOT
from tests.working_tree import WorkingTree, program

pytestmark = pytest.mark.slow

BROKEN = ("numNodes: 2", "numNodes: many")


def _snippet(language: str, first: str) -> str:
    """The block of the page that begins with these words."""
    text = (ROOT / "docs/delivery.md").read_text("utf-8")
    blocks = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    return next(str(block) for block in blocks if block.startswith(first))


@pytest.fixture
def tree(tmp_path: Path) -> WorkingTree:
    tree = WorkingTree(tmp_path, "bert", "line")
    program = tmp_path / "bin/trainc"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m trainc "$@"\n')
    program.chmod(0o755)
    tree.environment["PATH"] = f"{program.parent}:{tree.environment['PATH']}"
    assert tree.trainc("build", "-w").returncode == 0
    return tree


def _judges(tree: WorkingTree) -> None:
    """The hooks pass, refuse a mistake and say it once, refuse what is half staged, and let a draft be."""
    done = tree.commit()
    assert done.returncode == 0, done.stdout
    tree.change("jobs/bert.yaml", *BROKEN)
    done = tree.commit()
    assert done.returncode == 1
    assert done.stdout.count("error[invalid-field]") == 1, done.stdout
    tree.git("reset", "-q", "--hard")
    tree.job("curve")
    assert tree.trainc("build", "-w").returncode == 0
    tree.git("add", "jobs")
    done = tree.command("git", "commit", "-qm", "half")
    assert done.returncode == 1
    assert "`rendered/research/curve.yaml` is rendered, but the commit leaves it out" in done.stdout
    tree.git("reset", "-q")
    tree.write("notes.txt", "unrelated\n")
    tree.git("add", "notes.txt")
    assert tree.command("git", "commit", "-qm", "notes").returncode == 0
    tree.git("add", "-A")
    assert tree.command("git", "commit", "-qm", "whole").returncode == 0


def test_prek(tree: WorkingTree) -> None:
    tree.hooks("prek")
    _judges(tree)


def test_lefthook(tree: WorkingTree) -> None:
    lefthook = program("lefthook")
    tree.environment["PATH"] = f"{Path(lefthook).parent}:{tree.environment['PATH']}"
    tree.write("lefthook.yml", _snippet("yaml", "pre-commit:\n"))
    done = tree.command(lefthook, "install")
    assert done.returncode == 0, done.stdout
    _judges(tree)


def test_husky(tree: WorkingTree) -> None:
    """Husky's own program from npm, where npm can fetch it."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    tree.write("package.json", '{"name": "training", "private": true}')
    tree.write(".gitignore", "node_modules\n")
    done = tree.command(npm, "install", "--no-audit", "--no-fund", "--save-dev", "husky")
    if done.returncode:
        pytest.skip("npm cannot fetch husky here")
    done = tree.command("node", "node_modules/husky/bin.js")
    assert done.returncode == 0, done.stdout
    tree.write(".husky/pre-commit", _snippet("sh", "trainc validate"))
    _judges(tree)
