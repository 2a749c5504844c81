"""Causes between pods that run: a Service that is missing or selects nothing, a coordinator that never came."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trainc.cluster.diagnose.cause import Cause
from trainc.cluster.diagnose.cluster import label
from trainc.cluster.diagnose.fields import at, labels, maps, text
from trainc.text.numbers import index_below
from trainc.text.object_keys import JOBSET_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.cluster.diagnose.run import DumpedJob, DumpedPod

_COORDINATOR = "jobset.sigs.k8s.io/coordinator"


def service(run: DumpedJob) -> Iterator[Cause]:
    """The headless Service that gives pods their names: missing, of another kind, or with nothing behind it."""
    network = at(run.tree, "spec", "network")
    is_needed = (
        run.kind == "JobSet" and run.tree and at(network, "enableDNSHostnames") is not False and len(run.pods) > 1
    )
    if not is_needed or not run.cluster.has("Service", run.namespace):
        return
    name = text(network, "subdomain") or run.name
    tree = run.cluster.find("Service", run.namespace, name)
    since = text(run.tree, "metadata", "creationTimestamp")
    steps = (("spec", "network"),)
    if not tree:
        yield Cause(
            "no-service", 6, f"Service `{name}` does not exist, so pods cannot resolve each other's names",
            "apply the Service that trainc writes beside the JobSet; see whether a prune removed it", since, fields=steps,
        )  # fmt: skip
        return
    selector = labels(tree, "spec", "selector")
    known = [labels(pod.tree, "metadata", "labels") for pod in run.pods]
    if selector and not any(selector.items() <= one.items() for one in known):
        shown = ", ".join(f"{key}={value}" for key, value in sorted(selector.items()))
        yield Cause(
            "service-selects-nothing", 6, f"Service `{name}` selects no pod of the job (`{shown}`)",
            f"delete it, or let it select `{JOBSET_NAME}={run.name}`", since, fields=steps,
        )  # fmt: skip
    elif text(tree, "spec", "clusterIP") not in ("None", ""):
        yield Cause(
            "service-not-headless", 6, f"Service `{name}` has a cluster IP, so pods get no names of their own",
            "delete it and apply the headless one (`clusterIP: None`)", since, fields=steps,
        )  # fmt: skip
    else:
        yield from _endpoints(run, name, since)


def _endpoints(run: DumpedJob, name: str, since: str) -> Iterator[Cause]:
    slices = [
        one for one in run.cluster.all("EndpointSlice")
        if labels(one, "metadata", "labels").get("kubernetes.io/service-name") == name
        and text(one, "metadata", "namespace") == run.namespace
    ]  # fmt: skip
    has_address = any(text(pod.tree, "status", "podIP") for pod in run.pods)
    if (
        run.cluster.has("EndpointSlice", run.namespace)
        and has_address
        and not any(maps(one, "endpoints") for one in slices)
    ):
        yield Cause(
            "no-endpoints", 6, f"Service `{name}` has no endpoints, though pods have addresses",
            "set `publishNotReadyAddresses: true`, or see why no pod is ready", since,
            fields=(("spec", "network", "publishNotReadyAddresses"),),
        )  # fmt: skip


def coordinator(run: DumpedJob) -> Iterator[Cause]:
    """The pod that the others meet at: a name that no pod has, or one that ended while the others run."""
    host, role, variable = _named(run)
    others = [pod for pod in run.pods if pod.phase == "Running"]
    if not host or not others:
        return
    pod = next((one for one in run.pods if _host(one) == host), None)
    since = min((one.created for one in others if one.created), default="")
    env = ("env", ("name", variable), "value") if variable else ()
    container = next((text(one, "name") for one in maps(run.pod_spec(role), "containers")), "")
    field = run.field(role, "containers", ("name", container), *env) if variable else ("spec", "coordinator")
    if pod is None and not _may_come(run, host):
        yield Cause(
            "no-coordinator", 6, f"no pod of the job is named `{host}`, where the others look for the coordinator",
            f"correct the name in {variable or 'spec.coordinator'}: JOBSET-ROLE-JOB-POD.SUBDOMAIN", since, fields=(field,),
        )  # fmt: skip
    elif pod is not None and pod.phase == "Succeeded":
        yield Cause(
            "coordinator-ended", 7, f"{run.shown(pod)}, the coordinator, ended with 0 while {len(others)} pods still run",
            "see why it ended before the others; set a successPolicy if its end is the job's end",
            text(pod.condition("Ready"), "lastTransitionTime") or since, fields=(field,),
        )  # fmt: skip


def _host(pod: DumpedPod) -> str:
    return text(pod.tree, "spec", "hostname") or pod.name.rpartition("-")[0]


def _named(run: DumpedJob) -> tuple[str, str, str]:
    """The coordinator's host name, the role that names it, and the variable in which it does."""
    for pod in run.pods:
        if address := label(pod.tree, _COORDINATOR):
            return address.partition(".")[0], pod.role, ""
    subdomain = text(run.tree, "spec", "network", "subdomain") or run.name
    name = re.compile(rf"([a-z0-9][a-z0-9-]*-[0-9]{{1,18}}-[0-9]{{1,18}})\.{re.escape(subdomain)}(?![a-z0-9-])")
    for role in run.roles():
        for container in maps(run.pod_spec(text(role, "name")), "containers"):
            for variable in maps(container, "env"):
                match = name.match(text(variable, "value"))
                if match and ("ADDR" in text(variable, "name") or "HOST" in text(variable, "name")):
                    return match[1], text(role, "name"), text(variable, "name")
    return "", "", ""


def _may_come(run: DumpedJob, host: str) -> bool:
    """Whether a Job of the JobSet makes, or will make, a pod of this name."""
    job, _, index = host.rpartition("-")
    role = job.rpartition("-")[0]
    for one in run.roles():
        if role == f"{run.name}-{text(one, 'name')}":
            pods = at(one, "template", "spec", "parallelism")
            return index_below(index, pods if type(pods) is int else 1) is not None
    return False
