"""Which policy of the Trainer wires an older job, if any: the launch of its program must work under it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from trainc.frameworks.base.vocabularies import TORCHRUN, VOCABULARIES
from trainc.kinds.table import KINDS, MPI_OPERATOR, processes
from trainc.lint.facts.launch import Launch
from trainc.text.object_keys import TRAINC_PREFIX

ONE_ROLE = {"JAXJob": "jax", "PyTorchJob": "torch", "XGBoostJob": "xgboost"}  # kinds whose pods are all alike
PLAIN = "plain"  # `numNodes` alone: the program's own variables and arguments wire it
NODE, LAUNCHER = "node", "launcher"
FRAMEWORK = "trainer.kubeflow.org/framework"
_SAME = ("image", "command", "args", "env")  # what roles must have in common to be one trainer
_TORCH = ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK")  # what torchrun gives to each of its processes
SSH_VOLUME, _HOSTS = "ssh-auth", "mpi-job-config"  # volumes of the mpi-operator
_MPI_DEFAULTS = {"sshAuthMountPath": "/root/.ssh", "mpiImplementation": "OpenMPI"}


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

    def count(self, role: dict[str, Any]) -> int:
        """The number of pods of a role."""
        return int(role["template"]["spec"]["completions"])


def policy_of(facts: OlderFacts) -> Policy | str:
    """The policy that wires a job as its operator did, or why there is none."""
    kind = facts.old["kind"]
    if facts.is_asked("compat-names"):
        return "its pods keep the names that the operator gave them (`trainc.dev/compat-names`)"
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
    if kind in {"TFJob", "TfJob"}:
        return tensorflow_policy(facts)
    return _paddle(facts)


def _of_one_role(facts: OlderFacts, policy: str) -> Policy | str:
    if "elasticPolicy" in facts.old["spec"]:
        return "`elasticPolicy` gives a range of nodes, and `mlPolicy.torch` takes one number"
    if len(facts.roles) != 1:
        return f"its roles have different pods, and `mlPolicy.{policy}` configures identical pods"
    (role,) = facts.roles
    main = facts.main(role)
    if (taken := clash(facts, [role["name"]])) is not None:
        return taken
    # Under the operator JAX's variables are a job's own, unless it asks trainc for them.
    owned = policy != "jax" or facts.is_asked("jax-variables")
    without = set(VOCABULARIES[policy].reserved if owned else ())
    reason = ""
    if policy == "torch":
        added, reason = _of_torchrun(main, facts.launches.get(role["name"]))
        without |= added
    else:
        reason = "programs may read the operator's variables"
    per_node = processes(facts.old["spec"].get("nprocPerNode")) if policy == "torch" else None
    return Policy(
        policy,
        {policy: {}},
        {role["name"]: NODE},
        {main["name"]: NODE},
        (NODE,),
        NODE,
        facts.count(role),
        per_node if per_node is not None and per_node > 0 else None,
        frozenset(without),
        reason,
    )


def _of_torchrun(main: dict[str, Any], launch: Launch | None) -> tuple[set[str], str]:
    """The operator's variables that torchrun sets itself, and why others stay."""
    if launch is None or launch.launcher is not TORCHRUN:
        starts = f"`{launch.name}` starts the program" if launch and launch.name else "no command starts torchrun"
        return set(), f"{starts}, which may read {', '.join(_TORCH)}"
    own = [entry.get("value") or "" for entry in main.get("env", []) if entry["name"] not in _TORCH]
    parsed = "\n".join([*main.get("command", []), *main.get("args", []), *own])
    read = [name for name in _TORCH if re.search(rf"\b{name}\b", parsed)]
    return set(_TORCH) - set(read), f"the command reads {', '.join(read)}" if read else ""


def clash(facts: OlderFacts, roles: Iterable[str]) -> str | None:
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
    roles = {role["name"]: role["name"] for role in facts.roles}
    if (taken := clash(facts, roles)) is not None:
        return taken
    worker = facts.role("worker")
    first = worker or facts.role("chief") or facts.role("master") or facts.roles[0]
    several = any(facts.count(role) > 1 for role in facts.roles)
    reserved = frozenset({"TF_CONFIG", *(("JOB_COMPLETION_INDEX",) if several else ())})
    like = {key: _without(facts.main(first).get(key), reserved) for key in _SAME}
    alike = [role for role in facts.roles if role is not first and _is_like(facts.main(role), like, reserved)]
    return Policy(
        "tensorflow",
        {"numNodes": 1},
        roles,
        {facts.main(role)["name"]: NODE for role in facts.roles},
        tuple(role["name"] for role in (first, *alike)),
        "worker" if worker is not None else "",
        facts.count(worker) if worker is not None else None,
        None,
        reserved,
        labels={FRAMEWORK: "tensorflow"},
    )


def _paddle(facts: OlderFacts) -> Policy | str:
    """With `master` its count is the master's own; without, the first pod is the leader and one of the nodes."""
    names = [role["name"] for role in facts.roles]
    worker, head = facts.role("worker"), facts.role("master") or facts.role("leader")
    if not {"master", "leader", "worker"}.issuperset(names) or head is None or facts.count(head) != 1:
        return "several pods would serve the rendezvous, and the framework expects one"
    if (taken := clash(facts, names)) is not None:
        return taken
    first = worker or head
    reserved = frozenset((*VOCABULARIES["paddle"].reserved, "POD_IP_DUMMY"))
    like = {key: _without(facts.main(first).get(key), reserved) for key in _SAME}
    alike = [role for role in facts.roles if role is not first and _is_like(facts.main(role), like, reserved)]
    leads = head["name"] == "leader"
    if leads and worker is not None and not alike:
        return "its first worker differs from the others"
    return Policy(
        "paddle",
        {"numNodes": 1},
        {name: name for name in names},
        {facts.main(role)["name"]: NODE for role in facts.roles},
        tuple(role["name"] for role in (first, *alike)),
        "worker" if worker is not None else "",
        facts.count(worker) + leads if worker is not None else None,
        None,
        reserved,
        labels={FRAMEWORK: "paddle"},
    )


def _without(value: Any, names: frozenset[str]) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [entry for entry in value if entry["name"] not in names] or None
    return value


def _is_like(main: dict[str, Any], like: dict[str, Any], names: frozenset[str]) -> bool:
    return all(_without(main.get(key), names) == like[key] for key in _SAME)


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
    if any(
        {mount["name"] for mount in one.get("volumeMounts", [])} & {SSH_VOLUME, _HOSTS}
        for role in facts.roles
        for one in _others(facts, role)
    ):
        return "another container than the main one reads the operator's files"
    if path != _MPI_DEFAULTS["sshAuthMountPath"] and any(reader_of_keys(facts, role) is None for role in facts.roles):
        return (
            "no field sets the user that reads the ssh keys, and the Trainer's are for root and the group `fsGroup`; "
            "with `runAsUser`, `mlPolicy.mpi` can wire it"
        )
    return clash(facts, (worker["name"], LAUNCHER))


def reader_of_keys(facts: OlderFacts, role: dict[str, Any]) -> int | None:
    """The group by which the main container of a role reads files of root: its `fsGroup`, else that of its user."""
    pod = role["template"]["spec"]["template"]["spec"].get("securityContext", {})
    own = facts.main(role).get("securityContext", {})
    places = (pod.get("fsGroup"), own.get("runAsUser"), pod.get("runAsUser"))
    return next((number for number in places if number is not None), None)


def _others(facts: OlderFacts, role: dict[str, Any]) -> list[dict[str, Any]]:
    pod = role["template"]["spec"]["template"]["spec"]
    main = facts.main(role)
    return [*pod.get("initContainers", []), *(one for one in pod["containers"] if one is not main)]


_BY_VARIABLES = ("torch", "jax")  # policies whose variables a person may have written out
_PROCESSES = "PET_NPROC_PER_NODE"
_VOLCANO_COUNTS = "variables and files of Volcano name this number of pods"
_NONE = {
    "MiniCluster": "its scripts start Flux as its operator did, which `mlPolicy.flux` does differently",
    "RayJob": "a Ray cluster has a head, groups of workers and a driver, and no mlPolicy sets one up",
}


def policy_of_other(facts: OlderFacts, *, by_variables: bool = True) -> Policy | str:
    """The policy that wires the pods as their operator did, or why there is none.

    Not `by_variables`: one that leaves all variables that a person wrote as they are.
    """
    kind = facts.old["kind"]
    if kind in _NONE:
        return _NONE[kind]
    if not all(facts.main(role) for role in facts.roles):
        return "the pods of a role have no containers"
    plugins = _plugins(facts)
    if "tensorflow" in plugins:
        return tensorflow_policy(facts)
    if "mpi" in plugins:
        return "the master reads `MPI_HOST` or `/etc/volcano`, which `mlPolicy.mpi` does not create"
    if len(facts.roles) != 1:
        return "its roles have different pods, and `numNodes` counts identical pods"
    (role,) = facts.roles
    if role.get("replicas", 1) != 1:
        return "each of its parts is its own Job, and `numNodes` counts the pods of one"
    if (clashing := clash(facts, [role["name"]])) is not None:
        return clashing
    return (_by_variables(facts, role) if by_variables else None) or _plain(facts, role)


def _plugins(facts: OlderFacts) -> Any:
    spec = facts.old["spec"]
    return (spec.get("plugins") or {}) if facts.old["apiVersion"].startswith("batch.volcano.sh/") else {}


def _by_variables(facts: OlderFacts, role: dict[str, Any]) -> Policy | None:
    """The policy whose variables a container sets itself, None where it sets none, or a part of them."""
    given = {entry["name"]: entry.get("value", "") for entry in facts.main(role).get("env", [])}
    for name in _BY_VARIABLES:
        reserved = VOCABULARIES[name].reserved
        if set(reserved) - {_PROCESSES} <= given.keys():
            match = re.fullmatch(r"[1-9][0-9]{0,3}", given.get(_PROCESSES, ""))
            processes = int(match[0]) if match else None
            return _one_role(facts, role, name, NODE, processes, frozenset(reserved))
    return None


def _plain(facts: OlderFacts, role: dict[str, Any]) -> Policy:
    reason = _VOLCANO_COUNTS if "svc" in _plugins(facts) else ""
    if facts.old["kind"] == "LeaderWorkerSet":
        reason = "`LWS_GROUP_SIZE` and the TPU's variables name this number of pods"
    return _one_role(facts, role, PLAIN, role["name"], None, frozenset(), reason)


def _one_role(
    facts: OlderFacts,
    role: dict[str, Any],
    policy: str,
    name: str,
    processes: int | None,
    without: frozenset[str],
    reason: str = "",
) -> Policy:
    return Policy(
        policy,
        {"numNodes": 1} if policy == PLAIN else {policy: {}},
        {role["name"]: name},
        {facts.main(role)["name"]: NODE},
        (name,),
        name,
        facts.count(role),
        processes,
        without,
        reason,
        own=without,
    )
