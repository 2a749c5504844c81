"""What Volcano's plugins add to the pods of a job beside variables: files, keys, ports, commands, and objects."""

from __future__ import annotations

from trainc.frameworks.base.secrets import EXISTING, IN_CLUSTER, choice, note, secret_name
from trainc.frameworks.mpi.keys import PRIVATE, PUBLIC, generator
from trainc.kinds.volcanojob.wiring import Wiring, lists
from trainc.model.patch import Patch
from trainc.model.patches import Contribution
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import value
from trainc.text.object_keys import JOBSET_NAME, REPLICATED_JOB

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.kinds.volcanojob.flags import Flags
    from trainc.model.plan import Role
    from trainc.model.report import Report
    from trainc.model.tree import Tree

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


def more(wiring: Wiring) -> Contribution:
    """Everything that the plugins of a job add, but for its variables."""
    out = Contribution()
    for name, add in _ADDS.items():
        flags = wiring.plugins.get(name)
        if flags is not None:
            out += add(wiring, flags)
    return out


def check(wiring: Wiring, report: Report) -> None:
    """Say which Secret must exist; no key is ever made here."""
    if "ssh" in wiring.plugins and choice(wiring.plan, "mpi") == EXISTING:
        note(wiring.plan, report, _secret(wiring).value, _KEYS, _RECIPE)


def _named(wiring: Wiring, suffix: str) -> Sourced[str]:
    return derive("name that Volcano gave", lambda job: f"{job}-{suffix}", wiring.plan.name)


def _mounted(wiring: Wiring, volume: Tree, mount: Tree) -> Contribution:
    """A volume in every pod, mounted in every container, those that run first too."""
    patches = []
    for role in wiring.plan.roles:
        patches.append(Patch(role.index, volumes=(volume,)))
        for container in (*role.containers, *role.init_containers):
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
    policy = () if flags.is_on("disable-network-policy") else (_network_policy(wiring),)
    mounted = _mounted(
        wiring,
        {"name": name, "configMap": {"name": name}},
        {"name": name, "mountPath": "/etc/volcano"},
    )
    return mounted + Contribution(objects=(config, *policy))


def _network_policy(wiring: Wiring) -> Tree:
    """Pods of the job are reached by pods of the job alone."""
    pods = {"matchLabels": {JOBSET_NAME: wiring.plan.name}}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": wiring.plan.name},
        "spec": {"podSelector": pods, "ingress": [{"from": [{"podSelector": pods}]}], "policyTypes": ["Ingress"]},
    }


def _ssh(wiring: Wiring, flags: Flags) -> Contribution:
    """The keys of a Secret and the configuration with the hosts, in one folder of every container."""
    made = choice(wiring.plan, "mpi") == IN_CLUSTER
    secret, config = _secret(wiring), _named(wiring, "ssh-config")
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
    text = wiring.text("hosts of the job", _configuration(wiring, flags.number("ssh-port")))
    files = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": config}, "data": {"config": text}}
    return mounted + Contribution(objects=(files, *(generator(wiring.plan, secret) if made else ())))


def _secret(wiring: Wiring) -> Sourced[str]:
    return secret_name(wiring.plan, "mpi", "-ssh")


def _configuration(wiring: Wiring, port: int) -> str:
    valid = port if 0 < port <= 65535 else 22
    lines = ["StrictHostKeyChecking no", "UserKnownHostsFile /dev/null"]
    for task in wiring.tasks:
        for host in wiring.hosts(task):
            lines += [f"Host {host.partition('.')[0]}", f"  HostName {host}", f"  Port {valid}"]
    return "\n".join(lines) + "\n"


def _pytorch(wiring: Wiring, flags: Flags) -> Contribution:
    """The port of torch on every container, and for the workers a container that waits for the master."""
    master = wiring.task(flags.text("master"))
    if master is None or not master.count.value:
        return Contribution()
    roles = wiring.plan.roles
    port = flags.number("port")
    patches = [patch for role in roles for patch in _ports(role, role.containers, {"pytorchjob-port": port})]
    worker = wiring.plan.role(flags.text("worker"))
    if worker is not None and flags.is_on("wait-master-enabled") and not worker.init_container("wait-for-master"):
        patches.append(Patch(worker.index, init_containers=(_waiting(wiring, flags, wiring.hosts(master)[0]),)))
    return Contribution(patches)


def _waiting(wiring: Wiring, flags: Flags, host: str) -> Tree:
    numbers = {"PORT": str(flags.number("port")), "TIMEOUT": str(flags.number("wait-master-timeout"))}
    script = _WAIT
    for word, text in {"HOST": host, **numbers}.items():
        script = script.replace(word, text)
    command = ["sh", "-c", wiring.text("waiting for the master", script)]
    return {"name": "wait-for-master", "image": flags.text("wait-master-image"), "command": command}


def _mpi(wiring: Wiring, flags: Flags) -> Contribution:
    """The port of ssh on every container, those that run first too."""
    port = {"mpijob-port": flags.number("port")}
    return Contribution(
        patch for role in wiring.plan.roles for patch in _ports(role, (*role.containers, *role.init_containers), port)
    )


def _ports(role: Role, containers: Iterable[Tree], wanted: dict[str, int]) -> list[Patch]:
    """The ports that containers do not have yet."""
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
    task = wiring.task(flags.text("head"))
    if head is None or task is None:
        return Contribution()
    ports = {"gcs": flags.number("port"), "dashboard": flags.number("dashboardPort")}
    ports["client-server"] = flags.number("clientPort")
    gcs, dashboard, client = ports.values()
    start = "ray start --head --block --dashboard-host=0.0.0.0 "
    start += f"--port={gcs} --dashboard-port={dashboard} --ray-client-server-port={client}"
    patches = []
    main = head.container(flags.text("headContainer"))
    if main is not None:
        patches += [Patch(head.index, main["name"].value, sets={"command": ["sh", "-c", start]})]
        patches += _ports(head, [main], ports)
    other = worker.container(flags.text("workerContainer")) if worker is not None else None
    if worker is not None and other is not None:
        address = f"{wiring.hosts(task)[0]}:{gcs}"
        joins = wiring.text("address of the head", f"ray start --block --address={address}")
        patches.append(Patch(worker.index, other["name"].value, sets={"command": ["sh", "-c", joins]}))
    return Contribution(patches, objects=(_head_service(wiring, head, ports),))


def _head_service(wiring: Wiring, head: Role, ports: dict[str, int]) -> Tree:
    listed = [{"name": name, "port": number, "targetPort": number, "protocol": "TCP"} for name, number in ports.items()]
    selector = {JOBSET_NAME: wiring.plan.name, REPLICATED_JOB: head.name}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": _named(wiring, "head-svc")},
        "spec": {"selector": selector, "ports": listed},
    }


_ADDS = {"svc": _service, "ssh": _ssh, "pytorch": _pytorch, "mpi": _mpi, "ray": _ray}
