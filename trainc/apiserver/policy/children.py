"""The Jobs and pods that controllers make of a JobSet, as requests: the first and the last of each role.

Source: JobSet's `constructJob` (after v0.12) and the Job controller of Kubernetes 1.34. What differs between the Jobs of
a role, and between the pods of a Job, are names, indexes and labels that count them.
"""

from __future__ import annotations

from hashlib import sha1
from typing import TYPE_CHECKING, Any

from trainc.apiserver.jobset.defaults import with_defaults
from trainc.apiserver.pods.complaints import fields, items
from trainc.apiserver.policy.stored import UID, leaf
from trainc.apiserver.policy.stored import job as with_job_defaults
from trainc.apiserver.policy.stored import pod as with_pod_defaults
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import get, given, value
from trainc.text.object_keys import EXCLUSIVE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.model.tree import Tree

_PREFIX = "jobset.sigs.k8s.io/"
_INDEX = "batch.kubernetes.io/job-completion-index"
_BY_SELECTOR = "alpha.jobset.sigs.k8s.io/node-selector"
_BY = Origin(None, "JobSet controller")
_TRACKING = "batch.kubernetes.io/job-tracking"


def children(jobset: Tree) -> Iterator[Tree]:
    """The Jobs and pods of a JobSet, with their defaults."""
    tree = with_defaults(jobset)
    roles = tree["spec"].get("replicatedJobs", ())
    for role in items(roles):
        count = _replicas(role)
        for index in sorted({0, count - 1}) if count > 0 else ():
            made = _job(tree, role, index)
            yield with_job_defaults(made)
            yield from pods(made)


def pods(job: Tree) -> Iterator[Tree]:
    """The first and the last pod of a Job."""
    spec = with_job_defaults(job)["spec"]
    indexed = value(spec, "completionMode") == "Indexed"
    width, wanted = value(spec, "parallelism"), value(spec, "completions")
    count = wanted if type(wanted) is int else width if type(width) is int else 1
    if type(width) is int and width < 1:
        return
    for index in sorted({0, count - 1}) if indexed and count > 0 else (None,):
        yield with_pod_defaults(_pod(job, index))


def _replicas(role: Tree) -> int:
    count = value(role, "replicas")
    return count if type(count) is int else 1


def _text(word: object) -> Sourced[str]:
    return Sourced(str(word), _BY)


def _job(tree: Tree, role: Tree, index: int) -> Tree:
    metadata = tree["metadata"]
    template = fields(role.get("template"))
    spec = dict(fields(template.get("spec")))
    inner = fields(spec.get("template"))
    name = f"{value(metadata, 'name')}-{value(role, 'name')}-{index}"
    own = _labels(tree, role, index, name)
    outer = fields(template.get("metadata"))
    placed = {**fields(metadata.get("annotations")), **fields(outer.get("annotations"))}
    marks = {EXCLUSIVE: placed[EXCLUSIVE]} if EXCLUSIVE in placed else {}
    pod = dict(fields(inner.get("spec")))
    if EXCLUSIVE in placed and _BY_SELECTOR in placed:
        where = _text(f"{value(metadata, 'namespace') or 'default'}_{name}")
        pod["nodeSelector"] = {**fields(pod.get("nodeSelector")), "alpha.jobset.sigs.k8s.io/namespaced-job": where}
    if value(tree, "spec", "network", "enableDNSHostnames") is not False:
        pod["subdomain"] = given(get(tree, "spec", "network", "subdomain"), metadata["name"])
    _add_claims(tree, pod)
    spec["template"] = {"metadata": _metadata(inner.get("metadata"), own, marks), "spec": pod}
    spec["suspend"] = given(get(tree, "spec", "suspend"), Sourced(False, _BY))
    return {
        "apiVersion": _text("batch/v1"),
        "kind": _text("Job"),
        "metadata": {
            "name": Sourced(name, metadata["name"].source),
            **({"namespace": metadata["namespace"]} if "namespace" in metadata else {}),
            **_metadata(outer, own, marks),
            "ownerReferences": [_owner("jobset.x-k8s.io/v1alpha2", "JobSet", value(metadata, "name"))],
        },
        "spec": spec,
    }


def _owner(api_version: str, kind: str, name: object) -> Tree:
    owner = {"apiVersion": api_version, "kind": kind, "name": name, "controller": True, "blockOwnerDeletion": True}
    return leaf({**owner, "uid": UID})


def _metadata(written: Tree, own: dict[str, Tree], marks: dict[str, Tree]) -> dict[str, Tree]:
    return {
        "labels": {**fields(fields(written).get("labels")), **own},
        "annotations": {**fields(fields(written).get("annotations")), **own, **marks},
    }


def _labels(tree: Tree, role: Tree, index: int, name: str) -> dict[str, Tree]:
    """What JobSet writes on a Job and its pods, both as labels and as annotations."""
    metadata, roles = tree["metadata"], tree["spec"]["replicatedJobs"]
    group = value(role, "groupName") or "default"
    before = roles[: next(at for at, one in enumerate(roles) if one is role)]
    key = f"{value(metadata, 'namespace') or 'default'}/{name}"
    words: dict[str, object] = {
        "jobset-name": value(metadata, "name"),
        "jobset-uid": UID,
        "replicatedjob-name": value(role, "name"),
        "replicatedjob-replicas": _replicas(role),
        "global-replicas": _jobs(roles),
        "job-index": index,
        "job-global-index": _jobs(before) + index,
        "job-key": sha1(key.encode(), usedforsecurity=False).hexdigest(),
        "restart-attempt": 0,
        "group-name": group,
        "group-replicas": _jobs([one for one in roles if (value(one, "groupName") or "default") == group]),
        "job-group-index": _jobs([one for one in before if (value(one, "groupName") or "default") == group]) + index,
    }
    chosen = get(tree, "spec", "coordinator")
    if type(chosen) is dict:
        parts = (value(chosen, "replicatedJob"), value(chosen, "jobIndex") or 0, value(chosen, "podIndex") or 0)
        domain = value(tree, "spec", "network", "subdomain") or value(metadata, "name")
        words["coordinator"] = f"{value(metadata, 'name')}-{parts[0]}-{parts[1]}-{parts[2]}.{domain}"
    return {f"{_PREFIX}{word}": _text(content) for word, content in words.items()}


def _jobs(roles: list[Tree]) -> int:
    return sum(map(_replicas, roles))


def _add_claims(tree: Tree, pod: dict[str, Tree]) -> None:
    """Add the volumes of claims that a container of the pod mounts."""
    containers = [one for field in ("initContainers", "containers") for one in pod.get(field) or ()]
    mounted = {value(mount, "name") for one in containers for mount in one.get("volumeMounts") or ()}
    for policy in get(tree, "spec", "volumeClaimPolicies") or ():
        for template in policy.get("templates") or ():
            name = value(template, "metadata", "name")
            if name in mounted:
                claim = leaf({"claimName": f"{name}-{value(tree, 'metadata', 'name')}"})
                added = {"name": _text(name), "persistentVolumeClaim": claim}
                pod["volumes"] = [*(pod.get("volumes") or ()), added]


def _pod(job: Tree, index: int | None) -> Tree:
    template, name = fields(get(job, "spec", "template")), value(job, "metadata", "name")
    labels = {**fields(get(template, "metadata", "labels"))}
    annotations = {**fields(get(template, "metadata", "annotations"))}
    labels |= {key: _text(name) for key in ("batch.kubernetes.io/job-name", "job-name")}
    spec = dict(fields(template.get("spec")))
    generated = f"{name}-"
    if index is not None:
        generated = f"{name}-{index}-"
        labels[_INDEX] = annotations[_INDEX] = _text(index)
        spec["hostname"] = _text(f"{name}-{index}")
        for field in ("initContainers", "containers"):
            if type(spec.get(field)) is list:
                spec[field] = [_with_index(one) for one in spec[field]]
    metadata: dict[str, Any] = {
        "generateName": _text(generated),
        **({"namespace": job["metadata"]["namespace"]} if "namespace" in job["metadata"] else {}),
        "labels": labels,
        **({"annotations": annotations} if annotations else {}),
        "finalizers": [_text(_TRACKING)],
        "ownerReferences": [_owner("batch/v1", "Job", name)],
    }
    return {"apiVersion": _text("v1"), "kind": _text("Pod"), "metadata": metadata, "spec": spec}


def _with_index(container: Tree) -> Tree:
    env = container.get("env") or [] if type(container) is dict else []
    if type(container) is not dict or any(value(one, "name") == "JOB_COMPLETION_INDEX" for one in env):
        return container
    field = {"apiVersion": "v1", "fieldPath": f"metadata.labels['{_INDEX}']"}
    return {**container, "env": [*env, leaf({"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": field}})]}
