"""Runs that `trainc adopt` took over: what the dump has of them proves a rendering that no base has yet."""

import os
from collections.abc import Mapping

from trainc.compiler.emit import manifests
from trainc.compiler.emit.spool.disk import OnDisk
from trainc.model.bundle import Bundle, runs_pods
from trainc.model.cluster import Cluster
from trainc.model.report import Report
from trainc.model.settings import ADOPTED, Project
from trainc.model.tree import Tree, value
from trainc.text.files import ordinary_contents
from trainc.yaml.reader import read

Key = tuple[str, str, str]  # kind, namespace, name


def adopted_text(bundle: Bundle, running: Tree) -> str:
    """The rendering of a job that keeps the object that runs, and otherwise is what the job compiles to."""
    return manifests([running if runs_pods(tree) else tree for tree in bundle.objects])


def _key(tree: Tree) -> Key:
    return (
        str(value(tree, "kind")),
        str(value(tree, "metadata", "namespace") or "default"),
        str(value(tree, "metadata", "name")),
    )


class AdoptedRuns:
    """The objects that the folders of clusters have of adopted runs."""

    def __init__(self, project: Project) -> None:
        self._root = project.root
        self._clusters: Mapping[str, Cluster] = {cluster.name: cluster for cluster in project.clusters}
        self._running: dict[str, dict[Key, Tree]] = {}

    def is_proven(self, bundle: Bundle, rendering: OnDisk) -> bool:
        """Whether a rendered file is what the dump and the job make of a run."""
        running = self._of(bundle.cluster) if bundle.jobset is not None else {}
        tree = running.get(_key(bundle.jobset)) if running else None
        return tree is not None and rendering.body == adopted_text(bundle, tree).encode()

    def _of(self, name: str) -> dict[Key, Tree]:
        if name not in self._running:
            self._running[name] = {}
            folder = self._clusters[name].folder if name in self._clusters else ""
            path = os.path.join(self._root, folder, ADOPTED)
            if folder and os.path.isfile(path):
                trees = [one.tree for one in read(ordinary_contents(path), path, Report()) if type(one.tree) is dict]
                self._running[name] = {_key(tree): tree for tree in trees}
        return self._running[name]
