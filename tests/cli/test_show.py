"""`trainc show` of a repository: a line for each job, and where its rendering stands."""

import json
from pathlib import Path

import pytest

from tests.repository import job
from tests.working_tree import WorkingTree


@pytest.fixture
def repository(tmp_path: Path) -> WorkingTree:
    tree = WorkingTree(tmp_path)
    for name, nodes in (("bert", 2), ("gpt", 4)):
        tree.write(f"jobs/{name}.yaml", job(name, nodes=nodes))
    return tree


def render(tree: WorkingTree) -> None:
    """Commit what the jobs are rendered to."""
    assert tree.run("build", "-w").code == 0
    tree.git("add", "-A")
    tree.git("commit", "-qm", "rendered")


def rows(repository: WorkingTree) -> dict[str, list[str]]:
    """The cells of each job's line by its name."""
    lines = [line.split("  ") for line in repository.run("show").out.splitlines() if "jobs/" in line]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    return {line[0].partition("/")[2]: line for line in cells}


def test_a_repository_is_a_line_for_each_job_and_totals(repository: WorkingTree) -> None:
    """Each job was a drawing of a dozen lines, and nothing said what they are together."""
    done = repository.run("show")
    assert done.code == 0
    assert "research/bert" in done.out
    assert done.out.endswith("\n2 jobs, 6 pods\n")
    assert len(done.out.splitlines()) == 5
    assert {name: cells[1] for name, cells in rows(repository).items()} == {"bert": "2", "gpt": "4"}


def test_a_line_says_where_the_rendering_stands(repository: WorkingTree) -> None:
    render(repository)
    assert [cells[3] for cells in rows(repository).values()] == ["current", "current"]
    repository.write("jobs/bert.yaml", job("bert", image="registry.example.com/ml/torch:3"))
    repository.write("jobs/t5.yaml", job("t5"))
    repository.write("rendered/research/gpt.yaml", repository.read("rendered/research/gpt.yaml") + "# by hand\n")
    states = {name: cells[3] for name, cells in rows(repository).items()}
    assert states == {"bert": "edit rejected: new run needed", "gpt": "changed by hand", "t5": "not rendered"}
    assert (
        "renderings: 1 changed by hand, 1 edit rejected: new run needed, 1 not rendered" in repository.run("show").out
    )


def test_one_job_says_what_its_rendering_has_otherwise_and_shows_both(repository: WorkingTree) -> None:
    render(repository)
    repository.write("jobs/bert.yaml", job("bert", nodes=3))
    one = repository.run("show", "jobs/bert.yaml").out
    assert "rendering   rendered/research/bert.yaml: edit rejected: new run needed\n" in one
    assert "nodes of node: 2 -> 3" in one
    assert one.count("JOBS x PODS") == 1
    both = repository.run("show", "jobs/bert.yaml", "--rendered").out
    assert both.count("JOBS x PODS") == 2
    assert both.index("1 x 3") < both.index("as rendered in rendered/research/bert.yaml:") < both.index("1 x 2")


def test_a_mutable_edit_leaves_the_rendering_older_than_the_text(repository: WorkingTree) -> None:
    render(repository)
    text = job("bert").replace("  name: bert\n", "  name: bert\n  labels: {kueue.x-k8s.io/queue-name: other}\n")
    repository.write("jobs/bert.yaml", text)
    assert rows(repository)["bert"][4] == "out of date"


def test_jobs_are_grouped_by_folder_or_queue(repository: WorkingTree) -> None:
    repository.write("jobs/vision/vit.yaml", job("vit"))
    by_folder = repository.run("show", "--group", "folder").out
    assert "folder jobs: 2 jobs, 6 pods\n" in by_folder
    assert "folder jobs/vision: 1 job, 2 pods\n" in by_folder
    assert "| job | pods | run | file |" in repository.run("show", "--report", "markdown").out
    answer = json.loads(repository.run("show", "--report", "json").out)
    assert [(one["name"], one["run"], one["folder"]) for one in answer][-1] == ("vit", 1, "jobs/vision")


@pytest.mark.parametrize("form", ["markdown", "mermaid"])
def test_findings_beside_a_drawing_are_text(repository: WorkingTree, form: str) -> None:
    """They were JSON behind it, on standard output."""
    repository.write("jobs/broken.yaml", job("broken").replace("name: torch", "name: none"))
    done = repository.run("show", "--report", form)
    assert done.code == 1
    assert '"findings"' not in done.out
    assert "error[missing-runtime]" in done.err


def test_every_job_is_drawn_on_request(repository: WorkingTree) -> None:
    assert repository.run("show", "--details").out.count("JOBS x PODS") == 2


def test_a_job_that_does_not_compile_is_not_passed_over(repository: WorkingTree) -> None:
    """`show` drew the healthy jobs, said nothing of the other one and exited with 0."""
    repository.write("jobs/gpt.yaml", job("gpt").replace("numNodes", "numNode"))
    done = repository.run("show")
    assert done.code == 1
    assert "research/bert" in done.out
    assert "numNode" in done.err
    assert "numNode" in str(json.loads(repository.run("show", "--report", "json").out))


def test_an_error_of_the_project_is_said_with_the_jobs(repository: WorkingTree) -> None:
    """`ouput: x` in trainc.yaml: the jobs were drawn as if nothing were wrong."""
    repository.change("trainc.yaml", "spec:\n", "spec:\n  ouput: x\n")
    done = repository.run("show")
    assert (done.code, "research/bert" in done.out, "bad-project" in done.err) == (1, True, True)
