"""MPI: a hostfile, `OMPI_MCA_*`, keys from an existing Secret (DeepSpeed, MLX and Open MPI programs)."""

from trainc.frameworks.base.hosts import LONGEST, domain, hosts, length, refuse_length
from trainc.frameworks.base.refusals import invalid, policy_span, refuse, refuse_env, unbuildable
from trainc.frameworks.base.requirements import (
    IN_CLUSTER,
    check_container,
    check_gpus,
    check_overwritten,
    check_processes,
    check_slots,
    choice,
    note,
    role_span,
    secret_name,
    span_of,
    template_span,
)
from trainc.frameworks.base.vocabularies import VOCABULARIES
from trainc.model.finding import ERROR, WARNING, Rule
from trainc.model.patches import Contribution, Framework, Start, literal, on, pod
from trainc.model.plan import NODE, Plan, Role
from trainc.model.report import Report
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import Tree, get, given, value

VOCABULARY = VOCABULARIES["mpi"]

SEVERAL_LAUNCHERS = Rule("several-launchers", WARNING)
SURPLUS_NODE = Rule("surplus-node", WARNING)
NO_KEYS = Rule("roles-without-keys", WARNING)
LAUNCHER = "launcher"
HOSTFILE = "/etc/mpi/hostfile"  # where the controller mounts the hosts that it lists
_STARTERS = ("mpirun", "mpiexec", "horovodrun")
_NAMING = ("hostfile", "machinefile", "-host ", "-H ")
_VARIABLES = (
    "OMPI_MCA_orte_default_hostfile",
    "OMPI_MCA_prte_default_hostfile",
    "I_MPI_HYDRA_HOST_FILE",
    "HYDRA_HOST_FILE",
)
# Words of commands and variables that make keys, name some, or reach hosts without ssh; volumes that may hold keys.
_OWN_KEYS = ("ssh-keygen", ".ssh", "id_rsa", "rsh_agent", "launch_agent", "BOOTSTRAP", "IdentityFile")
_KEPT = frozenset(("secret", "projected", "csi", "persistentVolumeClaim", "hostPath", "nfs", "configMap"))
PRIVATE, PUBLIC = "ssh-privatekey", "ssh-publickey"
FILES = (
    {"key": PRIVATE, "path": "id_rsa", "mode": 0o640},
    {"key": PUBLIC, "path": "id_rsa.pub", "mode": 0o644},
    {"key": PUBLIC, "path": "authorized_keys", "mode": 0o644},
)
GENERATORS = "generators.external-secrets.io/v1alpha1"
RECIPE = (
    "ssh-keygen -q -t ecdsa -b 521 -N '' -f key && kubectl create secret generic NAME --type=kubernetes.io/ssh-auth"
    f" --from-file={PRIVATE}=key --from-file={PUBLIC}=key.pub"
)
NO_PEER = Rule("no-launcher", ERROR)
EFFECTS = {
    LAUNCHER: "no process runs mpirun, and the nodes wait forever for ssh connections",
    NODE: "the hostfile is empty, and mpirun has nowhere to start processes",
}


def lower(plan: Plan) -> Contribution:
    """Keys on launcher and nodes, hostfile and variables on the launcher, and the number of nodes."""
    slots, name = slots_per_node(plan), derive("name of the hostfile's ConfigMap", "{}-mpi-hostfile".format, plan.name)
    out = Contribution(counts=node_count(plan)) + lower_keys(plan)
    if (launcher := plan.role(LAUNCHER)) is not None:
        source = {"name": name, "items": [{"key": "hostfile", "path": "hostfile", "mode": 0o444}]}
        variables = (HOSTFILE, "true", slots, "-o ConnectionAttempts=10")  # they make Open MPI read the hostfile
        out += pod(launcher, volumes=[{"name": "mpi-hostfile", "configMap": source}])
        out += on(
            launcher,
            env=dict(zip(VOCABULARY.reserved, variables, strict=True)),
            mounts=[{"name": "mpi-hostfile", "mountPath": "/etc/mpi"}],
        )
    if length(plan, host_counts(plan)) > LONGEST:
        return out
    data = {"hostfile": hostfile(plan, slots)}
    return out + Contribution(
        objects=[{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}]
    )


def refuse_job(plan: Plan, report: Report) -> None:
    """The TrainJob webhook's refusals of an MPI job, and what the controller cannot build."""
    nodes, launcher = plan.trainer_field("numNodes"), plan.role(LAUNCHER)
    if as_node(plan) and nodes is not None and nodes.value >= 2 and (launcher is None or plan.role(NODE) is None):
        detail = (
            "must have 1 when MPI trainingRuntime with enabled runLauncherAsNode does not have either launcher and node"
        )
        message = "`numNodes` above 1 needs a runtime with both `launcher` and `node`"
        refuse(plan, report, ("spec", "trainer", "numNodes"), message, invalid("spec.trainer.numNodes", nodes, detail))
    refuse_env(plan, report, VOCABULARY.reserved, ", or set `numProcPerNode` instead")
    if value(plan.settings, "mpiImplementation") == "" and launcher is not None and launcher.container() is not None:
        message = "`mpiImplementation` is empty, so the controller cannot set up the launcher"
        text = "MPI implementation for <pointer> doesn't supported"
        unbuildable(plan, report, policy_span(plan), message, text, "set `mpiImplementation: OpenMPI`, or remove it")
    refuse_length(plan, report, length(plan, host_counts(plan)))


def verify(plan: Plan, report: Report) -> None:
    """Findings where mpirun would not start, or would not reach its nodes."""
    check_gpus(plan, report)
    check_processes(plan, report)
    check_slots(plan, report, slots_per_node(plan))
    if choice(plan) != IN_CLUSTER and any(_mounts_secret(role, secret(plan).value) for role in plan.roles):
        note(plan, report, secret(plan).value, (PRIVATE, PUBLIC), RECIPE)
    check_peers(plan, report)
    launcher, nodes = plan.role(LAUNCHER), plan.trainer_field("numNodes")
    if nodes is not None and nodes.value < 2 and as_node(plan) and launcher is not None and plan.role(NODE) is not None:
        message = f"`numNodes: {nodes.value}` starts two nodes: the launcher, and a pod of `node`"
        effect = "mpirun starts processes on both, and both use the resources of a node"
        advice = "set `numNodes: 2`, or name a runtime without `runLauncherAsNode`"
        report.add(SURPLUS_NODE.at(span_of(plan, nodes), message, effect=effect, help=advice))
    if launcher is not None:
        check_overwritten(plan, report, launcher, VOCABULARY.reserved)
        if launcher.count.value > 1:
            message = f"{launcher.count.value} launchers start, and each runs mpirun"
            span = span_of(plan, launcher.count)
            advice = "keep `mlPolicy.numNodes` at 1: the job's `numNodes` sizes the role `node`"
            report.add(SEVERAL_LAUNCHERS.at(span, message, help=advice))


def start(runtime: str, needs: str = "") -> Start:
    """A job whose launcher runs mpirun; `needs` is what its image has to hold."""
    return Start(
        runtime,
        ("mpirun", "-n", "{processes}", "python", "train.py"),
        f"mpirun on the launcher starts the processes on every node{needs}.",
        has_launcher=True,
        has_shared_memory=True,
    )


STARTS = {
    "deepspeed": start("deepspeed-distributed"),
    "mlx": start("mlx-distributed"),
    "mpi": start("deepspeed-distributed", "; the image needs Open MPI and sshd"),
}


def node_count(plan: Plan) -> dict[int, Sourced[int]]:
    """How many pods the role `node` has: what the job asks for, less the launcher where that is one of the nodes."""
    nodes, role = plan.trainer_field("numNodes"), plan.role(NODE)
    if nodes is None or role is None:
        return {}
    if as_node(plan):
        return {role.index: derive("nodes beside the launcher", lambda n: max(n - 1, 1), nodes)}
    return {role.index: nodes}


def slots_per_node(plan: Plan) -> Sourced[int]:
    """What the job asks for, else the policy's number; where that is 1, the number of GPUs."""
    slots: Sourced[int] | None = plan.trainer_field("numProcPerNode")
    if slots is not None:
        return slots
    policy: Sourced[int] = given(get(plan.settings, "numProcPerNode"), literal(1, "mpi"))
    gpu = plan.inferred.gpus
    return gpu if policy.value == 1 and gpu.value > 1 else policy


def hostfile(plan: Plan, slots: Sourced[int]) -> Sourced[str]:
    """One line for each pod that takes processes, in the order of the runtime; empty but for Open MPI."""
    roles = [(plan.roles[index], count) for index, count in host_counts(plan).items()]

    def lines(each: int, job: str, subdomain: str, *_: int) -> str:
        return "".join(
            f"{host} slots={each}\n"
            for role, count in roles
            for host in hosts(job, subdomain, role.name.value, role.replicas.value, count.value)
        )

    return derive("hostfile", lines, slots, plan.name, domain(plan), *(count for _, count in roles))


def host_counts(plan: Plan) -> dict[int, Sourced[int]]:
    """How many pods of which role (by index) take processes."""
    if value(plan.settings, "mpiImplementation") == "":
        return {}
    counts, names = node_count(plan), (NODE, LAUNCHER) if as_node(plan) else (NODE,)
    return {r.index: counts.get(r.index, r.count) for r in plan.roles if r.name.value in names}


def as_node(plan: Plan) -> bool:
    """Whether the launcher takes processes too."""
    return bool(value(plan.settings, "runLauncherAsNode"))


def brings_hosts(plan: Plan) -> bool:
    """Whether a runtime says itself where mpirun starts processes, so that it needs no role of the controller's names."""
    for container in [one for role in plan.roles for one in role.containers if type(one) is dict]:
        line, env = _command_line(container), container.get("env")
        if any(starter in line for starter in _STARTERS) and HOSTFILE not in line:
            if any(naming in line for naming in _NAMING):
                return True
        elif type(env) is list and any(value(entry, "name") in _VARIABLES for entry in env):
            return True
    return False


def _command_line(container: Tree) -> str:
    """The words of a container's command, each followed by a blank."""
    lists = [container.get(field) for field in ("command", "args")]
    words = [leaf.value for words in lists if type(words) is list for leaf in words if type(leaf) is Sourced]
    return f"{' '.join(map(str, words))} "


def lower_keys(plan: Plan) -> Contribution:
    """The keys as files in the launcher and every node, and the objects that make them where the project says so."""
    name = secret(plan)
    path = given(get(plan.settings, "sshAuthMountPath"), "/root/.ssh")
    volume = {"name": "mpi-ssh-auth", "secret": {"secretName": name, "items": FILES, "defaultMode": 0o400}}
    out = Contribution(objects=generator(plan, name) if choice(plan) == IN_CLUSTER else ())
    for role in plan.roles:
        if role.name.value in (NODE, LAUNCHER):
            mount = {"name": "mpi-ssh-auth", "mountPath": path}
            out += pod(role, volumes=[volume]) + on(role, mounts=[mount])
    return out


def secret(plan: Plan) -> Sourced[str]:
    """The Secret's name: the one the project names, else the one the Trainer controller would give it."""
    return secret_name(plan, "mpi", "-mpi-ssh-auth")


def generator(plan: Plan, name: Sourced[str]) -> tuple[Tree, ...]:
    """An External Secrets generator of one key pair, and the Secret it fills once and for all."""
    keys = {
        "apiVersion": GENERATORS,
        "kind": "SSHKey",
        "metadata": {"name": name},
        "spec": {"keyType": "ed25519", "comment": plan.job["metadata"]["name"]},
    }
    template = {"type": "kubernetes.io/ssh-auth", "data": {PRIVATE: "{{ .privateKey }}", PUBLIC: "{{ .publicKey }}"}}
    reference = {"apiVersion": GENERATORS, "kind": "SSHKey", "name": name}
    filled = {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": {"name": name},
        "spec": {
            "refreshPolicy": "CreatedOnce",  # a pair that rotates under a running job cuts its nodes off
            "target": {"name": name, "template": template},
            "dataFrom": [{"sourceRef": {"generatorRef": reference}}],
        },
    }
    return keys, filled


def _mounts_secret(role: Role, name: str) -> bool:
    """Whether the pods of a role wait for the Secret of the keys: the controller mounts it by the role's name, or the runtime does."""
    volumes = get(role.pod, "volumes")
    named = [value(volume, "secret", "secretName") for volume in volumes] if type(volumes) is list else []
    return role.name.value in (NODE, LAUNCHER) or name in named


def check_keys(plan: Plan, report: Report) -> None:
    """A finding where mpirun or sshd runs in roles that the controller mounts no keys in, and the runtime mounts none."""
    lacking = [role for role in plan.roles if role.name.value not in (NODE, LAUNCHER) and _lacks_keys(role)]
    if not lacking:
        return
    names = " and ".join(f"`{role.name.value}`" for role in lacking)
    message = f"{names} {'get' if len(lacking) > 1 else 'gets'} no ssh keys: the controller mounts them in `{LAUNCHER}` and `{NODE}` only"
    effect = "unless the image has keys, mpirun reaches no host: `Permission denied (publickey)`"
    help_ = (
        f"name the replicatedJobs `{LAUNCHER}` and `{NODE}`, or mount the Secret `{secret(plan).value}` in their pods"
    )
    report.add(NO_KEYS.at(role_span(plan, lacking[0]), message, effect=effect, help=help_))


def _lacks_keys(role: Role) -> bool:
    """Whether pods start mpirun or sshd with nothing to log in with: no volume that may hold keys, no agent or key of their own."""
    containers = [container for container in role.containers if type(container) is dict]
    text = " ".join(map(_command_line, containers))
    entries = [entry for container in containers for entry in container.get("env") or ()]
    variables = " ".join(str(value(entry, "name")) for entry in entries)
    volumes = get(role.pod, "volumes")
    sources = {source for volume in volumes for source in volume} if type(volumes) is list else set()
    is_in_exchange = any(program in text for program in (*_STARTERS, "sshd"))
    has_own = any(word in text or word in variables for word in _OWN_KEYS) or not _KEPT.isdisjoint(sources)
    return is_in_exchange and not has_own


def check_peers(plan: Plan, report: Report) -> None:
    """Findings for what the controller's keys and hostfile are made for, and the runtime does not have; of keys alone where it names its hosts."""
    if brings_hosts(plan):
        check_keys(plan, report)
        return
    for name, effect in EFFECTS.items():
        if (role := plan.role(name)) is not None:
            check_container(plan, report, role, "it gets neither keys nor hostfile, and mpirun waits for it forever")
        elif name == LAUNCHER or not as_node(plan):
            other = NODE if name == LAUNCHER else LAUNCHER
            success = ", and `targetReplicatedJobs: [launcher]` to `successPolicy`" if name == LAUNCHER else ""
            help_ = f"name the replicatedJob `{name}`"
            if plan.role(other) is not None:
                help_ = f"add a replicatedJob `{name}` beside `{other}`{success}"
            missing = f"the runtime has no replicatedJob named `{name}`"
            report.add(NO_PEER.at(template_span(plan), missing, effect=effect, help=help_))


FRAMEWORK = Framework(
    "mpi",
    lower,
    vocabulary=VOCABULARY,
    refuse=refuse_job,
    refuses_reserved=True,
    env_first=True,
    verify=verify,
    lower_unsized=lower_keys,
    starts=STARTS,
    has_slots=True,
)
