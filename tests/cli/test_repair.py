"""`trainc fix` of large files: each edit reads and writes the whole file, so there are only so many rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.compiling import compile_in
from trainc.cli import repair

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: bert, namespace: ml}
spec:
  runtimeref: {name: torch-distributed}
  trainer: {image: "registry.example.com/bert:1.4.0", numnodes: "2", command: [torchrun, train.py]}
"""


def test_a_large_file_gets_the_edits_of_one_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The name of the field is mended first; only then can be seen that its value is a text.
    (tmp_path / "job.yaml").write_text(JOB)
    assert "numNodes: 2," in compile_in(tmp_path, "fix", "job.yaml").out
    monkeypatch.setattr(repair, "_CHARACTERS", 10)
    for text, is_cut in (('numNodes: "2"', True), ("numNodes: 2,", False)):
        err = compile_in(tmp_path, "fix", "-w", "job.yaml").err
        assert text in (tmp_path / "job.yaml").read_text()
        assert ("not every edit of it was tried" in err) is is_cut
