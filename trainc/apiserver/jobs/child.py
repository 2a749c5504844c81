"""The child Jobs that the JobSet controller makes, and what the API server says of them."""

from collections.abc import Mapping
from typing import Any

from trainc.apiserver.fault import Fault, compact
from trainc.apiserver.frame import frame_of
from trainc.apiserver.jobs import created
from trainc.apiserver.jobs.spec import chosen, job_spec, restart, settings_of
from trainc.apiserver.jobset.defaults import with_defaults
from trainc.apiserver.jobset.labels import written_labels
from trainc.apiserver.names import label, label_value
from trainc.apiserver.pods.annotations import annotation_keys
from trainc.apiserver.pods.complaints import Complaints, Field, fields
from trainc.apiserver.pods.template import template
from trainc.apiserver.schema.features import Features
from trainc.model.tree import Path, Tree, get, plain, value
from trainc.text.object_keys import EXCLUSIVE, JOB_LABELS
from trainc.text.placeholders import is_placeholder

Objects = Mapping[str, Mapping[str, Tree]]

# What is refused: a Job for its own spec or for its pod template, a pod, or a claim; the kinds of the faults.
JOB, POD, CREATION, CLAIM = "job", "pod", "pod-creation", "claim"
_EXCLUSIVES = frozenset((EXCLUSIVE, "alpha.jobset.sigs.k8s.io/node-selector"))
_SELECTING = frozenset(("selector", "manualSelector"))
_JUDGING = frozenset(("PriorityClass", "RuntimeClass"))  # objects of a cluster that decide about a pod


class ChildFaults:
    """What the API server says of the children of a JobSet, and which fields it drops, with the gate for each."""

    def __init__(self, features: Features, objects: Objects) -> None:
        self.features = features
        self.objects = objects
        self.faults: list[Fault] = []
        self.dropped: list[Fault] = []

    def add(self, log: Complaints) -> None:
        """Take over the complaints of one look."""
        self.faults += log.faults
        self.dropped += log.dropped


def children(jobset: Tree, features: Features, objects: Objects) -> ChildFaults:
    """What is said of the claims, the Jobs and the pods that a JobSet becomes; nothing where all of them are taken.

    `objects` are those of the cluster that are known, by kind and name. Of a JobSet with the frame of one that was taken,
    nothing but the names can be refused.
    """
    refused = ChildFaults(features, objects)
    if not _is_shaped(jobset.get("spec")):
        return refused
    key = frame_of(jobset), len(str(value(jobset, "metadata", "name")))
    is_known = key in features.taken and _JUDGING.isdisjoint(objects)
    if not (is_known and _are_names_fit(jobset)):
        tree = with_defaults(jobset)
        spec = tree["spec"]
        claimed = _claims(spec, refused) if "volumeClaimPolicies" in spec else {}
        for index, (job, own) in enumerate(zip(spec.get("replicatedJobs", ()), written_labels(tree), strict=True)):
            _job(tree, job, own, ("spec", "replicatedJobs", index), claimed, refused)
        if not refused.faults and not refused.dropped:
            features.take(key)
    return refused


def _are_names_fit(tree: Tree) -> bool:
    """Whether nothing in a JobSet rests on its name but names of hosts, and these are labels."""
    if not _EXCLUSIVES.isdisjoint(fields(get(tree, "metadata", "annotations"))):
        return False
    for job in tree["spec"].get("replicatedJobs", ()):
        spec = job["template"]["spec"]
        if not _SELECTING.isdisjoint(spec) or not _EXCLUSIVES.isdisjoint(
            fields(get(job, "template", "metadata", "annotations"))
        ):
            return False
        labels = get(spec, "template", "metadata", "labels")
        if labels is not None and any(key in labels for key in JOB_LABELS):
            return False
        if label(f"{_last_name(tree, job)}-{value(spec, 'completions') or 0}"):
            return False
    return True


def _is_shaped(spec: Tree) -> bool:
    """Whether the spec of a JobSet is made of maps and lists where its schema has them."""
    if type(spec) is not dict or type(spec.get("network", {})) is not dict:
        return False
    jobs = spec.get("replicatedJobs", [])
    return type(jobs) is list and all(map(_is_shaped_job, jobs))


def _is_shaped_job(tree: Tree) -> bool:
    for field in ("template", "spec", "template", "spec"):
        if type(tree) is not dict:
            return False
        tree = tree.get(field, {})
    return type(tree) is dict


def _claims(spec: Tree, refused: ChildFaults) -> dict[str, str]:
    """The volumes that JobSet adds to pods that mount them, and what is wrong with their claims."""
    from trainc.apiserver.pods.claims import claim  # noqa: PLC0415 (few jobs bring claims)

    claimed: dict[str, str] = {}
    log = Complaints(refused.features, CLAIM)
    for policy in Field(plain(spec), ("spec",), log)["volumeClaimPolicies"].items():
        for entry in policy["templates"].items():
            claim(entry["spec"])
            claimed[entry["metadata"].text("name")] = "persistentVolumeClaim"
    refused.add(log)
    return claimed


def _job(tree: Tree, job: Tree, own: dict[str, str], path: Path, claimed: dict[str, str], refused: ChildFaults) -> None:
    """Look at the Jobs of one replicatedJob, which differ in nothing that can be refused; `own` are JobSet's labels."""
    outer = job["template"]
    log = Complaints(refused.features, JOB)
    template = Field({"metadata": plain(outer.get("metadata"))}, (*path, "template"), log)
    template["metadata"]["labels"].labels()
    annotation_keys(template["metadata"]["annotations"], own)  # JobSet writes its labels there too
    spec = template["spec"].reading(settings_of(outer["spec"]))
    job_spec(spec)
    _host_name(tree, job, spec)
    pods = outer["spec"]["template"]
    labels = fields(plain(get(pods, "metadata", "labels")))
    if spec.get("manualSelector") is not True:
        _generated(spec, f"{value(tree, 'metadata', 'name')}-{value(job, 'name')}-0", labels)
    chosen(spec, labels, own)
    refused.add(log)
    _pods(tree, job, pods, (*path, "template", "spec", "template"), claimed, refused, own)
    log = Complaints(refused.features, JOB)
    restart(Field(spec.value, spec.path, log), value(pods, "spec", "restartPolicy"))
    refused.add(log)


def _last_name(tree: Tree, job: Tree) -> str:
    replicas = value(job, "replicas")
    last = max(replicas - 1, 0) if type(replicas) is int else 0
    return f"{value(tree, 'metadata', 'name')}-{value(job, 'name')}-{last}"


def _host_name(tree: Tree, job: Tree, spec: Field) -> None:
    """The host name of the last pod, which is a DNS label."""
    pods = spec.get("completions")
    if spec.get("completionMode") != "Indexed" or type(pods) is not int or pods <= 0:
        return
    name = _last_name(tree, job)
    host = f"{name}-{pods - 1}"
    if label(host) and not is_placeholder(host):
        at = Field(name, (*spec.path[:-1], "metadata", "name"), spec.log, ("metadata", "name"))
        at.invalid(f"will not able to create pod with invalid DNS label: {host}")


def _generated(spec: Field, name: str, labels: dict[str, Any]) -> None:
    """Labels by which the server itself knows the pods of a Job: a person's own must be the same."""
    for key in JOB_LABELS:
        written = labels.get(key)
        wanted = name if key.endswith("job-name") else "<uid>"
        if written is not None and written != wanted and not is_placeholder(written):
            at = spec["template"]["metadata"]["labels"].entry(key)
            at.add(f"Invalid value: {compact(labels)}: must be '{wanted}'", written)


def _pods(
    tree: Tree, job: Tree, pods: Tree, path: Path, claimed: dict[str, str], refusals: ChildFaults, own: dict[str, str]
) -> None:
    """Look at the pods of one replicatedJob: their template, and what only a pod itself is refused for."""
    log = Complaints(refusals.features, POD)
    if value(tree, "spec", "network", "enableDNSHostnames") is not False and "subdomain" in pods["spec"]:
        # JobSet writes its own.
        pods = {**pods, "spec": {name: part for name, part in pods["spec"].items() if name != "subdomain"}}
    template(pods, path, log, claimed, own)
    marked = {**fields(get(tree, "metadata", "annotations")), **fields(get(job, "template", "metadata", "annotations"))}
    if marked.keys() >= _EXCLUSIVES:
        # The node selector that JobSet adds where a Job has its nodes alone and they are labelled beforehand.
        name = f"{value(tree, 'metadata', 'namespace') or 'default'}_{_last_name(tree, job)}"
        Field(name, (*path, "spec", "nodeSelector"), log, ("metadata", "name")).fits(label_value)
    refusals.add(log)
    log = Complaints(refusals.features, CREATION)
    name = f"{value(tree, 'metadata', 'name')}-{value(job, 'name')}-0-0-"
    created.pod(pods, name, path, log, refusals.objects)
    refused = {fault.path for fault in refusals.faults}
    log.faults = [fault for fault in log.faults if fault.path not in refused]  # no pod comes as far as this again
    refusals.add(log)
