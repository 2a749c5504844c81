"""TrainJobs and runtimes of earlier releases, and of the first proposal, in the spelling of Trainer v2.3.

Names that operators gave their pods are rewritten in what is a TrainJob now, and in the ConfigMaps beside it.
"""

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from trainc.changes.migrate.chunks import (
    MisshapenError,
    UnreadableError,
    as_bytes,
    below,
    dump,
    fresh,
    items,
    joined,
    load,
    mapping,
    rename,
    reshape,
    take,
    values,
)
from trainc.changes.migrate.compared import compiled
from trainc.changes.migrate.placed_text import says
from trainc.kinds.shared.former_hosts import FormerHosts
from trainc.model.document import Document
from trainc.model.plan import ANCESTOR_LABEL
from trainc.model.report import Report
from trainc.model.settings import Project
from trainc.model.sourced import Span
from trainc.text.numbers import index_below, whole_number
from trainc.text.object_keys import FORMER_TRAINER_API, TRAINER_API
from trainc.yaml.reader import read

_PLURAL = {"container": "containers", "initContainer": "initContainers", "volume": "volumes"}
_PATCHABLE = ("name", "env", "volumeMounts", "securityContext")
_ROLES = {"trainer-node": "node"}
_PHASE = "training.kubeflow.org/phase"
_JOBSET = ("replicatedJobs", "network", "successPolicy", "failurePolicy", "startupPolicy", "coordinator")
_POLICIES = {"torchSpec": "torch", "mpiSpec": "mpi"}
_TORCH = {
    "numProcPerNode": "since v2.2 the number is derived from the resources, or the job's `trainer.numProcPerNode` sets it",
    "elasticPolicy": "removed in v2.2; it never had an effect",
    "standalone": "removed before v2.0",
}
_FORMER = ("worker", "master", "chief", "launcher")  # of all but workers an operator made one pod, with rank 0
_NOWHERE = Span("", 1, 1, 1, 1)
_UNTOLD = "the node that `{}` means depends on whether the job had a Master: write the name of the node, such as `{}`"


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


class _HostsOfTrainJob(FormerHosts):
    """What operators would have called the pods of a job of this name, and what its JobSet calls them."""

    def __init__(self, document: Document, jobset: dict[str, Any], text: str) -> None:
        super().__init__(document.name, document, Report())
        self._roles = {
            role["name"]: count
            for role in jobset["spec"]["replicatedJobs"]
            if role.get("replicas", 1) == 1 and type(count := role["template"]["spec"].get("completions") or 1) is int
        }
        job = rf"(?:{re.escape(self.base)}|[$`{{%][^\s\"']*)"  # a variable may hold the job's name
        has_head = re.search(rf"{job}-(?:master|chief)-0(?![\w-])", text) is not None
        is_counted = "launcher" in self._roles or re.search(rf"{job}-worker-0(?![\w-])", text) is not None
        self._shift = 1 if has_head else 0 if is_counted else None
        nodes = self._roles.get("node", 0)
        found = {"master": range(1), "chief": range(1), "worker": range(nodes)} if nodes else {}
        own = {name: range(count) for name, count in self._roles.items() if name != "node"}
        # The roles of the JobSet, and those that operators had.
        self.families = {**found, **own, **({"launcher": range(1)} if self._roles else {})}

    def present(self, host: str) -> str:
        """What a pod is called in the JobSet, "" for every other host, and where nobody can tell."""
        first, _, rest = host.partition(".")
        family, _, index = first[len(self.base) + 1 :].partition("-")
        if rest.partition(".")[0] == self.base:
            rest = rest.partition(".")[2]
        number = index_below(index, max(self._roles.values(), default=0) + 1)
        known = family in self.families and bool(index)
        if number is None or not known or not self.is_domain(rest):
            return ""
        role = family if family in self._roles else "node"
        if role == "node" and family == "worker":
            if self._shift is None:
                return ""
            number += self._shift
        if number >= self._roles.get(role, 0):
            return ""
        return f"{self.base}-{role}-0-{number}.{self.base}{rest and '.'}{rest}"

    def untold(self, text: str) -> Iterator[str]:
        """Why names of workers stay as they are, where no text says whether one of them was rank 0."""
        if self._shift is None and "worker" not in self._roles:
            for host in dict.fromkeys(re.findall(rf"(?<![\w./$-]){re.escape(self.base)}-worker-\d+(?![\w-])", text)):
                yield _UNTOLD.format(host, f"{self.base}-node-0-1.{self.base}")


def renamed(
    piece: str, beside: Mapping[int, str], runtimes: list[str], project: Project
) -> tuple[str, Mapping[int, str], list[str], list[str]]:
    """A TrainJob and the ConfigMaps `beside` it, with the names that its pods have now; what changed, and what could not."""
    text = joined([piece, *beside.values()])
    document = next(iter(read(as_bytes(piece), "", Report(), duplicates="ignore")), None)
    if document is None or re.search(rf"-(?:{'|'.join(_FORMER)})\b", text) is None:
        return piece, {}, [], []
    objects, _ = compiled(as_bytes(joined([text, *runtimes])), project)
    jobset = next((one for one in objects if one["kind"] == "JobSet"), None)
    if jobset is None:
        return piece, {}, [], []
    hosts = _HostsOfTrainJob(document, jobset, text)
    # The variables of its containers that have one value wherever they are set.
    pods = [role["template"]["spec"]["template"]["spec"] for role in jobset["spec"]["replicatedJobs"]]
    entries = [entry for pod in pods for one in pod["containers"] for entry in one.get("env", [])]
    found = {entry["name"]: entry.get("value", "$") for entry in entries}
    unlike = {entry["name"] for entry in entries if entry.get("value", "$") != found[entry["name"]]}
    known = {name: text for name, text in found.items() if "$" not in text and name not in unlike}
    pairs: list[tuple[str, str]] = []
    new = _rewritten(piece, "spec", hosts, known, pairs)
    around = {place: _rewritten(one, "data", hosts, known, pairs) for place, one in beside.items()}
    spliced = [f"{one.message}; {one.effect}; {one.help}" for one in hosts.report.findings]
    messages = [f"`{former}` is called `{present}` in the JobSet" for former, present in dict.fromkeys(pairs)]
    return new, around, messages, [*dict.fromkeys(spliced), *hosts.untold(text)]


def _rewritten(
    piece: str, part: str, hosts: FormerHosts, known: Mapping[str, str], pairs: list[tuple[str, str]]
) -> str:
    """A document with present names in the texts of a part of it, letter by letter as it was but for these."""
    (tree,) = values(piece)
    own: list[tuple[str, str]] = []

    def present(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: present(child) for key, child in node.items()}
        if isinstance(node, list):
            return [present(child) for child in node]
        new, found = hosts.renamed(node, known, _NOWHERE) if isinstance(node, str) else (node, [])
        own.extend(found)
        return new

    wanted = {**tree, part: present(tree.get(part))} if tree.get("kind") in {"ConfigMap", "TrainJob"} else tree
    if not own:
        return piece
    text = piece
    for former, now in dict.fromkeys(own):
        text = now.join(re.split(rf"(?<![\w.-]){re.escape(former)}(?![\w-])", text))
    try:
        text = text if says(values(text), [wanted]) else dump(reshape(load(piece), wanted), piece)
    except UnreadableError:
        return piece
    pairs.extend(own)
    return text
