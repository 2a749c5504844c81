"""Ports on the network of a pod or of its host, and the DNS that goes with the latter."""

from __future__ import annotations

from trainc.lint.facts.machine import machine_of
from trainc.lint.facts.values import rows, text
from trainc.model.finding import ERROR, WARNING, Label, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Container, Findings, Job

DNS = Rule("host-network-without-dns-policy", WARNING)
HOST_PORT = Rule("host-port-clash", WARNING)
PORT_CLASH = Rule("ports-clash-in-pod", ERROR)


def host_network_without_dns_policy(job: Job) -> Findings:
    for role in job.roles:
        if "hostNetwork" in role.pod and role.host_network and text(role.pod, "dnsPolicy") in ("", "ClusterFirst"):
            yield DNS.at(
                job.at((*role.pod_path, "hostNetwork"), key=True),
                f"the pods of `{role.name}` use the host's network, and with it the host's DNS",
                effect="names of pods and Services do not resolve: the processes never meet"
                if role.several
                else "names of Services do not resolve",
                help="add `dnsPolicy: ClusterFirstWithHostNet`",
            )


def host_port_clash(job: Job) -> Findings:
    for role in job.roles:
        if not role.host_network or not role.several or not any("ports" in c.tree for c in role.main):
            continue
        machine, path = machine_of(role)
        count = role.devices.get(machine.resource) if machine is not None else None
        if machine is None or type(count) is not int or not count or count * 2 > machine.count:
            continue
        container = next(c for c in role.main if "ports" in c.tree)
        yield HOST_PORT.at(
            job.at((*container.path, "ports")),
            f"{machine.count // count} pods of `{role.name}` fit on a machine, and all want the same port of it",
            also=[Label(job.at(path), f"{machine.count} accelerators, {count} per pod")],
            effect="the second pod of a machine stays pending, or dies with `address already in use`",
            help="take whole machines, or leave the host's network",
        )


def ports_clash_in_pod(job: Job) -> Findings:
    for role in job.roles:
        if len(role.containers) < 2:
            continue
        seen: dict[tuple[object, str], tuple[Container, int]] = {}
        for container in role.containers:
            if container.kind == "init container":
                continue
            for index, port in enumerate(rows(container.tree, "ports")):
                leaf = port.get("containerPort")
                key = (getattr(leaf, "value", None), text(port, "protocol") or "TCP")
                other = seen.setdefault(key, (container, index))
                if other[0] is not container and key[0] is not None:
                    yield PORT_CLASH.at(
                        job.at((*container.path, "ports", index, "containerPort")),
                        f"`{container.name}` and `{other[0].name}` both listen on port {key[0]}",
                        also=[Label(job.at((*other[0].path, "ports", other[1], "containerPort")), "first here")],
                        effect="the second to start dies with `address already in use`",
                        help="give one of them another port",
                        level=WARNING,
                    )


CHECKS = (host_network_without_dns_policy, host_port_clash, ports_clash_in_pod)
