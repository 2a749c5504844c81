"""`trainc runtimes` knows components and prints what a runtime that inherits amounts to."""

from pathlib import Path

import pytest
import yaml

from tests.compiler.resolve.inheriting import BASE, on_pods, runtime
from tests.compiling import ROOT, compile_in


def project(place: Path, *objects: dict[str, object]) -> None:
    (place / ".git").mkdir()
    (place / "runtimes").mkdir()
    for each in objects:
        name = each["metadata"]["name"]  # type: ignore[index]
        (place / f"runtimes/{name}.yaml").write_text(yaml.safe_dump(each), "utf-8")


def test_list_knows_runtimes_and_components(tmp_path: Path) -> None:
    run = compile_in(tmp_path, "runtimes", "list")
    above, below = run.out.split("\ncomponents:\n")
    assert [line.split()[0] for line in above.splitlines()] == sorted(p.stem for p in ROOT.glob("runtimes/*.yaml"))
    assert [line.split()[0] for line in below.splitlines()] == sorted(
        p.stem for p in ROOT.glob("runtimes/components/*.yaml")
    )


def test_show_and_copy_a_component(tmp_path: Path) -> None:
    text = (ROOT / "runtimes/components/shm.yaml").read_text("utf-8")
    assert compile_in(tmp_path, "runtimes", "show", "shm").out == text
    assert compile_in(tmp_path, "runtimes", "copy", "shm").code == 0
    assert (tmp_path / "runtimes/components/shm.yaml").read_text("utf-8") == text
    assert compile_in(tmp_path, "runtimes", "copy", "shm").code == 2


def test_a_name_that_is_nearly_right(tmp_path: Path) -> None:
    assert "did you mean `aws-efa`?" in compile_in(tmp_path, "runtimes", "show", "aws-ef").err


def test_flatten_prints_a_plain_runtime(tmp_path: Path) -> None:
    leaf = runtime(
        "leaf", {"extends": "base", "components": [{"name": "shm"}], **on_pods({"nodeSelector": {"zone": None}})}
    )
    project(tmp_path, BASE, leaf)
    run = compile_in(tmp_path, "runtimes", "flatten", "leaf")
    (flat,) = run.objects
    assert (run.code, flat["kind"], flat["metadata"]["name"]) == (0, "ClusterTrainingRuntime", "leaf")
    assert flat["metadata"]["annotations"] == {"trainc.dev/components": "shm"}
    (job,) = flat["spec"]["template"]["spec"]["replicatedJobs"]
    pod = job["template"]["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {}
    assert [one["name"] for one in pod["volumes"]] == ["shm"]
    (tmp_path / "runtimes/leaf.yaml").write_text(run.out, "utf-8")
    again = compile_in(tmp_path, "runtimes", "flatten", "leaf")
    assert (again.objects[0]["spec"], again.err) == (flat["spec"], "")


def test_a_runtime_that_no_cluster_would_take(tmp_path: Path) -> None:
    several = {"template": {"spec": {"replicatedJobs": [{"name": "node", "replicas": 2}]}}}
    project(tmp_path, BASE, runtime("leaf", {"extends": "base", **several}))
    run = compile_in(tmp_path, "runtimes", "flatten", "leaf")
    assert (run.code, run.out) == (1, "")
    assert "the trainer step has 2 replicas" in run.err


def test_a_runtime_that_is_not_there(tmp_path: Path) -> None:
    project(tmp_path, BASE)
    assert compile_in(tmp_path, "runtimes", "flatten", "leaf").code == 2


def test_flatten_says_what_was_probably_meant(tmp_path: Path) -> None:
    project(tmp_path, BASE, runtime("leaf", {"extends": "base"}))
    for name, hint in (
        ("lea", "did you mean `leaf`?"),
        ("shm", "`shm` is a component; name a runtime that enables it"),
        ("zzzzzz", "see trainc runtimes list"),
    ):
        run = compile_in(tmp_path, "runtimes", "flatten", name)
        assert (run.code, run.out) == (2, "")
        assert run.err == f"trainc: no runtime `{name}` here or among those that trainc ships; {hint}\n"


@pytest.mark.parametrize(
    "runtime",
    [
        "llm",
        pytest.param("perception", marks=pytest.mark.slow),
        pytest.param("torch-base", marks=pytest.mark.slow),
        pytest.param("torch-gpu", marks=pytest.mark.slow),
    ],
)
def test_a_runtime_named_alone_has_no_error_that_its_project_does_not_have(runtime: str) -> None:
    """A job's namespace is not known there, so nothing is missing from the cluster in it."""
    platform = ROOT / "examples/platform"
    assert compile_in(platform, "validate", ".").code == 0
    run = compile_in(platform, "validate", f"runtimes/{runtime}.yaml")
    assert (run.code, [one.rule.name for one in run.findings if one.level == "error"]) == (0, []), run.err
    assert "object-not-declared" not in run.err
