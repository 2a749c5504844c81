"""Dumps of clusters as kubectl prints them: recorded objects, with what servers add to each."""

from collections.abc import Iterator
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from tests.compiling import ROOT
from tests.conformance.archives import folders
from tests.conformance.harness import cases
from trainc.apiserver.jobset.defaults import with_defaults
from trainc.apiserver.schema.node import load
from trainc.model.report import Report
from trainc.model.tree import plain, stamp
from trainc.yaml import reader

Tree = dict[str, Any]
RUNNING = {"conditions": [{"type": "Created", "status": "True"}], "jobsStatus": [{"name": "node", "active": 1}]}
SUCCEEDED = {"conditions": [{"type": kind, "status": "True"} for kind in ("Complete", "Completed", "Succeeded")]}
FAILED = {"conditions": [{"type": "Failed", "status": "True"}]}


def read(text: str) -> list[Tree]:
    """The objects of a YAML text, as Kubernetes reads it."""
    trees = (plain(document.tree) for document in reader.read(text.encode(), "", Report()))
    return [tree for tree in trees if isinstance(tree, dict)]


def filled(tree: Tree) -> Tree:
    """An object with every default that a server writes out."""
    whole = load().completed(stamp(tree, "test"))
    if tree["kind"] == "JobSet":
        whole = load().completed(with_defaults(whole))
    out: Tree = plain(whole)
    return out


def served(tree: Tree, *, owner: Tree | None = None, status: Tree | None = None) -> Tree:
    """An object as a server prints it: defaults written out, and everything that only servers write."""
    out = filled(tree)
    metadata = out["metadata"] = {**(out.get("metadata") or {})}
    if out["kind"] not in {"ClusterTrainingRuntime", "Node", "PriorityClass"}:
        metadata.setdefault("namespace", "default")
    name = f"{out['kind']}/{metadata.get('namespace')}/{metadata['name']}"
    annotations = metadata.get("annotations") or {}
    metadata["annotations"] = {**annotations, "kubectl.kubernetes.io/last-applied-configuration": f"{tree}"}
    metadata |= {
        "uid": str(uuid5(NAMESPACE_URL, name)),
        "resourceVersion": "4711",
        "generation": 1,
        "creationTimestamp": "2026-11-20T08:00:00Z",
        "managedFields": [{"manager": "kubectl", "operation": "Apply", "fieldsV1": {"f:spec": {}}}],
    }
    if status is not None:
        out["status"] = status
    return out if owner is None else made_by(owner, out)


def made_by(owner: Tree, tree: Tree) -> Tree:
    """An object that the controller of another one made."""
    reference = {key: owner[key] for key in ("apiVersion", "kind")} | {
        key: owner["metadata"][key] for key in ("name", "uid")
    }
    metadata = {**tree["metadata"], "ownerReferences": [{**reference, "controller": True, "blockOwnerDeletion": True}]}
    return {**tree, "metadata": metadata}


TRAINED = {case.id: case for case in cases() if case.answers and not case.is_gated}


def trained(name: str) -> list[Tree]:
    """A recorded case of Trainer that became a JobSet: its input as stored, and what the controller applied."""
    case = TRAINED[name]
    documents = read(case.text)
    objects = [served(tree) for tree in documents if tree["kind"] in _RUNTIMES]
    answers = read(case.answers[0])
    for tree in documents:
        if tree["kind"] != "TrainJob":
            continue
        job = served(tree, status=RUNNING)
        objects.append(job)
        mine = [
            one for one in answers if one["kind"] == "JobSet" and one["metadata"]["name"] == job["metadata"]["name"]
        ]
        objects += [served(one, owner=job, status=RUNNING) for one in mine]
    return objects


_RUNTIMES = ("ClusterTrainingRuntime", "TrainingRuntime")


def lived() -> Iterator[tuple[str, list[Tree]]]:
    """Each recorded JobSet of a real API server, with the Jobs, pods and Services that its controllers made."""
    for name, files in sorted(folders("live", "pods").items()):
        (jobset,) = read(files["jobset.yaml"])
        owner = served(jobset, status=RUNNING)
        yield name, [owner, *(made_by(owner, tree) for file in _CHILDREN for tree in children(files, file))]


_CHILDREN = {"jobs.yaml": ("batch/v1", "Job"), "services.yaml": ("v1", "Service"), "pods.yaml": ("v1", "Pod")}


def children(files: dict[str, str], file: str) -> list[Tree]:
    """The recorded objects of one kind, as they are stored."""
    api, kind = _CHILDREN[file]
    return [{"apiVersion": api, "kind": kind, **tree} for tree in read(files.get(file, ""))]


def plain_jobs() -> Iterator[tuple[str, Tree]]:
    """Each recorded Job of a JobSet as somebody would have applied it, stored with everything that Kubernetes fills in."""
    for name, files in sorted(folders("live", "pods").items()):
        for tree in children(files, "jobs.yaml"):
            labels = {"app": "training"}
            template = tree["spec"]["template"]
            ours = {key: text for key, text in template["metadata"]["labels"].items() if "jobset" not in key}
            job = {
                **tree,
                "metadata": {**tree["metadata"], "labels": labels, "annotations": {}},
                "spec": {**tree["spec"], "template": {**template, "metadata": {"labels": ours}}},
            }
            yield name, served(job, status=RUNNING)


def example(path: str) -> list[Tree]:
    """The objects of a file of the examples or cases."""
    return read((ROOT / path).read_text("utf-8"))


def renamed(objects: list[Tree], space: str, *, runtimes: bool = True) -> list[Tree]:
    """Objects in a namespace of their own, with other identities; ClusterTrainingRuntimes get another name as well."""
    names = {
        tree["metadata"]["name"]: f"{tree['metadata']['name']}-{space}"[-60:].strip("-")
        for tree in objects
        if tree["kind"] == "ClusterTrainingRuntime" and runtimes and space.count("-")
    }
    out = []
    for tree in objects:
        if tree["kind"] == "ClusterTrainingRuntime" and not runtimes:
            continue
        one = _copied(tree)
        metadata = one["metadata"]
        metadata["uid"] = f"{metadata.get('uid', metadata['name'])}/{space}"
        for reference in metadata.get("ownerReferences") or ():
            reference["uid"] = f"{reference['uid']}/{space}"
        if tree["kind"] == "ClusterTrainingRuntime":
            metadata["name"] = names.get(metadata["name"], metadata["name"])
        else:
            metadata["namespace"] = space if not metadata.get("namespace") else f"{space}-{metadata['namespace']}"[-63:]
        if tree["kind"] == "TrainJob":
            reference = one["spec"]["runtimeRef"]
            if reference.get("kind", "ClusterTrainingRuntime") == "ClusterTrainingRuntime":
                reference["name"] = names.get(reference["name"], reference["name"])
        out.append(one)
    return out


def _copied(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _copied(child) for key, child in tree.items()}
    return [_copied(item) for item in tree] if isinstance(tree, list) else tree
