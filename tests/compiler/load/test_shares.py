"""How a run's files are shared among workers."""

from pathlib import Path

import pytest

from tests.repository import Repository
from trainc.compiler.load import Loader
from trainc.compiler.project import open_project
from trainc.model.report import Report
from trainc.model.settings import Selection

NAMES = ("a", "b", "c", "d")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path, *NAMES)
    assert made.run("build", "-w").code == 0
    return made


def turns(folder: Path, part: int = 0, parts: int = 1) -> list[str]:
    """The files that one part of a run looks into for jobs."""
    project = open_project((str(folder),), Report())
    loader = Loader(project, Selection((".",)), Report())
    loader.take_part(part, parts)
    return [file for file, _ in loader.selected(project.cluster)]


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_parts_are_all_of_it_in_order(parts: int, repository: Repository) -> None:
    shares = [turns(repository.folder, part, parts) for part in range(parts)]
    assert [file for share in shares for file in share] == turns(repository.folder)


def test_what_was_rendered_is_nobodys_share(repository: Repository) -> None:
    shares = [turns(repository.folder, part, 2) for part in range(2)]
    jobs = [[file for file in share if file.startswith("jobs/")] for share in shares]
    assert all(jobs)
    assert not any(file.startswith("rendered/") for share in shares for file in share)
