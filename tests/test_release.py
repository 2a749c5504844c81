"""The release: what its scripts refuse, and what its workflows rely on."""

import re
import subprocess
import tomllib
from typing import Any

import pytest
import yaml
from packaging.specifiers import SpecifierSet

import trainc
from tests.compiling import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
ACTIONS = [*WORKFLOWS, ROOT / "action.yml"]
PINNED = re.compile(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")


@pytest.mark.parametrize("path", ACTIONS, ids=[path.name for path in ACTIONS])
def test_every_action_is_one_commit_with_its_version(path: Any) -> None:
    uses = [line.strip().removeprefix("- ") for line in path.read_text("utf-8").splitlines() if "uses: " in line]
    assert uses
    assert [line for line in uses if not PINNED.fullmatch(line)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=[path.name for path in WORKFLOWS])
def test_a_workflow_may_do_nothing_but_what_its_jobs_say(path: Any) -> None:
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] == {}
    for name, job in workflow["jobs"].items():
        assert job["permissions"], name
        assert job["timeout-minutes"] <= 60, name
        for step in job["steps"]:
            assert "${{" not in step.get("run", ""), "values from outside reach scripts as variables alone"
            if "checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False
    writes = {name for name, job in workflow["jobs"].items() if "write" in job["permissions"].values()}
    assert writes == ({"build", "images", "publish", "announce", "site"} if path.stem == "release" else set())


def test_every_python_of_a_matrix_is_supported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    supported = SpecifierSet(project["requires-python"])
    for path in WORKFLOWS:
        versions = re.findall(r'"(3\.\d+)"', path.read_text("utf-8"))
        assert versions
        assert all(version in supported for version in versions)
        assert "3.11" in versions


def test_a_tag_that_is_not_the_version_releases_nothing() -> None:
    done = subprocess.run([ROOT / ".ci/release", "v99.9.9"], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"the tag is v99.9.9, and trainc/__init__.py says {trainc.__version__}\n"


def test_scripts_of_ci_are_there_and_can_run() -> None:
    for path in WORKFLOWS:
        for script in re.findall(r"\.ci/([a-z-]+)", path.read_text("utf-8")):
            assert (ROOT / ".ci" / script).stat().st_mode & 0o100, script
