"""MPIJob v1: mpirun starts its processes with `kubectl exec`, through a script and a role of its own."""

from trainc.kinds.mpijob.ssh_environment import discover_pods, hostfile, kubexec
from trainc.kinds.shared.environment import POD_NAMESPACE, first, framework, has_words
from trainc.kinds.shared.peers import operator_name, peers, short
from trainc.model.patch import Patch
from trainc.model.patches import Contribution
from trainc.model.plan import Plan, Role
from trainc.model.sourced import derive
from trainc.model.tree import Tree, get, given, value

# Copies one binary; images that wait for pods by name would never finish, because pods of a JobSet get random names.
KUBECTL_IMAGE = "alpine/k8s:1.33.0"
CONFIG, KUBECTL = "mpi-job-config", "mpi-job-kubectl"
_AGENT = "/etc/mpi/kubexec.sh"
_MOUNTS = ({"name": KUBECTL, "mountPath": "/opt/kube"}, {"name": CONFIG, "mountPath": "/etc/mpi"})
_LIMITS = {"cpu": "100m", "memory": "512Mi", "ephemeral-storage": "5Gi"}


def entries(_: Plan, role: Role, container: Tree) -> dict[str, object]:
    """The launcher's variables of training operator v1.9.0, in its order; workers get none."""
    if role.name.value != "launcher":
        return {}
    own: dict[str, object] = {"OMPI_MCA_plm_rsh_agent": _AGENT, "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile"}
    if not on_gpus(role):
        own.update({"NVIDIA_VISIBLE_DEVICES": "", "NVIDIA_DRIVER_CAPABILITIES": ""})
    names = {value(entry, "name") for entry in container.get("env") or []}
    intel = {"I_MPI_HYDRA_BOOTSTRAP": "rsh", "I_MPI_HYDRA_BOOTSTRAP_EXEC": _AGENT}
    return {**own, **{name: content for name, content in intel.items() if name not in names}}


def on_gpus(role: Role) -> bool:
    """Whether the launcher computes too: a limit of one of its containers names a GPU."""
    limits = [name for container in role.containers for name in get(container, "resources", "limits") or {}]
    return any(name.endswith(".com/gpu") or "gpu" in name for name in limits)


def hosts(plan: Plan) -> list[str]:
    """The hosts mpirun may use: the launcher first if it has GPUs, then the workers."""
    launcher = plan.role("launcher")
    wanted = ("worker", "launcher") if launcher is not None and on_gpus(launcher) else ("worker",)
    return [short(plan, p) for p in sorted(peers(plan, *wanted), key=lambda p: p.type == "worker")]


def more(plan: Plan) -> Contribution:
    """Volumes, mounts, the init container that brings kubectl, and the objects behind them."""
    launcher = plan.role("launcher")
    assert launcher is not None
    delivery = {
        "name": "kubectl-delivery",
        "image": KUBECTL_IMAGE,
        "imagePullPolicy": "IfNotPresent",
        "command": ["/bin/sh", "-c", 'cp `command -v kubectl` "$TARGET_DIR/kubectl"'],
        "env": [{"name": "TARGET_DIR", "value": "/opt/kube"}, {"name": "NAMESPACE", **POD_NAMESPACE}],
        "volumeMounts": [*_MOUNTS],
        "resources": {"requests": _LIMITS, "limits": _LIMITS},
    }
    own = {} if value(launcher.pod, "serviceAccountName") else {"serviceAccountName": operator_name(plan, "launcher")}
    config = _volume(plan, (("kubexec.sh", 0o555), ("hostfile", 0o444), ("discover_hosts.sh", 0o555)))
    volumes = ({"name": KUBECTL, "emptyDir": {}}, config)
    pod = Patch(launcher.index, volumes=volumes, init_containers=(delivery,), pod=own)
    out = Contribution([Patch(launcher.index, launcher.containers[0]["name"].value, mounts=_MOUNTS), pod])
    if (worker := plan.role("worker")) is not None:
        sleeps = {} if has_words(worker.containers[0], "command") else {"command": ["sleep"], "args": ["365d"]}
        mounts = _MOUNTS[1:]
        pod = Patch(worker.index, volumes=(_volume(plan, (("kubexec.sh", 0o555),)),))
        out += Contribution([Patch(worker.index, worker.containers[0]["name"].value, mounts=mounts, sets=sleeps), pod])
    slots = plan.settings["slots"]
    workers = hosts(plan)
    data = {
        "hostfile": derive("hosts of the job", lambda _, n: hostfile(workers, n), plan.name, slots),
        "kubexec.sh": derive("rsh agent", kubexec, plan.name, plan.settings["mainContainer"]),
        "discover_hosts.sh": derive("hosts of the job", lambda j, n: discover_pods(j, workers, n), plan.name, slots),
    }
    files = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": _meta(plan, "config"), "data": data}
    return out + Contribution(objects=[files, *_rights(plan, launcher)])


def _volume(plan: Plan, items: tuple[tuple[str, int], ...]) -> Tree:
    listed = [{"key": key, "path": key, "mode": mode} for key, mode in items]
    return {"name": CONFIG, "configMap": {"name": operator_name(plan, "config"), "items": listed}}


def _meta(plan: Plan, suffix: str) -> Tree:
    return {"name": operator_name(plan, suffix), "labels": {"app": plan.name}}


def _rights(plan: Plan, launcher: Role) -> list[Tree]:
    own = given(get(launcher.pod, "serviceAccountName"), operator_name(plan, "launcher"))
    rules = [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["create"]},
    ]
    group = "rbac.authorization.k8s.io"
    subject = {"kind": "ServiceAccount", "name": own}
    if plan.namespace is not None:
        subject["namespace"] = plan.namespace
    binding = {"apiGroup": group, "kind": "Role", "name": operator_name(plan, "launcher")}
    meta, api = _meta(plan, "launcher"), f"{group}/v1"
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {**meta, "name": own}},
        {"apiVersion": api, "kind": "Role", "metadata": meta, "rules": rules},
        {"apiVersion": api, "kind": "RoleBinding", "metadata": meta, "roleRef": binding, "subjects": [subject]},
    ]


FRAMEWORK = framework("mpijob", entries, first, more=more)
