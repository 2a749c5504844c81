"""A changed word of a long command shows in `diff`, on the real path: two folders, compiled and compared."""

from pathlib import Path

import pytest

from tests.compiling import ROOT, compile_in

JOB = (ROOT / "examples/torch-ddp/jobs/bert.yaml").read_text("utf-8")
RUNTIMES = sorted((ROOT / "examples/torch-ddp/runtimes").rglob("*.yaml"))
FLAGS = " ".join(f"--option-{number}={number}" for number in range(30))


@pytest.mark.parametrize("report", ["text", "markdown"])
def test_a_changed_learning_rate_shows(tmp_path: Path, report: str) -> None:
    runtimes = [path.read_text("utf-8") for path in RUNTIMES]
    for folder, rate in (("old", "3e-4"), ("new", "1e-4")):
        (tmp_path / folder).mkdir()
        script = f'    command: [bash, -c, "torchrun train.py {FLAGS} --lr {rate} --seed 7"]\n'
        job = JOB.replace("    args:\n      - --epochs=40\n      - --batch-size=256\n", script)
        (tmp_path / folder / "all.yaml").write_text("\n---\n".join([job, *runtimes]), "utf-8")
    shown = compile_in(tmp_path, "diff", "old", "new", "--report", report).out
    assert "--lr 3e-4 --seed" in shown
    assert "--lr 1e-4 --seed" in shown
    assert "--option-9=9" not in shown
