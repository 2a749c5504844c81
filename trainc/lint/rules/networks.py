"""Network set-ups that work only as a whole (GPUDirect-TCPX and TCPXO, EFA, InfiniBand), and ports that clash."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trainc.lint.facts.job import INIT, Container, ExpandedRole, Findings, Job, each
from trainc.lint.facts.shell import unconditional
from trainc.lint.facts.timing import has_peers
from trainc.lint.facts.values import flag, rows, table, text, texts
from trainc.lint.tables.machines import EFA, GPU, device_kind, is_network
from trainc.model.finding import ERROR, WARNING, Finding, Label, Rule
from trainc.model.sourced import Span
from trainc.text.numbers import parsed_int

HALF = Rule("network-half-set-up", WARNING)
TUNER = Rule("tuner-of-other-machine", WARNING)
DNS = Rule("host-network-without-dns-policy", WARNING)
HOST_PORT = Rule("host-port-clash", WARNING)
RDMA_OFF = Rule("rdma-switched-off", WARNING)
PORT_CLASH = Rule("ports-clash-in-pod", ERROR)
PAIR = Rule("daemon-and-plugin-differ", WARNING)

_TCPX, _TCPXO = "NCCL_GPUDIRECTTCPX_", "NCCL_FASTRAK_"  # what the names of their variables begin with
_GIB = "/usr/local/gib"
_INTERFACES = "networking.gke.io/interfaces"
_TCPXO_DAEMON = "/gpudirect-tcpxo/tcpgpudmarxd"

# Images of a daemon and of its plugin, and the plugins that each daemon works with.
PAIRS: tuple[tuple[str, str, dict[str, frozenset[str]]], ...] = (
    ("tcpx/tcpgpudmarxd-dev", "tcpx/nccl-plugin-gpudirecttcpx-dev", {"v2.0.11": frozenset(("v3.1.7",))}),
    (
        "tcpxo/tcpgpudmarxd-dev",
        "tcpxo/nccl-plugin-gpudirecttcpx-dev",
        {
            "v1.0.12": frozenset(("v1.0.7", "v1.0.8", "v1.0.8-1")),
            "v1.0.13": frozenset(("v1.0.7", "v1.0.8", "v1.0.8-1")),
        },
    ),
)
# Variables that keep NCCL or libfabric from the network, or GPUs of a pod from each other.
_SWITCHES = ("NCCL_NET", "NCCL_NET_PLUGIN", "NCCL_IB_DISABLE", "FI_PROVIDER", "NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL")


def network_half_set_up(role: ExpandedRole) -> Findings:
    for container in role.main:
        for there, missing, at in _halves(role, container) if container.devices else ():
            yield _half(at, f"`{container.name}` has {there}, but {missing}", "a component of your platform team")


def _half(at: Span, message: str, example: str, also: Iterable[Label] = ()) -> Finding:
    effect = "NCCL finds no fast network: it fails at start, or runs over TCP"
    return HALF.at(at, message, also=also, effect=effect, help=f"use one complete configuration, such as {example}")


def _halves(role: ExpandedRole, container: Container) -> Iterator[tuple[str, str, Span]]:
    """What a container has of a fast network, what is missing, and where the first is written."""
    security = table(container.tree, "securityContext")
    is_privileged = flag(security, "privileged")
    may_lock = not {"IPC_LOCK", "SYS_ADMIN"}.isdisjoint(texts(table(security, "capabilities"), "add"))
    card = next((r for r in container.limits if r.startswith(("rdma/", "nvidia.com/rdma"))), "")
    if card and not is_privileged and not may_lock:
        lacks = (
            "lacks the capability `IPC_LOCK`, which it needs to register memory unless the node's limit is unlimited"
        )
        yield f"`{card}`", lacks, container.at("resources", "limits", card)
    if container.sets(_TCPX) and not _has_daemon(role, "tcpgpudmarxd", "tcpx"):
        yield "variables of GPUDirect-TCPX", "no daemon `tcpgpudmarxd` runs beside it", _first(container, _TCPX)
    if container.sets(_TCPXO):
        there = "variables of GPUDirect-TCPXO"
        if not _has_daemon(role, "tcpgpudmarxd", "rxdm", "fastrak", "tcpxo"):
            yield there, "no receive daemon (RxDM) runs beside it", _first(container, _TCPXO)
        elif not any(path == "/dev" or path.startswith("/dev/aperture_devices") for path in _mounted(container)):
            yield there, "`/dev/aperture_devices` is not mounted", _first(container, _TCPXO)
    has_efa = is_privileged or role.host_network or EFA in container.limits or EFA in container.requests
    if role.several and container.literals.get("FI_PROVIDER") == "efa" and not has_efa:
        yield "`FI_PROVIDER=efa`", f"requests no `{EFA}`", container.env_at("FI_PROVIDER")


def _has_daemon(role: ExpandedRole, *words: str) -> bool:
    held = [each for one in role.containers for each in (text(one.tree, "image"), one.text, one.name)]
    return any(word in each for each in held for word in words)


def _first(container: Container, prefix: str) -> Span:
    return container.env_at(next(name for name in container.env if name.startswith(prefix)))


def _mounted(container: Container) -> list[str]:
    return [text(mount, "mountPath") for mount in rows(container.tree, "volumeMounts")]


def tuner_of_other_machine(job: Job) -> Findings:
    if "NCCL_TUNER_CONFIG_PATH" not in job.names:
        return
    for container in job.main:
        path = container.literals.get("NCCL_TUNER_CONFIG_PATH") or ""
        accelerator = container.role.node_label("cloud.google.com/gke-accelerator")
        wanted = {"nvidia-gb200": "a4x", "nvidia-h200-141gb": "a3u", "nvidia-b200": "a4"}.get(accelerator)
        table_name = path.rpartition("tuner_config_")[2].partition(".")[0] if "tuner_config_" in path else ""
        if wanted and table_name and table_name != wanted:
            at = container.env_at("NCCL_TUNER_CONFIG_PATH", "value")
            message = f"the tuner reads the tables of `{table_name}`, but the pods select `{accelerator}`"
            also = [Label(job.at(container.role.node_labels["cloud.google.com/gke-accelerator"][1]), wanted)]
            effect = "NCCL chooses algorithms that are slow on this machine"
            yield TUNER.at(at, message, also=also, effect=effect, help=f"use `tuner_config_{wanted}.txtpb`")


def tcpxo_half_set_up(role: ExpandedRole) -> Findings:
    """What the variables of TCPXO say nothing about: a daemon alone, and the interfaces of the pod."""
    daemon = next((c for c in role.containers if _TCPXO_DAEMON in text(c.tree, "image")), None)
    if daemon is None or not role.devices:
        return
    missing = []
    if not any(container.sets(_TCPXO) for container in role.main):
        missing.append("no container sets the variables NCCL_FASTRAK_*")
    if (alone := not role.host_network) and _INTERFACES not in role.annotations:
        missing.append(f"the pod has no annotation `{_INTERFACES}`")
    if alone and f"devices.gke.io/container.{daemon.name}" not in role.annotations:
        missing.append(f"the pod has no annotation `devices.gke.io/container.{daemon.name}`")
    for part in missing:
        message = f"`{daemon.name}` is a receive daemon for GPUDirect-TCPXO, but {part}"
        also = [Label(role.pod_at("containers"), "these containers")] if "container sets" in part else []
        yield _half(daemon.at("image"), message, "the component `gke-tcpxo`", also)


def gib_half_set_up(role: ExpandedRole) -> Findings:
    """The plugin of GKE's RDMA machines without the pod's interfaces, or the interfaces without the plugin."""
    interfaces = text(role.annotations, _INTERFACES)
    # Claims may bring the cards instead, and an annotation that is filled in later says nothing yet.
    is_open = _INTERFACES in role.annotations and not interfaces
    if role.host_network or rows(role.pod, "resourceClaims") or is_open:
        return
    has_cards = '"rdma-' in interfaces
    there, missing = f"`{_GIB}`", f"the pod has no RDMA interfaces in the annotation `{_INTERFACES}`"
    if has_cards:
        there, missing = "RDMA interfaces", f"`{_GIB}` is not mounted"
    for container in role.main if role.devices else ():
        has_plugin = any(path.startswith(_GIB) for path in _mounted(container))
        if has_plugin != has_cards and container.devices and (has_plugin or container.sets("NCCL_IB_")):
            message = f"`{container.name}` has {there}, but {missing}"
            yield _half(container.at("name"), message, "the component `gke-gib`")


class _Unused(NamedTuple):
    """What a container has and a variable switches off: in words, where it is written, its name, and the effect."""

    has: str
    at: Span
    kind: str
    effect: str = "collectives run over TCP"


def rdma_switched_off(container: Container) -> Findings:
    for name, value, place, is_passed_on in _settings(container):
        for user in container.role.job.containers if is_passed_on else (container,):
            if (unused := _unused(user, name, value)) is not None:
                message = f"`{name}={value}`, but `{user.name}` {unused.has}"
                also = [Label(unused.at, f"{unused.kind} here")]
                help_ = "use `FI_PROVIDER=efa`, or remove it" if name == "FI_PROVIDER" else "remove it"
                yield RDMA_OFF.at(place, message, also=also, effect=unused.effect, help=help_)
                break


def _settings(container: Container) -> Iterator[tuple[str, str, Span, bool]]:
    """The switches that a container, or an unconditional command in it, sets: name, value, place, whether `mpirun -x` passes it on."""
    for name in _SWITCHES:
        setting = None
        if name in container.env and type(value := container.value(name)) is str:
            setting = name, value, container.env_at(name, "value"), False
        for simple in unconditional(container.commands) if name in container.text else ():
            if simple.program == "unset" and name in simple.words:
                setting = None
            written = [word for word in simple.words if word.startswith(f"{name}=")]
            value = written[-1].partition("=")[2] if written else simple.assigned.get(name, "$")
            if "$" not in value:
                at = simple.words.index(written[-1]) if written else 0
                place = container.at_word(f"{name}={value}", name)
                setting = name, value, place, simple.words[at - 1 : at] == ["-x"]
        if setting is not None:
            yield setting


def _unused(container: Container, name: str, value: str) -> _Unused | None:
    """What a container has and a value of a variable keeps it from using."""
    kinds = {device_kind(resource) for resource in container.devices}
    if name.startswith("NCCL_") and kinds and GPU not in kinds:
        return None
    is_on = parsed_int(value) not in (None, 0)
    if name in ("NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL"):
        resource = next((one for one in container.devices if device_kind(one) == GPU), "")
        gpus = container.devices.get(resource)
        is_off = is_on if name == "NCCL_P2P_DISABLE" else value in ("LOC", "0")
        if not is_off or type(gpus) is not int or gpus < 2:
            return None
        effect = "the GPUs of a pod communicate through host memory"
        return _Unused(f"requests {gpus} GPUs", container.amount_at(resource), f"{gpus} GPUs", effect)
    network = _network(container)
    role = container.role
    if network is None or (type(role.count) is int and not has_peers(role)):
        return None
    if name == "NCCL_NET":
        is_off = value.lower() == "socket"
    elif name == "NCCL_NET_PLUGIN":
        is_off = value.lower() == "none" and network.kind != "RDMA"  # NCCL itself knows InfiniBand and RoCE
    elif name == "NCCL_IB_DISABLE":
        is_off = is_on and network.kind == "RDMA"  # aws-ofi-nccl and GPUDirect-TCPX do not read it
    else:  # a list of libfabric's providers; behind `^` are those that are excluded
        providers = value.lstrip("^").replace(";", ",").split(",")
        has_efa = any(provider.strip().startswith("efa") for provider in providers)
        is_without = has_efa if value.startswith("^") else bool(value.strip()) and not has_efa
        is_off = network.kind == "EFA" and is_without
    return network if is_off else None


def _network(container: Container) -> _Unused | None:
    """The fast network that a container is set up for."""
    role = container.role
    for name, prefix in (("GPUDirect-TCPX", _TCPX), ("GPUDirect-TCPXO", _TCPXO)):
        if container.sets(prefix):
            return _Unused(f"is configured for {name}", _first(container, prefix), name)
    for resource in (*container.limits, *container.requests):
        if is_network(resource):
            kind = "EFA" if resource.startswith(EFA) else "RDMA"
            return _Unused(f"requests `{resource}`", container.amount_at(resource), kind)
    if container.devices and '"rdma-' in text(role.annotations, _INTERFACES):
        return _Unused("has RDMA interfaces", role.spec_at("template", "metadata", "annotations", _INTERFACES), "RDMA")
    return None


def host_network_without_dns_policy(role: ExpandedRole) -> Findings:
    if "hostNetwork" in role.pod and role.host_network and text(role.pod, "dnsPolicy") in ("", "ClusterFirst"):
        message = f"the pods of `{role.name}` use the host's network and therefore the host's DNS"
        effect = "Service names do not resolve"
        if role.several:
            effect = "pod and Service names do not resolve: the processes never connect"
        help_ = "add `dnsPolicy: ClusterFirstWithHostNet`"
        yield DNS.at(role.pod_at("hostNetwork", key=True), message, effect=effect, help=help_)


def host_port_clash(role: ExpandedRole) -> Findings:
    container = next((one for one in role.main if "ports" in one.tree), None)
    machine, path = role.machine if container is not None and role.host_network and role.several else (None, ())
    if container is None or machine is None:
        return
    count = role.devices.get(machine.resource)
    if type(count) is not int or not count or count * 2 > machine.devices:
        return
    message = f"{machine.devices // count} pods of `{role.name}` fit on one machine, but all use the same host port"
    also = [Label(role.job.at(path), f"{machine.devices} accelerators, {count} per pod")]
    effect = "the second pod on a machine stays pending or fails with `address already in use`"
    help_ = "use whole machines, or remove `hostNetwork`"
    yield HOST_PORT.at(container.at("ports"), message, also=also, effect=effect, help=help_)


def ports_clash_in_pod(role: ExpandedRole) -> Findings:
    seen: dict[tuple[object, str], tuple[Container, int]] = {}
    for container in role.containers:
        for index, port in enumerate(rows(container.tree, "ports") if container.kind is not INIT else ()):
            key = (getattr(port.get("containerPort"), "value", None), text(port, "protocol") or "TCP")
            other = seen.setdefault(key, (container, index))
            if other[0] is not container and key[0] is not None:
                at = container.at("ports", index, "containerPort")
                message = f"`{container.name}` and `{other[0].name}` both listen on port {key[0]}"
                also = [Label(other[0].at("ports", other[1], "containerPort"), "first used here")]
                effect = "the second to start fails with `address already in use`"
                help_ = "change one of the ports"
                yield PORT_CLASH.at(at, message, also=also, effect=effect, help=help_, level=WARNING)


def daemon_and_plugin_differ(role: ExpandedRole) -> Findings:
    tagged = [(container, *text(container.tree, "image").rpartition(":")[::2]) for container in role.containers]
    for daemon_image, plugin_image, known in PAIRS if len(tagged) > 1 else ():
        daemon, served = next(((one, tag) for one, name, tag in tagged if name.endswith(daemon_image)), (None, ""))
        plugin, used = next(((one, tag) for one, name, tag in tagged if name.endswith(plugin_image)), (None, ""))
        fitting = known.get(served)
        if daemon is None or plugin is None or not fitting or used in fitting:
            continue
        message = f"plugin {used} is not a known match for daemon {served}"
        also = [Label(daemon.at("image"), f"daemon {served}")]
        help_ = f"use plugin {' or '.join(f'`{tag}`' for tag in sorted(fitting))} with this daemon"
        effect = "connections fail, or data is lost silently"
        yield PAIR.at(plugin.at("image"), message, also=also, effect=effect, help=help_)


CHECKS = (
    each(
        lambda job: job.roles,
        daemon_and_plugin_differ, network_half_set_up, tcpxo_half_set_up, gib_half_set_up,
        host_network_without_dns_policy, host_port_clash, ports_clash_in_pod,
    ),
    each(lambda job: job.containers, rdma_switched_off),
    tuner_of_other_machine,
)  # fmt: skip
