"""What an older job is as a TrainJob and a runtime of its own, as plain values."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from trainc.frameworks.vocabularies import VOCABULARIES
from trainc.model.legacy_kinds import ASK, processes

ANCESTOR = "trainer.kubeflow.org/trainjob-ancestor-step"
OPERATOR = "training.kubeflow.org/"
# What a server fills in, or no server knows: nobody writes it.
OF_SERVER = (
    "clusterName",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
)
# What is asked of the compiler of older jobs alone; the runtime holds the answer.
_OF_OLDER_JOBS = tuple(
    f"{ASK}{name}" for name in ("cluster-domain", "compat-names", "jax-variables", "keep-ttl", "lenient", "rank-layout")
)
API = "trainer.kubeflow.org/v1alpha1"
POLICIES = {"JAXJob": "jax", "PyTorchJob": "torch", "XGBoostJob": "xgboost"}  # the kinds that a policy knows
_DEFAULTS: dict[str, Any] = {
    "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
    "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
    "successPolicy": {"operator": "All"},
}
_TRAINER = {"image": "image", "command": "command", "args": "args", "env": "env", "resources": "resourcesPerNode"}


class Wanted:
    """The two manifests, and under what names the parts of the job go on."""

    __slots__ = ("containers", "extras", "frozen", "job", "roles", "runtime")

    def __init__(
        self,
        job: dict[str, Any],
        runtime: dict[str, Any],
        extras: list[Any],
        roles: dict[str, str],
        containers: dict[str, str],
        *,
        frozen: bool,
    ) -> None:
        self.job = job
        self.runtime = runtime
        self.extras = extras  # ConfigMaps and the like that the operator made
        self.roles = roles  # old role -> new role
        self.containers = containers  # old container -> new container
        self.frozen = frozen  # whether the wiring is written out, so that the number of nodes cannot change


def wanted(old: dict[str, Any], objects: list[Any], namespaces: frozenset[str] = frozenset()) -> Wanted:
    """The manifests that compile to what `old` compiles to; `namespaces` are those that clusters give a job without one."""
    jobset = next(tree for tree in objects if tree["kind"] == "JobSet")
    spec = {key: node for key, node in deepcopy(jobset["spec"]).items() if node != _DEFAULTS.get(key)}
    asked = {key: spec.pop(key) for key in ("suspend", "managedBy") if key in spec}
    metadata = _metadata(jobset)
    runtime: dict[str, Any] = {"template": {**({"metadata": metadata} if metadata else {}), "spec": spec}}
    idiom = _idiomatic(old, spec)
    roles: dict[str, str] = {}
    containers: dict[str, str] = {}
    trainer: dict[str, Any] = {}
    if idiom:
        (rj,) = spec["replicatedJobs"]
        container = rj["template"]["spec"]["template"]["spec"]["containers"][0]
        roles, containers = {rj["name"]: "node"}, {container["name"]: "node"}
        trainer = _as_node(old, rj, container, jobset["metadata"]["name"])
        if "successPolicy" in spec:
            spec["successPolicy"]["targetReplicatedJobs"] = ["node"]
        runtime = {"mlPolicy": {POLICIES[old["kind"]]: {}}, **runtime}
    extras = [tree for tree in objects if tree["kind"] != "JobSet" and not _twin(tree, jobset)]
    made = _runtime(old, jobset, runtime, namespaces)
    job = _job(old, asked, trainer, made["kind"])
    return Wanted(job, made, extras, roles, containers, frozen=not idiom)


def _twin(tree: dict[str, Any], jobset: dict[str, Any]) -> bool:
    return bool(tree["kind"] == "Service" and tree["metadata"]["name"] == jobset["metadata"]["name"])


def _idiomatic(old: dict[str, Any], spec: dict[str, Any]) -> bool:
    """Whether one policy of the Trainer can wire the job: equal pods with one container each, in a fixed number."""
    jobs = spec["replicatedJobs"]
    if old["kind"] not in POLICIES or len(jobs) != 1 or "elasticPolicy" in old["spec"]:
        return False
    aliased = _asks(old, "compat-names")
    return not aliased and len(jobs[0]["template"]["spec"]["template"]["spec"]["containers"]) == 1


def _asks(old: dict[str, Any], name: str) -> bool:
    return bool((old["metadata"].get("annotations") or {}).get(f"trainc.dev/{name}") == "true")


def _metadata(jobset: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for part in ("labels", "annotations"):
        kept = {
            key: text
            for key, text in jobset["metadata"].get(part, {}).items()
            if not key.startswith(("trainc.dev/", "kueue.x-k8s.io/"))
        }
        if kept:
            found[part] = kept
    return found


def _as_node(old: dict[str, Any], rj: dict[str, Any], container: dict[str, Any], name: str) -> dict[str, Any]:
    """The trainer of a job whose one replicatedJob becomes `node`; takes out of the runtime what the job says."""
    policy = POLICIES[old["kind"]]
    # Under the operator JAX's variables are a job's own, unless it asks trainc for them.
    owned = policy != "jax" or _asks(old, "jax-variables")
    reserved = VOCABULARIES[policy].reserved if owned else ()
    job = rj["template"]["spec"]
    trainer: dict[str, Any] = {"numNodes": job.pop("completions")}
    for key in ("parallelism", "completionMode"):
        job.pop(key, None)
    procs = processes(old["spec"].get("nprocPerNode")) if policy == "torch" else None
    if procs is not None and procs > 0:
        trainer["numProcPerNode"] = procs
    former, main = rj["name"], container["name"]
    rj.pop("replicas", None)
    rj["name"] = container["name"] = "node"
    rj["template"]["metadata"] = {"labels": {ANCESTOR: "trainer"}}
    _without_labels(job["template"])
    for rule in job.get("podFailurePolicy", {}).get("rules", []):
        codes = rule.get("onExitCodes", {})
        if codes.get("containerName") == main:
            codes["containerName"] = "node"
    for key, renamed in _TRAINER.items():
        if key in container:
            trainer[renamed] = container.pop(key)
    hosts = (f"{name}-{former}-0-", f"{name}-node-0-")
    trainer["env"] = [_entry(entry, *hosts) for entry in trainer["env"] if entry["name"] not in reserved]
    return trainer


def _entry(entry: dict[str, Any], former: str, host: str) -> dict[str, Any]:
    text = entry.get("value")
    return {**entry, "value": text.replace(former, host)} if isinstance(text, str) else entry


def _without_labels(template: dict[str, Any]) -> None:
    labels = template.get("metadata", {}).get("labels", {})
    kept = {key: text for key, text in labels.items() if not key.startswith(OPERATOR)}
    if kept:
        template["metadata"]["labels"] = kept
    elif labels:
        del template["metadata"]["labels"]
    if not template.get("metadata", True):
        del template["metadata"]


def _job(old: dict[str, Any], asked: dict[str, Any], trainer: dict[str, Any], kind: str) -> dict[str, Any]:
    metadata = {key: node for key, node in old["metadata"].items() if key not in OF_SERVER}
    annotations = {k: v for k, v in (metadata.pop("annotations", None) or {}).items() if k not in _OF_OLDER_JOBS}
    if annotations:
        metadata["annotations"] = annotations
    name = metadata["name"]
    reference = {"apiGroup": "trainer.kubeflow.org", "kind": kind, "name": name}
    spec = {"runtimeRef": reference, **asked, **({"trainer": trainer} if trainer else {})}
    return {"apiVersion": API, "kind": "TrainJob", "metadata": metadata, "spec": spec}


def _runtime(
    old: dict[str, Any], jobset: dict[str, Any], spec: dict[str, Any], namespaces: frozenset[str]
) -> dict[str, Any]:
    """The runtime, where the job finds it: in its namespace, or outside of all if that is not the same everywhere."""
    metadata = {"name": old["metadata"]["name"]}
    namespace = jobset["metadata"].get("namespace") or ("".join(namespaces) if len(namespaces) == 1 else "")
    if namespace:
        metadata["namespace"] = namespace
    kind = "TrainingRuntime" if namespace or not namespaces else "ClusterTrainingRuntime"
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec}
