"""Components are enabled by a text, a list or a map, wherever they are named, and mean the same."""

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

from tests.compiling import ROOT, compile_in
from trainc.apiserver import shipped
from trainc.compiler.resolve.components import of_job
from trainc.model.report import Report
from trainc.yaml.reader import read

NAMES = ["'shm, maintenance-safe'", "'shm maintenance-safe'", "[shm, maintenance-safe]", "{shm: null, maintenance-safe: {}}",
         "[{name: shm}, maintenance-safe]", "[{name: shm}, {name: maintenance-safe}]"]  # fmt: skip
VALUES = ["{shm: {size: 1Gi}}", "[{name: shm, with: {size: 1Gi}}]"]
WRONG = ["[[shm]]", "3", "[3]", "{shm: 3}", "[{name: shm, using: {}}]"]
RUNTIME = """
apiVersion: trainc.dev/v1alpha1
kind: Runtime
metadata: {name: ours}
spec:
  extends: torch-distributed
"""
JOB = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: a, namespace: b}
spec:
  runtimeRef: {name: ours}
  trainer: {}
"""


def built(folder: Path, runtime: str = "", cluster: str = "", job: str = "") -> tuple[str, str]:
    """The manifests, and what was found, with components spelled so in one of three places."""
    folder.mkdir()
    for name in ("torch-distributed", "components/shm", "components/maintenance-safe"):
        (folder / "runtimes/components").mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / f"runtimes/{name}.yaml", folder / f"runtimes/{name}.yaml")
    (folder / "runtimes/ours.yaml").write_text(RUNTIME + (f"  components: {runtime}\n" if runtime else ""))
    (folder / "trainc.yaml").write_text(
        "apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec:\n  clusters:\n    c: "
        + (f"{{components: {cluster}}}\n" if cluster else "{}\n")
    )
    text = JOB.replace("name: a,", f"name: a, annotations: {{trainc.dev/components: '{job}'}},") if job else JOB
    (folder / "job.yaml").write_text(text)
    run = compile_in(folder, "build")
    return run.out, run.err if run.code else ""


@pytest.mark.parametrize("place", ["runtime", "cluster"])
def test_every_spelling_of_names_means_the_same(place: str, tmp_path: Path) -> None:
    results = {built(tmp_path / str(at), **{place: spelling}) for at, spelling in enumerate(NAMES)}
    assert len(results) == 1
    assert "RestartJobSetAndIgnoreMaxRestarts" in next(iter(results))[0]


@pytest.mark.parametrize("place", ["runtime", "cluster"])
def test_values_reach_the_parameters(place: str, tmp_path: Path) -> None:
    results = {built(tmp_path / str(at), **{place: spelling}) for at, spelling in enumerate(VALUES)}
    assert len(results) == 1
    assert "sizeLimit: 1Gi" in next(iter(results))[0]


def test_an_annotation_separates_names_by_commas_or_blanks(tmp_path: Path) -> None:
    for at, text in enumerate(["shm,maintenance-safe", "shm, maintenance-safe", "shm maintenance-safe"]):
        out, err = built(tmp_path / str(at), job=text)
        assert err == ""
        assert "sizeLimit: 64Gi" in out
        assert "RestartJobSetAndIgnoreMaxRestarts" in out


@pytest.mark.parametrize("place", ["runtime", "cluster"])
@pytest.mark.parametrize("spelling", WRONG)
def test_what_names_no_component_is_a_finding(place: str, spelling: str, tmp_path: Path) -> None:
    out, err = built(tmp_path / "p", **{place: spelling})
    assert out == ""
    assert "error[" in err


@pytest.mark.parametrize(("kind", "path"), [("Runtime", ()), ("Project", ("clusters", "c"))])
def test_editors_admit_every_spelling(kind: str, path: tuple[str, ...]) -> None:
    one = next(one for one in shipped.listed() if one.kind == kind)
    validator = jsonschema.Draft202012Validator(json.loads((shipped.folder() / one.json).read_text("utf-8")))
    for components in (
        "shm, spot",
        ["shm", "spot"],
        [{"name": "shm", "with": {"size": "1Gi"}}],
        {"shm": {"size": "1Gi"}},
    ):
        spec: dict[str, object] = {"components": components}
        for step in reversed(path):
            spec = {step: spec}
        tree = {"apiVersion": "trainc.dev/v1alpha1", "kind": kind, "metadata": {"name": "a"}, "spec": spec}
        assert list(validator.iter_errors(tree)) == []


def test_an_unknown_component_is_shown_where_it_is_named(tmp_path: Path) -> None:
    _, err = built(tmp_path / "p", runtime="{sham: null}")
    assert "unknown component `sham`" in err
    assert "runtimes/ours.yaml:7:16" in err


HEAD = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata:\n  name: a\n  annotations:\n"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("spot", ["spot"]),
        ("spot-a, spot ,a", ["spot-a", "spot", "a"]),
        ('"shm,spot"', ["shm", "spot"]),
        ("'shm, spot,'", ["shm", "spot"]),
        (r'"sh\x6d,spot"', [r'"sh\x6d,spot"'] * 2),
        (">-\n      shm,\n      spot", [">-", ">-"]),
    ],
)
def test_places(written: str, shown: list[str]) -> None:
    text = f"{HEAD}    trainc.dev/components: {written}\n"
    [document] = read(text, "job.yaml", Report())
    lines = text.splitlines()
    spans = [use.span for use in of_job(document)]
    assert [
        lines[s.line - 1][s.column - 1 : s.end_column - 1 if s.end_line == s.line else None] for s in spans
    ] == shown
