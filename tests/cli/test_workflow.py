"""The steps of the workflow that `trainc init` writes, run one by one as GitHub's runner does, with the real Git and pip.

GitHub's own answers are a stand-in: `gh api` here keeps comments in a file, refuses bodies above 65,536 characters as
the API does, and selects by the filter that the workflow gives, read as a prefix of the body.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.compiling import ROOT
from tests.repository import job
from tests.warm import program
from tests.working_tree import WorkingTree

pytestmark = pytest.mark.slow

GH = """\
import json, re, sys
store, words = sys.argv[1], sys.argv[2:]
assert words.pop(0) == "api", words
try:
    comments = json.load(open(store))
except FileNotFoundError:
    comments = []
if "--jq" in words:
    prefix = re.search(r'startswith\\("(.*?)"\\)', words[words.index("--jq") + 1])[1]
    print(*(c["id"] for c in comments if c["body"].startswith(prefix)), sep="\\n")
    raise SystemExit
body = open(next(w for w in words if w.startswith("body=@"))[6:]).read()
if len(body) > 65536:
    sys.exit("Body is too long (maximum is 65536 characters)")
path = next(w for w in words if w.startswith("repos/"))
if "PATCH" in words:
    next(c for c in comments if str(c["id"]) == path.rpartition("/")[2])["body"] = body
else:
    comments.append({"id": len(comments) + 1, "body": body})
json.dump(comments, open(store, "w"))
"""


class Runner(WorkingTree):
    """A repository that `trainc init` made, with a pull request from `change` to `main`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        for name in ("trainc.yaml", "runtimes/torch.yaml"):
            (self.folder / name).unlink()
        assert self.trainc("init").returncode == 0
        (self.folder / "clusters/main/README.md").write_text("known\n")
        self.add_job("bert")
        assert self.trainc("build", "-w").returncode == 0
        self._programs(folder / "bin")
        self.git("checkout", "-qb", "main")
        self.save()
        self.git("clone", "-q", "--bare", ".", str(folder / "origin.git"))
        self.git("remote", "add", "origin", str(folder / "origin.git"))
        self.git("fetch", "-q", "origin")
        self.git("checkout", "-qb", "change")
        self.comments = folder / "comments.json"
        self.steps = yaml.safe_load(self.read(".github/workflows/manifests.yaml"))["jobs"]["check"]["steps"]

    def _programs(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "gh.py").write_text(GH)
        python = sys.executable
        for name, line in {
            "gh": f"{python} {folder / 'gh.py'} {folder.parent / 'comments.json'}",
            "pip": f"{python} -m pip",
            "trainc": program(),
        }.items():
            (folder / name).write_text(f'#!/bin/sh\nexec {line} "$@"\n')
            (folder / name).chmod(0o755)

    def add_job(self, name: str) -> None:
        """A job of the runtime that `trainc init` wrote."""
        text = job(name, image="registry.example.com/ml/line:1.0.0").replace(
            "name: torch\n", "name: torch-distributed\n"
        )
        self.write(f"jobs/{name}.yaml", text)

    def save(self) -> None:
        """Commit everything, whatever the hooks say."""
        self.git("add", "-A")
        self.git("commit", "-qnm", "change")

    def step(self, name: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run one step, in the shell that a runner uses."""
        step = next(step for step in self.steps if step.get("name") == name)
        given = {key: self._value(text) for key, text in step.get("env", {}).items()}
        more = {
            "GITHUB_REPOSITORY": "team/training",
            "GITHUB_STEP_SUMMARY": str(self._home / "summary.txt"),
            "RUNNER_TEMP": str(self._home),
            "PATH": f"{self._home / 'bin'}:{self.environment['PATH']}",
        }
        return self.command(
            "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"], **{**given, **more, **environment}
        )

    def _value(self, text: str) -> str:
        known = {
            "github.base_ref": "main",
            "github.event.before": "",
            "github.token": "t",
            "github.event.pull_request.number": "7",
        }
        return known[text.removeprefix("${{").removesuffix("}}").strip()]

    def bodies(self) -> list[str]:
        """The comments on the pull request."""
        found: list[dict[str, Any]] = json.loads(self.comments.read_text("utf-8"))
        return [comment["body"] for comment in found]


CURRENT, ACCEPTED, CHANGES, COMMENT = (
    "Rendered manifests are up to date",
    "Running jobs accept the edit",
    "Changes of the jobs",
    "Comment with the changes",
)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


def test_every_command_of_it_is_run_here(runner: Runner) -> None:
    names = [step["name"] for step in runner.steps if "run" in step]
    assert names == ["Install trainc", CURRENT, ACCEPTED, CHANGES, COMMENT]


def test_its_actions_are_those_of_our_own_workflows(runner: Runner) -> None:
    """Pinned by their commit, as zizmor asks for, and as new as the ones that are updated here."""
    ours = "".join(path.read_text("utf-8") for path in sorted((ROOT / ".github/workflows").glob("*.yml")))
    used = [step["uses"] for step in runner.steps if "uses" in step]
    assert [one.partition("@")[0] for one in used] == ["actions/checkout", "actions/setup-python"]
    assert [one for one in used if f"uses: {one} # v" not in ours] == []


def test_it_installs_trainc_from_a_place_that_exists(runner: Runner, tmp_path: Path) -> None:
    """The real pip and the source of trainc; no package index."""
    pytest.importorskip("pip")
    quiet = {
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it the other way round: no isolation
        "PIP_TARGET": str(tmp_path / "site"),
    }
    done = runner.step("Install trainc", TRAINC=str(ROOT), **quiet)
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "site/trainc/compiler/pipeline.py").exists()
    missing = runner.step("Install trainc", TRAINC="")
    assert missing.returncode != 0
    assert "set the repository variable TRAINC" in missing.stdout


def test_a_change_that_is_fine_passes_and_is_told_once(runner: Runner) -> None:
    for number in range(3):
        runner.add_job(f"new-{number}")
        assert runner.trainc("build", "-w").returncode == 0
        runner.save()
        for name in (CURRENT, ACCEPTED, CHANGES, COMMENT):
            done = runner.step(name)
            assert done.returncode == 0, done.stdout
    assert len(runner.bodies()) == 1
    assert "| new | `research/new-2` |" in runner.bodies()[0].replace("main/", "")


def test_an_edit_that_was_forced_through_fails(runner: Runner) -> None:
    runner.change("jobs/bert.yaml", "line:1.0.0", "line:2.0.0")
    assert runner.trainc("build", "-w", "--rerender", "bert").returncode == 0
    runner.save()
    assert runner.step(CURRENT).returncode == 0
    done = runner.step(ACCEPTED)
    assert done.returncode == 1
    assert "immutable-change" in done.stdout
    assert [runner.step(name).returncode for name in (CHANGES, COMMENT)] == [0, 0]
    assert "line:2.0.0" in runner.bodies()[0]


def test_jobs_that_do_not_compile_are_told_in_place_of_the_changes(runner: Runner) -> None:
    """The report was JSON then, and the step ended before the comment of the commit before was replaced."""
    runner.add_job("new")
    assert [runner.step(name).returncode for name in (CHANGES, COMMENT)] == [0, 0]
    runner.change("jobs/new.yaml", "image:", "imag:")
    assert [runner.step(name).returncode for name in (CHANGES, COMMENT)] == [0, 0]
    (body,) = runner.bodies()
    assert "### The jobs do not compile: 1 error" in body
    assert runner.step(CHANGES, BASE="nowhere").returncode != 0


def test_a_stale_rendering_fails(runner: Runner) -> None:
    runner.add_job("forgotten")
    runner.save()
    done = runner.step(CURRENT)
    assert done.returncode == 1
    assert "::error" in done.stdout


def test_the_comment_fits_with_any_number_of_jobs(runner: Runner) -> None:
    for number in range(480):
        runner.add_job(f"a-job-with-a-name-that-is-as-long-as-{number:04}")
    runner.save()
    for name in (CHANGES, COMMENT):
        done = runner.step(name)
        assert done.returncode == 0, done.stdout
    assert len(runner.bodies()[0]) < 65_536
    assert "more rows; `trainc diff` shows them" in runner.bodies()[0]
    assert "accelerators:" in runner.bodies()[0]
