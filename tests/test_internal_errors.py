"""A mistake in trainc costs one check, one job or one report: an exception is planted in each seam, and the rest stands."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests import extras
from tests.apiserver.policy.judging import binding, policy
from tests.compiling import Run, compile_in
from tests.integrations.krm.resource_lists import listed, objects
from tests.repository import RUNTIME
from trainc import lint
from trainc.apiserver.policy import judge
from trainc.cli import findings as cli_findings
from trainc.cli import show
from trainc.cli.job_rows import job_row
from trainc.cli.process import BUG
from trainc.compiler import admit, load, pipeline, resolve
from trainc.compiler.admit import patches
from trainc.kinds.trainingoperator import admission as operator_admission
from trainc.kinds.trainingoperator import plan as operator_plan
from trainc.lint import delivery
from trainc.lint.rules import commands
from trainc.report import json as json_report
from trainc.report.text import finding_lines

# A job with a warning that every run below has to name, and one beside it in which something breaks.
SOUND = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: sound}
spec:
  runtimeRef: {name: torch}
  trainer:
    image: registry.example.org/train:1.0
    command: [bash, -c, "torchrun train.py “quoted”"]
    resourcesPerNode: {limits: {nvidia.com/gpu: 1}}
"""
PLANTED = "planted-in-the-test"
BROKEN = SOUND.replace("name: sound", f"name: {PLANTED}").replace("org/train", f"org/{PLANTED}")
BROKEN += f"    env: [{{name: RUN, value: {PLANTED}}}]\n"
PYTORCHJOB = f"""\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: {PLANTED}}}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      template: {{spec: {{containers: [{{name: pytorch, image: registry.example.org/train:1.0, command: [python, t.py]}}]}}}}
"""
POLICY = yaml.safe_dump_all([policy("true"), binding()])
PROJECT = """\
apiVersion: trainc.dev/v1alpha1
kind: Project
metadata: {name: here}
"""


class PlantedError(Exception):
    """What no part of trainc expects."""


def breaking(real: Callable[..., Any], is_meant: Callable[..., bool]) -> Callable[..., Any]:
    """A function that raises for what is meant, and does what it did for everything else."""

    def planted(*given: Any, **named: Any) -> Any:
        if is_meant(*given):
            raise PlantedError("planted")
        return real(*given, **named)

    planted.__name__ = getattr(real, "__name__", "planted")
    return planted


def is_planted(*given: Any) -> bool:
    """Whether a function gets the job in which something breaks: its document, its bundle, a part of it, or its text."""
    return any(PLANTED in names(one) for one in given)


def names(one: Any) -> str:
    for part in ("document", "bundle", "job", "role"):
        if (inner := getattr(one, part, None)) is not None:
            return names(inner)
    text = one.decode() if isinstance(one, bytes) else one
    return text if isinstance(text, str) else str(getattr(one, "name", ""))


class Seam(NamedTuple):
    """Where an exception is planted, what the finding calls the work that it ended, and what else the project holds."""

    owner: Any
    name: str
    work: str
    text: str = BROKEN
    settings: str = ""
    files: tuple[tuple[str, str], ...] = ()


INVENTORY = """\
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: default}
"""
SEAMS = {
    "text": Seam(load, "read", "the reading of this file"),
    "object": Seam(admit, "_part", "the reading of this object"),
    "cluster": Seam(admit, "bound", "the choice of its cluster"),
    "server": Seam(admit, "admit_object", "the API server's judgement"),
    "admission": Seam(patches.JobPatches, "applied", "the admission of this TrainJob"),
    "kind, admission": Seam(operator_admission, "settled", "the admission of this PyTorchJob", PYTORCHJOB),
    "kind, plan": Seam(operator_plan, "plan", "the plan of this PyTorchJob", PYTORCHJOB),
    "runtime": Seam(resolve, "runtime_for", "the plan of this TrainJob"),
    "lowering": Seam(pipeline, "lower", "the compilation of this TrainJob"),
    "rendering": Seam(pipeline, "_keep", "the rendering of its objects"),
    "what is beside": Seam(pipeline, "_with_objects", "the checks of the job"),
    "verdict": Seam(lint, "accepted", "the JobSet server's judgement"),
    "children": Seam(lint, "refused", "the API server's judgement of Jobs and pods"),
    "scheduling": Seam(lint, "placing_of_pods", "the checks of scheduling"),
    "check of a container": Seam(commands, "_url_meant", "the check `malformed_url`"),
    "check of a job": Seam(commands, "repository", "the check `script_not_in_image`"),
    "delivery": Seam(delivery, "delivered", "the checks of delivery", settings="spec: {delivery: argocd}\n"),
    "policy": Seam(judge, "judge_bundle", "the admission policies", files=(("policies/p.yaml", POLICY),)),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "runtimes").mkdir()
    (tmp_path / "runtimes/torch.yaml").write_text(RUNTIME)
    (tmp_path / "a-sound.yaml").write_text(SOUND)
    (tmp_path / "c-sound.yaml").write_text(SOUND.replace("name: sound", "name: last"))
    return tmp_path


def the_rest_stands(run: Run) -> None:
    """The findings of the files before and behind the one that broke."""
    for name in ("a-sound.yaml", "c-sound.yaml"):
        assert any(one.rule.name == "typographic-character" and one.span.file == name for one in run.findings)
        assert f"--> {name}:8" in run.err


def plant(seam: Seam, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "b-planted.yaml").write_text(seam.text)
    (project / "trainc.yaml").write_text(PROJECT + seam.settings)
    for name, text in seam.files:
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)
    monkeypatch.setattr(seam.owner, seam.name, breaking(getattr(seam.owner, seam.name), is_planted))


def test_without_an_exception_everything_is_written(project: Path) -> None:
    (project / "b-planted.yaml").write_text(BROKEN)
    (project / "trainc.yaml").write_text(PROJECT)
    assert compile_in(project, "build", "-w", ".").code == 0
    assert (project / "rendered").exists()


@pytest.mark.parametrize("seam", SEAMS)
def test_an_exception_costs_one_document(seam: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(SEAMS[seam], project, monkeypatch)
    run = compile_in(project, "build", "-w", ".")
    assert "error[internal-error]: a bug in trainc, not in your files: PlantedError at " in run.err
    assert "--> b-planted.yaml:" in run.err
    assert f"note: it ended {SEAMS[seam].work}" in run.err
    assert "TRAINC_TRACEBACK=1" in run.err
    assert run.code == BUG
    the_rest_stands(run)
    assert not run.out
    assert not (project / "rendered").exists()


CHECK = SEAMS["check of a container"]
AUTHOR = {f"GIT_{who}_{what}": "ann@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


@pytest.mark.parametrize("words", [("validate",), ("build", "."), ("show", "."), ("diff", "HEAD"), ("fit", ".")])
def test_every_command_ends_with_the_code_of_a_bug(
    words: tuple[str, ...], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(CHECK, project, monkeypatch)
    for git in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "one state")):
        subprocess.run(["git", *git], cwd=project, env={**os.environ, **AUTHOR}, check=True)
    run = compile_in(project, *words)
    assert (run.code, "error[internal-error]" in run.err) == (BUG, True), run.err


def test_what_other_processes_find_stands(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(CHECK, project, monkeypatch)
    run = compile_in(project, "build", "-w", ".", "--jobs", "3")
    assert (run.code, "error[internal-error]" in run.err) == (BUG, True)
    assert run.err.count("warning[typographic-character]") == 3


def test_the_next_run_looks_again(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINC_CACHE_DIR", str(tmp_path.parent / "cache"))
    with monkeypatch.context() as broken:
        plant(CHECK, project, broken)
        assert compile_in(project, "validate").code == BUG
    again = compile_in(project, "validate")
    assert (again.code, "internal-error" in again.err) == (0, False), again.err


def test_the_traceback_is_shown_where_it_is_asked_for(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(CHECK, project, monkeypatch)
    assert "Traceback" not in compile_in(project, "validate").err
    monkeypatch.setenv("TRAINC_TRACEBACK", "1")
    assert "Traceback (most recent call last):" in compile_in(project, "validate").err


@pytest.mark.parametrize("silence", ["# trainc: allow[internal-error] no\n", "spec: {rules: {internal-error: off}}\n"])
def test_nobody_silences_it(silence: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    is_comment = silence.startswith("#")
    text = BROKEN.replace("metadata:", f"{silence}metadata:") if is_comment else BROKEN
    plant(CHECK._replace(text=text, settings="" if is_comment else silence), project, monkeypatch)
    run = compile_in(project, "validate")
    assert (run.code, "error[internal-error]" in run.err) == (BUG, True), run.err
    assert compile_in(project, "validate", "--ignore", "internal-error").code == 2


def test_a_report_that_breaks_leaves_the_findings_as_text(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(*_: Any) -> Any:
        yield "{"
        raise PlantedError

    (project / "trainc.yaml").write_text(PROJECT)
    monkeypatch.setattr(json_report, "document", planted)
    run = compile_in(project, "validate", "--report", "json")
    assert (run.code, run.out) == (BUG, "")
    assert run.err.count("warning[typographic-character]") == 2
    assert "a bug in trainc, not in your files: PlantedError" in run.err


def test_a_finding_whose_text_breaks_leaves_the_others(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "trainc.yaml").write_text(PROJECT)
    planted = breaking(
        finding_lines, lambda one, *_: one.span.file == "a-sound.yaml" and one.rule.name != "internal-error"
    )
    monkeypatch.setattr(cli_findings, "finding_lines", planted)
    run = compile_in(project, "validate")
    assert run.code == BUG
    assert "--> a-sound.yaml:8" in run.err
    assert "note: it ended the text of `typographic-character`: " in run.err
    assert "warning[typographic-character]" in run.err


def test_an_answer_that_breaks_leaves_the_findings(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "trainc.yaml").write_text(PROJECT)
    monkeypatch.setattr(show, "job_row", breaking(job_row, lambda *_: True))
    run = compile_in(project, "show", ".")
    assert run.code == BUG
    assert "warning[typographic-character]" in run.err
    assert "a bug in trainc, not in your files: PlantedError" in run.err


def test_a_function_hands_the_items_back_as_they_were(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del project
    monkeypatch.setattr(commands, CHECK.name, breaking(commands._url_meant, is_planted))
    items = listed([*objects(RUNTIME), *objects(SOUND), *objects(BROKEN)])
    answer = compile_in(Path("/"), "fn", stdin=items)
    assert answer.code == BUG
    given = yaml.safe_load(answer.out)
    assert [one["kind"] for one in given["items"]] == ["ClusterTrainingRuntime", "TrainJob", "TrainJob"]
    assert any("internal-error" in json.dumps(result) for result in given["results"])
    assert any("typographic-character" in json.dumps(result) for result in given["results"])


def test_an_editor_is_told_and_hears_of_the_rest(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    extras.package("lsprotocol")
    from trainc.integrations.lsp.findings import Judgement  # noqa: PLC0415 (it needs the extra)

    plant(CHECK, project, monkeypatch)
    judgement = Judgement(str(project), None)
    judgement.judge({})
    found = {file: {one.rule.name for one in findings} for file, findings in judgement.by_file.items()}
    assert "internal-error" in found["b-planted.yaml"]
    assert "typographic-character" in found["a-sound.yaml"] & found["c-sound.yaml"]
    judgement.judge_file("b-planted.yaml", {"b-planted.yaml": BROKEN.encode()})
    assert "internal-error" in {one.rule.name for one in judgement.by_file["b-planted.yaml"]}


def test_trouble_of_the_system_is_no_bug(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> Any:
        raise OSError(28, "No space left on device")

    (project / "trainc.yaml").write_text(PROJECT)
    monkeypatch.setattr(pipeline, "_keep", full)
    run = compile_in(project, "build", ".")
    assert (run.code, "No space left" in run.err) == (2, True)
