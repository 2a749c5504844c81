"""What Volcano's plugins give to the pods of a job: variables, host files, keys, ports and Services."""

from collections.abc import Iterable

from trainc.frameworks.base.hosts import length, refuse_length
from trainc.frameworks.base.requirements import EXISTING, IN_CLUSTER, choice, note, secret_name
from trainc.frameworks.mpi import PRIVATE, PUBLIC, generator
from trainc.kinds.shared.environment import GLOBAL_INDEX, INDEX_REFERENCE, JOB_INDEX, every_and_init, framework
from trainc.kinds.volcanojob.pods import claims
from trainc.kinds.volcanojob.spec import FRAMEWORK as NAME
from trainc.kinds.volcanojob.spec import Flags, Task, plugins, read_tasks
from trainc.model.patch import Patch
from trainc.model.patches import COMPLETION_INDEX, Contribution
from trainc.model.plan import Plan, Role
from trainc.model.report import Report
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import Tree, get, value
from trainc.text.object_keys import JOBSET_NAME, REPLICATED_JOB

_NAMES = 100  # bytes that two variables of a task take beside its addresses
_CLUSTER = ("ps", "worker", "chief", "evaluator")
ROOT_PATH = "/root/.ssh"
_KEYS = ("id_rsa", "id_rsa.pub", "authorized_keys")
_MADE_KEYS = (PRIVATE, PUBLIC, PUBLIC)  # under which the External Secrets operator writes them
_RECIPE = (
    "ssh-keygen -q -m PEM -t rsa -b 2048 -N '' -f key && kubectl create secret generic NAME"
    " --from-file=id_rsa=key --from-file=id_rsa.pub=key.pub --from-file=authorized_keys=key.pub"
)
_WAIT = """\
waited=0
until { nc -z HOST PORT || echo > /dev/tcp/HOST/PORT; } 2>/dev/null; do
  if [ "$waited" -ge TIMEOUT ]; then
    echo "HOST:PORT does not answer after TIMEOUT seconds"
    exit 1
  fi
  sleep 2
  waited=$((waited + 2))
done
"""


class Wiring:
    """One job as its plugins see it: its tasks with the addresses of their pods, and the flags of each plugin."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.plugins = plugins(plan.job)
        self.tasks = read_tasks(plan.job)
        self.by_name = {task.role: task for task in reversed(self.tasks)}
        roles = {role.name.value: role for role in plan.roles}
        for task in self.tasks:
            if (role := roles.get(task.role)) is not None:
                task.jobs, task.pods = role.replicas, role.count

    def hosts(self, task: Task) -> list[str]:
        return task.hosts(self.plan.name.value)

    def text(self, by: str, text: str) -> Sourced[str]:
        return derive(by, lambda _: text, self.plan.name)


def lists(wiring: Wiring) -> dict[str, object]:
    """The addresses of each task and their number, under the names of the plugin `svc`."""
    out: dict[str, object] = {}
    for task in wiring.tasks:
        hosts = wiring.hosts(task)
        out[f"VC_{task.variable}_HOSTS"] = wiring.text("hosts of the task", ",".join(hosts))
        out[f"VC_{task.variable}_NUM"] = wiring.text("number of hosts", str(len(hosts)))
    return out


def entries(wiring: Wiring, role: Role, container: Tree) -> dict[str, object]:
    """The variables of Volcano 1.16 for one container, in one order; Volcano's own is random."""
    is_init = all(container is not other for other in role.containers)
    own: dict[str, object] = {}
    if "env" in wiring.plugins:
        index = JOB_INDEX if role.count.value == 1 and role.replicas.value > 1 else COMPLETION_INDEX
        own.update(dict.fromkeys(("VK_TASK_INDEX", "VC_TASK_INDEX"), index))
    if (service := wiring.plugins.get("svc")) is not None and service.is_on("inject-hosts-env"):
        own.update(lists(wiring))
    mpi = wiring.plugins.get("mpi")
    workers = wiring.by_name.get(mpi.text("worker")) if mpi is not None else None
    if mpi is not None and workers is not None and role.name.value == mpi.text("master"):
        own["MPI_HOST"] = wiring.text("hosts of the workers", ",".join(wiring.hosts(workers)))
    if not is_init:
        own.update(_pytorch_variables(wiring, role))
        own.update(_tensorflow(wiring, role))
    return own


def _pytorch_variables(wiring: Wiring, role: Role) -> dict[str, object]:
    torch = wiring.plugins.get("pytorch")
    master = wiring.by_name.get(torch.text("master")) if torch is not None else None
    if torch is None or master is None or not master.count.value:
        return {}
    worker = wiring.by_name.get(torch.text("worker"))
    world = master.count.value + (worker.count.value if worker is not None and worker is not master else 0)
    own: dict[str, object] = {
        "MASTER_ADDR": wiring.text("address of the master", wiring.hosts(master)[0]),
        "MASTER_PORT": str(torch.number("port")),
        "WORLD_SIZE": wiring.text("masters + workers", str(world)),
    }
    if worker is not None and role.name.value == worker.role:
        own["RANK"] = "1" if role.replicas.value == 1 else GLOBAL_INDEX
    elif role.name.value == master.role:
        own["RANK"] = "0"
    return own


def _tensorflow(wiring: Wiring, role: Role) -> dict[str, object]:
    tensorflow = wiring.plugins.get("tensorflow")
    if tensorflow is None or (len(wiring.tasks) == 1 and wiring.tasks[0].count.value == 1):
        return {}
    names = {tensorflow.text(name): name for name in reversed(_CLUSTER)}
    port = tensorflow.number("port")
    cluster = {names[task.role]: task for task in wiring.tasks if task.role in names and task.count.value}
    lists_of_hosts = []
    for name, task in [(name, cluster[name]) for name in _CLUSTER if name in cluster]:
        hosts = wiring.hosts(task) * (task.count.value if task.has_one_host else 1)
        quoted = ",".join(f'"{host}:{port}"' for host in hosts)
        lists_of_hosts.append(f'"{name}":[{quoted}]')
    index = INDEX_REFERENCE if role.count.value > 1 else "0"
    kind = names.get(role.name.value, role.name.value)
    text = f'{{"cluster":{{{",".join(lists_of_hosts)}}},"task":{{"type":"{kind}","index":{index}}}}}'
    return {"TF_CONFIG": wiring.text("cluster of the job", text)}


def more(plan: Plan) -> Contribution:
    """What the plugins add beside variables, and the claims that the job describes."""
    wiring = Wiring(plan)
    out = Contribution()
    for name, add in _ADDS.items():
        if (flags := wiring.plugins.get(name)) is not None:
            out += add(wiring, flags)
    return out + Contribution(objects=claims(plan.name, get(plan.job, "spec")))


def refuse(plan: Plan, report: Report) -> None:
    """A refusal where the addresses of all tasks, in each container, are more than one object holds."""
    if (service := plugins(plan.job).get("svc")) is not None and service.is_on("inject-hosts-env"):
        counts = {role.index: role.count for role in plan.roles}
        size = length(plan, counts) + _NAMES * len(counts)
        refuse_length(plan, report, size * sum(len(every_and_init(role)) for role in plan.roles))


def check(plan: Plan, report: Report) -> None:
    """Say which Secret must exist; no key is ever made here."""
    if "ssh" in plugins(plan.job) and choice(plan) == EXISTING:
        note(plan, report, secret_name(plan, "mpi", "-ssh").value, _KEYS, _RECIPE)


FRAMEWORK = framework(NAME, entries, every_and_init, more=more, check=check, wired=Wiring, refuse=refuse)


def _named(wiring: Wiring, suffix: str) -> Sourced[str]:
    return derive("name that Volcano gave", lambda job: f"{job}-{suffix}", wiring.plan.name)


def _mounted(wiring: Wiring, volume: Tree, mount: Tree) -> Contribution:
    """A volume in every pod, mounted in every container, those that run first too."""
    patches = []
    for role in wiring.plan.roles:
        patches.append(Patch(role.index, volumes=(volume,)))
        for container in every_and_init(role):
            patches.append(Patch(role.index, container["name"].value, mounts=(mount,)))
    return Contribution(patches)


def _service(wiring: Wiring, flags: Flags) -> Contribution:
    """The files with the hosts of each task, without a newline at their end, and who may reach the pods."""
    name = _named(wiring, "svc")
    data = {
        f"{task.role.replace('-', '_')}.host": wiring.text("hosts of the task", "\n".join(wiring.hosts(task)))
        for task in wiring.tasks
    }
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {**data, **lists(wiring)}}
    pods = {"matchLabels": {JOBSET_NAME: wiring.plan.name}}  # who are reached by each other alone
    policy = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": wiring.plan.name},
        "spec": {"podSelector": pods, "ingress": [{"from": [{"podSelector": pods}]}], "policyTypes": ["Ingress"]},
    }
    mounted = _mounted(wiring, {"name": name, "configMap": {"name": name}}, {"name": name, "mountPath": "/etc/volcano"})
    return mounted + Contribution(objects=(config,) if flags.is_on("disable-network-policy") else (config, policy))


def _ssh(wiring: Wiring, flags: Flags) -> Contribution:
    """The keys of a Secret and the configuration with the hosts, in one folder of every container."""
    made = choice(wiring.plan) == IN_CLUSTER
    secret, config = secret_name(wiring.plan, "mpi", "-ssh"), _named(wiring, "ssh-config")
    path = flags.text("ssh-key-file-path")
    keys = zip(_MADE_KEYS if made else _KEYS, _KEYS, strict=True)
    sources = [
        {"secret": {"name": secret, "items": [{"key": key, "path": f".ssh/{file}"} for key, file in keys]}},
        {"configMap": {"name": config, "items": [{"key": "config", "path": ".ssh/config"}]}},
    ]
    mode = 0o600 if path == ROOT_PATH else 0o644
    name = _named(wiring, "ssh")
    mounted = _mounted(
        wiring,
        {"name": name, "projected": {"defaultMode": mode, "sources": sources}},
        {"name": name, "mountPath": path, "subPath": ".ssh"},
    )
    port = flags.number("ssh-port")
    valid = port if 0 < port <= 65535 else 22
    lines = ["StrictHostKeyChecking no", "UserKnownHostsFile /dev/null"]
    for task in wiring.tasks:
        for host in wiring.hosts(task):
            lines += [f"Host {host.partition('.')[0]}", f"  HostName {host}", f"  Port {valid}"]
    text = wiring.text("hosts of the job", "\n".join(lines) + "\n")
    files = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": config}, "data": {"config": text}}
    return mounted + Contribution(objects=(files, *(generator(wiring.plan, secret) if made else ())))


def _pytorch(wiring: Wiring, flags: Flags) -> Contribution:
    """The port of torch on every container, and for the workers a container that waits for the master."""
    if (master := wiring.by_name.get(flags.text("master"))) is None or not master.count.value:
        return Contribution()
    port = {"pytorchjob-port": flags.number("port")}
    patches = [patch for role in wiring.plan.roles for patch in _ports(role, role.containers, port)]
    worker = wiring.plan.role(flags.text("worker"))
    if worker is not None and flags.is_on("wait-master-enabled") and not worker.init_container("wait-for-master"):
        numbers = {"PORT": str(flags.number("port")), "TIMEOUT": str(flags.number("wait-master-timeout"))}
        script = _WAIT.replace("HOST", wiring.hosts(master)[0])
        for word, text in numbers.items():
            script = script.replace(word, text)
        command = ["sh", "-c", wiring.text("waiting for the master", script)]
        waiting = {"name": "wait-for-master", "image": flags.text("wait-master-image"), "command": command}
        patches.append(Patch(worker.index, init_containers=(waiting,)))
    return Contribution(patches)


def _mpi(wiring: Wiring, flags: Flags) -> Contribution:
    """The port of ssh on every container, those that run first too."""
    port = {"mpijob-port": flags.number("port")}
    return Contribution(patch for role in wiring.plan.roles for patch in _ports(role, every_and_init(role), port))


def _ports(role: Role, containers: Iterable[Tree], wanted: dict[str, int]) -> list[Patch]:
    out = []
    for container in containers:
        there = {value(port, "containerPort") for port in container.get("ports") or ()}
        ports = tuple(
            {"name": name, "containerPort": number, "protocol": "TCP"}
            for name, number in wanted.items()
            if number not in there
        )
        if ports:
            out.append(Patch(role.index, container["name"].value, ports=ports))
    return out


def _ray(wiring: Wiring, flags: Flags) -> Contribution:
    """The commands of head and workers, and a Service for the head."""
    plan = wiring.plan
    head, worker = plan.role(flags.text("head")), plan.role(flags.text("worker"))
    task = wiring.by_name.get(flags.text("head"))
    if head is None or task is None:
        return Contribution()
    gcs, dashboard, client = (flags.number(name) for name in ("port", "dashboardPort", "clientPort"))
    ports = {"gcs": gcs, "dashboard": dashboard, "client-server": client}
    start = "ray start --head --block --dashboard-host=0.0.0.0 "
    start += f"--port={gcs} --dashboard-port={dashboard} --ray-client-server-port={client}"
    patches = []
    if (main := head.container(flags.text("headContainer"))) is not None:
        patches += [Patch(head.index, main["name"].value, sets={"command": ["sh", "-c", start]})]
        patches += _ports(head, [main], ports)
    other = worker.container(flags.text("workerContainer")) if worker is not None else None
    if worker is not None and other is not None:
        address = f"{wiring.hosts(task)[0]}:{gcs}"
        joins = wiring.text("address of the head", f"ray start --block --address={address}")
        patches.append(Patch(worker.index, other["name"].value, sets={"command": ["sh", "-c", joins]}))
    listed = [{"name": name, "port": number, "targetPort": number, "protocol": "TCP"} for name, number in ports.items()]
    selector = {JOBSET_NAME: plan.name, REPLICATED_JOB: head.name}
    head_service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": _named(wiring, "head-svc")},
        "spec": {"selector": selector, "ports": listed},
    }
    return Contribution(patches, objects=(head_service,))


_ADDS = {"svc": _service, "ssh": _ssh, "pytorch": _pytorch, "mpi": _mpi, "ray": _ray}
