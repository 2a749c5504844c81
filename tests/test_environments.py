"""The two layouts of environments that docs/delivery.md shows, each as a repository, and how a run moves to production.

The source hydrator of Argo CD is a model of version 3.6: it runs the plugin at a commit of the source branch, with
KUBE_VERSION and KUBE_API_VERSIONS empty, and commits what it prints as `manifest.yaml` in the application's folder of the
environment's branch, with nothing committed where nothing changes.
"""

import sys
from pathlib import Path

import pytest

from tests.repository import PROJECT
from tests.working_tree import WorkingTree

pytestmark = pytest.mark.slow

CLUSTERS = """\
  clusters:
    staging:
      scheduler: kueue
      queue: try
    prod:
      scheduler: kueue
      queue: research
"""
RUN = ("  namespace: research\n", "  namespace: research\n  annotations: {{trainc.dev/cluster: '{}'}}\n")


def _tree(folder: Path) -> WorkingTree:
    tree = WorkingTree(folder, "bert")
    tree.write("trainc.yaml", PROJECT + CLUSTERS)
    tree.change("jobs/bert.yaml", RUN[0], RUN[1].format("staging"))
    return tree


def _promote(tree: WorkingTree) -> None:
    """The one edit by which a run goes to production as well."""
    tree.change("jobs/bert.yaml", "'staging'", "'staging,prod'")


def test_clusters_side_by_side(tmp_path: Path) -> None:
    tree = _tree(tmp_path)
    assert tree.trainc("build", "-w").returncode == 0
    assert list(tree.rendered()) == ["staging/research/bert.yaml"]
    tree.git("add", "-A")
    tree.git("commit", "-qm", "staging")
    before = tree.rendered()["staging/research/bert.yaml"].partition("\n")[2]
    _promote(tree)
    said = tree.trainc("build", "-w").stdout
    assert tree.trainc("build", "--check").returncode == 0, said
    after = {path: text.partition("\n")[2] for path, text in tree.rendered().items()}
    assert list(after) == ["prod/research/bert.yaml", "staging/research/bert.yaml"]
    assert after["staging/research/bert.yaml"] == before
    differs = [
        (one, other)
        for one, other in zip(before.splitlines(), after["prod/research/bert.yaml"].splitlines(), strict=True)
        if one != other
    ]
    assert differs
    assert all("queue-name" in one for one, _ in differs)


def test_branches_of_environments(tmp_path: Path) -> None:
    tree = _tree(tmp_path)
    tree.git("add", "-A")
    tree.git("commit", "-qm", "staging")
    for name in ("staging", "prod"):
        tree.git("branch", f"environments/{name}")
    assert _hydrate(tree, "staging") == 0
    assert _hydrate(tree, "prod") == 1
    assert _manifest(tree, "prod") is None
    dry = tree.git("rev-parse", "HEAD").stdout
    staging = _manifest(tree, "staging")
    _promote(tree)
    tree.git("commit", "-qam", "promote")
    assert _hydrate(tree, "staging") == 0
    assert _hydrate(tree, "prod") == 0
    assert tree.git("rev-parse", "HEAD~1").stdout == dry
    assert _manifest(tree, "staging") == staging
    prod = _manifest(tree, "prod")
    assert prod is not None
    assert staging is not None
    assert prod.replace("queue-name: research", "queue-name: try") == staging


def _hydrate(tree: WorkingTree, cluster: str) -> int:
    """One run of the hydrator for an application; its exit code."""
    done = tree.command(
        sys.executable,
        "-m",
        "trainc",
        "cmp",
        "generate",
        ARGOCD_APP_NAME=f"training-{cluster}",
        ARGOCD_APP_NAMESPACE="research",
        ARGOCD_APP_SOURCE_PATH=".",
        ARGOCD_APP_PARAMETERS=f'[{{"name":"cluster","string":"{cluster}"}}]',
        KUBE_VERSION="",
        KUBE_API_VERSIONS="",
    )
    if done.returncode == 0:
        manifest = tree.folder.parent / f"{cluster}.yaml"
        manifest.write_text(done.stdout)
        blob = tree.git("hash-object", "-w", str(manifest)).stdout.strip()
        index = {"GIT_INDEX_FILE": str(tree.folder.parent / f"{cluster}.index")}
        tree.command("git", "update-index", "--add", "--cacheinfo", f"100644,{blob},training/manifest.yaml", **index)
        written = tree.command("git", "write-tree", **index).stdout.strip()
        parent = tree.git("rev-parse", f"environments/{cluster}").stdout.strip()
        commit = tree.git("commit-tree", "-p", parent, "-m", "hydrate", written).stdout.strip()
        tree.git("update-ref", f"refs/heads/environments/{cluster}", commit)
    return done.returncode


def _manifest(tree: WorkingTree, cluster: str) -> str | None:
    done = tree.command("git", "show", f"environments/{cluster}:training/manifest.yaml")
    return done.stdout if done.returncode == 0 else None
