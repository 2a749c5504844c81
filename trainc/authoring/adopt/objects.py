"""The objects of a dump, sorted: jobs and runtimes to adopt, and every other one with the reason why it is left out."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Any, NamedTuple

from trainc.apiserver.pods.complaints import fields, maps, text
from trainc.kinds.other_operators import COMPILE, INPUT_KINDS, JOB, LEADER_WORKER_SET, RUNS_TO_COMPLETION, is_training
from trainc.kinds.table import KINDS, REMOVED
from trainc.kinds.unsupported import foreign_kind
from trainc.model.tree import stamp
from trainc.text.object_keys import FORMER_TRAINER_API, JOBSET_API, TRAINER_API

RUNTIMES = ("ClusterTrainingRuntime", "TrainingRuntime")
_TRAINER = (TRAINER_API, FORMER_TRAINER_API)
# Facts of a cluster that checks read from its folder; its README has the command that keeps them there.
_FACTS = frozenset((
    "AdmissionCheck", "ClusterQueue", "Cohort", "CustomResourceDefinition", "LimitRange", "LocalQueue", "Namespace",
    "Node", "PersistentVolumeClaim", "PriorityClass", "ResourceFlavor", "ResourceQuota", "RuntimeClass",
    "StorageClass", "Topology", "WorkloadPriorityClass",
))  # fmt: skip

Key = tuple[str, str, str, str]  # group, kind, namespace, name
# Of every kind that has conditions:
_CONDITIONS = {
    **dict.fromkeys(("Complete", "Completed", "Succeeded"), "succeeded"),
    "JobFinished": "ended",
    "Failed": "failed",
}
# Of Volcano, and of the ancestors of the TFJob:
_PHASES = {"Completed": "succeeded", "Terminated": "ended", "Failed": "failed", "Done": "succeeded"}
_DEPLOYMENTS = {"Complete": "succeeded", "Failed": "failed"}  # of a RayJob, after its last try
JOBS, HELD, ARCHIVE = "jobs", "held", "archive"
# Neither kubectl, nor Argo CD, nor Flux, nor trainc reads a file of such a name.
SUFFIXES = {JOBS: "", HELD: ".held", ARCHIVE: ".finished"}
_DEVICES = frozenset(
    ("aux", "con", "nul", "prn", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10)))
)
_LONGEST = 200  # characters of a name; a file may have 255
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-.")


class DumpedObject(NamedTuple):
    """One object of a dump with the names that tell it from all others."""

    tree: dict[str, Any]
    api: str
    kind: str
    namespace: str
    name: str

    @property
    def key(self) -> Key:
        """What a server knows it by."""
        return self.api.rpartition("/")[0], self.kind, self.namespace, self.name

    @property
    def shown(self) -> str:
        """As people write it: the kind, the namespace and the name."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"

    @property
    def uid(self) -> str:
        """The identity that its server gave it, empty where the dump does not say."""
        return text(_metadata(self.tree), "uid")


class LeftOut(NamedTuple):
    """An object that no file is written for, and why."""

    object: DumpedObject
    reason: str


class SortedDump(NamedTuple):
    """What a dump holds: every object is in one of the first three, `all` has each by its key."""

    jobs: list[DumpedObject]
    runtimes: list[DumpedObject]
    left: list[LeftOut]
    all: dict[Key, DumpedObject]
    mixed: list[tuple[DumpedObject, DumpedObject]]  # one name, two identities: objects of two clusters


def sort_objects(trees: Iterable[dict[str, Any]]) -> SortedDump:
    """Every object of a dump in its place."""
    dump = SortedDump([], [], [], {}, [])
    fresh = []
    for tree in trees:
        metadata = _metadata(tree)
        words = (tree.get("apiVersion"), tree.get("kind"), metadata.get("namespace"), metadata.get("name"))
        one = DumpedObject(tree, *(word if isinstance(word, str) else "" for word in words))
        if not one.name:
            dump.left.append(LeftOut(one, "it has no name"))
            continue
        if (known := dump.all.setdefault(one.key, one)) is one:
            fresh.append(one)
        elif known.uid != one.uid:
            dump.mixed.append((known, one))
            dump.left.append(LeftOut(one, "another object has its name"))
        else:
            dump.left.append(LeftOut(one, "the dump lists it twice"))
    by_uid = {one.uid: one for one in fresh if one.uid}
    for one in sorted(fresh, key=lambda one: (one.namespace, one.name, one.kind, one.api)):
        if reason := _reason(one, by_uid, dump.all):
            dump.left.append(LeftOut(one, reason))
        elif one.kind in RUNTIMES:
            dump.runtimes.append(one)
        else:
            dump.jobs.append(one)
    return dump


def owner_of(one: DumpedObject) -> dict[str, Any] | None:
    """The reference to the object whose controller made this one."""
    references = maps(_metadata(one.tree).get("ownerReferences"))
    return next((each for _, each in references if each.get("controller") is True), None)


def _reason(one: DumpedObject, by_uid: dict[str, DumpedObject], known: dict[Key, DumpedObject]) -> str:
    """Why an object is not adopted, empty for one that is."""
    if (owner := owner_of(one)) is not None:
        group = str(owner.get("apiVersion", "")).rpartition("/")[0]
        kind, name = str(owner.get("kind", "")), str(owner.get("name", ""))
        is_there = owner.get("uid") in by_uid or (group, kind, one.namespace, name) in known
        adopted = {"TrainJob", "JobSet", *(kind for _, kind in KINDS), *(kind for _, kind in INPUT_KINDS)}
        missing = "" if is_there or kind not in adopted else ", which is not in the dump"
        return f"{kind} {name} owns it{missing}"
    if _metadata(one.tree).get("deletionTimestamp"):
        return "it is being deleted"
    key = (one.api, one.kind)
    if (one.api in _TRAINER and one.kind in ("TrainJob", *RUNTIMES)) or key == (JOBSET_API, "JobSet") or key in KINDS:
        return ""
    if key == JOB:
        return "" if is_training(stamp(one.tree, "dump")) else f"it is not training; `{COMPILE}` overrides this"
    if key == LEADER_WORKER_SET:
        ends = fields(_metadata(one.tree).get("annotations")).get(RUNS_TO_COMPLETION) == "true"
        return "" if ends else "a LeaderWorkerSet is a service and never completes"
    if key in INPUT_KINDS:
        return ""
    if key in REMOVED:
        return REMOVED[key][0]
    if (foreign := foreign_kind(one.api, one.kind, stamp(one.tree, "dump"))) is not None:
        return foreign.message
    if one.kind == "Secret":
        return "the content of a Secret does not belong in Git"
    if one.kind in _FACTS:
        return "it belongs in the cluster's folder: see the README there"
    return "trainc does not compile this kind"


def _metadata(tree: dict[str, Any]) -> dict[str, Any]:
    return fields(tree.get("metadata"))


def ending(tree: dict[str, Any]) -> str:
    """How a job has ended (succeeded, failed or just ended), empty for one that has not."""
    status = fields(tree.get("status"))
    if tree.get("kind") == "RayJob":
        return _DEPLOYMENTS.get(str(status.get("jobDeploymentStatus")), "")
    for _, condition in maps(status.get("conditions")):
        if condition.get("status") == "True" and (ended := _CONDITIONS.get(str(condition.get("type")))):
            return ended
    state = status.get("state")
    return _PHASES.get(str((state if isinstance(state, dict) else status).get("phase")), "")


def job_path(one: DumpedObject, cluster: str, folder: str = JOBS) -> str:
    """The file of a job: by cluster, namespace and name; a TrainJob has its plain name."""
    lower = "volcanojob" if one.api.startswith("batch.volcano.sh/") else one.kind.lower()  # which it calls a Job, too
    kind = {"TrainJob": "", "JobSet": ".jobset"}.get(one.kind, f".{lower}")
    namespace = step(one.namespace or "default")
    return f"{folder}/{cluster}/{namespace}/{step(one.name)}{kind}.yaml{SUFFIXES[folder]}"


def runtime_path(one: DumpedObject) -> str:
    """The file of a runtime; one of a namespace stands in a folder of that name."""
    inner = f"{step(one.namespace)}/" if one.kind == "TrainingRuntime" and one.namespace else ""
    return f"runtimes/{inner}{step(one.name)}.yaml"


def step(name: str) -> str:
    """A name as one step of a path: letters that a file may not have give way to a digest of the name."""
    if name and len(name) <= _LONGEST and _LETTERS.issuperset(name) and name[0] not in ".-" and name[-1] != ".":
        return f"{name}_" if name.partition(".")[0] in _DEVICES else name
    safe = "".join(letter if letter in _LETTERS else "_" for letter in name.lower())[:_LONGEST].strip(".-")
    return f"{safe}_{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
