"""`trainc schemas generate` writes what is committed into a checkout."""

from pathlib import Path

import pytest

from tests.compiling import ROOT
from trainc.cli import main

pytestmark = pytest.mark.slow

TABLE = "trainc/apiserver/schema/builtin_table.py"


def test_generated_files_are_those_that_are_committed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / TABLE).parent.mkdir(parents=True)
    (tmp_path / TABLE).write_text("", "utf-8")
    assert main(["schemas", "generate", str(tmp_path)]) == 0
    assert "wrote" in capsys.readouterr().out
    assert (tmp_path / TABLE).read_bytes() == (ROOT / TABLE).read_bytes()


def test_nothing_is_generated_outside_a_checkout(tmp_path: Path) -> None:
    assert main(["schemas", "generate", str(tmp_path)]) == 2
    assert list(tmp_path.iterdir()) == []
