"""TrainJobs and runtimes of earlier releases, and of the first proposal, in the spelling of Trainer v2.3."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from trainc.changes.migrate.chunks import MisshapenError, below, fresh, items, mapping, rename, take
from trainc.model.plan import ANCESTOR_LABEL
from trainc.text.numbers import whole_number
from trainc.text.object_keys import FORMER_TRAINER_API, TRAINER_API

_PLURAL = {"container": "containers", "initContainer": "initContainers", "volume": "volumes"}
_PATCHABLE = ("name", "env", "volumeMounts", "securityContext")
_ROLES = {"trainer-node": "node"}


def rewrite(root: Any, kind: str) -> Iterator[str]:
    """What is changed in a TrainJob or a runtime, in place; nothing in one that is already in today's spelling."""
    spec = root.get("spec")
    if root.get("apiVersion") == FORMER_TRAINER_API:
        root["apiVersion"] = TRAINER_API
        yield f"`{FORMER_TRAINER_API}` became `{TRAINER_API}` in February 2025"
    if not isinstance(spec, dict):
        return
    yield from _of_job(spec) if kind == "TrainJob" else _of_runtime(spec)


def _of_job(spec: Any) -> Iterator[str]:
    if "trainingRuntimeRef" in spec:
        rename(spec, "trainingRuntimeRef", "runtimeRef")
        yield "`trainingRuntimeRef` became `runtimeRef` in October 2024"
    reference = spec.get("runtimeRef")
    for key in ("namespace", "version"):
        if isinstance(reference, dict) and take(reference, key) is not None:
            yield f"`runtimeRef.{key}` was removed: a TrainingRuntime is looked up in the job's namespace"
    if (dataset := take(spec, "datasetConfig")) is not None:
        below(spec, "initializer")["dataset"] = dataset
        yield "`datasetConfig` became `initializer.dataset` in March 2025"
    if (model := take(spec, "modelConfig")) is not None:
        if "input" in mapping(model):
            below(spec, "initializer")["model"] = model["input"]
            yield "`modelConfig.input` became `initializer.model` in March 2025"
        if "output" in model:
            yield "`modelConfig.output` was removed: no controller exports the model, the job must do it"
    for source in ("dataset", "model"):
        secret = mapping(mapping(spec.get("initializer")).get(source)).get("secretRef")
        if isinstance(secret, dict) and take(secret, "namespace") is not None:
            yield f"`initializer.{source}.secretRef.namespace` was removed: the Secret is in the job's namespace"
    trainer = spec.get("trainer")
    procs = trainer.get("numProcPerNode") if isinstance(trainer, dict) else None
    if isinstance(procs, str) and (number := whole_number(procs)) is not None:
        trainer["numProcPerNode"] = number
        yield f'`numProcPerNode: "{procs}"` is a number since v2.2'
    elif isinstance(procs, str):
        del trainer["numProcPerNode"]
        yield f"`numProcPerNode: {procs}` was removed in v2.2: the number is derived from the resources"
    added: list[Any] = []
    if metadata := {key: take(spec, key) for key in ("labels", "annotations") if key in spec}:
        entry = fresh({"manager": "trainc.dev/metadata", "trainingRuntimeSpec": {"template": {"metadata": {}}}})
        entry["trainingRuntimeSpec"]["template"]["metadata"].update(metadata)
        added.append(entry)
        yield f"{' and '.join(f'`spec.{key}`' for key in metadata)} of the JobSet go to `runtimePatches` since v2.2"
    for old in ("podSpecOverrides", "podTemplateOverrides"):
        if (overrides := take(spec, old)) is None:
            continue
        yield f"`{old}` became `runtimePatches` in v2.2: a patch merges with the whole template, and a role that is not there is added"
        for index, override in enumerate(items(overrides)):
            entry, lost = _patch(override, old, index)
            added.append(entry)
            yield from lost
    if added:
        if spec.get("runtimePatches") is None:
            spec["runtimePatches"] = fresh([])
        items(spec["runtimePatches"]).extend(added)


def _patch(override: Any, old: str, index: int) -> tuple[Any, list[str]]:
    """A pod override as a patch, and what it said that no patch can say."""
    manager = take(override, "manager") or f"trainc.dev/override-{index}"
    targets = [mapping(item).get("name") for item in items(take(override, "targetJobs"))]
    targets += items(take(override, "targetReplicatedJobs"))
    if not all(isinstance(target, str) for target in targets):
        raise MisshapenError
    template = override if old == "podTemplateOverrides" else fresh({"spec": None})
    if old == "podSpecOverrides":
        template["spec"] = override
    pod, lost = mapping(template.get("spec")), []
    for key, new in _PLURAL.items():
        if key in pod:
            rename(pod, key, new)
    for field in ("containers", "initContainers"):
        for container in items(pod.get(field)):
            for key in [key for key in mapping(container) if key not in _PATCHABLE]:
                del container[key]
                name = container.get("name", "")
                lost.append(f"`{key}` of container `{name}` cannot be patched: set it in `spec.trainer`")
    jobs = fresh([])
    if any(target in _ROLES for target in targets):
        _name_node(pod)
    for target in targets:
        job = fresh({"name": _ROLES.get(target, target), "template": {"spec": {"template": None}}})
        job["template"]["spec"]["template"] = deepcopy(template) if len(targets) > 1 else template
        jobs.append(job)
    entry = fresh({"manager": manager, "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": None}}}})
    entry["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"] = jobs
    return entry, lost


def _name_node(pod: Any) -> None:
    """Call the container of the trainer as it is called today."""
    for container in items(mapping(pod).get("containers")):
        if mapping(container).get("name") == "trainer":
            container["name"] = "node"


_PHASE = "training.kubeflow.org/phase"
_JOBSET = ("replicatedJobs", "network", "successPolicy", "failurePolicy", "startupPolicy", "coordinator")
_POLICIES = {"torchSpec": "torch", "mpiSpec": "mpi"}


_TORCH = {
    "numProcPerNode": "since v2.2 the number is derived from the resources, or the job's `trainer.numProcPerNode` sets it",
    "elasticPolicy": "removed in v2.2; it never had an effect",
    "standalone": "removed before v2.0",
}


def _of_runtime(spec: Any) -> Iterator[str]:
    if "mlSpec" in spec:
        rename(spec, "mlSpec", "mlPolicy")
        yield "`mlSpec` became `mlPolicy` in August 2024"
    if "numNodes" in spec:
        below(spec, "mlPolicy")["numNodes"] = take(spec, "numNodes")
        yield "`spec.numNodes` became `spec.mlPolicy.numNodes` in August 2024"
    if isinstance(policy := spec.get("mlPolicy"), dict):
        for old, new in _POLICIES.items():
            if old in policy:
                rename(policy, old, new)
                yield f"`{old}` became `mlPolicy.{new}` in August 2024"
        torch, mpi = policy.get("torch"), policy.get("mpi")
        for key, reason in _TORCH.items():
            if isinstance(torch, dict) and take(torch, key) is not None:
                yield f"`mlPolicy.torch.{key}` was removed: {reason}"
        if isinstance(mpi, dict) and "SSHAuthMountPath" in mpi:
            rename(mpi, "SSHAuthMountPath", "sshAuthMountPath")
            yield "`SSHAuthMountPath` became `sshAuthMountPath`"
    if "podGroupSpec" in spec:
        rename(spec, "podGroupSpec", "podGroupPolicy")
        yield "`podGroupSpec` became `podGroupPolicy` in August 2024"
    group = spec.get("podGroupPolicy")
    if isinstance(group, dict) and "scheduleTimeoutSeconds" in group:
        seconds = take(group, "scheduleTimeoutSeconds")
        below(group, "coscheduling")["scheduleTimeoutSeconds"] = seconds
        yield "`scheduleTimeoutSeconds` belongs to `podGroupPolicy.coscheduling`"
    keys = [key for key in _JOBSET if key in spec]
    for key in keys:
        below(spec, "template", "spec")[key] = take(spec, key)
    if keys:
        yield f"{', '.join(f'`{key}`' for key in keys)} went to `spec.template.spec` in August 2024"
    for job in items(mapping(mapping(spec.get("template")).get("spec")).get("replicatedJobs")):
        template = mapping(mapping(job).get("template"))
        take(mapping(template.get("metadata")).get("labels"), _PHASE)
        if mapping(job).get("name") == "trainer-node":
            job["name"] = "node"
            below(job, "template", "metadata", "labels")[ANCESTOR_LABEL] = "trainer"
            _name_node(mapping(mapping(template.get("spec")).get("template")).get("spec"))
            yield "the role `trainer-node` with its container `trainer` is `node` with a container `node` since v2.0"
