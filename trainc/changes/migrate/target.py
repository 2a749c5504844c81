"""What an older job is as a TrainJob and a runtime of its own, as plain values; and one runtime for many such jobs.

What they have in common stands in the shared runtime, what differs stays in the jobs.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple

from trainc.apiserver.pods.complaints import fields
from trainc.changes.migrate.policies import FRAMEWORK, LAUNCHER, NODE, OlderFacts, Policy, reader_of_keys
from trainc.kinds.other_operators import GROUP_INDEX
from trainc.model.plan import ANCESTOR_LABEL
from trainc.text.hostnames import hosts_in
from trainc.text.object_keys import TRAINC_PREFIX, TRAINER_API, VOLCANO_GROUP, VOLCANO_QUEUE

OPERATOR = "training.kubeflow.org/"
# What a server fills in, or no server knows: nobody writes it.
OF_SERVER = (
    "clusterName", "creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation",
    "managedFields", "resourceVersion", "selfLink", "uid",
)  # fmt: skip
# What is asked of the compiler of older jobs alone; the runtime holds the answer.
_OF_OLDER_JOBS = tuple(
    f"{TRAINC_PREFIX}{name}"
    for name in (
        "cluster-domain", "compat-names", "compile", "jax-variables", "keep-ttl", "lenient", "rank-layout", "run-to-completion",
    )
)  # fmt: skip
_DEFAULTS: dict[str, Any] = {
    "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
    "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
    "successPolicy": {"operator": "All"},
}
# What an operator sets alike in all of its jobs.
_CONSTANT = ("K_MPI_JOB_ROLE", "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_VISIBLE_DEVICES", "PYTHONUNBUFFERED")
_NOT_KEPT = (TRAINC_PREFIX, "kueue.x-k8s.io/")  # keys of a JobSet that its runtime does not repeat
_COUNTED = ("completions", "parallelism", "completionMode")
# What a patch of a job can say of a pod and of its containers (Trainer v2.3).
_OF_PODS = (
    "affinity", "imagePullSecrets", "nodeSelector", "schedulingGates", "securityContext", "serviceAccountName",
    "terminationGracePeriodSeconds", "tolerations", "volumes",
)  # fmt: skip
_OF_CONTAINERS = ("env", "securityContext", "volumeMounts")
MANAGER = "trainc.dev/shared-runtime"
_Spot = tuple[str, str, str]  # of what a patch can say: role ("" for the JobSet), container ("" for the pod), field


def key_of_tree(tree: dict[str, Any]) -> tuple[str, str]:
    """Kind and name of an object."""
    return str(tree.get("kind")), str(fields(tree.get("metadata")).get("name"))  # a server makes up the name of some


@dataclass(slots=True, eq=False)
class MigrationTarget:
    """The manifests of one job, and how its parts go on: `policy` wires it, or `reason` says why none does."""

    job: dict[str, Any]
    runtime: dict[str, Any]
    extras: list[Any]  # ConfigMaps and the like that the operator made
    policy: Policy | None
    reason: str
    served_by: str = ""  # the name of the runtime that it shares with others; "" where it has its own beside it
    is_gang: bool = False  # whether its runtime asks Volcano for a gang, as the job did
    was_wired: bool = False  # whether a policy was tried and did not do the same
    followed: str = ""  # the same for one that was there before, and decides what the job does not say

    @property
    def roles(self) -> Mapping[str, str]:
        """The new names of roles by the old ones."""
        return self.policy.roles if self.policy is not None else {}

    @property
    def containers(self) -> Mapping[str, str]:
        """The new names of main containers by the old ones."""
        return self.policy.containers if self.policy is not None else {}

    @property
    def documents(self) -> list[dict[str, Any]]:
        """Every manifest, the TrainJob first."""
        return [self.job, *([] if self.served_by else [self.runtime]), *self.extras]


def wanted(facts: OlderFacts, objects: list[Any], namespaces: frozenset[str], policy: Policy | str) -> MigrationTarget:
    """The manifests that compile to what an older job compiles to, wired by a policy or, for a reason, by none.

    `namespaces` are those that clusters give a job without one.
    """
    jobset = facts.jobset
    spec = {key: node for key, node in deepcopy(jobset["spec"]).items() if node != _DEFAULTS.get(key)}
    lifecycle = {key: spec.pop(key) for key in ("suspend", "managedBy") if key in spec}
    for role in spec["replicatedJobs"]:
        if role.get("groupName") == "default":
            del role["groupName"]
    kept = {}
    for part in ("labels", "annotations"):
        given = jobset["metadata"].get(part, {})
        if own := {key: text for key, text in given.items() if not key.startswith(_NOT_KEPT)}:
            kept[part] = own
    trainer: dict[str, Any] = {}
    runtime: dict[str, Any] = {"template": {**({"metadata": kept} if kept else {}), "spec": spec}}
    subdomain = jobset["spec"].get("network", {}).get("subdomain", jobset["metadata"]["name"])
    twin = ("Service", subdomain)  # which the JobSet controller makes
    extras = [tree for tree in objects if tree.get("kind") != "JobSet" and key_of_tree(tree) != twin]
    fitting = policy if isinstance(policy, Policy) else None
    if fitting is not None:
        trainer = _as_trainer(facts, spec, fitting)
        extras = [tree for tree in extras if not (fitting.volumes and tree["kind"] == "ConfigMap")]
        runtime = {"mlPolicy": fitting.settings, **runtime}
    name, namespace = facts.old["metadata"]["name"], jobset["metadata"].get("namespace")
    namespace = namespace or ("".join(namespaces) if len(namespaces) == 1 else "")
    names: dict[str, Any] = {"name": name, **({"namespace": namespace} if namespace else {})}
    if fitting is not None and FRAMEWORK in fitting.labels:
        names["labels"] = dict(fitting.labels)
    kind = "TrainingRuntime" if namespace or not namespaces else "ClusterTrainingRuntime"
    made = {"apiVersion": TRAINER_API, "kind": kind, "metadata": names, "spec": runtime}
    metadata = {key: node for key, node in facts.old["metadata"].items() if key not in OF_SERVER}
    given = metadata.pop("annotations", None) or {}
    annotations = {key: text for key, text in given.items() if key not in (*_OF_OLDER_JOBS, GROUP_INDEX)}
    if annotations:
        metadata["annotations"] = annotations
    reference = {"apiGroup": "trainer.kubeflow.org", "kind": kind, "name": name}
    asked = {"runtimeRef": reference, **lifecycle, **({"trainer": trainer} if trainer else {})}
    job = {"apiVersion": TRAINER_API, "kind": "TrainJob", "metadata": metadata, "spec": asked}
    return MigrationTarget(job, made, extras, fitting, "" if fitting else str(policy))


def with_group(want: MigrationTarget, group: dict[str, Any]) -> MigrationTarget:
    """The job whose runtime asks Volcano for a gang of all its pods, in the queue of this PodGroup."""
    spec = group["spec"]
    runtime, topology = want.runtime["spec"], spec.get("networkTopology")
    runtime["podGroupPolicy"] = {"volcano": {"networkTopology": topology} if topology else {}}
    if "queue" in spec:
        annotations = runtime["template"].setdefault("metadata", {}).setdefault("annotations", {})
        annotations.setdefault(VOLCANO_QUEUE, spec["queue"])
    for _, template in pods(runtime):  # the Trainer writes again what ties a pod to its group
        metadata = template.get("metadata", {})
        annotations = metadata.get("annotations", {})
        annotations.pop(VOLCANO_GROUP, None)
        if "annotations" in metadata and not annotations:
            del metadata["annotations"]
        if "metadata" in template and not metadata:
            del template["metadata"]
    want.is_gang = True
    return want


def _as_trainer(facts: OlderFacts, spec: dict[str, Any], policy: Policy) -> dict[str, Any]:
    """What the job says as `spec.trainer`, which leaves the runtime; the runtime's parts get their new names."""
    by_name = {role["name"]: role for role in spec["replicatedJobs"]}
    mains = {}
    for former, name in policy.roles.items():
        main = mains[name] = facts.main(by_name[former])
        called, main["name"] = main["name"], policy.containers[main["name"]]
        for rule in by_name[former]["template"]["spec"].get("podFailurePolicy", {}).get("rules", []):
            codes = rule.get("onExitCodes", {})
            if codes.get("containerName") == called:
                codes["containerName"] = main["name"]
    for role in spec["replicatedJobs"]:
        role["name"] = policy.roles[role["name"]]
        for dependence in role.get("dependsOn", []):
            dependence["name"] = policy.roles[dependence["name"]]
    for holder in (spec.get("successPolicy", {}), *spec.get("failurePolicy", {}).get("rules", [])):
        if "targetReplicatedJobs" in holder:
            holder["targetReplicatedJobs"] = [policy.roles[name] for name in holder["targetReplicatedJobs"]]
    if policy.settings.get("mpi", {}).get("runLauncherAsNode"):  # the first role holds rank 0
        spec["replicatedJobs"].sort(key=lambda role: role["name"] != LAUNCHER)
    for former, name in policy.roles.items():
        role = by_name[former]
        _without_operator(role, mains[name], policy, facts)
        if name in policy.trainers:
            role["template"].setdefault("metadata", {})["labels"] = {ANCESTOR_LABEL: "trainer"}
        if name == policy.sized:
            role.pop("replicas", None)
            for key in _COUNTED:
                role["template"]["spec"].pop(key, None)
    counts = {"numNodes": policy.nodes, "numProcPerNode": policy.processes}
    trainer = {field: count for field, count in counts.items() if count is not None}
    taken = _moved_to_trainer([mains[name] for name in policy.trainers], policy, str(facts.old["spec"]))
    if policy.name == "mpi" and policy.resources:
        mains[NODE].pop("resources", None)  # both hold the same, and `resourcesPerNode` reaches both
    spec.update(with_hosts(spec, facts.jobset["metadata"]["name"], policy.roles))
    return {**trainer, **with_hosts(taken, facts.jobset["metadata"]["name"], policy.roles)}


def _without_operator(role: dict[str, Any], main: dict[str, Any], policy: Policy, facts: OlderFacts) -> None:
    """Take out of a role what the operator put in and the policy does itself."""
    template = role["template"]["spec"]["template"]
    name, jobs = facts.jobset["metadata"]["name"], facts.jobset["spec"]["replicatedJobs"]
    # The operator's labels go, but for those that a selector of the job looks for.
    labels = template.get("metadata", {}).get("labels", {})
    text = str([one["template"]["spec"]["template"]["spec"] for one in jobs])
    if kept := {key: value for key, value in labels.items() if not key.startswith(OPERATOR) or key in text}:
        template["metadata"]["labels"] = kept
    elif labels:
        del template["metadata"]["labels"]
    if not template.get("metadata", True):
        del template["metadata"]
    pod = template["spec"]
    _keep(main, "env", lambda entry: entry["name"] not in policy.without)
    _keep(main, "volumeMounts", lambda mount: mount["name"] not in policy.volumes)
    _keep(pod, "volumes", lambda volume: volume["name"] not in policy.volumes)
    if policy.volumes and (group := reader_of_keys(facts, role)):
        pod.setdefault("securityContext", {}).setdefault("fsGroup", group)
    if policy.volumes and "dnsConfig" in pod:
        # A text may name a pod without the subdomain: the operator lets such a name resolve, the Trainer does not.
        names = tuple(f"{name}-{one['name']}-" for one in jobs)
        if not any(host.startswith(names) and "." not in host for _, host in hosts_in(str(jobs), f"{name}-")):
            own = str(facts.old["spec"])
            _keep(pod["dnsConfig"], "searches", lambda domain: domain in own or not domain.startswith(f"{name}."))
            if not pod["dnsConfig"]:
                del pod["dnsConfig"]


def _keep(node: dict[str, Any], key: str, wanted: Any) -> None:
    """Keep the items of a list that are wanted, and the list where any are."""
    if kept := [item for item in node.get(key, []) if wanted(item)]:
        node[key] = kept
    else:
        node.pop(key, None)


def _moved_to_trainer(mains: list[dict[str, Any]], policy: Policy, old: str) -> dict[str, Any]:
    """What the trainers' containers say alike, as fields of `spec.trainer`; it leaves them."""
    out: dict[str, Any] = {}
    for field in ("image", "command", "args"):
        if field in mains[0]:
            out[field] = mains[0][field]
            for main in mains:
                del main[field]
    env = [entry for entry in mains[0].get("env", []) if entry["name"] in old or entry["name"] not in _CONSTANT]
    if policy.env and env:
        out["env"] = env
        for main in mains:
            _keep(main, "env", lambda entry: entry not in env)
    resources = mains[0].get("resources")
    alike = all(main.get("resources") == resources for main in mains)
    if policy.resources and alike and resources and "claims" not in resources:
        out["resourcesPerNode"] = resources
        for main in mains:
            del main["resources"]
    return out


def with_hosts(node: Any, job: str, roles: Mapping[str, str]) -> Any:
    """A value in which the hosts of the job are called after the new names of its roles."""
    if isinstance(node, dict):
        return {key: with_hosts(child, job, roles) for key, child in node.items()}
    if isinstance(node, list):
        return [with_hosts(child, job, roles) for child in node]
    if isinstance(node, str) and f"{job}-" in node:
        for former, name in roles.items():
            node = re.sub(rf"(?<![\w-]){re.escape(job)}-{former}-(?=\d|\$)", f"{job}-{name}-", node)
    return node


class Shared(NamedTuple):
    """A runtime that several jobs name; `is_new` where it is made for them."""

    runtime: dict[str, Any]
    is_new: bool

    @property
    def name(self) -> str:
        """The name by which jobs refer to it."""
        return str(self.runtime["metadata"]["name"])

    def serve(self, want: MigrationTarget) -> MigrationTarget | str:
        """The job with this runtime in place of its own, or why it cannot have it."""
        skeleton, values = _parted(want.runtime["spec"])
        own, given = _parted(self.runtime["spec"])
        if want.policy is None:
            return want.reason
        if self.is_new and skeleton != own:
            return f"it differs from `{self.name}` in `{_first_difference(skeleton, own)}`, which no job can override"
        roles = [sorted(name for name, _ in pods(spec)) for spec in (skeleton, own)]
        if roles[0] != roles[1] or set(skeleton.get("mlPolicy") or {}) - set(own.get("mlPolicy") or {}):
            return f"`{self.name}` has other roles, or another policy"
        job = deepcopy(want.job)
        job["spec"]["runtimeRef"].update(kind=self.runtime["kind"], name=self.name)
        left = {spot: value for spot, value in values.items() if given.get(spot) != value}
        spec = job["spec"]
        if env := [entry for role in want.policy.trainers for entry in left.pop((role, NODE, "env"), ())]:
            own = spec["trainer"].get("env", [])
            names = {entry["name"] for entry in own}
            spec["trainer"]["env"] = [*(entry for entry in env if entry["name"] not in names), *own]
        template: dict[str, Any] = {}
        for spot, value in left.items():
            _put(template, spot, value)
        if template:
            spec["runtimePatches"] = [{"manager": MANAGER, "trainingRuntimeSpec": {"template": template}}]
        followed = "" if self.is_new else self.name
        return MigrationTarget(job, self.runtime, want.extras, want.policy, "", served_by=self.name, followed=followed)


def shared_by(wants: Iterable[MigrationTarget], name: str) -> Shared | None:
    """A runtime for the largest number of jobs that can have one in common; None where no policy wires any of them."""
    groups: dict[str, list[tuple[dict[str, Any], dict[_Spot, Any], MigrationTarget]]] = {}
    for want in wants:
        if want.policy is not None:
            skeleton, values = _parted(want.runtime["spec"])
            groups.setdefault(json.dumps(skeleton, sort_keys=True, default=str), []).append((skeleton, values, want))
    if not groups:
        return None
    group = max(groups.values(), key=len)
    skeleton, own, first = group[0]
    spec = deepcopy(skeleton)
    common = {spot: one for spot, one in own.items() if all(values.get(spot) == one for _, values, _ in group)}
    for spot, value in common.items():
        _put(spec["template"], spot, value)
    labels = first.runtime["metadata"].get("labels")
    metadata = {"name": name, **({"labels": labels} if labels else {})}
    runtime = {"apiVersion": TRAINER_API, "kind": "ClusterTrainingRuntime", "metadata": metadata, "spec": spec}
    return Shared(runtime, is_new=True)


def _parted(spec: dict[str, Any]) -> tuple[dict[str, Any], dict[_Spot, Any]]:
    """A runtime's spec without what a job can say by a patch, and that by the place where it stands."""
    spec = deepcopy(spec)
    values: dict[_Spot, Any] = {}
    template = spec.get("template") or {}
    if "metadata" in template:
        values["", "", "metadata"] = template.pop("metadata")
    for role, pod_template in pods(spec):
        if "metadata" in pod_template:
            values[role, "", "metadata"] = pod_template.pop("metadata")
        pod = pod_template.get("spec") or {}
        for field in _OF_PODS:
            if field in pod:
                values[role, "", field] = pod.pop(field)
        for container in pod.get("containers") or ():
            for field in _OF_CONTAINERS:
                if field in container:
                    values[role, container["name"], field] = container.pop(field)
    mpi = (spec.get("mlPolicy") or {}).get("mpi")
    if isinstance(mpi, dict):
        mpi["numProcPerNode"] = 1  # every job says its own
    return spec, values


def pods(spec: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The pod template of each replicatedJob of a runtime's spec, by its name."""
    for role in ((spec.get("template") or {}).get("spec") or {}).get("replicatedJobs") or ():
        template = role["template"]["spec"].get("template")
        if isinstance(template, dict):
            yield role["name"], template


def _put(template: dict[str, Any], spot: _Spot, value: Any) -> None:
    """Set what stands at a place of a JobSet's template; what is missing on the way there is made."""
    role, container, field = spot
    holder = template
    if role:
        job = _item(holder.setdefault("spec", {}).setdefault("replicatedJobs", []), role)
        holder = job.setdefault("template", {}).setdefault("spec", {}).setdefault("template", {})
    if role and field != "metadata":
        holder = holder.setdefault("spec", {})
    if container:
        holder = _item(holder.setdefault("containers", []), container)
    holder[field] = value


def _item(items: list[dict[str, Any]], name: str) -> dict[str, Any]:
    if not any(one["name"] == name for one in items):
        items.append({"name": name})
    return next(one for one in items if one["name"] == name)


def _first_difference(one: Any, other: Any, path: str = "") -> str:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in {**one, **other}:
            if one.get(key) != other.get(key):
                return _first_difference(one.get(key), other.get(key), f"{path}.{key}".lstrip("."))
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, pair in enumerate(zip(one, other, strict=True)):
            if pair[0] != pair[1]:
                return _first_difference(*pair, f"{path}[{index}]")
    return path
