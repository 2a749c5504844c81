"""`trainc diff` and `trainc validate --against` on prepared Git histories."""

import json
import subprocess
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.repository import Repository, job
from tests.sampling import sampled
from tests.working_tree import WorkingTree
from trainc.changes.compare import diff as comparing
from trainc.compiler.project import open_project

GPUS = ('cpu: "4"', "nvidia.com/gpu: 8")
IMAGE = ("torch:2.8.0", "torch:2.9.0")


@pytest.fixture
def project(tmp_path: Path) -> WorkingTree:
    tree = WorkingTree(tmp_path)
    filled(tree)
    assert tree.commit().returncode == 0
    return tree


def filled(repository: Repository) -> None:
    repository.change("runtimes/torch.yaml", *GPUS)
    for name in ("bert", "t5"):
        repository.write(f"jobs/{name}.yaml", job(name))


@pytest.mark.slow
def test_nothing_changed(project: WorkingTree) -> None:
    done = project.run("diff")
    assert (done.code, done.out, done.err) == (0, "nothing changes since HEAD\n", "")
    assert project.run("diff", "--exit-code").code == 0


@pytest.mark.slow
def test_an_edit_of_a_runtime_is_one_line_with_all_its_jobs(project: WorkingTree) -> None:
    project.change("runtimes/torch.yaml", *IMAGE)
    done = project.run("diff", "--exit-code")
    assert done.code == 1
    assert done.out == (
        "-/+ 2 jobs: research/bert, research/t5  because of runtimes/torch.yaml\n"
        "      image of node/node: registry.example.com/ml/torch:2.8.0 -> registry.example.com/ml/torch:2.9.0"
        "  (runtimes/torch.yaml:30)\n"
        "      the API server rejects this change in place: "
        "spec.replicatedJobs[node].template.spec.template.spec.containers[node].image\n"
        "\n"
        "accelerators: 32 nvidia.com/gpu, unchanged\n"
    )


_JOBSET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: a, namespace: llm}
spec:
  replicatedJobs:
  - name: node
    template:
      spec:
        activeDeadlineSeconds: ${DEADLINE}
        template: {spec: {restartPolicy: Never, containers: [{name: node, image: "a:v1"}]}}
"""


def test_a_deadline_that_is_filled_in_later_bounds_nothing(tmp_path: Path) -> None:
    tree = WorkingTree(tmp_path)
    tree.write("a.yaml", _JOBSET)
    assert tree.commit().returncode == 0
    tree.change("a.yaml", "a:v1", "a:v2")
    done = tree.run("diff")
    assert (done.code, done.err) == (0, "")
    assert "image of node/node: a:v1 -> a:v2" in done.out


@pytest.mark.slow
def test_an_edit_of_a_job_reaches_that_job(project: WorkingTree) -> None:
    project.write("jobs/bert.yaml", job("bert", nodes=4))
    out = project.run("diff").out
    assert out.startswith(
        "-/+ research/bert  because of jobs/bert.yaml\n      nodes of node: 2 -> 4  (jobs/bert.yaml:10)\n"
    )
    assert out.endswith("accelerators: 32 nvidia.com/gpu -> 48 nvidia.com/gpu\n")


@pytest.mark.slow
def test_a_new_name_for_the_same_job(project: WorkingTree) -> None:
    project.git("mv", "jobs/t5.yaml", "jobs/t5-large.yaml")
    project.write("jobs/t5-large.yaml", job("t5-large"))
    assert project.run("diff").out == (
        "-/+ research/t5 -> research/t5-large  2 pods, 16 nvidia.com/gpu  jobs/t5-large.yaml  "
        "renamed: restarts, nothing else changes\n"
        "\n"
        "accelerators: 32 nvidia.com/gpu, unchanged\n"
    )


T5, T6 = job("t5"), job("t6")


@pytest.mark.parametrize(
    ("old", "new"),
    sampled(
        [
            ({"t5": T5}, {"t6": T6.replace("line.py", "other.py")}),
            (
                {"t5": T5.replace("line", "t5")},
                {"t6": T6.replace("line", "t6")},
            ),  # its command changes as its name does
            ({"t5": T5}, {"t6": T6.replace("namespace: research", "namespace: elsewhere")}),
            ({"t5": T5}, {"t6": T6, "t7": job("t7")}),
            ({"t5": T5, "t4": job("t4")}, {"t6": T6}),
            ({"t5": T5}, {"t6": job("t6", nodes=3)}),
        ],
        ["command", "command-by-name", "namespace", "two-new", "two-gone", "nodes"],
        quick=("two-new", "two-gone"),
    ),
)
def test_what_is_no_clear_case_is_a_new_job_and_one_that_is_gone(
    old: dict[str, str], new: dict[str, str], project: WorkingTree
) -> None:
    for name, text in old.items():
        project.write(f"jobs/{name}.yaml", text)
    assert project.commit("old").returncode == (0 if old != {"t5": T5} else 1)  # what is there already is not a commit
    for name in old:
        (project.folder / f"jobs/{name}.yaml").unlink()
    for name, text in new.items():
        project.write(f"jobs/{name}.yaml", text)
    signs = [line[0] for line in project.run("diff").out.splitlines() if line.startswith(("+ ", "- "))]
    assert signs == ["+"] * len(new) + ["-"] * len(old)


@pytest.mark.slow
@pytest.mark.parametrize("rendered", [True, False])
def test_a_name_that_the_command_holds_as_well(rendered: bool, project: WorkingTree) -> None:
    project.write("jobs/t5.yaml", T5.replace("line.py", "t5.py"))
    if rendered:
        assert project.run("build", "-w").code == 0
    assert project.commit("old").returncode == 0
    (project.folder / "jobs/t5.yaml").unlink()
    project.write("jobs/t6.yaml", T6.replace("line.py", "t5.py"))
    assert project.run("diff").out.startswith("-/+ research/t5 -> research/t6  ")
    found = json.loads(project.run("diff", "--report", "json").out)
    assert [(pair["old"]["name"], pair["new"]["name"]) for pair in found["renamed"]] == [("t5", "t6")]
    assert (found["added"], found["removed"]) == ([], [])
    assert "| renamed | `research/t5` -> `research/t6` |" in project.run("diff", "--report", "markdown").out


@pytest.mark.slow
def test_a_moved_file_changes_nothing(project: WorkingTree) -> None:
    project.git("mv", "jobs/t5.yaml", "jobs/renamed.yaml")
    assert project.run("diff").out == "nothing changes since HEAD\n"


@pytest.mark.slow
def test_other_forms_say_the_same(project: WorkingTree) -> None:
    project.write("jobs/bert.yaml", job("bert", nodes=4))
    found = json.loads(project.run("diff", "--report", "json").out)
    assert found["edited"][0]["jobs"] == ["research/bert"]
    assert found["accelerators"] == {"old": {"nvidia.com/gpu": 32}, "new": {"nvidia.com/gpu": 48}}
    assert (
        "| needs a new run | `research/bert` | nodes of node: `2` -> `4`"
        in project.run("diff", "--report", "markdown").out
    )


@pytest.mark.slow
def test_two_folders(project: WorkingTree, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    second = Repository(other)
    filled(second)
    second.write("jobs/bert.yaml", job("bert", nodes=3))
    out = project.run("diff", ".", str(other)).out
    assert "nodes of node: 2 -> 3" in out


@pytest.mark.slow
def test_the_second_last_commit_is_a_base_too(project: WorkingTree) -> None:
    project.write("jobs/bert.yaml", job("bert", nodes=4))
    assert project.commit().returncode == 0
    assert project.run("diff").out == "nothing changes since HEAD\n"
    assert "nodes of node: 2 -> 4" in project.run("diff", "HEAD~1").out


@pytest.mark.slow
def test_an_unknown_revision_is_trouble(project: WorkingTree) -> None:
    done = project.run("diff", "no-such-branch")
    assert (done.code, done.out, done.err) == (2, "", "trainc: Git has no revision `no-such-branch`\n")


@pytest.mark.slow
def test_an_option_in_the_place_of_a_revision_reaches_no_command(project: WorkingTree) -> None:
    assert project.run("validate", "--against", "--output=/tmp/x").code == 2


@pytest.mark.slow
def test_against_names_every_field_that_the_server_refuses(project: WorkingTree) -> None:
    project.write("jobs/bert.yaml", job("bert", nodes=4))
    done = project.run("validate", "--against", "HEAD", "--only", "admission")
    assert done.code == 1
    assert "= note: spec.replicatedJobs[node].template.spec.parallelism: 2 -> 4\n" in done.err
    assert "jobs/bert.yaml:10:15" in done.err


@pytest.mark.slow
def test_against_leaves_runs_alone_that_keep_their_committed_rendering(project: WorkingTree) -> None:
    assert project.run("build", "-w").code == 0
    assert project.commit().returncode == 0
    project.change("runtimes/torch.yaml", *IMAGE)
    done = project.run("validate", "--against", "HEAD")
    assert done.code == 0, done.err
    assert "immutable-change" not in done.err
    project.change("jobs/bert.yaml", "numNodes: 2", "numNodes: 4")
    done = project.run("validate", "--against", "HEAD")
    assert done.code == 1
    assert done.err.count("error[immutable-change]") == 1
    assert "run `bert` cannot change" in done.err


@pytest.mark.slow
def test_against_tells_what_changes_in_place(project: WorkingTree) -> None:
    project.change("runtimes/torch.yaml", "owner: platform", "owner: research")
    done = project.run("validate", "--against", "HEAD", "--only", "admission")
    assert done.code == 0
    assert "note[changed-in-place]: JobSet `bert` changes in place: `metadata.labels.owner`" in done.err


@pytest.mark.slow
def test_the_committed_rendering_is_the_base(project: WorkingTree) -> None:
    assert project.run("build", "-o", "rendered").code == 0
    project.change("rendered/research/bert.yaml", "torch:2.8.0", "torch:2.7.0")
    assert project.commit().returncode == 0
    project.write("jobs/bert.yaml", f"# Again.\n{job('bert')}")
    assert project.run("diff").out == "nothing changes since HEAD\n"
    assert project.run("build", "-w", "--rerender", "bert").code == 1  # somebody changed it by hand
    (project.folder / "rendered/research/bert.yaml").unlink()
    assert project.run("build", "-w", "--rerender", "bert").code == 0
    out = project.run("diff").out
    assert "-/+ research/bert  because of rendered/research/bert.yaml" in out
    assert "image of node/node: registry.example.com/ml/torch:2.7.0 -> registry.example.com/ml/torch:2.8.0" in out
    assert "t5" not in out


@pytest.mark.slow
def test_git_is_asked_as_often_for_many_new_jobs_as_for_one(project: WorkingTree) -> None:
    """It was asked four times for each of them: 480 new jobs took six times as long."""
    assert project.run("build", "-o", "rendered").code == 0
    assert project.commit().returncode == 0
    counts = []
    for names in (["one"], ["two", "three", "four"]):
        for name in names:
            project.write(f"jobs/{name}.yaml", job(name))
        with patch("subprocess.run", wraps=subprocess.run) as asked:
            assert f"research/{names[-1]}" in project.run("diff").out
        counts.append(asked.call_count)
    assert counts[0] == counts[1]


@pytest.mark.slow
def test_the_cause_of_many_changes_is_found_as_soon_as_that_of_one(project: WorkingTree) -> None:
    """Every job was compiled in a project of its own: the edit of a runtime of 400 jobs took 13 seconds."""
    counts = []
    for names in (("gpt",), ("vit", "llama", "whisper")):
        for name in names:
            project.write(f"jobs/{name}.yaml", job(name))
        assert project.commit().returncode == 0
        project.change("jobs/bert.yaml", "numNodes: 2", "numNodes: 3")
        project.change("runtimes/torch.yaml", "maxRestarts: 3", "maxRestarts: 4")
        with patch.object(comparing, "open_project", wraps=open_project) as opened:
            assert "because of jobs/bert.yaml, runtimes/torch.yaml\n" in project.run("diff").out
        counts.append(opened.call_count)
        project.git("checkout", "-q", "HEAD", ".")
    assert counts[0] == counts[1]


@pytest.mark.slow
def test_a_runtime_beside_a_job_is_the_cause_for_other_jobs(project: WorkingTree) -> None:
    """The other job's own file was edited too, without effect."""
    both = f"{job('bert')}---\n{project.read('runtimes/torch.yaml')}"
    project.git("rm", "-q", "runtimes/torch.yaml")
    project.write("jobs/bert.yaml", both)
    assert project.commit().returncode == 0
    project.change("jobs/bert.yaml", "maxRestarts: 3", "maxRestarts: 4")
    project.write("jobs/t5.yaml", f"# Again.\n{job('t5')}")
    assert "2 jobs: research/bert, research/t5  because of jobs/bert.yaml\n" in project.run("diff").out


@pytest.mark.slow
def test_two_renderings(project: WorkingTree) -> None:
    project.run("build", ".", "-o", "old")
    project.write("jobs/bert.yaml", job("bert", nodes=3))
    project.run("build", ".", "-o", "new")
    out = project.run("diff", "old", "new").out
    assert out.startswith("-/+ research/bert  because of ")
    assert "nodes of node: 2 -> 3" in out


@pytest.mark.slow
def test_only_edited_files_are_a_cause(project: WorkingTree) -> None:
    project.change("runtimes/torch.yaml", "resources:", "env: [{name: A, value: b}]\n                      resources:")
    project.write("jobs/t5.yaml", job("t5", nodes=3))
    out = project.run("diff").out
    assert "-/+ research/bert  because of runtimes/torch.yaml\n" in out
    assert "-/+ research/t5  because of jobs/t5.yaml, runtimes/torch.yaml\n" in out


def rendered(project: WorkingTree, *, old_run: str = "prune") -> None:
    """Keep a rendering of the project from now on."""
    text = f"apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec: {{oldRun: {old_run}}}\n"
    project.write("trainc.yaml", text)
    assert project.run("build", "-w").code == 0
    assert project.commit().returncode == 0


@pytest.mark.slow
def test_a_run_that_keeps_its_rendering_changes_nothing_in_the_cluster(project: WorkingTree) -> None:
    rendered(project)
    project.change("runtimes/torch.yaml", *IMAGE)
    project.write("jobs/t5.yaml", job("t5", nodes=4))
    out = project.run("diff").out
    image = "spec.replicatedJobs[node].template.spec.template.spec.containers[node].image"
    assert (
        "=   research/bert  keeps its rendering, without the edit of runtimes/torch.yaml\n"
        "      image of node/node: registry.example.com/ml/torch:2.8.0 -> registry.example.com/ml/torch:2.9.0"
        "  (rendered/research/bert.yaml:59 -> runtimes/torch.yaml:30)\n"
        f"      {image} cannot change in place; start a new run to apply the edit\n"
    ) in out
    # It blamed the runtime too; without the edit of the job the run would keep its rendering.
    assert "-/+ research/t5  because of jobs/t5.yaml\n" in out
    assert "      the API server rejects this change in place: " in out
    assert "| kept | `research/bert` |" in project.run("diff", "--report", "markdown").out
    edited = json.loads(project.run("diff", "--report", "json").out)["edited"]
    assert {one["jobs"][0]: one["kept"] for one in edited} == {"research/bert": True, "research/t5": False}


@pytest.mark.slow
def test_an_edit_that_a_run_since_the_base_does_not_take(project: WorkingTree) -> None:
    """It was blamed on the file of the job, without whose edit there would be no such run."""
    rendered(project)
    again = job("bert").replace("  name: bert\n", '  name: bert\n  annotations: {trainc.dev/run: "2"}\n')
    project.write("jobs/bert.yaml", again)
    project.write("jobs/gpt.yaml", job("gpt"))
    assert project.run("build", "-w").code == 0
    assert project.commit().returncode == 0
    project.change("runtimes/torch.yaml", *IMAGE)
    out = project.run("diff", "HEAD~1").out
    kept = [line for line in out.splitlines() if line.startswith("=")]
    assert len(kept) == 1, out
    for name in ("research/bert-r2", "research/gpt", "without the edit of runtimes/torch.yaml"):
        assert name in kept[0], out


@pytest.mark.slow
def test_a_run_that_was_rendered_anew_does_not_keep_its_rendering(project: WorkingTree) -> None:
    rendered(project)
    project.change("runtimes/torch.yaml", *IMAGE)
    assert project.run("build", "-w", "--rerender", "bert").code == 0
    out = project.run("diff").out
    image = "spec.replicatedJobs[node].template.spec.template.spec.containers[node].image"
    assert "-/+ research/bert  because of runtimes/torch.yaml\n" in out
    assert f"      the API server rejects this change in place: {image}\n" in out


@pytest.mark.slow
def test_a_rendering_that_was_kept_before_is_no_news(project: WorkingTree) -> None:
    rendered(project)
    project.change("runtimes/torch.yaml", *IMAGE)
    assert project.run("build", "-w").code == 0
    assert project.commit().returncode == 0
    done = project.run("diff")
    assert (done.code, done.out, done.err) == (0, "nothing changes since HEAD\n", "")


@pytest.mark.slow
@pytest.mark.parametrize("old_run", ["prune", "keep"])
def test_the_next_run_of_a_job(project: WorkingTree, old_run: str) -> None:
    rendered(project, old_run=old_run)
    again = job("bert", nodes=4).replace("  name: bert\n", '  name: bert\n  annotations: {trainc.dev/run: "2"}\n')
    project.write("jobs/bert.yaml", again)
    out = project.run("diff").out
    # It said how many pods the new run has, and not that they were 2 before.
    sign = "-/+" if old_run == "prune" else "+  "
    assert out.startswith(
        f"{sign} research/bert-r2  4 pods, 32 nvidia.com/gpu  jobs/bert.yaml  next run of bert\n"
        "      nodes of node: 2 -> 4  (rendered/research/bert.yaml:39 -> jobs/bert.yaml:11)\n"
    )
    assert out.endswith(f"accelerators: 32 nvidia.com/gpu -> {48 if old_run == 'prune' else 64} nvidia.com/gpu\n")
    assert "| new run | `research/bert` -> `research/bert-r2` |" in project.run("diff", "--report", "markdown").out
    assert project.run("build", "-w").code == 0
    assert project.commit().returncode == 0
    assert project.run("diff").out == "nothing changes since HEAD\n"


@pytest.mark.slow
@pytest.mark.parametrize("argv", [["diff"], ["validate", "--against", "HEAD"], ["build", "--check", "--staged"]])
def test_a_folder_without_git_is_trouble(tmp_path: Path, argv: list[str]) -> None:
    folder = Repository(tmp_path, "bert")
    done = folder.run(*argv)
    assert (done.code, done.err) == (2, f"trainc: {tmp_path} is not in a Git repository\n")


@pytest.mark.slow
def test_before_the_first_commit(tmp_path: Path) -> None:
    done = WorkingTree(tmp_path, "bert").run("diff")
    assert (done.code, done.err) == (2, "trainc: no commits yet: nothing to compare with\n")
