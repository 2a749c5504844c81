"""Runtimes of earlier releases and of the first proposal in the spelling of Trainer v2.3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.changes.migrate.keys import below, items, mapping, rename, take
from trainc.model.plan import ANCESTOR_LABEL
from trainc.text.object_keys import FORMER_TRAINER_API, TRAINER_API

if TYPE_CHECKING:
    from collections.abc import Iterator

_PHASE = "training.kubeflow.org/phase"
_JOBSET = ("replicatedJobs", "network", "successPolicy", "failurePolicy", "startupPolicy", "coordinator")
_POLICIES = {"torchSpec": "torch", "mpiSpec": "mpi"}


def rewrite(root: Any) -> list[str]:
    """What was changed in a runtime, in place; empty for one that is already in today's spelling."""
    return [*_changes(root)]


def _changes(root: Any) -> Iterator[str]:
    if root.get("apiVersion") == FORMER_TRAINER_API:
        root["apiVersion"] = TRAINER_API
        yield f"`{FORMER_TRAINER_API}` became `{TRAINER_API}` in February 2025"
    spec = root.get("spec")
    if not isinstance(spec, dict):
        return
    yield from _policy(spec)
    yield from _gang(spec)
    yield from _jobset(spec)
    for job in items(mapping(mapping(spec.get("template")).get("spec")).get("replicatedJobs")):
        yield from _role(job)


def _policy(spec: Any) -> Iterator[str]:
    if "mlSpec" in spec:
        rename(spec, "mlSpec", "mlPolicy")
        yield "`mlSpec` became `mlPolicy` in August 2024"
    if "numNodes" in spec:
        below(spec, "mlPolicy")["numNodes"] = take(spec, "numNodes")
        yield "`spec.numNodes` became `spec.mlPolicy.numNodes` in August 2024"
    policy = spec.get("mlPolicy")
    if not isinstance(policy, dict):
        return
    for old, new in _POLICIES.items():
        if old in policy:
            rename(policy, old, new)
            yield f"`{old}` became `mlPolicy.{new}` in August 2024"
    torch, mpi = policy.get("torch"), policy.get("mpi")
    for key, reason in _TORCH.items():
        if isinstance(torch, dict) and take(torch, key) is not None:
            yield f"`mlPolicy.torch.{key}` is gone: {reason}"
    if isinstance(mpi, dict) and "SSHAuthMountPath" in mpi:
        rename(mpi, "SSHAuthMountPath", "sshAuthMountPath")
        yield "`SSHAuthMountPath` is spelled `sshAuthMountPath`"


_TORCH = {
    "numProcPerNode": "since v2.2 the number follows from the resources, or the job's `trainer.numProcPerNode` says it",
    "elasticPolicy": "removed in v2.2, it never had an effect on what was built",
    "standalone": "removed before v2.0",
}


def _gang(spec: Any) -> Iterator[str]:
    if "podGroupSpec" in spec:
        rename(spec, "podGroupSpec", "podGroupPolicy")
        yield "`podGroupSpec` became `podGroupPolicy` in August 2024"
    policy = spec.get("podGroupPolicy")
    if isinstance(policy, dict) and "scheduleTimeoutSeconds" in policy:
        seconds = take(policy, "scheduleTimeoutSeconds")
        below(policy, "coscheduling")["scheduleTimeoutSeconds"] = seconds
        yield "`scheduleTimeoutSeconds` belongs to `podGroupPolicy.coscheduling`"


def _jobset(spec: Any) -> Iterator[str]:
    keys = [key for key in _JOBSET if key in spec]
    for key in keys:
        below(spec, "template", "spec")[key] = take(spec, key)
    if keys:
        yield f"{', '.join(f'`{key}`' for key in keys)} went to `spec.template.spec` in August 2024"


def _role(job: Any) -> Iterator[str]:
    template = mapping(mapping(job).get("template"))
    take(mapping(template.get("metadata")).get("labels"), _PHASE)
    if mapping(job).get("name") != "trainer-node":
        return
    job["name"] = "node"
    below(job, "template", "metadata", "labels")[ANCESTOR_LABEL] = "trainer"
    pod = mapping(mapping(mapping(template.get("spec")).get("template")).get("spec"))
    for container in items(pod.get("containers")):
        if mapping(container).get("name") == "trainer":
            container["name"] = "node"
    yield "the role `trainer-node` with its container `trainer` is `node` with a container `node` since v2.0"
