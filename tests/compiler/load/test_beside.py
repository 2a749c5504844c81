"""A runtime in a file beside the one given is found, as when the folder is given."""

from pathlib import Path

import pytest

from tests.repository import RUNTIME, Repository, job


@pytest.fixture
def place(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path)
    repository.write("team/bert.yaml", job("bert"))
    repository.write("team/runtime.yaml", RUNTIME.replace("owner: platform", "owner: team"))
    return repository


def test_a_file_alone_compiles_to_what_its_folder_compiles_to(place: Repository) -> None:
    """A job with its runtime beside it was built with that of `runtimes/`, or refused where there was none."""
    (place.folder / "runtimes/torch.yaml").unlink()
    alone = place.run("build", "team/bert.yaml")
    assert (alone.code, alone.out) == (0, place.run("build", "team").out)
    assert "owner: team" in alone.out


@pytest.mark.parametrize("words", [("team/bert.yaml",), ("team",), (".",), ("team/bert.yaml", "runtimes/torch.yaml")])
def test_a_namesake_of_a_shared_runtime_is_refused_whatever_is_given(place: Repository, words: tuple[str, ...]) -> None:
    run = place.run("validate", *words)
    assert [(finding.rule.name, finding.span.file) for finding in run.findings] == [
        ("duplicate-runtime", "team/runtime.yaml")
    ]


def test_what_stands_beside_is_looked_at_again_when_it_changes(place: Repository) -> None:
    (place.folder / "runtimes/torch.yaml").unlink()
    assert place.run("validate", "team/bert.yaml").code == 0
    place.change("team/runtime.yaml", "  name: torch\n", "  name: other\n")
    done = place.run("validate", "team/bert.yaml")
    assert done.code == 1
    assert "looked in the files given, the files of team, runtimes/, trainc's own catalogue" in done.err


def test_files_of_other_folders_do_not_count(place: Repository) -> None:
    place.write("other/bert.yaml", job("bert"))
    done = place.run("build", "other/bert.yaml")
    assert "owner: platform" in done.out
