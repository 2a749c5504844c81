"""Every field of `spec.trainer` does something, and `why` leads from its line to what it does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.compiling import compile_in
from trainc.apiserver.models.trainjob import Trainer
from trainc.authoring.explain import find, sample

if TYPE_CHECKING:
    from pathlib import Path

BARE: dict[str, Any] = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "bert", "namespace": "training"},
    "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": {}},
}


@pytest.mark.parametrize("field", [field.alias or name for name, field in Trainer.model_fields.items()])
def test_each_field_lands_in_the_output(field: str, tmp_path: Path) -> None:
    # The example that `trainc explain` prints; a field without one that is its own gets a value in explain/samples.py.
    trainer = yaml.safe_load(sample(find(f"TrainJob.spec.trainer.{field}")[0]))["spec"]["trainer"]
    job = yaml.safe_dump({**BARE, "spec": {**BARE["spec"], "trainer": trainer}})
    (tmp_path / "job.yaml").write_text(job)
    built = compile_in(tmp_path, "build", "job.yaml")
    (tmp_path / "bare.yaml").write_text(yaml.safe_dump(BARE))
    assert built.code == 0, built.err
    is_forgotten = built.out == compile_in(tmp_path, "build", "bare.yaml").out
    assert not is_forgotten, f"the code forgets `{field}`: the output is the same"
    line = next(number for number, text in enumerate(job.splitlines(), 1) if text.strip().startswith(f"{field}:"))
    answers = json.loads(compile_in(tmp_path, "why", f"job.yaml:{line}", "--report", "json").out)
    lost = [answer["path"] for answer in answers if answer["outcome"] != "lands"]
    assert answers
    assert not lost, f"{', '.join(lost)} has no line in the output: pass on the value that was read, not a copy of it"
