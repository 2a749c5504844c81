"""The example of a platform compiles to the same bytes however its files are named, ordered and spread."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compiling import ROOT, compile_in

EXAMPLE = ROOT / "examples/platform"
RUNTIMES = sorted(path.relative_to(EXAMPLE).as_posix() for path in EXAMPLE.glob("runtimes/**/*.yaml"))
DUMPS = sorted(path.relative_to(EXAMPLE).as_posix() for path in EXAMPLE.glob("clusters/*/*.yaml"))


def built(project: Path) -> dict[str, str]:
    """The manifests by file, without the header, which names the source."""
    done = compile_in(project, "build", ".", "-o", "output")
    assert done.code == 0, done.err
    files = sorted((project / "output").rglob("*.yaml"))
    return {path.relative_to(project).as_posix(): path.read_text("utf-8").partition("\n")[2] for path in files}


def copied(folder: str) -> Path:
    project = Path(folder) / "platform"
    shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns("output"))
    return project


@pytest.fixture(scope="module")
def committed() -> dict[str, str]:
    files = sorted((EXAMPLE / "output").rglob("*.yaml"))
    return {path.relative_to(EXAMPLE).as_posix(): path.read_text("utf-8").partition("\n")[2] for path in files}


@pytest.mark.slow
@given(order=st.permutations(RUNTIMES), dumps=st.permutations(DUMPS))
@settings(max_examples=8, deadline=None)
def test_the_order_of_files_does_not_matter(order: list[str], dumps: list[str], committed: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = copied(folder)
        for number, name in enumerate((*order, *dumps)):
            path = project / name
            path.rename(path.with_name(f"{number:02}.yaml"))
        assert built(project) == committed


@pytest.mark.slow
@given(groups=st.integers(1, 5))
@settings(max_examples=5, deadline=None)
def test_several_jobs_in_a_file_are_the_same_jobs(groups: int, committed: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = copied(folder)
        for team in sorted((project / "jobs").iterdir()):
            files = sorted(team.glob("*.yaml"))
            texts = [path.read_text("utf-8") for path in files]
            for path in files:
                path.unlink()
            for group in range(groups):
                (team / f"{group}.yaml").write_text("---\n".join(texts[group::groups]), "utf-8")
        assert built(project) == committed


@pytest.mark.parametrize("cluster", ["eu", "us"])
def test_one_cluster_alone_is_what_it_is_among_all(cluster: str, tmp_path: Path, committed: dict[str, str]) -> None:
    project = copied(str(tmp_path))
    done = compile_in(project, "build", ".", "--cluster", cluster, "-o", "output")
    assert done.code == 0, done.err
    written = {path.relative_to(project).as_posix() for path in (project / "output").rglob("*.yaml")}
    assert written == {name for name in committed if name.startswith(f"output/{cluster}/")}
