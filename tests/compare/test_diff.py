"""`trainc diff` and `trainc validate --against` on prepared Git histories."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.compare.history import RUNTIME, commit, git, job, repository, run, write

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "runtimes/llm.yaml": RUNTIME,
    "jobs/bert.yaml": job("bert"),
    "jobs/t5.yaml": job("t5"),
    "trainc.yaml": "apiVersion: trainc.dev/v1alpha1\nkind: Project\nmetadata: {name: demo}\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    repository(tmp_path, FILES)
    return tmp_path


def test_nothing_changed(project: Path) -> None:
    assert run(project, "diff") == (0, "nothing changes since HEAD\n", "")
    assert run(project, "diff", "--exit-code")[0] == 0


def test_an_edit_of_a_runtime_is_one_line_with_all_its_jobs(project: Path) -> None:
    write(project, {"runtimes/llm.yaml": RUNTIME.replace("llm:1.0", "llm:1.1")})
    code, out, _ = run(project, "diff", "--exit-code")
    assert code == 1
    assert out == (
        "~ 2 jobs: llm/bert, llm/t5  because of runtimes/llm.yaml\n"
        "    image of node/node: registry.example.com/llm:1.0 -> registry.example.com/llm:1.1\n"
        "    the API server refuses this in place: "
        "spec.replicatedJobs[node].template.spec.template.spec.containers[node].image\n"
        "\n"
        "accelerators: 32 nvidia.com/gpu -> 32 nvidia.com/gpu\n"
    )


def test_an_edit_of_a_job_reaches_that_job(project: Path) -> None:
    write(project, {"jobs/bert.yaml": job("bert", 4)})
    out = run(project, "diff")[1]
    assert out.startswith("~ llm/bert  because of jobs/bert.yaml\n    nodes of node: 2 -> 4\n")
    assert out.endswith("accelerators: 32 nvidia.com/gpu -> 48 nvidia.com/gpu\n")


def test_a_new_name_is_a_new_job_and_one_that_is_gone(project: Path) -> None:
    git(project, "mv", "jobs/t5.yaml", "jobs/t5-large.yaml")
    write(project, {"jobs/t5-large.yaml": job("t5-large")})
    assert run(project, "diff")[1] == (
        "+ llm/t5-large  2 pods, 16 nvidia.com/gpu  jobs/t5-large.yaml\n"
        "- llm/t5  2 pods, 16 nvidia.com/gpu  jobs/t5.yaml\n"
        "\n"
        "accelerators: 32 nvidia.com/gpu -> 32 nvidia.com/gpu\n"
    )


def test_a_moved_file_changes_nothing(project: Path) -> None:
    git(project, "mv", "jobs/t5.yaml", "jobs/renamed.yaml")
    assert run(project, "diff")[1] == "nothing changes since HEAD\n"


def test_other_forms_say_the_same(project: Path) -> None:
    write(project, {"jobs/bert.yaml": job("bert", 4)})
    found = json.loads(run(project, "diff", "--report", "json")[1])
    assert found["edited"][0]["jobs"] == ["llm/bert"]
    assert found["accelerators"] == {"old": {"nvidia.com/gpu": 32}, "new": {"nvidia.com/gpu": 48}}
    assert "| edited | `llm/bert` | nodes of node: `2` -> `4`" in run(project, "diff", "--report", "markdown")[1]


def test_two_folders(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    write(other, {**FILES, "jobs/bert.yaml": job("bert", 3)})
    out = run(project, "diff", ".", str(other))[1]
    assert "nodes of node: 2 -> 3" in out


def test_the_second_last_commit_is_a_base_too(project: Path) -> None:
    write(project, {"jobs/bert.yaml": job("bert", 4)})
    commit(project)
    assert run(project, "diff")[1] == "nothing changes since HEAD\n"
    assert "nodes of node: 2 -> 4" in run(project, "diff", "HEAD~1")[1]


def test_an_unknown_revision_is_trouble(project: Path) -> None:
    assert run(project, "diff", "no-such-branch") == (2, "", "trainc: Git knows no revision `no-such-branch`\n")


def test_an_option_in_the_place_of_a_revision_reaches_no_command(project: Path) -> None:
    assert run(project, "validate", "--against", "--output=/tmp/x")[0] == 2


def test_against_names_every_field_that_the_server_refuses(project: Path) -> None:
    write(project, {"jobs/bert.yaml": job("bert", 4)})
    code, _, err = run(project, "validate", "--against", "HEAD", "--only", "admission")
    assert code == 1
    assert "`spec.replicatedJobs[node].template.spec.parallelism` cannot change from 2 to 4" in err
    assert "jobs/bert.yaml:10:15" in err


def test_against_tells_what_changes_in_place(project: Path) -> None:
    write(
        project,
        {
            "runtimes/llm.yaml": RUNTIME.replace(
                "  template:\n    spec:\n      fail",
                "  template:\n    metadata:\n      labels: {team: llm}\n    spec:\n      fail",
            )
        },
    )
    code, _, err = run(project, "validate", "--against", "HEAD", "--only", "admission")
    assert code == 0
    assert "note[changed-in-place]: JobSet `bert` changes in place: `metadata.labels.team`" in err


def test_the_committed_rendering_is_the_base(project: Path) -> None:
    run(project, "build", ".", "-o", "rendered")
    text = (project / "rendered/llm/bert.yaml").read_text("utf-8")
    write(project, {"rendered/llm/bert.yaml": text.replace("llm:1.0", "llm:0.9")})
    commit(project)
    write(project, {"jobs/bert.yaml": f"# Again.\n{job('bert')}"})
    out = run(project, "diff")[1]
    assert "~ llm/bert  because of" in out
    assert "image of node/node: registry.example.com/llm:0.9 -> registry.example.com/llm:1.0" in out
    assert "t5" not in out


def test_two_renderings(project: Path) -> None:
    run(project, "build", ".", "-o", "old")
    write(project, {"jobs/bert.yaml": job("bert", 3)})
    run(project, "build", ".", "-o", "new")
    out = run(project, "diff", "old", "new")[1]
    assert out.startswith("~ llm/bert  because of ")
    assert "nodes of node: 2 -> 3" in out


def test_only_edited_files_are_a_cause(project: Path) -> None:
    edit = RUNTIME.replace(
        "                  resources",
        "                  env:\n                  - {name: A, value: b}\n                  resources",
    )
    write(project, {"runtimes/llm.yaml": edit, "jobs/t5.yaml": job("t5", 3)})
    out = run(project, "diff")[1]
    assert "~ llm/bert  because of runtimes/llm.yaml\n" in out
    assert "~ llm/t5  because of jobs/t5.yaml, runtimes/llm.yaml\n" in out


def rendered(project: Path, *, old_run: str = "prune") -> None:
    """Keep a rendering of the project from now on."""
    write(project, {"trainc.yaml": f"{FILES['trainc.yaml']}spec: {{oldRun: {old_run}}}\n"})
    assert run(project, "build", "-w")[0] == 0
    commit(project)


def test_a_run_that_keeps_its_rendering_changes_nothing_in_the_cluster(project: Path) -> None:
    rendered(project)
    write(project, {"runtimes/llm.yaml": RUNTIME.replace("llm:1.0", "llm:1.1"), "jobs/t5.yaml": job("t5", 4)})
    out = run(project, "diff")[1]
    image = "spec.replicatedJobs[node].template.spec.template.spec.containers[node].image"
    assert (
        "~ llm/bert  because of runtimes/llm.yaml\n"
        "    image of node/node: registry.example.com/llm:1.0 -> registry.example.com/llm:1.1\n"
        f"    committed runs keep their rendering: {image} cannot change in place\n"
    ) in out
    assert "~ llm/t5  because of jobs/t5.yaml, runtimes/llm.yaml\n" in out
    assert "    the API server refuses this in place: " in out
    assert "| kept | `llm/bert` |" in run(project, "diff", "--report", "markdown")[1]
    kept = {one["jobs"][0]: one["kept"] for one in json.loads(run(project, "diff", "--report", "json")[1])["edited"]}
    assert kept == {"llm/bert": True, "llm/t5": False}


def test_a_rendering_that_was_kept_before_is_no_news(project: Path) -> None:
    rendered(project)
    write(project, {"runtimes/llm.yaml": RUNTIME.replace("llm:1.0", "llm:1.1")})
    assert run(project, "build", "-w")[0] == 0
    commit(project)
    assert run(project, "diff") == (0, "nothing changes since HEAD\n", "")


@pytest.mark.parametrize("old_run", ["prune", "keep"])
def test_the_next_run_of_a_job(project: Path, old_run: str) -> None:
    rendered(project, old_run=old_run)
    again = job("bert", 4).replace("  name: bert\n", '  name: bert\n  annotations: {trainc.dev/run: "2"}\n')
    write(project, {"jobs/bert.yaml": again})
    out = run(project, "diff")[1]
    assert out.startswith("+ llm/bert-r2  4 pods, 32 nvidia.com/gpu  jobs/bert.yaml  the run after bert\n")
    assert ("- llm/bert  2 pods" in out) is (old_run == "prune")
    assert out.endswith(f"accelerators: 32 nvidia.com/gpu -> {48 if old_run == 'prune' else 64} nvidia.com/gpu\n")
    assert "| new run | `llm/bert-r2` |" in run(project, "diff", "--report", "markdown")[1]
    assert run(project, "build", "-w")[0] == 0
    commit(project)
    assert run(project, "diff")[1] == "nothing changes since HEAD\n"


@pytest.mark.parametrize("argv", [["diff"], ["validate", "--against", "HEAD"], ["build", "--check", "--tracked"]])
def test_a_folder_without_git_is_trouble(tmp_path: Path, argv: list[str]) -> None:
    write(tmp_path, FILES)
    code, _, err = run(tmp_path, *argv)
    assert (code, err) == (2, f"trainc: {tmp_path} lies in no Git repository\n")
