"""Flux: an installer, brokers and their configuration, a curve certificate from an existing Secret."""

from collections.abc import Mapping

from trainc.frameworks.base.hosts import domain
from trainc.frameworks.base.refusals import invalid, policy_span, refuse, unbuildable
from trainc.frameworks.base.requirements import check, check_slots, note, secret_name, template_span
from trainc.model.finding import ERROR, WARNING, Rule, place
from trainc.model.patches import EFA, Contribution, Framework, Start, literal, on, pod
from trainc.model.plan import NODE, TRAINER, Plan, Role
from trainc.model.report import Report
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import Tree, get, given, value

RECIPE = "flux keygen curve.cert && kubectl create secret generic NAME --from-file=curve.cert"

SPLIT_WORD = Rule("split-argument", WARNING)
NOT_NODE = Rule("trainer-not-node", ERROR)
INSTALLER = "flux-installer"
SCRIPTS = "/etc/flux-config"
DEFAULTS = {
    "FLUX_VIEW_IMAGE": "ghcr.io/converged-computing/flux-view-ubuntu:tag-jammy",
    "FLUX_NETWORK_DEVICE": "eth0",
    "FLUX_QUEUE_POLICY": "fcfs",
}
START = Start(
    "flux",
    ("python", "train.py"),
    "Flux starts this command as one task for each process.",
    machines=(EFA,),
    has_shared_memory=True,
)


def refuse_job(plan: Plan, report: Report) -> None:
    """The TrainJob webhook's refusals of a Flux job, and what makes the controller crash."""
    if (procs := plan.trainer_field("numProcPerNode")) is not None and procs.value < 1:
        detail = "must be greater than or equal to 1 for Flux TrainJob"
        path = ("spec", "trainer", "numProcPerNode")
        refuse(plan, report, path, f"`numProcPerNode` {detail}", invalid(".".join(path), procs, detail))
    if (role := plan.role(NODE)) is not None and role.init_container(INSTALLER) is not None:
        text = invalid("spec.trainer.initContainers", INSTALLER, f"InitContainer '{INSTALLER}' is reserved")
        message = f"the runtime has an init container `{INSTALLER}`, a name that is reserved for Flux"
        refuse(plan, report, ("spec", "runtimeRef"), message, text, "give it another name")
    if plan.trainer_field("numNodes") is None:
        text = "runtime error: invalid memory address or nil pointer dereference"
        message = "a Flux job must set `spec.trainer.numNodes`: the controller crashes without it (Trainer v2.3.0)"
        unbuildable(plan, report, plan.document.span(("spec", "trainer")), message, text, "set `numNodes`")


def verify(plan: Plan, report: Report) -> None:
    """Findings where the brokers would not meet, or the command would not be what was written."""
    check(plan, report)
    check_slots(plan, report, plan.trainer_field("numProcPerNode"))
    curve = secret_name(plan, "flux", "-flux-curve").value
    note(plan, report, curve, ("curve.cert",), RECIPE)
    for field in ("command", "args"):
        for item in plan.trainer_field(field) or []:
            if any(c.isspace() for c in item.value):
                message = f"`{item.value}` is split at its spaces"
                advice = "put the command in a script in the image"
                report.add(SPLIT_WORD.at(place(item.origin) or policy_span(plan), message, help=advice))
    if (trainer := plan.trainer) is not None and value(trainer.tree, "name") != NODE:
        message = f"the trainer is named `{trainer.name.value}`, but Flux only sets up `node`"
        effect = "its command calls a script that does not exist, and every pod fails at once"
        report.add(NOT_NODE.at(template_span(plan), message, effect=effect, help=f"call it `{NODE}`"))


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
    plain = [entry for entry in get(node, "env") or [] if "valueFrom" not in entry]
    for entry in [*plain, *(plan.trainer_field("env") or [])]:
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
    start = derive("Flux's entrypoint", entrypoint, plan.name, nodes, tasks, plan.inferred.gpus)
    install = derive("Flux's installer", init, plan.name, domain(plan), nodes, device, policy)
    data = {"entrypoint.sh": start, "init.sh": install}
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


FRAMEWORK = Framework(
    "flux", lower, refuse=refuse_job, verify=verify, asks=("numNodes",), starts={"flux": START}, has_slots=True
)

INIT = r"""
# Flux comes in the installer's image; the training container gets it through the volume at /mnt/flux.
set -eu

root=/mnt/flux
etc=$root/config/etc

mkdir -p "$root/view" "$root/software" "$etc/flux/config" "$etc/flux/system" "$etc/curve"
mkdir -p "$root/config/run/flux" "$root/config/var/lib/flux"
cp -R "$view/." "$root/view/"
# The view is made of links into the package store, which the entrypoint puts back at its own path.
if [ -d /opt/software ]; then
  cp -R /opt/software/. "$root/software/"
fi

cat > "$etc/flux/config/broker.toml" <<TOML
[access]
allow-guest-user = true
allow-root-owner = true

[resource]
path = "$etc/flux/system/R"

[bootstrap]
curve_cert = "$etc/curve/curve.cert"
default_port = 8050
default_bind = "$bind"
default_connect = "$connect"
hosts = [{ host = "$hosts" }]

[archive]
dbpath = "$root/config/var/lib/flux/job-archive.sqlite"
period = "1m"
busytimeout = "50s"

[sched-fluxion-qmanager]
queue-policy = "$policy"
TOML
echo "Flux is installed; the broker of $main leads $hosts"
"""

ENTRYPOINT = r"""
# $1 is the command to run, its words separated by blanks; with no word in it the broker waits for visitors.
set -eu

root=/mnt/flux
etc=$root/config/etc
export PATH="$root/view/bin:$PATH"

for package in "$root"/software/*; do
  [ -e "$package" ] && ln -sfn "$package" "/opt/software/$(basename "$package")"
done

# Flux refuses a certificate that others may read, and the mounted one belongs to whom Kubernetes says.
install -m 0400 /curve/curve.cert "$etc/curve/curve.cert"

flux R encode --hosts="$hosts" $resources > "$etc/flux/system/R"

broker=(
  flux broker
  --config-path="$etc/flux/config"
  -Srundir="$root/config/run/flux"
  -Sstatedir="$root/config/var/lib/flux"
  -Slocal-uri="local://$root/config/run/flux/local"
  -Slog-stderr-level=6
)

if [ "$(hostname -s)" = "$main" ]; then
  words=()
  read -r -d '' -a words <<< "${1:-}" || true
  if [ "${#words[@]}" -eq 0 ]; then
    exec "${broker[@]}" sleep infinity
  fi
  exec "${broker[@]}" flux run $flags "${words[@]}"
fi

# The leader may not be there yet: its name resolves only once its pod has an address.
for _ in $(seq 60); do
  if "${broker[@]}"; then
    exit 0
  fi
  sleep 5
done
echo "the broker of $main was never reached" >&2
exit 1
"""


def init(job: str, domain: str, nodes: int, device: str, policy: str) -> str:
    """The installer's script: copies Flux and writes the broker's configuration."""
    settings = {
        "view": "/opt/view",
        "main": f"{job}-node-0-0",
        "hosts": f"{job}-node-0-[{span(nodes)}]",
        "bind": f"tcp://{device}:%p",
        "connect": f"tcp://%h.{domain}:%p",
        "policy": policy,
    }
    return _script(settings, INIT)


def entrypoint(job: str, nodes: int, tasks: int, gpus: int) -> str:
    """The training container's script: describes the resources and starts the broker, on rank 0 with the command."""
    settings = {
        "main": f"{job}-node-0-0",
        "hosts": f"{job}-node-0-[{span(nodes)}]",
        "resources": f"--cores={span(tasks)}" + (f" --gpus={span(gpus)}" if gpus > 0 else ""),
        "flags": f"-N {nodes} -n {tasks * nodes}" + (f" -g {gpus}" if gpus > 0 else ""),
    }
    return _script(settings, ENTRYPOINT)


def _script(settings: Mapping[str, str], body: str) -> str:
    lines = "".join(f"{name}={quoted(text)}\n" for name, text in settings.items())
    return f"#!/bin/bash\n{lines}{body}"


def span(count: int) -> str:
    """The range of that many numbers from 0, as Flux writes it."""
    return "0" if count == 1 else f"0-{count - 1}"


def quoted(text: str) -> str:
    """A text as one word of a shell."""
    return "'{}'".format(text.replace("'", "'\\''"))
