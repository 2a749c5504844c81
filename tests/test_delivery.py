"""What every GitOps tool relies on, whatever the job: promises over all that trainc renders."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.compiling import ROOT, compile_in, relative_environment
from tests.effort import below
from tests.repository import Repository
from tests.sampling import sampled
from trainc.apiserver.profile import Profile
from trainc.apiserver.schema.node import load
from trainc.apiserver.verdict import verdict
from trainc.model.tree import stamp

RENDERED = sorted(ROOT.glob("examples/*/output/**/*.yaml"))
DEPLOY = sorted(ROOT.glob("deploy/**/*.yaml"))


def names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def objects(path: Path) -> list[Any]:
    return [tree for tree in yaml.safe_load_all(path.read_text("utf-8")) if tree is not None]


@pytest.mark.parametrize("path", sampled(RENDERED, names(RENDERED), every=5))
def test_nothing_that_a_tool_or_a_queue_owns(path: Path) -> None:
    for tree in objects(path):
        metadata = tree["metadata"]
        marks = {**metadata.get("labels", {}), **metadata.get("annotations", {})}
        assert "generateName" not in metadata
        assert "status" not in tree
        assert "app.kubernetes.io/instance" not in marks
        assert not ("kueue.x-k8s.io/queue-name" in marks and "suspend" in tree["spec"])
        assert not any(key.startswith(("argocd.argoproj.io/hook", "helm.sh/")) for key in marks)


@pytest.mark.parametrize("path", sampled(RENDERED, names(RENDERED), every=5))
def test_the_webhook_changes_nothing(path: Path) -> None:
    """A re-apply of the same file is then no change, also for a client that replaces whole lists."""
    for tree in objects(path):
        if tree["kind"] == "JobSet":
            found = verdict(stamp(tree, "rendered"), load(), Profile())
            assert found.accepted, found.messages
            assert found.empty_patch is True


IMMUTABLE = {
    "network": ("spec", "network", "subdomain"),
    "success": ("spec", "successPolicy", "operator"),
    "failure": ("spec", "failurePolicy", "maxRestarts"),
    "startup": ("spec", "startupPolicy", "startupPolicyOrder"),
    "image": ("spec", "replicatedJobs", 0, "template", "spec", "template", "spec", "containers", 0, "image"),
    "pods": ("spec", "replicatedJobs", 0, "template", "spec", "parallelism"),
    "backoff": ("spec", "replicatedJobs", 0, "template", "spec", "backoffLimit"),
    "selector": ("spec", "replicatedJobs", 0, "template", "spec", "template", "spec", "nodeSelector"),
    "name of a role": ("spec", "replicatedJobs", 0, "name"),
}
MUTABLE = {
    "label": (("metadata", "labels"), {"team": "speech"}),
    "annotation": (("metadata", "annotations"), {"note": "x"}),
    "ttl": (("spec", "ttlSecondsAfterFinished"), 600),
    "suspend": (("spec", "suspend"), True),
}
VALUES: dict[str, Any] = {
    "network": "peers",
    "success": "Any",
    "failure": 9,
    "startup": "InOrder",
    "image": "registry.example.com/ml/line:9",
    "pods": 3,
    "backoff": 5,
    "selector": {"zone": "b"},
    "name of a role": "worker",
}


def jobset() -> Any:
    tree = next(
        tree for tree in objects(ROOT / "examples/torch-ddp/output/nlp/bert-pretrain.yaml") if tree["kind"] == "JobSet"
    )
    return json.loads(json.dumps(tree))


def put(tree: Any, path: tuple[str | int, ...], value: Any) -> Any:
    for step in path[:-1]:
        tree = tree.setdefault(step, {}) if isinstance(tree, dict) else tree[step]
    tree[path[-1]] = value


def edited(tmp_path: Path, path: tuple[str | int, ...], value: Any) -> Any:
    """The answer of a second build after one field of a JobSet in Git was edited."""
    repository = Repository(tmp_path)
    tree = jobset()
    repository.write("jobs/line.yaml", yaml.safe_dump(tree))
    assert repository.run("build", "-w").code == 0
    put(tree, path, value)
    repository.write("jobs/line.yaml", yaml.safe_dump(tree))
    return repository.run("build", "-w")


@pytest.mark.parametrize("field", sampled(IMMUTABLE, quick=("pods", "image")))
def test_each_immutable_field_needs_a_new_run(tmp_path: Path, field: str) -> None:
    done = edited(tmp_path, IMMUTABLE[field], VALUES[field])
    assert done.code == 1
    assert "error[immutable-change]" in done.err


@pytest.mark.parametrize("field", MUTABLE)
def test_each_mutable_field_is_edited_in_place(tmp_path: Path, field: str) -> None:
    path, value = MUTABLE[field]
    done = edited(tmp_path, path, value)
    assert "immutable-change" not in done.err
    assert done.code == 0, done.err


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    length=st.integers(1, 63),
    run=st.sampled_from(["", "2", "12", "9999"]),
    pods=st.sampled_from([1, 9, 10, 11, 100, 1001]),
)
def test_names_fit_or_are_refused_with_the_budget(tmp_path: Path, length: int, run: str, pods: int) -> None:
    repository = Repository(tmp_path)
    repository.job("line", run=run)
    repository.change("jobs/line.yaml", "name: line", f"name: {'j' * length}")
    repository.change("jobs/line.yaml", "numNodes: 2", f"numNodes: {pods}")
    done = repository.run("build")
    name = "j" * length + (f"-r{run}" if run else "")
    longest = len(f"{name}-node-0-{pods - 1}") + 6
    assert (done.code == 0) is (longest <= 63), done.err
    assert done.code == 0 or f" from {length} to at most {length - longest + 63} characters" in done.err


@pytest.mark.parametrize("path", DEPLOY, ids=names(DEPLOY))
def test_what_is_shipped_to_deploy(path: Path) -> None:
    text = path.read_text("utf-8")
    assert objects(path)
    assert re.search(r"(Force|Replace)=true|force: true|argocd.argoproj.io/hook", text) is None


def test_links_out_of_the_repository_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "inside").mkdir()
    secret = Repository(tmp_path / "outside", "secret")
    repository = Repository(tmp_path / "inside", "line")
    (repository.folder / "jobs/linked").symlink_to(secret.folder / "jobs")
    (repository.folder / "jobs/linked.yaml").symlink_to(secret.folder / "jobs/secret.yaml")
    done = compile_in(repository.folder, "cmp", "generate")
    assert done.code == 0, done.err
    assert {tree["metadata"]["name"] for tree in done.objects} == {"line"}
    assert compile_in(repository.folder, "build", "../outside/jobs", "jobs").code == 2


@pytest.mark.slow
def test_a_plugin_answers_as_fast_as_a_build(tmp_path: Path) -> None:
    repository = Repository(tmp_path, *(f"job-{number:02}" for number in range(20)))

    def seconds(*words: str) -> float:
        command = [sys.executable, "-m", "trainc", *words]
        before = os.times()
        subprocess.run(command, check=True, capture_output=True, cwd=repository.folder, env=relative_environment())
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    below(2.5, lambda: seconds("cmp", "generate") / seconds("build"))
