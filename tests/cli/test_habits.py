"""What people type out of habit does what they mean, or says what to type instead."""

import shutil
from pathlib import Path

import pytest
import yaml

from tests.compiling import ROOT, compile_in
from trainc.authoring.add_cluster import with_cluster
from trainc.text.trouble import Trouble


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "examples/torch-ddp", tmp_path / "p")
    return tmp_path / "p"


@pytest.mark.parametrize("flag", [["-f", "jobs/bert.yaml"], ["--filename=jobs/bert.yaml"], ["--filename", "jobs"]])
def test_f_names_a_path(flag: list[str], project: Path) -> None:
    assert compile_in(project, "build", *flag).out == compile_in(project, "build", "jobs/bert.yaml").out
    assert compile_in(project, "validate", *flag).err == compile_in(project, "validate").err
    assert compile_in(project, "show", *flag).code == 0


def test_f_needs_a_path_and_is_no_flag_of_every_command(project: Path) -> None:
    assert "--filename needs a value" in compile_in(project, "build", "-f").err
    assert "has no option -f" in compile_in(project, "rules", "-f", "x").err


def test_output_to_a_dash_is_standard_output(project: Path) -> None:
    run = compile_in(project, "build", "-o", "-")
    assert run.out == compile_in(project, "build").out
    assert not (project / "-").exists()
    assert compile_in(project, "build", "--output=-").out == run.out


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_output_takes_no_format(form: str, project: Path) -> None:
    run = compile_in(project, "build", "-o", form)
    assert run.code == 2
    assert f"--format {form}" in run.err
    assert not (project / form).exists()


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["biuld"], "did you mean `build`?"),
        (["runtime"], "did you mean `runtimes`?"),
        (["build", "--chek"], "did you mean `--check`?"),
        (["runtimes", "shwo", "shm"], "did you mean `show`?"),
        (["validate", "--report", "jsn"], "did you mean `json`?"),
        (["help", "biuld"], "did you mean `build`?"),
    ],
)
def test_slips_of_commands_and_flags(argv: list[str], said: str, project: Path) -> None:
    run = compile_in(project, *argv)
    assert run.code == 2
    assert said in run.err


def test_several_runtimes_are_copied_at_once(tmp_path: Path) -> None:
    run = compile_in(tmp_path, "runtimes", "copy", "torch-distributed", "shm", "torch-distributed")
    assert run.code == 0
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.yaml")) == [
        "runtimes/components/shm.yaml",
        "runtimes/torch-distributed.yaml",
    ]


def test_a_folder_may_follow_the_names(tmp_path: Path) -> None:
    assert compile_in(tmp_path, "runtimes", "copy", "shm", "spot", "mine/").code == 0
    assert {path.name for path in (tmp_path / "mine").iterdir()} == {"shm.yaml", "spot.yaml"}


def test_a_copy_makes_no_second_runtime_of_a_name(tmp_path: Path) -> None:
    (tmp_path / "runtimes").mkdir()
    shutil.copy(ROOT / "runtimes/torch-distributed.yaml", tmp_path / "runtimes/ours.yaml")
    run = compile_in(tmp_path, "runtimes", "copy", "shm", "torch-distributed")
    assert run.code == 2
    assert "`torch-distributed` already exists in runtimes/ours.yaml; nothing was copied" in run.err
    assert not (tmp_path / "runtimes/components").exists()


def test_a_misspelt_name_is_no_folder(tmp_path: Path) -> None:
    run = compile_in(tmp_path, "runtimes", "copy", "shm", "sopt")
    assert run.code == 2
    assert "did you mean `spot`?" in run.err


def test_a_second_cluster_is_added(tmp_path: Path) -> None:
    assert compile_in(tmp_path, "init", "--cluster", "eu", "--delivery", "argocd").code == 0
    run = compile_in(tmp_path, "init", "--cluster", "us", "--delivery", "argocd")
    assert "added the cluster to trainc.yaml" in run.out
    assert "wrote deploy/argocd-us.yaml" in run.out
    text = (tmp_path / "trainc.yaml").read_text("utf-8")
    assert "# `kubectl get" in text
    clusters = yaml.safe_load(text)["spec"]["clusters"]
    assert clusters == {
        "eu": {"folder": "clusters/eu", "paths": ["jobs/hello.yaml"]},
        "us": {"folder": "clusters/us", "paths": ["jobs/us"]},
    }
    judged = compile_in(tmp_path, "validate")
    assert (judged.code, judged.err) == (0, "1 job, no errors\n")
    assert "kept  trainc.yaml" in compile_in(tmp_path, "init", "--cluster", "us").out


@pytest.mark.parametrize(
    ("text", "clusters"),
    [
        ("spec:\n  clusters:\n    a: {}\n    b: {paths: [x]}\n  output: o\n", {"a": {}, "b": {"paths": ["x"]}}),
        ("spec:\n  output: o # said\n", {}),
        ("spec:\n    clusters:\n        a:\n            paths: [j]\n", {"a": {"paths": ["j"]}}),
    ],
)
def test_a_cluster_goes_where_the_others_are(text: str, clusters: dict[str, object]) -> None:
    after = with_cluster(text.encode(), "new", []).decode()
    found = yaml.safe_load(after)["spec"]
    assert list(found["clusters"]) == [*clusters, "new"]
    assert found["clusters"].items() >= clusters.items()
    assert found.get("output") == yaml.safe_load(text)["spec"].get("output")
    assert with_cluster(after.encode(), "new", []).decode() == after


@pytest.mark.parametrize(
    "text",
    [
        "spec: {clusters: {a: {}}}\n",
        "[]\n",
        "spec: {output: o}\n",
        # These were written, and were no YAML after it.
        "spec:\n  clusters:\n    main: {}\n",
        "spec:\n  clusters:\n    main:\n        folder: a\n",
        'spec:\n  "clusters":\n    ? main\n    : folder: a\n',
    ],
)
def test_what_nothing_can_be_put_into_is_said(text: str) -> None:
    with pytest.raises(Trouble):
        with_cluster(text.encode(), "new", [])


@pytest.mark.parametrize("name", ["on", "true", "null", "1.5"])
@pytest.mark.parametrize("text", ["spec:\n  output: o\n", "spec:\n  clusters:\n    a: {paths: [x]}\n"])
def test_a_cluster_keeps_its_name(text: str, name: str) -> None:
    """`on` became a cluster called `true`."""
    assert list(yaml.safe_load(with_cluster(text.encode(), name, "jobs"))["spec"]["clusters"])[-1] == name


def test_line_ends_of_a_project_stay() -> None:
    text = b"spec:\r\n  clusters:\r\n    a: {paths: [x]}\r\n"
    assert with_cluster(text, "b", "jobs").count(b"\n") == with_cluster(text, "b", "jobs").count(b"\r\n") == 6
