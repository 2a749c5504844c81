"""A new repository works from its first minute."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.compiling import ROOT, compile_in, relative_environment

# A cluster with JobSet and priority classes, and nothing else.
KUBECTL = f"""\
case "$2" in
  crd) cat {ROOT}/schemas/crds/jobset.x-k8s.io_jobsets.yaml; exit ;;
  priorityclasses) printf 'apiVersion: scheduling.k8s.io/v1\\nkind: PriorityClass\\nmetadata:\\n  name: high\\nvalue: 9\\n'; exit ;;
esac
echo "error: the server doesn't have a resource type \\"$2\\"" >&2
exit 1 #"""
MISMATCH = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: bert-{}, namespace: nlp}}
spec:
  runtimeRef: {{name: torch-distributed}}
  trainer:
    image: registry.example.com/nlp/bert:1.4.0
    numNodes: 4
    command: [torchrun, --nnodes=2, pretrain.py]
"""
TRAINC = "exec {python} -m trainc"
IDENTITY = "git config --global user.name a; git config --global user.email a@example.com"


def test_a_file_that_cannot_be_read_comes_after_what_to_do_next(tmp_path: Path) -> None:
    """It ended `init` with everything written, and nothing said of what to do with it."""
    (tmp_path / "jobs").mkdir()
    with (tmp_path / "jobs/large.yaml").open("wb") as stream:
        stream.truncate((64 << 20) + 1)
    done = compile_in(tmp_path, "init")
    assert (done.code, done.out.count("wrote ")) == (2, 6)
    assert "next:\n  sh clusters/main/refresh.sh\n" in done.out
    assert done.err == "trainc: jobs/large.yaml: larger than 64 MiB, the limit for a spec\n"


@pytest.mark.parametrize("delivery", ["", "argocd", "flux"])
def test_a_new_repository_builds(tmp_path: Path, delivery: str) -> None:
    words = ["--delivery", delivery] if delivery else []
    done = compile_in(tmp_path, "init", "--cluster", "east", *words)
    assert done.code == 0
    assert done.out.count("wrote ") == {"": 8, "flux": 9, "argocd": 10}[delivery]
    if delivery == "argocd":
        health = (tmp_path / "deploy/argocd-health.yaml").read_text("utf-8")
        assert yaml.safe_load(health) == yaml.safe_load((ROOT / "deploy/argocd/health.yaml").read_text("utf-8"))
        assert "deploy/argocd-health.yaml" in (tmp_path / "deploy/argocd.yaml").read_text("utf-8")
    assert "next:" in done.out
    assert done.out.count("\n  ") == 3
    assert "  sh clusters/east/refresh.sh\n" in done.out
    assert max(map(len, done.out.splitlines())) < 120
    built = compile_in(tmp_path, "build", "-w")
    assert built.code == 0, built.err
    assert "error" not in built.err.replace("no errors", "")
    assert (tmp_path / "rendered/east/training/hello.yaml").exists()
    assert compile_in(tmp_path, "build", "--check", "--fail-on", "warning").code == 0


def test_the_application_ignores_what_the_shipped_one_ignores(tmp_path: Path) -> None:
    assert compile_in(tmp_path, "init", "--delivery", "argocd").code == 0
    ours = yaml.safe_load((tmp_path / "deploy/argocd.yaml").read_text("utf-8"))["spec"]
    shipped = next(yaml.safe_load_all((ROOT / "deploy/argocd/application.yaml").read_text("utf-8")))["spec"]
    assert ours["ignoreDifferences"] == shipped["ignoreDifferences"]
    assert ours["syncPolicy"] == shipped["syncPolicy"]


def test_what_is_there_stays(tmp_path: Path) -> None:
    (tmp_path / "trainc.yaml").write_text("mine\n")
    done = compile_in(tmp_path, "init")
    assert "kept  trainc.yaml" in done.out
    assert (tmp_path / "trainc.yaml").read_text() == "mine\n"
    again = compile_in(tmp_path, "init")
    assert "wrote" not in again.out


def test_in_another_folder(tmp_path: Path) -> None:
    done = compile_in(tmp_path, "init", "training")
    assert "  cd training && sh clusters/main/refresh.sh\n" in done.out
    assert (tmp_path / "training/jobs/hello.yaml").exists()


@pytest.mark.slow
def test_the_commands_that_it_prints_work(tmp_path: Path) -> None:
    """As a shell runs them; kubectl and pre-commit are there, the cluster has no queues, and nobody made a repository."""
    done = compile_in(tmp_path, "init", "our repository", "--cluster", "east")
    commands = [line.strip() for line in done.out.partition("next:\n")[2].partition("\n\n")[0].splitlines()]
    assert len(commands) == 3
    for name, text in {"kubectl": KUBECTL, "pre-commit": "exec {python} -m pre_commit", "trainc": TRAINC}.items():
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\n{text.format(python=sys.executable)} "$@"\n')
        program.chmod(0o755)
    script = "\n".join(
        ["set -e", "export GIT_CONFIG_GLOBAL=$PWD/gitconfig", IDENTITY, *commands[:2], f"{commands[2]} -qm start"]
    )
    environment = {
        **relative_environment(),
        "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
        "PRE_COMMIT_HOME": str(tmp_path / "pre-commit"),
    }
    ran = subprocess.run(
        ["sh", "-c", script], check=False, cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (ran.stdout + ran.stderr).count("Passed") == 2
    assert "the server doesn't have a resource type" in ran.stderr
    cluster = tmp_path / "our repository/clusters/east"
    assert "kind: CustomResourceDefinition" in (cluster / "definitions.yaml").read_text("utf-8")
    assert "kind: PriorityClass" in (cluster / "cluster.yaml").read_text("utf-8")
    assert "rendered: wrote 1, removed 0, unchanged 0" in ran.stderr
    checked = compile_in(tmp_path / "our repository", "build", "--check", "--staged", "--fail-on", "warning")
    assert checked.code == 0, checked.err


def test_in_a_repository_that_is_there(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert "  git add -A &&" in compile_in(tmp_path, "init", "training").out
    assert "  git add -A &&" in compile_in(tmp_path, "init").out


def test_a_bad_name(tmp_path: Path) -> None:
    done = compile_in(tmp_path, "init", "--cluster", "../up")
    assert done.code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_every_file_is_what_it_claims_to_be(tmp_path: Path) -> None:
    assert compile_in(tmp_path, "init", "--delivery", "flux").code == 0
    for path in tmp_path.rglob("*.yaml"):
        assert list(yaml.safe_load_all(path.read_text("utf-8"))), path
    words = [sys.executable, "-m", "pre_commit", "validate-config", str(tmp_path / ".pre-commit-config.yaml")]
    home = {"PRE_COMMIT_HOME": str(tmp_path / "pre-commit")}
    assert subprocess.run(words, check=False, env={**os.environ, **home}).returncode == 0


def test_hooks_are_added_to_a_configuration_that_is_there(tmp_path: Path) -> None:
    config = tmp_path / ".pre-commit-config.yaml"
    before = "# ours\nrepos:\n  # style\n  - repo: https://git.example.com/style  # pinned\n    rev: v1\n    hooks: [{id: style}]\nfail_fast: true\n"
    config.write_text(before)
    assert "added hooks to .pre-commit-config.yaml" in compile_in(tmp_path, "init").out
    text = config.read_text()
    assert text.startswith("# ours\nrepos:\n  # style\n  - repo: local\n")
    found = yaml.safe_load(text)
    assert [repo["repo"] for repo in found["repos"]] == ["local", "https://git.example.com/style"]
    assert [hook["id"] for hook in found["repos"][0]["hooks"]] == ["trainc-validate", "trainc-build-check"]
    assert found["fail_fast"] is True
    words = [sys.executable, "-m", "pre_commit", "validate-config", str(config)]
    home = {"PRE_COMMIT_HOME": str(tmp_path / "pre-commit")}
    assert subprocess.run(words, check=False, env={**os.environ, **home}).returncode == 0
    assert "kept  .pre-commit-config.yaml" in compile_in(tmp_path, "init").out
    assert config.read_text() == text


@pytest.mark.parametrize("text", ["repos: []\n", "[", "repos: [{repo: local, hooks: []}]\n", "mine\n"])
def test_a_configuration_in_another_style_is_kept(tmp_path: Path, text: str) -> None:
    (tmp_path / ".pre-commit-config.yaml").write_text(text)
    assert "kept  .pre-commit-config.yaml" in compile_in(tmp_path, "init").out
    assert (tmp_path / ".pre-commit-config.yaml").read_text() == text


def test_in_a_subfolder_what_github_and_pre_commit_read_goes_to_the_top(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    done = compile_in(tmp_path, "init", "ml/training", "--delivery", "argocd")
    assert done.code == 0
    assert "git init" not in done.out
    assert (tmp_path / ".github/workflows/manifests.yaml").exists()
    assert (tmp_path / ".pre-commit-config.yaml").exists()
    assert (tmp_path / "ml/training/jobs/hello.yaml").exists()
    assert not (tmp_path / "ml/training/.github").exists()
    assert not (tmp_path / "ml/training/.pre-commit-config.yaml").exists()
    application = yaml.safe_load((tmp_path / "ml/training/deploy/argocd.yaml").read_text("utf-8"))
    assert application["spec"]["source"]["path"] == "ml/training/rendered/main"
    # What the workflow and the hooks run from the top.
    assert compile_in(tmp_path, "build", "-w").code == 0
    subprocess.run(["git", "-C", str(tmp_path), "add", "-A"], check=True)
    for words in (
        ["build", "--check"],
        ["build", "--check", "--staged", "--only", "rendered"],
        ["validate", "--staged"],
    ):
        assert compile_in(tmp_path, *words).code == 0
    assert (tmp_path / "ml/training/rendered/main/training/hello.yaml").exists()


def test_without_a_cluster_the_first_command_leaves_no_empty_file(tmp_path: Path) -> None:
    assert compile_in(tmp_path, "init").code == 0
    ran = _refreshed(tmp_path, "echo 'connection refused' >&2; exit 1 #")
    assert ran.returncode == 1
    assert sorted(path.name for path in (tmp_path / "clusters/main").iterdir()) == ["README.md", "refresh.sh"]


def _refreshed(folder: Path, kubectl: str, *words: str) -> subprocess.CompletedProcess[str]:
    """The script that records what a cluster has, with a kubectl that does this."""
    program = folder / "bin/kubectl"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{kubectl}\n")
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}
    command = ["sh", "clusters/main/refresh.sh", *words]
    return subprocess.run(command, check=False, cwd=folder, env=environment, capture_output=True, text=True)


def test_the_script_hands_its_words_to_kubectl(tmp_path: Path) -> None:
    assert compile_in(tmp_path, "init").code == 0
    assert _refreshed(tmp_path, 'echo "# $*"', "--context", "east").returncode == 0
    for name in ("definitions", "cluster"):
        lines = (tmp_path / f"clusters/main/{name}.yaml").read_text("utf-8").splitlines()
        assert all("--context east" in line for line in lines if line != "---")


def test_an_example_that_was_removed_stays_away(tmp_path: Path) -> None:
    assert compile_in(tmp_path, "init").code == 0
    for path in ("jobs/hello.yaml", "runtimes/torch-distributed.yaml"):
        (tmp_path / path).unlink()
    again = compile_in(tmp_path, "init", "--delivery", "flux")
    assert again.out.count("wrote ") == 1
    assert "trainc.yaml is kept: set `delivery: flux` there" in again.out
    assert not list((tmp_path / "jobs").iterdir())


def test_jobs_that_are_there_get_no_example_beside_them(tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    assert compile_in(tmp_path, "init").code == 0
    assert not list((tmp_path / "jobs").iterdir())


@pytest.mark.parametrize("hook", [0, 1])
def test_a_hook_without_trainc_says_what_to_do_and_finds_the_one_in_the_repository(tmp_path: Path, hook: int) -> None:
    assert compile_in(tmp_path, "init").code == 0
    config = yaml.safe_load((tmp_path / ".pre-commit-config.yaml").read_text("utf-8"))
    words = [*shlex.split(config["repos"][0]["hooks"][hook]["entry"]), "jobs/hello.yaml"]
    words[0] = "/bin/sh"
    done = subprocess.run(words, check=False, cwd=tmp_path, env={"PATH": "/nowhere"}, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout == "trainc is not found: activate the environment that it is installed in, and commit again\n"
    program = tmp_path / ".venv/bin/trainc"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "ran $*"\n')
    program.chmod(0o755)
    done = subprocess.run(words, check=False, cwd=tmp_path, env={"PATH": "/nowhere"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ran ")
    assert done.stdout.endswith(" jobs/hello.yaml\n")


def test_a_second_cluster_is_delivered_to_another_api_server(tmp_path: Path) -> None:
    """It said to set the `delivery` that was set, and both applications named the API server of Argo CD itself."""
    assert compile_in(tmp_path, "init", "--cluster", "a", "--delivery", "argocd").code == 0
    done = compile_in(tmp_path, "init", "--cluster", "b", "--delivery", "argocd")
    assert done.code == 0
    assert "is kept" not in done.out
    assert "knows as `b`: `argocd cluster add CONTEXT --name b`" in done.out
    first, second = (
        yaml.safe_load((tmp_path / f"deploy/{name}.yaml").read_text("utf-8"))["spec"]["destination"]
        for name in ("argocd", "argocd-b")
    )
    assert first == {"server": "https://kubernetes.default.svc", "namespace": "training"}
    assert second == {"name": "b", "namespace": "training"}


def test_a_second_cluster_with_another_tool_says_so_in_the_project(tmp_path: Path) -> None:
    assert compile_in(tmp_path, "init", "--cluster", "a", "--delivery", "argocd").code == 0
    done = compile_in(tmp_path, "init", "--cluster", "b", "--delivery", "flux")
    assert "is kept" not in done.out
    clusters = yaml.safe_load((tmp_path / "trainc.yaml").read_text("utf-8"))["spec"]["clusters"]
    assert clusters["b"]["delivery"] == "flux"
    further = compile_in(tmp_path, "init", "--cluster", "c", "--delivery", "flux")
    assert "Apply deploy/flux-c.yaml to cluster `c`" in further.out
    assert "set `delivery: argocd` there" in compile_in(tmp_path, "init", "--cluster", "b", "--delivery", "argocd").out


def test_a_project_that_is_kept_reads_no_dump_before_it_names_the_folder(tmp_path: Path) -> None:
    """The script of a cluster was written, run and read by nobody: a queue with a typo passed."""
    (tmp_path / "trainc.yaml").write_text(
        "apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec:\n  clusters: {main: {scheduler: kueue}}\n", "utf-8"
    )
    line = "trainc.yaml is kept: set `folder: clusters/main` under `clusters.main` there, or no dump is read."
    assert line in compile_in(tmp_path, "init").out
    (tmp_path / "trainc.yaml").unlink()
    assert line not in compile_in(tmp_path, "init").out + compile_in(tmp_path, "init").out


@pytest.mark.parametrize("more", [(), ("--policies",)])
@pytest.mark.parametrize("scheduler", ["kueue", "volcano", "coscheduling"])
def test_a_new_repository_is_clean_with_each_scheduler(tmp_path: Path, scheduler: str, more: tuple[str, ...]) -> None:
    assert compile_in(tmp_path, "init", "--scheduler", scheduler, *more).code == 0
    done = compile_in(tmp_path, "validate")
    assert (done.code, "1 job, no errors;" in done.err or "1 job, no errors\n" in done.err) == (0, True), done.err


def test_a_repository_with_broken_jobs_starts_green(tmp_path: Path) -> None:
    """What a server refuses stays an error; the other errors of today are warnings, and the project says which."""
    (tmp_path / "jobs").mkdir()
    for number in (1, 2):
        (tmp_path / f"jobs/bert-{number}.yaml").write_text(MISMATCH.format(number), "utf-8")
    assert compile_in(tmp_path, "validate").code == 1
    done = compile_in(tmp_path, "init")
    assert "errors of 2 rules, which trainc.yaml turns into warnings: nodes-mismatch, shipped-runtime." in done.out
    assert "    nodes-mismatch: warning  # 2 jobs\n" in (tmp_path / "trainc.yaml").read_text("utf-8")
    checked = compile_in(tmp_path, "validate")
    assert checked.code == 0
    assert "2 jobs, no errors" in checked.err + checked.out
    refused = MISMATCH.format(3).replace("numNodes", "nodes")
    (tmp_path / "jobs/bert-3.yaml").write_text(refused, "utf-8")
    (tmp_path / "trainc.yaml").unlink()
    compile_in(tmp_path, "init")
    assert compile_in(tmp_path, "validate").code == 1


def test_jobs_outside_of_the_folder_of_jobs_stay_with_the_first_cluster(tmp_path: Path) -> None:
    """They belonged to no cluster once a second one was added."""
    compile_in(tmp_path, "init", "--cluster", "east", "--delivery", "argocd")
    for place in ("team/a/bert.yaml", "gpt.yaml"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(MISMATCH.format(place[0]).replace("--nnodes=2", "--nnodes=4"), "utf-8")
    compile_in(tmp_path, "init", "--cluster", "west")
    clusters = yaml.safe_load((tmp_path / "trainc.yaml").read_text("utf-8"))["spec"]["clusters"]
    assert clusters["east"]["paths"] == ["gpt.yaml", "jobs/hello.yaml", "team"]
    assert compile_in(tmp_path, "build", "-w").code == 0
    assert len([*(tmp_path / "rendered/east").rglob("*.yaml")]) == 3


@pytest.mark.parametrize(
    ("url", "branch", "shown"),
    [
        ("https://me:secret@git.example.org/ml/runs.git", "trunk", "https://git.example.org/ml/runs.git"),
        ("git@git.example.org:ml/runs.git", "release/2", "git@git.example.org:ml/runs.git"),
        ("ssh://git@git.example.org/ml/runs.git", "a,b", "ssh://git@git.example.org/ml/runs.git"),
        ("/srv/git/runs.git", "main", "https://git.example.com/training.git"),
    ],
)
def test_the_repository_and_its_branch(url: str, branch: str, shown: str, tmp_path: Path) -> None:
    """The Application and the workflow named `main` of a repository that nobody has."""
    for words in (("init", "-q", "-b", branch), ("remote", "add", "origin", url)):
        subprocess.run(["git", "-C", tmp_path, *words], check=True)
    compile_in(tmp_path, "init", "--delivery", "argocd")
    text = (tmp_path / "deploy/argocd.yaml").read_text("utf-8")
    source = yaml.safe_load(text)["spec"]["source"]
    assert (source["repoURL"], source["targetRevision"]) == (shown, branch)
    assert ("Set `repoURL`" in text) == (shown not in url and "secret" not in url)
    workflow = yaml.safe_load((tmp_path / ".github/workflows/manifests.yaml").read_text("utf-8"))
    assert workflow[True]["push"]["branches"] == [branch]  # `on` is true to YAML 1.1


@pytest.mark.parametrize(
    ("scheduler", "settings"),
    [("kueue", {"scheduler": "kueue"}), ("volcano", {"scheduler": "volcano", "queue": "default"})],
)
def test_a_further_cluster_has_its_scheduler(scheduler: str, settings: dict[str, str], tmp_path: Path) -> None:
    assert compile_in(tmp_path, "init").code == 0
    done = compile_in(tmp_path, "init", "--cluster", "gke", "--scheduler", scheduler)
    assert done.code == 0, done.err
    clusters = yaml.safe_load((tmp_path / "trainc.yaml").read_text("utf-8"))["spec"]["clusters"]
    assert clusters["gke"] == {"folder": "clusters/gke", "paths": ["jobs/gke"], **settings}
    assert "scheduler" not in clusters["main"]
    assert "set `scheduler" not in done.out


def test_the_plugin_comes_with_its_files(tmp_path: Path) -> None:
    done = compile_in(tmp_path, "init", "--delivery", "argocd-plugin", "--cluster", "east")
    assert done.code == 0, done.err
    assert (tmp_path / "trainc.yaml").read_text("utf-8").count("  delivery: argocd\n") == 1
    written = {path.name: yaml.safe_load(path.read_text("utf-8")) for path in (tmp_path / "deploy").iterdir()}
    assert sorted(written) == [
        *("argocd-health.yaml", "argocd-plugin.yaml", "argocd-repo-server-patch.yaml", "argocd.yaml"),
    ]
    assert written["argocd-plugin.yaml"] == yaml.safe_load((ROOT / "deploy/argocd/plugin.yaml").read_text("utf-8"))
    patch = (tmp_path / "deploy/argocd-repo-server-patch.yaml").read_text("utf-8")
    assert "--from-file=plugin.yaml=deploy/argocd-plugin.yaml" in patch
    assert "--patch-file deploy/argocd-repo-server-patch.yaml" in patch
    application, shipped = written["argocd.yaml"], ROOT / "deploy/argocd/application-plugin.yaml"
    ours, theirs = application["spec"], yaml.safe_load(shipped.read_text("utf-8"))["spec"]
    assert ours["source"]["plugin"] == {"name": "trainc-v1", "parameters": [{"name": "cluster", "string": "east"}]}
    assert theirs["source"]["plugin"]["name"] == "trainc-v1"
    assert "annotations" not in application["metadata"]
    assert (ours["ignoreDifferences"], ours["syncPolicy"]) == (theirs["ignoreDifferences"], theirs["syncPolicy"])
    assert compile_in(tmp_path, "validate").code == 0
    again = compile_in(tmp_path, "init", "--delivery", "argocd-plugin", "--cluster", "east")
    assert "wrote" not in again.out
    further = compile_in(tmp_path, "init", "--delivery", "argocd-plugin", "--cluster", "west")
    assert "wrote deploy/argocd-west.yaml" in further.out
