"""The steps of action.yml, run one by one as GitHub's runner does, with the real Git and pip.

`gh` is a stand-in, as strict as the program: it takes the options that the action gives and no others, needs a token,
answers in pages of 30 comments, and refuses what the API refuses.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.compiling import ROOT
from tests.report import official
from tests.working_tree import WorkingTree

pytestmark = pytest.mark.slow

ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS = ACTION["runs"]["steps"]
GH = """\
import json, os, re, sys
words = sys.argv[2:]
if not os.environ.get("GH_TOKEN"):
    sys.exit("gh: To use GitHub CLI in a GitHub Actions workflow, set the GH_TOKEN environment variable.")
assert words.pop(0) == "api", words
options = {"--paginate": False, "--silent": False, "--method": "GET", "--jq": "", "-F": ""}
paths = []
while words:
    word = words.pop(0)
    if word in ("--paginate", "--silent"):
        options[word] = True
    elif word in options:
        options[word] = words.pop(0)
    else:
        assert not word.startswith("-"), word
        paths.append(word)
(path,) = paths
store = sys.argv[1]
comments = json.load(open(store)) if os.path.exists(store) else []
top = re.fullmatch("repos/team/training/issues/7/comments", path)
own = re.fullmatch("repos/team/training/issues/comments/([0-9]+)", path)
if options["--method"] == "GET":
    assert top, path
    wanted = re.fullmatch(r'\\.\\[\\] \\| select\\(\\.body \\| startswith\\("([^"\\\\]*)"\\)\\) \\| \\.id', options["--jq"])
    shown = comments if options["--paginate"] else comments[:30]
    print(*(c["id"] for c in shown if c["body"].startswith(wanted[1])), sep="\\n")
    raise SystemExit
field, _, file = options["-F"].partition("=@")
assert field == "body", options
body = open(file, encoding="utf-8").read()
if len(body) > 65536:
    sys.exit("gh: Validation Failed (HTTP 422)\\nbody is too long (maximum is 65536 characters)")
if options["--method"] == "PATCH":
    found = [c for c in comments if own and c["id"] == int(own[1])]
    if not found:
        sys.exit("gh: Not Found (HTTP 404)")
    found[0]["body"] = body
else:
    assert options["--method"] == "POST" and top, path
    comments.append({"id": len(comments) + 1, "body": body})
json.dump(comments, open(store, "w"))
"""
INSTALL, VALIDATE, CHECK, COMMENT, SARIF = (step["name"] for step in STEPS if "run" in step)


class PullRequest(WorkingTree):
    """A repository with a base and a head commit, and a runner at the head."""

    def __init__(self, folder: Path, repository: str = "team/training", actor: str = "me") -> None:
        super().__init__(folder, "bert")
        assert self.trainc("build", "-w").returncode == 0
        self.git("checkout", "-qb", "main")
        self.save()
        base = self.git("rev-parse", "HEAD").stdout.strip()
        self.git("checkout", "-qb", "change")
        self.comments = folder / "comments.json"
        self.actor = actor
        self.known = {
            "github.action_path": str(ROOT),
            "github.token": "t",
            "github.event_name": "pull_request",
            "github.repository": "team/training",
            "github.event.pull_request.head.repo.full_name": repository,
            "github.event.before": "",
            "github.event.pull_request.base.sha": base,
            "github.event.pull_request.number": "7",
            "runner.temp": str(folder),
        }
        for name, given in ACTION["inputs"].items():
            self.known[f"inputs.{name}"] = self.value(given["default"])
        self._programs(folder / "bin")

    def _programs(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "gh.py").write_text(GH)
        for name, line in {
            "gh": f"{sys.executable} {folder / 'gh.py'} {self.comments}",
            "pip": f"{sys.executable} -m pip",
            "trainc": f"{sys.executable} -m trainc",
        }.items():
            (folder / name).write_text(f'#!/bin/sh\nexec {line} "$@"\n')
            (folder / name).chmod(0o755)

    def save(self) -> None:
        """Commit everything."""
        self.git("add", "-A")
        self.git("commit", "-qnm", "change")

    def value(self, text: str) -> str:
        """A value with its expressions filled in; one that this runner does not know fails."""
        return re.sub(r"\$\{\{ *([^}]*?) *\}\}", lambda found: self.known[found[1]], text)

    def is_due(self, step: dict[str, Any]) -> bool:
        """Whether the condition of a step holds: terms joined by `&&`, each a comparison or `!cancelled()`."""
        text = re.sub(r"\s+", " ", step.get("if", "${{ !cancelled() }}")).removeprefix("${{ ").removesuffix(" }}")
        return all(term == "!cancelled()" or self._are_equal(*term.split(" == ")) for term in text.split(" && "))

    def _are_equal(self, left: str, right: str) -> bool:
        return self.known[left] == (right.strip("'") if right.startswith("'") else self.known[right])

    def step(self, name: str, **inputs: str) -> subprocess.CompletedProcess[str] | None:
        """What one step does, in the shell of the runner; None where its condition does not hold."""
        self.known |= {f"inputs.{key.replace('_', '-')}": text for key, text in inputs.items()}
        step = next(step for step in STEPS if step.get("name") == name)
        if not self.is_due(step):
            return None
        home = self._home
        given = {key: self.value(text) for key, text in step.get("env", {}).items()}
        runner = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTOR": self.actor,
            "GITHUB_OUTPUT": str(home / "output"),
            "GITHUB_REPOSITORY": "team/training",
            "GITHUB_STEP_SUMMARY": str(home / "summary.txt"),
            "RUNNER_TEMP": str(home),
            "PATH": f"{home / 'bin'}:{self.environment['PATH']}",
        }
        script = home / "step.sh"
        script.write_text(step["run"])
        return self.command("bash", "--noprofile", "--norc", "-eo", "pipefail", str(script), **given, **runner)

    def bodies(self) -> list[str]:
        """The comments on the pull request."""
        found = json.loads(self.comments.read_text("utf-8")) if self.comments.exists() else []
        return [comment["body"] for comment in found]


def succeeds(done: subprocess.CompletedProcess[str] | None) -> None:
    assert done is not None
    assert done.returncode == 0, done.stdout


@pytest.fixture
def request_(tmp_path: Path) -> PullRequest:
    return PullRequest(tmp_path)


@pytest.mark.skipif(official.validator(official.ACTION) is None, reason=official.REASON)
def test_it_is_an_action_by_the_official_schema() -> None:
    assert official.problems(official.ACTION, ACTION) == []
    assert official.problems(official.ACTION, {**ACTION, "runs": {"using": "composite"}}) != []


@pytest.mark.skipif(official.validator(official.WORKFLOW) is None, reason=official.REASON)
def test_the_workflow_of_the_page_is_one_and_gives_inputs_that_there_are() -> None:
    page = (ROOT / "docs/delivery.md").read_text("utf-8")
    (text,) = (block for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "OWNER/trainc@" in block)
    workflow = yaml.load(text, yaml.BaseLoader)  # in which `on` is a text, as GitHub reads it  # noqa: S506
    assert official.problems(official.WORKFLOW, workflow) == []
    (step,) = (step for step in workflow["jobs"]["manifests"]["steps"] if "trainc" in step["uses"])
    assert set(step["with"]) <= set(ACTION["inputs"])


def test_no_script_holds_an_expression() -> None:
    """What an event says would be a command there; in a variable it is a text."""
    assert [step["name"] for step in STEPS if "${{" in step.get("run", "")] == []
    assert all(step["shell"] == "bash" for step in STEPS if "run" in step)


def test_other_actions_are_official_and_pinned() -> None:
    used = [step["uses"] for step in STEPS if "uses" in step]
    assert all(re.fullmatch(r"(actions|github)/[a-z/-]+@(v[0-9]+|[0-9a-f]{40})", one) for one in used)
    assert any(one.startswith("github/codeql-action/upload-sarif@") for one in used)


def test_it_installs_the_trainc_that_it_belongs_to(request_: PullRequest, tmp_path: Path) -> None:
    """The real pip; no package index."""
    pytest.importorskip("pip")
    quiet = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_TARGET": str(tmp_path / "s")}
    request_.environment |= quiet
    succeeds(request_.step(INSTALL))
    assert (tmp_path / "s/trainc/compiler/pipeline.py").exists()


def test_a_change_that_is_fine_is_told_in_one_comment(request_: PullRequest) -> None:
    request_.comments.write_text(json.dumps([{"id": number + 1, "body": "well done"} for number in range(40)]))
    for number in range(2):
        request_.job(f"new-{number}")
        assert request_.trainc("build", "-w").returncode == 0
        request_.save()
        for name in (VALIDATE, CHECK, COMMENT):
            succeeds(request_.step(name))
    own = [body for body in request_.bodies() if body != "well done"]
    assert len(own) == 1
    assert own[0].startswith("<!-- trainc diff -->\n")
    assert "`research/new-1`" in own[0]
    assert request_.step(SARIF) is None


def test_a_stale_rendering_fails_where_renderings_are_kept(request_: PullRequest) -> None:
    request_.job("forgotten")
    request_.save()
    done = request_.step(CHECK)
    assert done is not None
    assert done.returncode == 1
    assert "::error" in done.stdout
    assert request_.step(CHECK, check="false") is None


def test_a_job_that_does_not_compile_is_told_everywhere(request_: PullRequest) -> None:
    request_.job("new")
    request_.save()
    succeeds(request_.step(COMMENT))
    request_.change("jobs/new.yaml", "numNodes: 2", "numNodes: two")
    request_.save()
    for name in (VALIDATE, COMMENT):
        done = request_.step(name)
        assert done is not None
        assert done.returncode == 1, done.stdout
    (body,) = request_.bodies()
    assert "### The jobs do not compile: 1 error" in body
    assert "`jobs/new.yaml:11`" in body
    succeeds(request_.step(SARIF, sarif="true"))
    log = json.loads((request_._home / "trainc.sarif").read_text("utf-8"))
    assert [result["ruleId"] for result in log["runs"][0]["results"] if result["level"] == "error"] == ["invalid-field"]


def test_each_folder_has_a_comment_of_its_own(request_: PullRequest) -> None:
    request_.write("team --> $(x)/trainc.yaml", "apiVersion: trainc.dev/v1alpha1\nkind: Project\n")
    request_.save()
    for path in (".", "team --> $(x)", "."):
        done = request_.step(COMMENT, path=path)
        assert done is not None
        assert done.returncode <= 1, done.stdout
    heads = [body.splitlines()[0] for body in request_.bodies()]
    assert heads == ["<!-- trainc diff -->", "<!-- trainc diff of team%20--%3E%20%24%28x%29 -->"]


@pytest.mark.parametrize(("repository", "actor"), [("stranger/training", "me"), ("team/training", "dependabot[bot]")])
def test_who_may_not_comment_has_it_in_the_summary(tmp_path: Path, repository: str, actor: str) -> None:
    """The token of a fork and of Dependabot can only read; what the change does is said all the same, and judged."""
    request = PullRequest(tmp_path, repository, actor)
    request.job("new")
    request.save()
    succeeds(request.step(COMMENT))
    assert "| new | `research/new` |" in (tmp_path / "summary.txt").read_text("utf-8")
    request.change("jobs/new.yaml", "numNodes: 2", "numNodes: two")
    request.save()
    done = request.step(COMMENT)
    assert done is not None
    assert done.returncode == 1, done.stdout
    assert "### The jobs do not compile: 1 error" in (tmp_path / "summary.txt").read_text("utf-8")
    assert request.bodies() == []


def test_a_shallow_checkout_is_told(request_: PullRequest) -> None:
    request_.known["github.event.pull_request.base.sha"] = "0" * 40
    done = request_.step(COMMENT)
    assert done is not None
    assert done.returncode == 2
    assert "fetch-depth: 0" in done.stdout
