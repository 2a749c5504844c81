"""Rendered files and the plugin of Argo CD apply the same set of objects."""

import json
import shutil
from pathlib import Path

import pytest

from tests.claims import CLAIM
from tests.compiling import ROOT, compile_in
from tests.integrations.plugin_server.client import Client


def platform(folder: Path) -> Path:
    """The platform example for Argo CD, with objects that several of its jobs name."""
    project = folder / "platform"
    shutil.copytree(ROOT / "examples/platform", project, ignore=shutil.ignore_patterns("output"))
    settings = project / "trainc.yaml"
    settings.write_text(settings.read_text().replace("spec:\n", "spec:\n  delivery: argocd\n", 1))
    teams = ("llm", "speech", "vision", "nobody")
    claims = "---\n".join(CLAIM.format(name="checkpoints", namespace=team) for team in teams)
    (project / "storage").mkdir()
    (project / "storage/claims.yaml").write_text(claims)
    (project / "storage/application.yaml").write_text("apiVersion: argoproj.io/v1alpha1\nkind: Application\n")
    return project


def texts(stream: str) -> list[str]:
    """Every document of a stream, sorted."""
    return sorted(part for part in stream.split("---\n") if part)


@pytest.mark.parametrize("namespace", [pytest.param("", marks=pytest.mark.slow), "team"])
@pytest.mark.parametrize("cluster", ["eu", pytest.param("us", marks=pytest.mark.slow)])
def test_both_routes_apply_the_same_bytes(
    cluster: str, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = platform(tmp_path)
    done = compile_in(project, "build", ".", "-o", "out", "--cluster", cluster, "--quiet")
    assert done.code == 0, done.err
    files = sorted((project / "out").rglob("*.yaml"))
    rendered = "---\n".join(path.read_text("utf-8").partition("\n")[2] for path in files)
    shutil.rmtree(project / "out")
    monkeypatch.setenv("ARGOCD_APP_SOURCE_PATH", ".")
    monkeypatch.setenv("ARGOCD_APP_NAMESPACE", namespace)
    monkeypatch.setenv("ARGOCD_APP_PARAMETERS", json.dumps([{"name": "cluster", "string": cluster}]))
    generated = compile_in(project, "cmp", "generate")
    assert generated.code == 0, generated.err
    assert texts(generated.out) == texts(rendered)
    claims = [tree for tree in generated.objects if tree["kind"] == "PersistentVolumeClaim"]
    mounting = {tree["metadata"]["namespace"] for tree in generated.objects if "claimName" in str(tree)}
    assert sorted(tree["metadata"]["namespace"] for tree in claims) == sorted(mounting)
    assert mounting


@pytest.mark.slow
def test_the_server_of_the_plugin_hands_on_the_same_set(client: Client, tmp_path: Path) -> None:
    project = platform(tmp_path)
    built = compile_in(project, "build", ".", "--cluster", "eu", "--quiet")
    given = json.dumps([{"name": "cluster", "string": "eu"}])
    environment = {"ARGOCD_APP_SOURCE_PATH": ".", "ARGOCD_APP_PARAMETERS": given}
    manifests = client.generate(project, ".", environment)
    assert [json.loads(manifest) for manifest in manifests] == built.objects
