"""Renderings that leave out what a schema fills in, as former releases wrote them, are the same to every command."""

import re
from pathlib import Path

import pytest

from tests.compiling import ROOT
from tests.working_tree import WorkingTree
from trainc.apiserver.schema.node import load
from trainc.compiler.emit.digest import body_digest
from trainc.model.report import Report
from trainc.yaml.reader import read

RENDERED = "rendered/research/bert.yaml"
FILLED_IN = re.compile(r"^ +(groupName: default|protocol: TCP|restartStrategy: Recreate)\n", re.MULTILINE)
OWN_DEFINITIONS = re.compile(
    r"/(not-structural|unchecked-rule)/passes/|/clusters/definitions/"
)  # those of the cluster decide
FILES = sorted(
    file
    for pattern in ("examples/*/output/**/*.yaml", "tests/cases/**/expected/manifests.yaml")
    for file in ROOT.glob(pattern)
    if not OWN_DEFINITIONS.search(str(file))
)


@pytest.fixture
def tree(tmp_path: Path) -> WorkingTree:
    """A run that a former release has rendered, and a runtime that was edited since."""
    tree = WorkingTree(tmp_path, "bert")
    assert tree.run("build", "-w").code == 0
    header, _, body = tree.read(RENDERED).partition("\n")
    former, count = FILLED_IN.subn("", body)
    assert count >= 2
    header = re.sub(r"body=\w+", f"body={body_digest(former.encode())}", header)
    tree.write(RENDERED, f"{header}\n{former}")
    tree.git("add", "--all")
    tree.git("commit", "-q", "--no-verify", "-m", "former")
    return tree


def test_a_former_rendering_is_no_change(tree: WorkingTree) -> None:
    assert tree.run("diff").out == "nothing changes since HEAD\n"
    assert tree.run("diff", "rendered", "rendered").out.startswith("nothing changes")
    assert tree.run("validate", "--against", "HEAD").code == 0
    written = tree.run("build", "-w")
    assert (written.code, "keeps its rendering" in written.err) == (0, False)
    assert FILLED_IN.search(tree.read(RENDERED))


def test_a_former_rendering_is_kept_as_it_is(tree: WorkingTree) -> None:
    before = tree.read(RENDERED)
    tree.change("runtimes/torch.yaml", "maxRestarts: 3", "maxRestarts: 5")
    written = tree.run("build", "-w")
    assert (written.code, "keeps its rendering" in written.err) == (0, True)
    assert tree.read(RENDERED) == before
    assert tree.run("build", "--check").code == 0


@pytest.mark.slow
def test_a_schema_fills_nothing_in() -> None:
    count = 0
    for file in FILES:
        for document in read(file.read_bytes(), str(file), Report()):
            if document.kind in ("JobSet", "PodGroup"):
                assert load().completed(document.tree) is document.tree, file
                count += 1
    assert count > 500
