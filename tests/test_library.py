"""trainc from Python: the same bytes and findings as the command line, and nothing loaded before it is asked for."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

import trainc
from tests.compiling import ROOT, compile_in

JOB = trainc.TrainJob(
    metadata=trainc.ObjectMeta(name="bert", namespace="nlp"),
    spec=trainc.TrainJobSpec(
        runtime_ref=trainc.RuntimeRef(name="torch-distributed"),
        trainer=trainc.Trainer(image="registry.example.org/nlp/bert:1.4", num_nodes=4),
    ),
)


@pytest.mark.slow
def test_the_page_runs_and_prints_what_it_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "python.md").read_text("utf-8")
    program, printed = re.findall(r"```(?:python|text)\n(.*?)```", page, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        env={"PYTHONPATH": str(ROOT)},
    )
    assert (done.stdout, done.stderr) == (printed, "")


def test_every_public_name_is_there_and_on_the_page() -> None:
    page = (ROOT / "docs" / "python.md").read_text("utf-8")
    assert 8 <= len(trainc.__all__) <= 20
    for name in trainc.__all__:
        assert getattr(trainc, name).__doc__
        assert re.search(rf"`{name}\b", page), name
    assert {*trainc.__all__} <= {*dir(trainc)}
    with pytest.raises(AttributeError, match="has no attribute 'complie'"):
        getattr(trainc, "complie")  # noqa: B009 (mypy knows the names)


def test_files_compile_to_the_bytes_of_the_command_line() -> None:
    run = compile_in(ROOT, "build", "examples/torch-ddp")
    found = trainc.compile(ROOT / "examples" / "torch-ddp")
    assert found.to_yaml() == run.out
    assert found.ok
    assert list(found.objects) == run.objects
    assert found.jobs == 1


def test_a_model_compiles_to_the_bytes_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB.to_yaml(), "utf-8")
    run = compile_in(tmp_path, "build", "job.yaml")
    found = trainc.compile(JOB, root=tmp_path)
    assert found.to_yaml() == run.out
    assert [finding.message for finding in found.findings] == [finding.message for finding in run.findings]
    (line,) = {finding.span.line for finding in found.findings if finding.rule.name == "shipped-runtime"}
    assert found.source.splitlines()[line - 1].strip() == "name: torch-distributed"


def test_a_runtime_beside_the_job_counts(tmp_path: Path) -> None:
    runtime = trainc.ClusterTrainingRuntime.from_yaml(
        (ROOT / "runtimes" / "torch-distributed.yaml").read_text("utf-8").replace("torch-distributed", "own")
    )
    own = JOB.model_copy(deep=True)
    assert own.spec is not None
    own.spec.runtime_ref = trainc.RuntimeRef(name="own")
    assert trainc.compile(own, runtime, root=tmp_path).ok
    assert "missing-runtime" in {finding.rule.name for finding in trainc.validate(own, root=tmp_path)}


def test_one_error_leaves_no_objects(tmp_path: Path) -> None:
    wrong = JOB.model_copy(deep=True)
    assert wrong.spec is not None
    assert wrong.spec.trainer is not None
    wrong.spec.trainer.env = [{"name": "PET_NNODES", "value": "4"}]
    found = trainc.compile(wrong, JOB.model_copy(update={"metadata": trainc.ObjectMeta(name="t5")}), root=tmp_path)
    assert (found.ok, found.objects, found.to_yaml()) == (False, (), "")
    assert repr(found) == "<Compilation: 0 objects, 1 error, 0 warnings>"


def test_several_clusters_need_a_choice() -> None:
    platform = ROOT / "examples" / "platform"
    with pytest.raises(trainc.Trouble, match="would mix the clusters eu, us"):
        trainc.compile(platform)
    with pytest.raises(trainc.Trouble, match="unknown cluster `asia`"):
        trainc.compile(platform, cluster="asia")
    assert trainc.compile(platform, cluster="eu").objects
    assert all(finding.level != "error" for finding in trainc.validate(platform))


def test_what_is_not_there_is_trouble() -> None:
    with pytest.raises(trainc.Trouble, match="no such file"):
        trainc.compile("nowhere.yaml")
    with pytest.raises(trainc.Trouble, match="schedulr"):
        trainc.compile(JOB, settings={"schedulr": "kueue"})


def test_settings_are_those_of_the_command_line(tmp_path: Path) -> None:
    found = trainc.compile(JOB, root=tmp_path, settings={"scheduler": "coscheduling"})
    assert "PodGroup" in {manifest["kind"] for manifest in found.objects}


def test_models_show_and_suggest_the_names_that_people_type() -> None:
    assert list(inspect.signature(trainc.Trainer).parameters)[4:] == [
        "num_nodes",
        "resources_per_node",
        "num_proc_per_node",
    ]
    with pytest.raises(ValidationError, match="has no field `num_node`; did you mean `num_nodes`"):
        trainc.Trainer.model_validate({"num_node": 4})
    with pytest.raises(ValidationError, match="did you mean `numNodes`"):
        trainc.Trainer.model_validate({"numNode": 4})
    with pytest.raises(ValidationError, match="its fields are image, command"):
        trainc.Trainer.model_validate({"gpus": 4})


def test_the_package_loads_nothing_by_itself() -> None:
    program = "import sys, trainc; print(*[name for name in sys.modules if name.startswith('trainc')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == ["trainc"]
