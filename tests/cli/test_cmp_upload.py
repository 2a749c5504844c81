"""What the plugin makes of what is sent to it: no `.git`, and with manifest-generate-paths a part of the repository."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.integrations.plugin_server.client import Client
from tests.repository import RUNTIME, Repository, job

pytestmark = pytest.mark.slow

SHIPPED = "torch-distributed"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository without trainc.yaml, whose runtime has the name of one that trainc ships."""
    (tmp_path / "repository").mkdir()
    made = Repository(tmp_path / "repository")
    (made.folder / "trainc.yaml").unlink()
    (made.folder / "runtimes/torch.yaml").unlink()
    made.write("teams/nlp/runtimes/own.yaml", RUNTIME.replace("name: torch", f"name: {SHIPPED}", 1))
    made.write("teams/nlp/jobs/deep/line.yaml", job("line").replace("name: torch", f"name: {SHIPPED}"))
    subprocess.run(["git", "init", "-q"], cwd=made.folder, check=True)
    return made


def objects(client: Client, top: Path, inner: str, source_path: str) -> list[Any]:
    variables = {"ARGOCD_APP_SOURCE_PATH": source_path} if source_path else {}
    return [json.loads(manifest) for manifest in client.generate(top, inner, variables)]


def image(trees: list[Any]) -> str:
    (jobset,) = [tree for tree in trees if tree["kind"] == "JobSet"]
    pod = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    return str(pod["spec"]["containers"][0]["image"])


OWN = "registry.example.com/ml/torch:2.8.0"


def test_without_git_the_root_is_counted_up_from_the_application(client: Client, repository: Repository) -> None:
    path = "teams/nlp/jobs/deep"
    assert image(objects(client, repository.folder, path, path)) == OWN
    assert image(objects(client, repository.folder, path, f"./{path}/")) == OWN


@pytest.mark.parametrize("top", ["teams", "teams/nlp"])
def test_a_part_of_the_repository_that_holds_the_runtime(client: Client, repository: Repository, top: str) -> None:
    path = "teams/nlp/jobs/deep"
    assert image(objects(client, repository.folder / top, os.path.relpath(path, top), path)) == OWN


@pytest.mark.parametrize(
    ("top", "source_path"),
    [("teams/nlp/jobs", "teams/nlp/jobs/deep"), ("teams/nlp/jobs/deep", "teams/nlp/jobs/deep"), ("teams/nlp/jobs", "")],
)
def test_a_part_without_the_runtime_gets_none_of_the_same_name(
    client: Client, repository: Repository, top: str, source_path: str
) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        objects(client, repository.folder / top, os.path.relpath("teams/nlp/jobs/deep", top), source_path)
    said = str(raised.value.details())
    assert f"error[shipped-runtime] `{SHIPPED}` is in none of the files that Argo CD sent" in said
    assert "manifest-generate-paths" in said


def test_a_runtime_that_nobody_has_names_the_annotation(client: Client, repository: Repository) -> None:
    repository.change("teams/nlp/jobs/deep/line.yaml", f"name: {SHIPPED}", "name: own")
    with pytest.raises(grpc.RpcError) as raised:
        objects(client, repository.folder / "teams/nlp/jobs", "deep", "teams/nlp/jobs/deep")
    assert "manifest-generate-paths" in str(raised.value.details())


def test_the_whole_repository_may_use_what_trainc_ships(client: Client, repository: Repository) -> None:
    shutil.rmtree(repository.folder / "teams/nlp/runtimes")
    path = "teams/nlp/jobs/deep"
    assert image(objects(client, repository.folder, path, path)) != OWN


def test_the_annotation_sends_everything_that_is_needed(client: Client, repository: Repository) -> None:
    printed = repository.run("cmp", "paths", "teams/nlp/jobs/deep").out
    assert printed == ".;/teams/nlp/runtimes\n"
    path = "teams/nlp/jobs/deep"
    sent = [os.path.normpath(f"{path}/{entry}") if entry == "." else entry[1:] for entry in printed.strip().split(";")]
    top = os.path.commonpath(sent)
    assert image(objects(client, repository.folder / top, os.path.relpath(path, top), path)) == OWN


def test_the_annotation_names_what_a_project_reads(repository: Repository) -> None:
    repository.write(
        "teams/trainc.yaml",
        "apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec:\n  runtimes: [shared]\n  output: out\n"
        "  clusters: {main: {folder: clusters/main}}\n",
    )
    repository.write("teams/clusters/main/README.md", "nothing\n")
    expected = ".;/teams/trainc.yaml;/teams/shared;/teams/clusters/main"
    (repository.folder / "teams/shared").mkdir()
    assert repository.run("cmp", "paths", "teams/nlp/jobs").out == f"{expected}\n"
    repository.write("teams/out/README.md", "nothing\n")
    assert repository.run("cmp", "paths", "teams/nlp/jobs").out == f"{expected};/teams/out\n"
    assert repository.run("cmp", "paths", "nowhere").code == 2
