"""The Jobs and pods that a JobSet becomes, as JobSet's controller and the Job controller write them.

Source: JobSet's `constructJob` (after v0.12) and the Job controller of Kubernetes 1.36. A server adds its own defaults,
uids and random ends of names.
"""

from copy import deepcopy
from hashlib import sha1
from typing import Any

Object = dict[str, Any]

_PREFIX = "jobset.sigs.k8s.io/"
_EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
_BY_SELECTOR = "alpha.jobset.sigs.k8s.io/node-selector"
_INDEX = "batch.kubernetes.io/job-completion-index"
_CONTAINERS = ("initContainers", "containers")


def child_jobs(jobset: Object) -> list[Object]:
    """Every Job of a JobSet, by replicatedJob and index."""
    spec = jobset["spec"]
    return [
        _job(jobset, role, index) for role in spec.get("replicatedJobs", ()) for index in range(role.get("replicas", 1))
    ]


def first_pods(job: Object, most: int = 16) -> list[Object]:
    """The pods that run at once when a Job starts, `most` of them."""
    spec = job["spec"]
    width = spec.get("parallelism", 1)
    count = min(width, spec.get("completions", width), most)
    return [_pod(job, index) for index in range(count)]


def _job(jobset: Object, role: Object, index: int) -> Object:
    metadata, template = jobset["metadata"], deepcopy(role["template"])
    spec = template["spec"]
    pods = spec.setdefault("template", {})
    name = f"{metadata['name']}-{role['name']}-{index}"
    own = _labels(jobset, role, index)
    exclusive = {**metadata.get("annotations", {}), **template.get("metadata", {}).get("annotations", {})}
    marks = {_EXCLUSIVE: exclusive[_EXCLUSIVE]} if _EXCLUSIVE in exclusive else {}
    pods["metadata"] = _metadata(pods.get("metadata", {}), own, marks)
    pods.setdefault("spec", {})
    if _EXCLUSIVE in exclusive and _BY_SELECTOR in exclusive:
        value = f"{metadata.get('namespace', 'default')}_{name}"
        pods["spec"].setdefault("nodeSelector", {})["alpha.jobset.sigs.k8s.io/namespaced-job"] = value
    network = jobset["spec"].get("network", {})
    if network.get("enableDNSHostnames", True):
        pods["spec"]["subdomain"] = network.get("subdomain", metadata["name"])
    _add_claims(jobset, pods["spec"])
    spec["suspend"] = jobset["spec"].get("suspend", False)
    placed = {"name": name, "namespace": metadata.get("namespace", "default")}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {**placed, **_metadata(template.get("metadata", {}), own, marks)},
        "spec": spec,
    }


def _metadata(written: Object, own: Object, marks: Object) -> Object:
    return {
        "labels": {**written.get("labels", {}), **own},
        "annotations": {**written.get("annotations", {}), **own, **marks},
    }


def _labels(jobset: Object, role: Object, index: int) -> dict[str, str]:
    """What JobSet writes on a Job and its pods, both as labels and as annotations; the uid is the server's."""
    metadata, roles = jobset["metadata"], jobset["spec"]["replicatedJobs"]
    group = role.get("groupName", "default")
    before = roles[: roles.index(role)]
    name = f"{metadata['name']}-{role['name']}-{index}"
    key = f"{metadata.get('namespace', 'default')}/{name}"
    words: dict[str, object] = {
        "jobset-name": metadata["name"],
        "replicatedjob-name": role["name"],
        "replicatedjob-replicas": role.get("replicas", 1),
        "global-replicas": _jobs(roles),
        "job-index": index,
        "job-global-index": _jobs(before) + index,
        "job-key": sha1(key.encode(), usedforsecurity=False).hexdigest(),
        "restart-attempt": 0,
        "group-name": group,
        "group-replicas": _jobs([other for other in roles if other.get("groupName", "default") == group]),
        "job-group-index": _jobs([other for other in before if other.get("groupName", "default") == group]) + index,
    }
    chosen = jobset["spec"].get("coordinator")
    if chosen:
        host = f"{metadata['name']}-{chosen['replicatedJob']}-{chosen.get('jobIndex', 0)}-{chosen.get('podIndex', 0)}"
        words["coordinator"] = f"{host}.{jobset['spec'].get('network', {}).get('subdomain', metadata['name'])}"
    return {f"{_PREFIX}{word}": str(value) for word, value in words.items()}


def _jobs(roles: list[Object]) -> int:
    return sum(role.get("replicas", 1) for role in roles)


def _add_claims(jobset: Object, pod: Object) -> None:
    """Add the volumes of claims that a container of the pod mounts."""
    containers = [container for field in _CONTAINERS for container in pod.get(field, ())]
    mounted = {mount["name"] for container in containers for mount in container.get("volumeMounts", ())}
    for policy in jobset["spec"].get("volumeClaimPolicies", ()):
        for template in policy["templates"]:
            name = template["metadata"]["name"]
            if name in mounted:
                claim = {"claimName": f"{name}-{jobset['metadata']['name']}"}
                pod.setdefault("volumes", []).append({"name": name, "persistentVolumeClaim": claim})


def _pod(job: Object, index: int) -> Object:
    template, name = deepcopy(job["spec"]["template"]), job["metadata"]["name"]
    metadata, spec = template["metadata"], template["spec"]
    metadata["labels"] |= {"batch.kubernetes.io/job-name": name, "job-name": name}
    metadata |= {"generateName": f"{name}-", "namespace": job["metadata"]["namespace"]}
    if job["spec"].get("completionMode", "Indexed") == "Indexed":
        metadata["generateName"] = f"{name}-{index}-"
        metadata["labels"][_INDEX] = metadata["annotations"][_INDEX] = str(index)
        spec["hostname"] = f"{name}-{index}"
        for field in _CONTAINERS:
            for container in spec.get(field, ()):
                _add_index(container)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _add_index(container: Object) -> None:
    env = container.setdefault("env", [])
    if all(variable["name"] != "JOB_COMPLETION_INDEX" for variable in env):
        field = {"fieldPath": f"metadata.labels['{_INDEX}']"}
        env.append({"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": field}})
