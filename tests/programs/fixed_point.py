"""The row `applied`: a server with JobSet takes what trainc writes, stores it as it is written, and takes it again unchanged."""

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tests.compiling import ROOT, compile_in
from tests.programs.cluster import JOBSETS, Cluster
from tests.programs.differences import Difference, Input, Outcome, compared, pattern
from tests.programs.modules import Program, programs

_SERVICES = "/api/v1/namespaces/default/services"
_PATHS = {"JobSet": JOBSETS, "Service": _SERVICES, "ConfigMap": "/api/v1/namespaces/default/configmaps"}
_MAX_REPLICAS = 8  # Jobs that the controller would fill the cluster with


def ask(program: Program, seed: int, count: int) -> Outcome:
    """Ask what the examples and cases compile to, at most `count` of them."""
    beside = {name: [other for other in programs() if other.name == name][-1] for name in ("etcd", "kubernetes")}
    with Cluster(beside["etcd"], beside["kubernetes"], program) as cluster:
        inputs = compiled(program, seed, count)
        return compared(f"{program.id} applied", inputs, partial(difference, cluster))


def compiled(program: Program, seed: int, count: int) -> Iterator[Input]:
    """What trainc compiles of each folder for this version of JobSet, an input for each JobSet and what belongs to it."""
    version = ".".join(program.version.split(".")[:2])
    folders = [path.parent for path in sorted(ROOT.glob("tests/cases/**/expected/manifests.yaml"))]
    chosen = random.Random(seed)  # noqa: S311 (inputs of tests)
    chosen.shuffle(folders)
    examples = sorted(path for path in ROOT.glob("examples/*") if (path / "trainc.yaml").exists())
    asked = 0
    for place in [*examples, *(folder.parent / "input" for folder in folders)]:
        for documents in _of_folder(place, version):
            if asked == count:
                return
            asked += 1
            yield documents


def _of_folder(place: Path, version: str) -> Iterator[Input]:
    run = compile_in(place, "build", "--set", f"jobset={version}")
    if run.code:
        return
    objects = run.objects
    for tree in objects:
        if tree["kind"] == "JobSet" and _small(tree) and "${" not in str(tree):  # what Flux fills in before it applies
            names = {tree["metadata"]["name"], (tree["spec"].get("network") or {}).get("subdomain")}
            services = [other for other in objects if other["kind"] == "Service" and other["metadata"]["name"] in names]
            yield [_in_default(document) for document in [*services, tree]]


def _small(tree: dict[str, Any]) -> bool:
    return all(job.get("replicas", 1) <= _MAX_REPLICAS for job in tree["spec"]["replicatedJobs"])


def _in_default(tree: dict[str, Any]) -> dict[str, Any]:
    metadata = {key: value for key, value in tree["metadata"].items() if key != "namespace"}
    return {**tree, "metadata": metadata}


def difference(cluster: Cluster, documents: Input) -> Difference | None:
    """What the server says of documents that are applied, applied again, and read; None where nothing changes."""
    whole = all({"spec", "kind"} <= tree.keys() and tree.get("metadata", {}).get("name") for tree in documents)
    if not whole:  # of an input that was made smaller
        return None
    try:
        for tree in documents:
            found = _of_object(cluster, tree)
            if found is not None:
                return found
        return None
    finally:
        cluster.wipe()


def _of_object(cluster: Cluster, tree: dict[str, Any]) -> Difference | None:
    path = _PATHS[tree["kind"]]
    kind = tree["kind"]
    first = cluster.apply(path, tree)
    if first.code not in {200, 201}:
        return Difference(f"{kind} is rejected: {pattern(first.message)}", first.message, "compiled")
    if first.warnings:
        return Difference(f"{kind} has a warning: {pattern(first.warnings[0])}", first.warnings[0], "compiled")
    changed = stored_otherwise(tree["spec"], first.body["spec"], "spec")
    if changed is not None:
        where, ours, theirs = changed
        return Difference(f"{kind} is stored otherwise: {where}", str(theirs), str(ours))
    second = cluster.apply(path, tree)
    if second.code != 200:
        return Difference(
            f"{kind} is rejected when applied again: {pattern(second.message)}", second.message, "the same"
        )
    if second.body["metadata"].get("generation") != first.body["metadata"].get("generation"):
        return Difference(f"{kind} changes when applied again", str(second.body["spec"]), str(first.body["spec"]))
    return None


def stored_otherwise(written: Any, stored: Any, path: str) -> tuple[str, Any, Any] | None:
    """The first place at which what is written is not what is stored. What a server adds beside it is its own."""
    if isinstance(written, dict) and isinstance(stored, dict):
        inner = (stored_otherwise(value, stored.get(key), f"{path}.{key}") for key, value in written.items())
        return next((found for found in inner if found), None)
    if isinstance(written, list) and isinstance(stored, list) and len(written) == len(stored):
        pairs = zip(written, stored, strict=True)
        inner = (stored_otherwise(left, right, f"{path}[]") for left, right in pairs)
        return next((found for found in inner if found), None)
    if (
        written is False and stored is None and path == "spec.publishNotReadyAddresses"
    ):  # Go leaves false out of a Service
        return None
    return None if written == stored else (path, written, stored)
