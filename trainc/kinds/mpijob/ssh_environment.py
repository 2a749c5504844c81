"""MPIJob v2beta1: mpirun starts its processes through ssh, with a key from a Secret in every pod."""

from trainc.frameworks.base.requirements import EXISTING, IN_CLUSTER, choice, note, secret_name
from trainc.frameworks.mpi import PRIVATE, PUBLIC, RECIPE, generator
from trainc.kinds.shared.environment import first, framework, has_words, search_domains
from trainc.kinds.shared.peers import operator_name, own_name, peers
from trainc.model.patch import Patch
from trainc.model.patches import Contribution
from trainc.model.plan import Plan, Role
from trainc.model.report import Report
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import Tree, value

CONFIG, AUTH = "mpi-job-config", "ssh-auth"
ROOT_PATH = "/root/.ssh"
DOMAIN = "cluster.local"  # the operator writes it whatever the cluster's domain is
_KEYS = (("ssh-privatekey", "id_rsa"), ("ssh-publickey", "id_rsa.pub"), ("ssh-publickey", "authorized_keys"))
_RETRY = "-o ConnectionAttempts=10"
_HOSTS = "/etc/mpi/hostfile"
# Per implementation: the launcher's variables in order; SLOTS stands for the slots of a worker.
_LAUNCHER: dict[str, tuple[tuple[str, str], ...]] = {
    "OpenMPI": (
        ("OMPI_MCA_orte_keep_fqdn_hostnames", "true"),
        ("OMPI_MCA_orte_default_hostfile", _HOSTS),
        ("OMPI_MCA_plm_rsh_args", _RETRY),
        ("OMPI_MCA_orte_set_default_slots", "SLOTS"),
    ),
    "Intel": (
        ("I_MPI_HYDRA_HOST_FILE", _HOSTS),
        ("I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", _RETRY),
        ("I_MPI_PERHOST", "SLOTS"),
    ),
    "MPICH": (("HYDRA_HOST_FILE", _HOSTS), ("HYDRA_LAUNCH_EXTRA_ARGS", _RETRY)),
}
_LABELS = (
    "jobset.sigs.k8s.io/jobset-name={name},jobset.sigs.k8s.io/replicatedjob-name=$role,"
    "batch.kubernetes.io/job-completion-index=$index"
)
_FIND = """\
find_pod() {
    index=${1##*-}
    case "$1" in
    {name}-launcher-*) role=launcher ;;
    *) role=worker ;;
    esac
    /opt/kube/kubectl get pods -l "{labels}" \\
        --field-selector status.phase=Running -o 'jsonpath={.items[0].metadata.name}' 2>/dev/null
}
"""
_EXEC = """\
#!/bin/sh
set -x
{find}
host=$1
shift
pod=
until [ -n "$pod" ]; do
    pod=$(find_pod "$host") || pod=
    [ -n "$pod" ] || sleep 1
done
/opt/kube/kubectl exec "$pod"{container} -- /bin/sh -c "$*"
"""
_ANSWERING = """\
#!/bin/sh
{find}
list() {
    [ -z "$(find_pod "$1")" ] || echo "$1:$2"
}
"""
_REACHABLE = """\
#!/bin/sh
list() {
    ssh -o BatchMode=yes -o ConnectTimeout=2 "$1" true </dev/null >/dev/null 2>&1 && echo "$1"
}
"""


def entries(plan: Plan, role: Role, _: Tree) -> dict[str, object]:
    """The variables of mpi-operator v0.8.2, in its order."""
    own: dict[str, object] = {"K_MPI_JOB_ROLE": role.name}
    if role.name.value != "launcher":
        return own
    for name, content in _LAUNCHER[value(plan.settings, "implementation")]:
        own[name] = plan.settings["slots"] if content == "SLOTS" else content
    if not _both(plan):
        own.update({"NVIDIA_VISIBLE_DEVICES": "", "NVIDIA_DRIVER_CAPABILITIES": ""})
    return own


def _both(plan: Plan) -> bool:
    return value(plan.settings, "launcherIsWorker") is True


def hosts(plan: Plan) -> list[str]:
    """The hosts mpirun may use: the launcher first if it works too, then the workers."""
    domain = value(plan.settings, "clusterDomain")
    suffix = f".{plan.namespace.value}.svc" if plan.namespace is not None else ""
    suffix += f".{domain}" if suffix and domain else ""
    workers = peers(plan) if _both(plan) else peers(plan, "worker")
    # The operator's names lie below a Service's, where no other Service can be: its names cannot be kept.
    return [f"{own_name(plan, p)}.{plan.name.value}{suffix}" for p in sorted(workers, key=lambda p: p.type == "worker")]


def more(plan: Plan) -> Contribution:
    """Keys and host files in every pod, short names that resolve, and the ConfigMap."""
    name = secret_name(plan, "mpi", "-ssh")  # the one the project names, else the one the operator made
    keys = generator(plan, name) if choice(plan) == IN_CLUSTER else ()
    workers, slots = hosts(plan), plan.settings["slots"]
    form = "{} slots={}" if value(plan.settings, "implementation") == "OpenMPI" else "{}:{}"
    data = {
        "hostfile": derive("hosts of the job", lambda _, n: hostfile(workers, n, form), plan.name, slots),
        "discover_hosts.sh": derive("hosts of the job", lambda _: discover_hosts(workers), plan.name),
    }
    meta = {"name": operator_name(plan, "config"), "labels": {"app": plan.name}}
    out = Contribution(objects=[{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}, *keys])
    for role in plan.roles:
        out += _pod(plan, role, name)
    return out if plan.namespace is None else out + search_domains(plan, DOMAIN)


def check(plan: Plan, report: Report) -> None:
    """Say which Secret must exist; no key is ever made here."""
    if choice(plan) == EXISTING:
        recipe = RECIPE.replace("ssh-keygen -q", "ssh-keygen -q -m PEM")
        note(plan, report, secret_name(plan, "mpi", "-ssh").value, (PRIVATE, PUBLIC), recipe)


def _pod(plan: Plan, role: Role, secret: Sourced[str]) -> Contribution:
    path = plan.settings["sshAuthMountPath"]
    keys: dict[str, Tree] = {"secretName": secret, "items": [{"key": key, "path": name} for key, name in _KEYS]}
    if path.value == ROOT_PATH:
        keys["defaultMode"] = 0o600
    mounts: tuple[Tree, ...] = ({"name": AUTH, "mountPath": path},)
    volumes: tuple[Tree, ...] = ({"name": AUTH, "secret": keys},)
    sets: dict[str, Tree] = {}
    container = role.containers[0]
    if role.name.value == "launcher":
        items = [{"key": "hostfile", "path": "hostfile", "mode": 0o444}]
        items.append({"key": "discover_hosts.sh", "path": "discover_hosts.sh", "mode": 0o555})
        mounts += ({"name": CONFIG, "mountPath": "/etc/mpi"},)
        volumes += ({"name": CONFIG, "configMap": {"name": operator_name(plan, "config"), "items": items}},)
    elif not has_words(container, "command") and not has_words(container, "args"):
        sets = {"command": ["/usr/sbin/sshd", "-De"]}
    name: str = container["name"].value
    return Contribution([Patch(role.index, name, mounts=mounts, sets=sets), Patch(role.index, volumes=volumes)])


FRAMEWORK = framework("mpijob-ssh", entries, first, more=more, check=check)


def kubexec(name: str, container: str) -> str:
    """The remote shell of MPIJob v1: looks the pod behind a host name up, waits for it, and executes there."""
    chosen = f" --container {container}" if container else ""
    return _EXEC.replace("{find}", _find(name)).replace("{container}", chosen)


def discover_pods(name: str, hosts: list[str], slots: int) -> str:
    """A script that prints `host:slots` for every host whose pod runs."""
    lines = [f"list {host} {slots}\n" for host in hosts]
    return _ANSWERING.replace("{find}", _find(name)) + "".join(lines) + "exit 0\n"


def discover_hosts(hosts: list[str]) -> str:
    """A script that prints every host that lets us in."""
    return _REACHABLE + "".join(f"list {host}\n" for host in hosts) + "exit 0\n"


def hostfile(hosts: list[str], slots: int, form: str = "{} slots={}") -> str:
    return "".join(form.format(host, slots) + "\n" for host in hosts)


def _find(name: str) -> str:
    return _FIND.replace("{labels}", _LABELS).replace("{name}", name)
