"""TrainJobs of earlier releases in the spelling of Trainer v2.3."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from trainc.changes.migrate.chunks import fresh
from trainc.changes.migrate.keys import MisshapenError, below, items, mapping, rename, take
from trainc.text.numbers import whole_number
from trainc.text.object_keys import FORMER_TRAINER_API, TRAINER_API

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLURAL = {"container": "containers", "initContainer": "initContainers", "volume": "volumes"}
_PATCHABLE = ("name", "env", "volumeMounts", "securityContext")
_ROLES = {"trainer-node": "node"}


def rewrite(root: Any) -> list[str]:
    """What was changed in a TrainJob, in place; empty for one that is already in today's spelling."""
    return [*_changes(root)]


def _changes(root: Any) -> Iterator[str]:
    spec = root.get("spec")
    if root.get("apiVersion") == FORMER_TRAINER_API:
        root["apiVersion"] = TRAINER_API
        yield f"`{FORMER_TRAINER_API}` became `{TRAINER_API}` in February 2025"
    if not isinstance(spec, dict):
        return
    yield from _reference(spec)
    yield from _initializer(spec)
    yield from _processes(spec)
    yield from _patches(spec)


def _reference(spec: Any) -> Iterator[str]:
    if "trainingRuntimeRef" in spec:
        rename(spec, "trainingRuntimeRef", "runtimeRef")
        yield "`trainingRuntimeRef` became `runtimeRef` in October 2024"
    reference = spec.get("runtimeRef")
    if not isinstance(reference, dict):
        return
    for key in ("namespace", "version"):
        if take(reference, key) is not None:
            yield f"`runtimeRef.{key}` is gone: a TrainingRuntime is looked up in the job's own namespace"


def _initializer(spec: Any) -> Iterator[str]:
    dataset = take(spec, "datasetConfig")
    if dataset is not None:
        below(spec, "initializer")["dataset"] = dataset
        yield "`datasetConfig` became `initializer.dataset` in March 2025"
    model = take(spec, "modelConfig")
    if model is not None:
        if "input" in mapping(model):
            below(spec, "initializer")["model"] = model["input"]
            yield "`modelConfig.input` became `initializer.model` in March 2025"
        if "output" in model:
            yield "`modelConfig.output` is gone: nothing exports a model, the job has to do it itself"
    for source in ("dataset", "model"):
        secret = mapping(mapping(spec.get("initializer")).get(source)).get("secretRef")
        if isinstance(secret, dict) and take(secret, "namespace") is not None:
            yield f"`initializer.{source}.secretRef.namespace` is gone: the Secret lives in the job's namespace"


def _processes(spec: Any) -> Iterator[str]:
    trainer = spec.get("trainer")
    procs = trainer.get("numProcPerNode") if isinstance(trainer, dict) else None
    if not isinstance(procs, str):
        return
    number = whole_number(procs)
    if number is not None:
        trainer["numProcPerNode"] = number
        yield f'`numProcPerNode: "{procs}"` is a number since v2.2'
    else:
        del trainer["numProcPerNode"]
        yield f"`numProcPerNode: {procs}` is gone since v2.2: the number follows from the resources"


def _patches(spec: Any) -> Iterator[str]:
    added: list[Any] = []
    metadata = {key: take(spec, key) for key in ("labels", "annotations") if key in spec}
    if metadata:
        entry = fresh({"manager": "trainc.dev/metadata", "trainingRuntimeSpec": {"template": {"metadata": {}}}})
        entry["trainingRuntimeSpec"]["template"]["metadata"].update(metadata)
        added.append(entry)
        yield f"{_and(metadata)} of the JobSet go to `runtimePatches` since v2.2"
    for old in ("podSpecOverrides", "podTemplateOverrides"):
        overrides = take(spec, old)
        if overrides is None:
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
    manager = take(override, "manager") or f"trainc.dev/override-{index}"
    targets = [mapping(item).get("name") for item in items(take(override, "targetJobs"))]
    targets += items(take(override, "targetReplicatedJobs"))
    if not all(isinstance(target, str) for target in targets):
        raise MisshapenError
    template = override if old == "podTemplateOverrides" else fresh({"spec": None})
    if old == "podSpecOverrides":
        template["spec"] = override
    lost = _patchable(template.get("spec"))
    jobs = fresh([])
    if any(target in _ROLES for target in targets):
        _call_node(mapping(template.get("spec")))
    for target in targets:
        job = fresh({"name": _ROLES.get(target, target), "template": {"spec": {"template": None}}})
        job["template"]["spec"]["template"] = deepcopy(template) if len(targets) > 1 else template
        jobs.append(job)
    entry = fresh({"manager": manager, "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": None}}}})
    entry["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"] = jobs
    return entry, lost


def _call_node(spec: Any) -> None:
    """The first proposal called the container of the role `trainer-node` otherwise."""
    for container in items(spec.get("containers")):
        if mapping(container).get("name") == "trainer":
            container["name"] = "node"


def _patchable(spec: Any) -> list[str]:
    """What a pod override said that no patch can say; the pod itself is put into today's words in place."""
    lost = []
    for old, new in _PLURAL.items():
        if old in mapping(spec):
            rename(spec, old, new)
    for field in ("containers", "initContainers"):
        for container in items(mapping(spec).get(field)):
            for key in [key for key in mapping(container) if key not in _PATCHABLE]:
                del container[key]
                lost.append(
                    f"`{key}` of container `{container.get('name', '')}` cannot be patched: say it in `spec.trainer`"
                )
    return lost


def _and(keys: Any) -> str:
    return " and ".join(f"`spec.{key}`" for key in keys)
