"""Whose a rendered file is, in a folder that several projects write."""

from pathlib import Path

import pytest

from tests.repository import Repository, job

NAMED = "kind: Project\nmetadata: {name: training}\n"


def test_two_projects_share_a_folder_and_leave_each_other_alone(tmp_path: Path) -> None:
    one, two = Repository(tmp_path / "one", "bert"), Repository(tmp_path / "two", "line")
    for each in (one, two, one):
        assert each.run("build", "-o", "../out").code == 0
    names = sorted(path.name for path in (tmp_path / "out").rglob("*.yaml"))
    assert names == ["bert.yaml", "line.yaml"]
    (two.folder / "jobs/line.yaml").unlink()
    two.write("jobs/bert.yaml", job("bert"))
    before = (tmp_path / "out/research/bert.yaml").read_text("utf-8")
    done = two.run("build", "-o", "../out")
    assert done.code == 1
    assert "another project wrote it" in done.err
    assert (tmp_path / "out/research/bert.yaml").read_text("utf-8") == before


def test_projects_in_folders_of_one_name_remove_nothing_of_each_other(tmp_path: Path) -> None:
    """Two clones of two repositories may be called the same; only trainc.yaml can tell whose a file is."""
    one, two = Repository(tmp_path / "one/ml", "bert", "gpt"), Repository(tmp_path / "two/ml", "line")
    assert one.run("build", "-o", "../../out").code == 0
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*.yaml")}
    done = two.run("build", "-o", "../../out")
    assert done.code == 1
    assert "is left over from this project or from another whose folder has the same name" in done.err
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*.yaml")} == before
    two.write("trainc.yaml", two.read("trainc.yaml").replace("kind: Project\n", NAMED))
    (tmp_path / "two/ml").rename(tmp_path / "two/text")
    two.folder = tmp_path / "two/text"
    done = two.run("build", "-o", "../../out")
    assert (done.code, done.err.splitlines()[-1]) == (
        0,
        "../../out: wrote 1, removed 0, unchanged 0; 2 files of project `ml` left alone",
    )


def test_a_project_with_a_name_keeps_its_files_under_any_folder(tmp_path: Path) -> None:
    one = Repository(tmp_path / "one", "bert", "gpt")
    one.write("trainc.yaml", one.read("trainc.yaml").replace("kind: Project\n", NAMED))
    assert one.run("build", "-o", "../out").code == 0
    assert " project=training " in (tmp_path / "out/research/bert.yaml").read_text("utf-8")
    (tmp_path / "one").rename(tmp_path / "clone")
    one.folder = tmp_path / "clone"
    (one.folder / "jobs/gpt.yaml").unlink()
    done = one.run("build", "-o", "../out")
    assert done.err.splitlines()[-2:] == [
        "removed ../out/research/gpt.yaml: jobs/gpt.yaml is gone",
        "../out: wrote 0, removed 1, unchanged 1",
    ]


def test_a_name_of_a_project_adopts_what_was_written_without_it(tmp_path: Path) -> None:
    one = Repository(tmp_path / "one", "bert", "gpt")
    assert one.run("build", "-o", "../out").code == 0
    one.write("trainc.yaml", one.read("trainc.yaml").replace("kind: Project\n", NAMED))
    assert one.run("build", "-o", "../out").code == 0
    heads = {path.read_text("utf-8").split()[4] for path in (tmp_path / "out").rglob("*.yaml")}
    assert heads == {"project=training"}


def test_projects_of_one_repository_know_whose_a_file_is(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    one, two = Repository(tmp_path / "one", "bert", "gpt"), Repository(tmp_path / "two", "line")
    for each in (one, two):
        assert each.run("build", "-o", "../out").code == 0
    (one.folder / "jobs/gpt.yaml").unlink()
    done = one.run("build", "-o", "../out")
    assert done.err.endswith("../out: wrote 0, removed 1, unchanged 1; 1 file of project `two` left alone\n")


@pytest.mark.parametrize("name", ["A b", "[a]", "a" * 64])
def test_a_name_of_a_project_is_a_label(tmp_path: Path, name: str) -> None:
    one = Repository(tmp_path, "bert")
    one.write("trainc.yaml", one.read("trainc.yaml").replace("kind: Project\n", NAMED.replace("training", name)))
    done = one.run("build")
    assert (done.code, [finding.rule.name for finding in done.findings]) == (1, ["bad-project"])
