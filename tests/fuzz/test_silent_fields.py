"""No field is taken and then dropped in silence: it changes what comes out, is refused, or something is said of it."""

import copy
import os
import re
from functools import cache
from pathlib import Path

import pytest

from tests.compiling import compile_in
from tests.fuzz.inputs import Input
from tests.fuzz.projects import Files, projects
from tests.fuzz.schemas import Chain, fields_of_schemas, loud, missing, schemas
from tests.fuzz.systematic import documents_of, put, text_of

Base = tuple[Files, str, int, tuple[int, str, str]]  # a project, a document in it, and what comes out

pytestmark = pytest.mark.slow

COUNT = int(os.environ.get("TRAINC_FIELDS", "8"))  # of each kind; all of them take minutes
_OF_RUNTIMES = {
    "spec.mlPolicy.numNodes": "the job says it",
    "spec.mlPolicy.torch": "what it stands for follows from the label of a framework as well",
    "spec.template.metadata.name": "the controller takes labels and annotations alone",
    "spec.template.metadata.namespace": "the controller takes labels and annotations alone",
    "spec.template.metadata.finalizers": "the controller takes labels and annotations alone",
    "spec.template.metadata.finalizers.0": "the controller takes labels and annotations alone",
    "spec.template.spec.network.enableDNSHostnames": "the default",
    "spec.template.spec.network.publishNotReadyAddresses": "the default",
    "spec.template.spec.replicatedJobs.0.template.spec.completions": "`numNodes` says it",
    "spec.template.spec.replicatedJobs.0.template.spec.parallelism": "`numNodes` says it",
    "spec.template.spec.startupPolicy": "any order is the default",
    "spec.template.spec.startupPolicy.startupPolicyOrder": "any order is the default",
    "spec.template.spec.successPolicy": "all is the default",
    "spec.template.spec.suspend": "the job says it",
    "spec.template.spec.volumeClaimPolicies.0.retentionPolicy": "the default",
}
# Fields that nobody hears of, and why.
SILENT: dict[str, dict[str, str]] = {
    "Job": {
        "spec.maxRetry": "matters where a policy restarts the job",
        "spec.tasks.0.maxRetry": "matters where a policy restarts the job",
        "spec.tasks.0.dependsOn.iteration": "matters for several tasks",
        "spec.tasks.0.minAvailable": "the task has one pod",
        "spec.tasks.0.template.spec.containers.0.command": "the plugin `ray` writes it",
        "spec.tasks.0.template.spec.containers.0.command.0": "the plugin `ray` writes it",
    },
    "JobSet": {
        "spec.network.enableDNSHostnames": "the default",
        "spec.network.publishNotReadyAddresses": "the default",
        "spec.startupPolicy": "any order is the default",
        "spec.startupPolicy.startupPolicyOrder": "any order is the default",
        "spec.successPolicy": "all is the default",
    },
    "LeaderWorkerSet": {
        "spec.leaderWorkerTemplate.subGroupPolicy.subGroupPolicyType": "matters where a group has several sub-groups",
        "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize": "one sub-group is the whole group; others are refused",
        "spec.leaderWorkerTemplate.workerTemplate.spec.hostname": "a StatefulSet sets it",
        "spec.leaderWorkerTemplate.workerTemplate.spec.subdomain": "a StatefulSet sets it",
        "spec.leaderWorkerTemplate.workerTemplate.spec.restartPolicy": "a StatefulSet has `Always` alone",
        "spec.networkConfig": "shared is the default",
        "spec.networkConfig.subdomainPolicy": "shared is the default",
        "spec.rolloutStrategy": "how a set is updated; a run is not",
        "spec.rolloutStrategy.type": "how a set is updated; a run is not",
    },
    "MiniCluster": {
        "spec.containers.0.name": "the operator names the container after the cluster",
        "spec.containers.0.commands.servicePre": "of services alone",
        "spec.containers.0.volumes.*.csiDriverAttributes": "of a volume with `csiDriver` alone",
        "spec.containers.0.volumes.*.csiDriverAttributes.*": "of a volume with `csiDriver` alone",
        "spec.containers.0.volumes.*.emptyDirMedium": "of a volume with `emptyDir` alone",
        "spec.containers.0.volumes.*.emptyDirSizeLimit": "of a volume with `emptyDir` alone",
        "spec.containers.0.volumes.*.items": "of a volume with `configMapName` alone",
        "spec.containers.0.volumes.*.items.*": "of a volume with `configMapName` alone",
        "spec.containers.0.batchRaw": "matters beside `batch`",
        "spec.containers.0.noWrapEntrypoint": "matters beside an entrypoint of the operator",
        "spec.flux.noWaitSocket": "matters beside services",
        "spec.flux.arch": "of the operator's own set-up",
        "spec.flux.container.imagePullSecret": "the operator reads those of containers alone",
    },
    "TrainJob": {"spec.runtimePatches.0.manager": "who patches; it goes into no object"},
    **dict.fromkeys(("ClusterTrainingRuntime", "TrainingRuntime"), _OF_RUNTIMES),
    "MPIJob": {"spec.runPolicy.ttlSecondsAfterFinished": "left out whatever it is, which is said"},
    "RayJob": {
        "spec.rayClusterSpec.headGroupSpec.resources": "KubeRay skips what is no amount",
        "spec.rayClusterSpec.headGroupSpec.template.spec.restartPolicy": "KubeRay's own",
        "spec.rayClusterSpec.rayVersion": "of the operator's checks alone",
        "spec.rayClusterSpec.suspend": "of a cluster without a job",
        "spec.rayClusterSpec.workerGroupSpecs.0.maxReplicas": "of autoscaling alone, which is refused",
        "spec.rayClusterSpec.workerGroupSpecs.0.priority": "of autoscaling alone, which is refused",
        "spec.rayClusterSpec.workerGroupSpecs.0.template.spec.restartPolicy": "KubeRay's own",
        "spec.submissionMode": "the default; others are refused",
    },
    "XGBoostJob": {"spec.runPolicy.backoffLimit": "the operator does not count pods of `Never`"},
    "TfJob": {
        "spec.replicaSpecs.0.replicas": "one is the default, and what a master has",
        "spec.RuntimeId": "the operator's own",
        "spec.replicaSpecs.0.IsDefaultPS": "the operator's own",
        "spec.tfImage": "of a parameter server that the operator writes itself",
    },
}
_MARKS = re.compile(r"sha256:\w+|^#.*$|:\d+:\d+|^\s*\d* \|.*$", re.MULTILINE)  # of the file alone, and where in it
# Of the first, the operator of MiniClusters takes `fsGroup` and leaves the rest; the second is a task of one pod.
_OWN = ("spec.pod.securityContext", "spec.tasks.0.partitionPolicy")
# Those of Runtimes and their components take away as well as add, which says nothing where there is nothing to take away.
KINDS = [kind for kind in sorted(schemas()) if not kind[0].startswith("trainc.dev/")]
_CANDIDATES = 40  # projects of a kind that are tried, large ones first
_MAX_BYTES = 6_000  # of a project that every field of a kind is put into


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(kind).replace("/", "-"))
def test_a_field_is_heard(kind: tuple[str, str], tmp_path: Path) -> None:
    base = _base(kind, tmp_path)
    if base is None:
        pytest.skip("no project with this kind alone compiles")
    fields = _fields()[kind]
    names = [
        name for name in fields if name not in SILENT.get(kind[1], {}) and not name.startswith(("metadata", *_OWN))
    ]
    chosen = names[:: max(1, len(names) // COUNT)]
    assert [name for name in chosen if _is_silent(base, fields[name], tmp_path)] == []


@cache
def _fields() -> dict[tuple[str, str], dict[str, Chain]]:
    """The fields of each kind by their paths."""
    found: dict[tuple[str, str], dict[str, Chain]] = {}
    for key, chain in fields_of_schemas():
        found.setdefault(key, {})[".".join(str(step) for step, _ in chain)] = chain
    return found


def _is_silent(base: Base, chain: Chain, folder: Path) -> bool:
    """Whether some values of a field leave everything as it is without a word, and no value is taken and heard of."""
    files, file, number, before = base
    documents = documents_of(dict(files)[file])
    path, rest = missing(documents[number], chain)
    is_dropped = False
    for value in loud(rest):
        changed = copy.deepcopy(documents)
        put(changed[number], path, value)
        if changed != documents:
            outcome = _outcome({**dict(files), file: text_of(changed)}, folder)
            if outcome[0] == 0 and outcome != before:
                return False
            is_dropped |= outcome == before
    return is_dropped


def _base(kind: tuple[str, str], folder: Path) -> Base | None:
    """A project with a document of this kind that compiles without an error: its files, the place, and what comes out."""
    found = [
        (files, file, number)
        for files, options in projects()
        if not options and sum(len(data) for _, data in files) <= _MAX_BYTES
        for file, data in files
        if kind[1].encode() in data
        for number, document in enumerate(documents_of(data))
        if (document.get("apiVersion"), document.get("kind")) == kind
    ]
    found.sort(key=lambda one: -sum(len(data) for _, data in one[0]))
    for files, file, number in found[:_CANDIDATES]:
        outcome = _outcome({**dict(files), file: text_of(documents_of(dict(files)[file]))}, folder)
        if outcome[0] == 0:
            return files, file, number, outcome
    return None


def _outcome(files: dict[str, bytes], folder: Path) -> tuple[int, str, str]:
    Input((), files).write(folder / "in")
    run = compile_in(folder / "in", "build", "-v")
    return run.code, _MARKS.sub("", run.out), _MARKS.sub("", run.err)
