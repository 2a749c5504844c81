"""Flux: an installer brings Flux into the pods, whose brokers form one instance and run the command in it."""

from __future__ import annotations

from trainc.frameworks.base.hosts import domain
from trainc.frameworks.base.secrets import secret_name
from trainc.frameworks.flux import scripts as flux_scripts
from trainc.frameworks.flux.checks import refuse_job, verify
from trainc.model.patches import EFA, Contribution, Framework, Start, literal, on, pod
from trainc.model.plan import NODE, TRAINER
from trainc.model.sourced import derive
from trainc.model.tree import get, given, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.model.plan import Plan, Role
    from trainc.model.sourced import Sourced
    from trainc.model.tree import Tree

INSTALLER = "flux-installer"
SCRIPTS = "/etc/flux-config"
DEFAULTS = {
    "FLUX_VIEW_IMAGE": "ghcr.io/converged-computing/flux-view-ubuntu:tag-jammy",
    "FLUX_NETWORK_DEVICE": "eth0",
    "FLUX_QUEUE_POLICY": "fcfs",
}


def lower(plan: Plan) -> Contribution:
    """The scripts, the volumes and the installer of the role `node`, and the command of every trainer wrapped."""
    name = derive("name of Flux's scripts", lambda job: f"{job}-flux-entrypoint", plan.name)
    chosen = settings(plan)
    out = Contribution(objects=[scripts(plan, name, chosen)])
    command = wrapped(plan)
    for role in plan.roles:
        if role.ancestor == TRAINER:
            # The joined command holds the job's args; what the runtime wrote there stays as it is.
            out += on(role, command=command, args=get(role.container(), "args"))
        if role.name.value == NODE:
            out += equip(plan, role, name, chosen["FLUX_VIEW_IMAGE"])
    return out


def settings(plan: Plan) -> Mapping[str, Sourced[str]]:
    """Flux's settings: its defaults, beaten by the runtime's plain variables, beaten by the job's."""
    values = {name: literal(default, "flux") for name, default in DEFAULTS.items()}
    node = plan.trainer.container() if plan.trainer is not None else None
    for entry in get(node, "env") or []:
        if value(entry, "name") in values and "valueFrom" not in entry:
            values[entry["name"].value] = given(entry.get("value"), literal("", "flux"))
    for entry in plan.trainer_field("env") or []:
        if value(entry, "name") in values:
            # What comes from elsewhere cannot be known here; the controller reads it as empty.
            known = entry.get("value") if "valueFrom" not in entry else None
            values[entry["name"].value] = given(known, literal("", "flux"))
    return values


def wrapped(plan: Plan) -> list[Tree]:
    """The command that starts the broker, with the original as one word: joined by spaces, without quotes."""
    node = plan.trainer.container() if plan.trainer is not None else None
    words = [*given(plan.trainer_field("command"), get(node, "command"), []), *(plan.trainer_field("args") or [])]
    joined = derive("the command in one word", lambda *each: " ".join(each).strip(), *words)
    return ["/bin/bash", f"{SCRIPTS}/entrypoint.sh", joined]


def scripts(plan: Plan, name: Sourced[str], chosen: Mapping[str, Sourced[str]]) -> Tree:
    """The ConfigMap of both scripts."""
    one = literal(1, "flux")
    nodes = given(plan.trainer_field("numNodes"), plan.trainer.count if plan.trainer is not None else one)
    tasks = given(plan.trainer_field("numProcPerNode"), get(plan.settings, "numProcPerNode"), one)
    device, policy = chosen["FLUX_NETWORK_DEVICE"], chosen["FLUX_QUEUE_POLICY"]
    start = derive("Flux's entrypoint", flux_scripts.entrypoint, plan.name, nodes, tasks, plan.inferred.gpus)
    init = derive("Flux's installer", flux_scripts.init, plan.name, domain(plan), nodes, device, policy)
    data = {"entrypoint.sh": start, "init.sh": init}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def equip(plan: Plan, role: Role, name: Sourced[str], image: Sourced[str]) -> Contribution:
    """Volumes, mounts and the installer of one role."""
    curve = {"secretName": secret_name(plan, "flux", "-flux-curve"), "defaultMode": 0o400}
    flux, config = _mount("flux-install", "/mnt/flux"), {**_mount(name, SCRIPTS), "readOnly": True}
    installer = {
        "name": INSTALLER,
        **({"image": image} if image.value else {}),
        "command": ["/bin/bash", f"{SCRIPTS}/init.sh"],
        "volumeMounts": [flux, config],
    }
    volumes = (
        {"name": "spack-install", "emptyDir": {}},
        {"name": "flux-install", "emptyDir": {}},
        {"name": name, "configMap": {"name": name, "defaultMode": 0o755}},
        {"name": "shared-memory", "emptyDir": {"medium": "Memory"}},
        {"name": "flux-curve", "secret": curve},
    )
    mounts = (
        flux,
        _mount("spack-install", "/opt/software"),
        config,
        {**_mount("flux-curve", "/curve"), "readOnly": True},
        {**_mount("shared-memory", "/dev/shm"), "readOnly": True},  # noqa: S108 (a mount in the pod; v2.3.0 has it so)
    )
    return pod(role, volumes=volumes, init_containers=[installer]) + on(role, mounts=mounts)


def _mount(name: object, path: str) -> Tree:
    return {"name": name, "mountPath": path}


START = Start(
    "flux",
    ("python", "train.py"),
    "Flux starts this command as one task for each process.",
    machines=(EFA,),
    has_shared_memory=True,
)

FRAMEWORK = Framework(
    "flux",
    lower,
    refuse=refuse_job,
    verify=verify,
    asks=("numNodes",),
    starts={"flux": START},
    has_slots=True,
)
