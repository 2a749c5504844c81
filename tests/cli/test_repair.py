"""What `trainc fix` leaves undone, and says so: large files have rounds only so many, and some documents cannot be edited."""

from pathlib import Path

import pytest

from tests.compiling import compile_in
from trainc.cli import fix

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
    monkeypatch.setattr(fix, "_CHARACTERS", 10)
    for text, is_cut in (('numNodes: "2"', True), ("numNodes: 2,", False)):
        err = compile_in(tmp_path, "fix", "-w", "job.yaml").err
        assert text in (tmp_path / "job.yaml").read_text()
        assert ("too large to try every edit at once" in err) is is_cut


def test_a_document_that_cannot_be_edited_says_why(tmp_path: Path) -> None:
    # It was counted as one that needs a person, and nobody knew what for.
    (tmp_path / "job.yaml").write_text("---\n" + JOB.replace("kind: ", "kind:\t"))
    err = compile_in(tmp_path, "fix", "job.yaml").err
    assert "job.yaml:3: trainc cannot edit this document: found character '\\t'" in err
