"""Which policy of the Trainer wires an older job, if any: the launch of its program must work under it."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from trainc.frameworks.base.vocabularies import TORCHRUN, VOCABULARIES
from trainc.kinds.table import KINDS, MPI_OPERATOR
from trainc.lint.facts.launch import Launch
from trainc.text.numbers import parsed_int
from trainc.text.object_keys import TRAINC_PREFIX

ONE_ROLE = {"JAXJob": "jax", "PyTorchJob": "torch", "XGBoostJob": "xgboost"}  # kinds whose pods are all alike
PLAIN = "plain"  # `numNodes` alone: the program's own variables and arguments wire it
NODE, LAUNCHER = "node", "launcher"
FRAMEWORK = "trainer.kubeflow.org/framework"
_TORCH = ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK")  # what torchrun gives to each of its processes
SSH_VOLUME, _HOSTS = "ssh-auth", "mpi-job-config"  # volumes of the mpi-operator
_MPI_DEFAULTS = {"sshAuthMountPath": "/root/.ssh", "mpiImplementation": "OpenMPI"}
_BY_VARIABLES = ("torch", "jax")  # policies whose variables a person may have written out
_PROCESSES = "PET_NPROC_PER_NODE"
_UNSIZED = "the number of its pods is a placeholder, and `numNodes` takes a number"
_NONE = {
    "MiniCluster": "its scripts start Flux as its operator did, which `mlPolicy.flux` does differently",
    "RayJob": "a Ray cluster has a head, groups of workers and a driver, and no mlPolicy sets one up",
}


class Policy(NamedTuple):
    """How the Trainer wires a job, in the names that its parts get.

    `trainers` are the roles that `spec.trainer` reaches, the first of which it is taken from; `sized` is the role that
    `numNodes` counts. `without` are variables of the operator that the policy, or the launcher, sets; `reason` says why
    variables of the operator stay. `volumes` are the operator's own, which go.
    """

    name: str
    settings: dict[str, Any]  # of mlPolicy
    roles: Mapping[str, str]
    containers: Mapping[str, str]
    trainers: tuple[str, ...]
    sized: str
    nodes: int | None
    processes: int | None
    without: frozenset[str]
    reason: str = ""
    labels: Mapping[str, str] = {}
    volumes: frozenset[str] = frozenset()
    resources: bool = True  # whether `resourcesPerNode` reaches all that `numNodes` counts
    env: bool = True  # whether `trainer.env` reaches the trainers alone
    own: frozenset[str] = frozenset()  # variables that a person wrote and the policy must set to the same


class OlderFacts(NamedTuple):
    """An older job, the JobSet that it compiles to, and the launcher that each of its main containers starts."""

    old: dict[str, Any]
    jobset: dict[str, Any]
    launches: Mapping[str, Launch | None]

    @property
    def roles(self) -> list[dict[str, Any]]:
        """The JobSet's replicatedJobs."""
        return list(self.jobset["spec"]["replicatedJobs"])

    def role(self, name: str) -> dict[str, Any] | None:
        """The replicatedJob of a name."""
        return next((role for role in self.roles if role["name"] == name), None)

    def is_asked(self, name: str) -> bool:
        """Whether an annotation asks for a way to compile the job."""
        return bool((self.old["metadata"].get("annotations") or {}).get(f"{TRAINC_PREFIX}{name}") == "true")

    def main(self, role: dict[str, Any]) -> dict[str, Any]:
        """The container of a role that the operator looked at; an empty one where a role has none."""
        containers = role["template"]["spec"]["template"]["spec"]["containers"]
        kind = KINDS.get((self.old["apiVersion"], self.old["kind"]))
        name = kind.container if kind is not None else ""
        matching: list[dict[str, Any]] = [one for one in containers if one["name"] == name]
        return next(iter([*matching, *containers]), {})

    @property
    def is_unsized(self) -> bool:
        """Whether the number of pods of a role is filled in later."""
        return any(type(role["template"]["spec"]["completions"]) is not int for role in self.roles)

    def count(self, role: dict[str, Any]) -> int:
        """The number of pods of a role."""
        return int(role["template"]["spec"]["completions"])


def policy_of(facts: OlderFacts) -> Policy | str:
    """The policy that wires a job as its operator did, or why there is none."""
    kind = facts.old["kind"]
    if facts.is_asked("compat-names"):
        return "its pods keep the names that the operator gave them (`trainc.dev/compat-names`)"
    if facts.is_unsized:
        return _UNSIZED
    if kind in ONE_ROLE:
        return _of_one_role(facts, ONE_ROLE[kind])
    if kind == "MPIJob":
        if (reason := _not_mpi(facts)) is not None:
            return reason
        spec = facts.old["spec"]
        roles = {"worker": NODE, LAUNCHER: LAUNCHER}
        works = spec.get("runLauncherAsWorker") is True
        slots = spec.get("slotsPerWorker") or 1
        given = {key: spec.get(key) or default for key, default in _MPI_DEFAULTS.items()}
        mains = [facts.main(role) for role in facts.roles]
        alike = works and all(mains[0].get(key) == mains[1].get(key) for key in ("env", "resources"))
        return Policy(
            "mpi",
            {"mpi": {"numProcPerNode": slots, **given, **({"runLauncherAsNode": True} if works else {})}},
            roles,
            {main["name"]: NODE for main in mains},
            (LAUNCHER,),
            NODE,
            sum(facts.count(role) for role in facts.roles if works or role["name"] != LAUNCHER),
            slots,
            frozenset(VOCABULARIES["mpi"].reserved),
            volumes=frozenset({SSH_VOLUME, _HOSTS}),
            resources=alike,
            env=alike or not works,
        )
    return tensorflow_policy(facts) if kind in {"TFJob", "TfJob"} else _paddle(facts)


def _of_one_role(facts: OlderFacts, policy: str) -> Policy | str:
    if "elasticPolicy" in facts.old["spec"]:
        return "`elasticPolicy` gives a range of nodes, and `mlPolicy.torch` takes one number"
    if len(facts.roles) != 1:
        return f"its roles have different pods, and `mlPolicy.{policy}` configures identical pods"
    (role,) = facts.roles
    main = facts.main(role)
    if (taken := _clash(facts, [role["name"]])) is not None:
        return taken
    # Under the operator JAX's variables are a job's own, unless it asks trainc for them.
    owned = policy != "jax" or facts.is_asked("jax-variables")
    without = frozenset(VOCABULARIES[policy].reserved if owned else ())
    if policy != "torch":
        return _with_nodes(facts, role, policy, without=without, reason="programs may read the operator's variables")
    per_node = parsed_int(facts.old["spec"].get("nprocPerNode")) or 0
    launch = facts.launches.get(role["name"])
    if launch is None or launch.launcher is not TORCHRUN:
        starts = f"`{launch.name}` starts the program" if launch and launch.name else "no command starts torchrun"
        reason = f"{starts}, which may read {', '.join(_TORCH)}"
    else:  # which sets these variables itself
        own = [entry.get("value") or "" for entry in main.get("env", []) if entry["name"] not in _TORCH]
        parsed = "\n".join([*main.get("command", []), *main.get("args", []), *own])
        read = [name for name in _TORCH if re.search(rf"\b{name}\b", parsed)]
        without |= set(_TORCH) - set(read)
        reason = f"the command reads {', '.join(read)}" if read else ""
    return _with_nodes(facts, role, policy, per_node if per_node > 0 else None, without, reason)


def _with_nodes(
    facts: OlderFacts,
    role: dict[str, Any],
    policy: str,
    per_node: int | None = None,
    without: frozenset[str] = frozenset(),
    reason: str = "",
) -> Policy:
    """A policy for a job of one role, whose pods `numNodes` counts."""
    name = role["name"] if policy == PLAIN else NODE
    return Policy(
        policy,
        {"numNodes": 1} if policy == PLAIN else {policy: {}},
        {role["name"]: name},
        {facts.main(role)["name"]: NODE},
        (name,),
        name,
        facts.count(role),
        per_node,
        without,
        reason,
    )


def _clash(facts: OlderFacts, roles: Iterable[str]) -> str | None:
    """Why the main containers of roles cannot be called as the Trainer expects, None where they can."""
    for role in facts.roles:
        containers = role["template"]["spec"]["template"]["spec"]["containers"]
        if role["name"] in roles and any(one["name"] == NODE for one in containers if one is not facts.main(role)):
            return "another container is named `node`, the name of the training container in the Trainer"
    return None


def tensorflow_policy(facts: OlderFacts) -> Policy | str:
    """The framework `tensorflow`, or why it cannot wire the tasks of a job."""
    if facts.old["spec"].get("enableDynamicWorker"):
        return "`enableDynamicWorker` gives each process its own list, and the framework gives all the same"
    if (taken := _clash(facts, [role["name"] for role in facts.roles])) is not None:
        return taken
    worker = facts.role("worker")
    first = worker or facts.role("chief") or facts.role("master") or facts.roles[0]
    several = any(facts.count(role) > 1 for role in facts.roles)
    reserved = frozenset({"TF_CONFIG", *(("JOB_COMPLETION_INDEX",) if several else ())})
    return _with_roles(facts, "tensorflow", first, reserved, facts.count(worker) if worker is not None else None)


def _paddle(facts: OlderFacts) -> Policy | str:
    """With `master` its count is the master's own; without, the first pod is the leader and one of the nodes."""
    names = [role["name"] for role in facts.roles]
    worker, head = facts.role("worker"), facts.role("master") or facts.role("leader")
    if not {"master", "leader", "worker"}.issuperset(names) or head is None or facts.count(head) != 1:
        return "several pods would serve the rendezvous, and the framework expects one"
    if (taken := _clash(facts, names)) is not None:
        return taken
    reserved = frozenset((*VOCABULARIES["paddle"].reserved, "POD_IP_DUMMY"))
    leads = head["name"] == "leader"
    nodes = facts.count(worker) + leads if worker is not None else None
    policy = _with_roles(facts, "paddle", worker or head, reserved, nodes)
    if leads and worker is not None and len(policy.trainers) == 1:
        return "its first worker differs from the others"
    return policy


def _with_roles(
    facts: OlderFacts, framework: str, first: dict[str, Any], reserved: frozenset[str], nodes: int | None
) -> Policy:
    """A framework that wires roles of several names; those that are like the first one are trainers too."""

    def said(role: dict[str, Any]) -> list[Any]:
        main = facts.main(role)
        env = [entry for entry in main.get("env") or () if entry["name"] not in reserved]
        return [env, *(main.get(key) for key in ("image", "command", "args"))]

    alike = [role["name"] for role in facts.roles if role is not first and said(role) == said(first)]
    return Policy(
        framework,
        {"numNodes": 1},
        {role["name"]: role["name"] for role in facts.roles},
        {facts.main(role)["name"]: NODE for role in facts.roles},
        (first["name"], *alike),
        "worker" if facts.role("worker") is not None else "",
        nodes,
        None,
        reserved,
        labels={FRAMEWORK: framework},
    )


def _not_mpi(facts: OlderFacts) -> str | None:
    """Why `mlPolicy.mpi` cannot wire an MPIJob, None where it can."""
    spec = facts.old["spec"]
    worker, launcher = facts.role("worker"), facts.role(LAUNCHER)
    path = spec.get("sshAuthMountPath") or _MPI_DEFAULTS["sshAuthMountPath"]
    if facts.old["apiVersion"] != MPI_OPERATOR:
        return "MPIJob v1 reaches its workers with `kubectl exec`, and `mlPolicy.mpi` needs sshd in the image"
    if spec.get("mpiImplementation", "OpenMPI") not in {"", "OpenMPI"}:
        return f"the Trainer has no {spec['mpiImplementation']}, its `mlPolicy.mpi` is Open MPI"
    if worker is None or launcher is None:
        return "there is no worker, and `mlPolicy.mpi` needs one"
    if "discover_hosts" in json.dumps(spec, default=str):
        return "`discover_hosts.sh` is read, which `mlPolicy.mpi` does not have"
    if spec.get("runLauncherAsWorker") is True and launcher.get("dependsOn"):
        return "the launcher holds rank 0 and waits for the workers, which come first under `mlPolicy.mpi`"
    pods = [(facts.main(role), role["template"]["spec"]["template"]["spec"]) for role in facts.roles]
    rest = [one for own, pod in pods for one in (*pod.get("initContainers", []), *pod["containers"]) if one is not own]
    if any(mount["name"] in (SSH_VOLUME, _HOSTS) for one in rest for mount in one.get("volumeMounts", [])):
        return "another container than the main one reads the operator's files"
    if path != _MPI_DEFAULTS["sshAuthMountPath"] and any(reader_of_keys(facts, role) is None for role in facts.roles):
        return (
            "no field sets the user that reads the ssh keys, and the Trainer's are for root and the group `fsGroup`; "
            "with `runAsUser`, `mlPolicy.mpi` can wire it"
        )
    return _clash(facts, (worker["name"], LAUNCHER))


def reader_of_keys(facts: OlderFacts, role: dict[str, Any]) -> int | None:
    """The group by which the main container of a role reads files of root: its `fsGroup`, else that of its user."""
    pod = role["template"]["spec"]["template"]["spec"].get("securityContext", {})
    own = facts.main(role).get("securityContext", {})
    places = (pod.get("fsGroup"), own.get("runAsUser"), pod.get("runAsUser"))
    return next((number for number in places if number is not None), None)


def policy_of_other(facts: OlderFacts, *, by_variables: bool = True) -> Policy | str:
    """The policy that wires the pods as their operator did, or why there is none.

    Not `by_variables`: one that leaves all variables that a person wrote as they are.
    """
    kind = facts.old["kind"]
    if kind in _NONE:
        return _NONE[kind]
    if not all(facts.main(role) for role in facts.roles):
        return "the pods of a role have no containers"
    if facts.is_unsized:
        return _UNSIZED
    is_volcano = facts.old["apiVersion"].startswith("batch.volcano.sh/")
    plugins = (facts.old["spec"].get("plugins") or {}) if is_volcano else {}
    if "tensorflow" in plugins:
        return tensorflow_policy(facts)
    if "mpi" in plugins:
        return "the master reads `MPI_HOST` or `/etc/volcano`, which `mlPolicy.mpi` does not create"
    if len(facts.roles) != 1:
        return "its roles have different pods, and `numNodes` counts identical pods"
    (role,) = facts.roles
    if role.get("replicas", 1) != 1:
        return "each of its parts is its own Job, and `numNodes` counts the pods of one"
    if (clashing := _clash(facts, [role["name"]])) is not None:
        return clashing
    given = {entry["name"]: entry.get("value", "") for entry in facts.main(role).get("env", [])}
    for name in _BY_VARIABLES if by_variables else ():
        reserved = frozenset(VOCABULARIES[name].reserved)
        if reserved - {_PROCESSES} <= given.keys():
            match = re.fullmatch(r"[1-9][0-9]{0,3}", given.get(_PROCESSES, ""))
            per_node = int(match[0]) if match else None
            return _with_nodes(facts, role, name, per_node, reserved)._replace(own=reserved)
    reason = "variables and files of Volcano name this number of pods" if "svc" in plugins else ""
    if kind == "LeaderWorkerSet":
        reason = "`LWS_GROUP_SIZE` and the TPU's variables name this number of pods"
    return _with_nodes(facts, role, PLAIN, reason=reason)
