"""What people ask `why` for, in a folder where the runtime stands in a file beside the job."""

from pathlib import Path

import pytest

from tests.compiling import compile_in
from tests.repository import RUNTIME, job, write

JOB = "jobs/bert.yaml"
REPLICAS = "JobSet/bert spec.replicatedJobs[node].replicas: 1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A job and its runtime, side by side and without a project file."""
    write(tmp_path, {JOB: job("bert"), "jobs/runtime.yaml": RUNTIME})
    return tmp_path


def test_a_runtime_in_a_file_beside_the_one_given(folder: Path) -> None:
    """It was `unknown-runtime`: only the file given and the folder `runtimes` were looked at."""
    done = compile_in(folder, "build", JOB)
    assert done.code == 0
    assert "image: registry.example.com/ml/torch:2.8.0\n" in done.out


@pytest.mark.parametrize(
    "field",
    ["spec.replicatedJobs[node].replicas", ".spec.replicatedJobs[0].replicas", "spec.replicatedJobs[*].replicas"],
)
def test_every_spelling_of_a_path(folder: Path, field: str) -> None:
    """A dot in front, an index and a glob ended with exit code 2."""
    done = compile_in(folder, "why", JOB, field)
    assert (done.code, done.out.startswith(REPLICAS)) == (0, True)


def test_a_field_that_nobody_sets(folder: Path) -> None:
    """It ended with exit code 2, as if the question were wrong."""
    done = compile_in(folder, "why", JOB, "spec.suspend")
    assert (done.code, done.out) == (0, f"spec.suspend is not set: neither the output nor {JOB} has it\n")


def test_a_misspelt_field(folder: Path) -> None:
    """It was said to stand nowhere, without the field that was meant."""
    done = compile_in(folder, "why", JOB, "spec.trainer.numNode")
    assert done.code == 2
    assert "did you mean `numNodes`?" in done.err


def test_a_job_on_standard_input(folder: Path) -> None:
    """`-` was a file that is not there."""
    done = compile_in(folder, "why", "-", "spec.replicatedJobs[0].replicas", stdin=f"{RUNTIME}---\n{job('bert')}")
    assert (done.code, done.out.startswith(REPLICAS)) == (0, True)


def test_the_name_of_a_role_that_a_component_fits_into(folder: Path) -> None:
    """It was set by the component, at a line of the runtime: a component only names the role of the runtime again."""
    component = (
        "apiVersion: trainc.dev/v1alpha1\nkind: RuntimeComponent\nmetadata: {name: fast}\nspec:\n  job:\n    spec:\n"
        "      template:\n        spec:\n          containers:\n            - name: node\n"
        "              env: [{name: MODE, value: fast}]\n"
    )
    annotated = job("bert").replace("  namespace:", "  annotations: {trainc.dev/components: fast}\n  namespace:")
    write(folder, {JOB: annotated, "jobs/fast.yaml": component})
    done = compile_in(folder, "why", JOB, "spec.replicatedJobs[node].name")
    assert "set by runtime (torch) at jobs/runtime.yaml:19:17" in done.out, done.err
    done = compile_in(folder, "why", JOB, "**env[MODE].value")
    assert "set by components (fast) at jobs/fast.yaml:11:41" in done.out


CHOOSING = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: bert
  annotations:
    trainc.dev/components: aws-efa
    aws-efa.trainc.dev/instance: p5en.48xlarge
spec:
  runtimeRef: {name: torch-distributed}
"""


def test_a_value_that_a_choice_implies(tmp_path: Path) -> None:
    """The line that chose was not named: only the component's own."""
    write(tmp_path, {JOB: CHOOSING})
    cards = compile_in(tmp_path, "why", JOB, "limits[vpc.amazonaws.com/efa]").out
    assert "set by components (aws-efa)" in cards
    assert f"{JOB}:7:34" in cards
    assert "limits[vpc.amazonaws.com/efa]" in compile_in(tmp_path, "why", f"{JOB}:7").out
