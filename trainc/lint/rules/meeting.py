"""Whether the pods find each other: one coordinator, which exists, starts in time and has the port."""

from collections.abc import Iterator

from trainc.frameworks.base.vocabularies import DEEPSPEED, MPIRUN, TORCHRUN
from trainc.lint.facts.job import Container, Findings, Job, each
from trainc.lint.facts.launch import NOTHING, PYTHON, Launch
from trainc.lint.facts.shell import broken
from trainc.lint.facts.timing import waits_for
from trainc.lint.facts.values import flag, rows, table, text, texts, untagged
from trainc.lint.facts.world import (
    FIRST_PODS,
    LOCAL,
    Meeting,
    PodAddress,
    keeps_to_itself,
    knows_peers,
    meetings,
    name_of_first_run,
    place_of,
    pod_of_another_jobset,
    searched,
)
from trainc.model.finding import ERROR, WARNING, Edit, Label, Rule
from trainc.model.tree import Path, leaves, value
from trainc.text.hostnames import hosts_in, hosts_with
from trainc.text.numbers import parsed_int

NO_POD = Rule("coordinator-names-no-pod", ERROR)
HOST = Rule("host-names-no-pod", WARNING)
IS_LOCAL = Rule("coordinator-is-local", ERROR)
IMAGES = Rule("image-versions-differ", WARNING)
NO_SERVICE = Rule("rendezvous-host-unknown", WARNING)
BAD_PORT = Rule("bad-coordinator-port", ERROR)
PORTS = Rule("coordinator-ports-differ", ERROR)
HOSTS = Rule("coordinators-differ", WARNING)
LATER = Rule("coordinator-starts-later", ERROR)
NOT_READY = Rule("addresses-only-when-ready", WARNING)
STANDALONE = Rule("standalone-on-several-nodes", ERROR)
EACH = Rule("coordinator-is-each-pod", ERROR)
NO_RENDEZVOUS = Rule("no-rendezvous", ERROR)

_OWN_HOST = ("$(hostname", "`hostname", "$HOSTNAME", "${HOSTNAME}")
_OWN_FIELDS = ("status.podIP", "metadata.name")
_ELASTIC = "PET_"  # how the variables begin that torchrun alone reads
_EFFECT = "every process waits at the rendezvous until its timeout, holding its accelerators"
_RANK_0 = "-0."  # how the host name of a coordinator ends, before its subdomain
_ONE_WORLD = ("TFJob", "XGBoostJob", "PaddleJob", "JAXJob")  # whose roles all train together
_TOLD = ("PET_MASTER_ADDR", "PET_RDZV_ENDPOINT", "PET_STANDALONE")
# What tells deepspeed or mpirun of other hosts: options, parts of a command, and the beginnings of variables.
_HOST_OPTIONS = frozenset((
    "hostfile", "H", "host", "hosts", "machinefile", "f", "ppn", "rankfile", "default_hostfile", "no_ssh",
    "node_rank", "launcher",
))  # fmt: skip
_HOST_WORDS = ("hostfile", "machinefile", "srun", "plm")
_HOST_VARIABLES = ("OMPI_MCA_", "PRTE_MCA_", "I_MPI_HYDRA", "HYDRA_", "SLURM_", "DLWS_")


def coordinator_names_no_pod(meeting: Meeting) -> Findings:
    if type(meeting.place) is str:
        message, fix = f"`{meeting.name}` is `{meeting.host}`: {meeting.place}", _renamed(meeting)
        yield NO_POD.at(meeting.at, message, effect=_EFFECT, help=_address(meeting), fix=fix)


def host_names_no_pod(job: Job) -> Findings:
    first = name_of_first_run(job)
    for container in job.containers if job.is_name_known else ():
        told = {meeting.host for meeting in meetings(job) if meeting.container is container}
        listed = _listed(container)
        for host, path in (*listed, *_hosts(container, first)):
            is_listed = (host, path) in listed
            if host not in told and (
                reason := _misses(job, first, host) or (_unlisted(container, host) if is_listed else "")
            ):
                told.add(host)
                effect = "a process that connects to it waits until its timeout"
                if is_listed:
                    effect = "mpirun cannot start processes there"
                help_ = ", ".join(f"the first pod of `{r.name}` is `{r.address()}`" for r in job.roles[:3] if job.dns)
                yield HOST.at(job.at(path), f"`{host}` is not a host of this job: {reason}", effect=effect, help=help_)


def _listed(container: Container) -> list[tuple[str, Path]]:
    """The hosts that mpirun is told to start processes on, and where."""
    if container.launch.launcher is not MPIRUN:
        return []
    listed = [word for flag in ("host", "H") if type(word := container.launch.value(flag)) is str]
    names = [entry.partition(":")[0] for entry in ",".join(listed).split(",")]
    plain = [name for name in names if name.replace("-", "").replace(".", "").isalnum() and name not in LOCAL]
    return [(name, container.word_path(name)) for name in plain]


def _unlisted(container: Container, host: str) -> str:
    """Why a bare name that mpirun is given is no host, "" where it is one or may be."""
    job = container.role.job
    if "." in host:
        return ""
    # An agent of its own, as `kubectl exec`, finds the pods by their names.
    has_agent = container.sets("OMPI_MCA_plm_rsh_agent") or "rsh_agent" in container.text
    place = place_of(job, f"{host}.{job.subdomain}" if has_agent or searched(container.role) else host)
    if place is not None:
        return place if type(place) is str else ""
    aliases = [
        name for role in job.roles for alias in rows(role.pod, "hostAliases") for name in texts(alias, "hostnames")
    ]
    services = [text(table(one, "metadata"), "name") for one in job.kinds.get("Service", ())]
    return "" if host in (*aliases, *services) else "no pod has that name"


def _hosts(container: Container, first: str) -> Iterator[tuple[str, Path]]:
    """The hosts in the commands and variables of a container that may be a pod of a JobSet, and where they are."""
    written = list(container.placed_words())
    job = container.role.job
    # Only in a JobSet did a person write them; elsewhere a framework did.
    reserved = () if job.bundle.document.kind == "JobSet" else job.vocabulary.reserved
    own = [(name, words) for name, words in container.literals.items() if name not in reserved]
    written += [((*container.env_path(name), "value"), words) for name, words in own]
    for path, words in written:
        if f"{first}-" in words or _RANK_0 in words:
            for host in (*[host for _, host in hosts_in(words, f"{first}-")], *hosts_with(words, _RANK_0)):
                yield host, path


def _misses(job: Job, first: str, host: str) -> str:
    """Why a host leads to no pod of the job, "" where it does, or where it may be something else."""
    pod, _, rest = host.partition(".")
    subdomain, _, domain = rest.partition(".")
    namespace = domain.partition(".")[0]
    is_elsewhere = namespace and job.namespace and namespace != job.namespace
    if is_elsewhere and not isinstance(place_of(job, f"{pod}.{subdomain}"), PodAddress):
        return ""
    role, _, index = pod.rpartition("-")
    of_operator = (
        not rest and job.is_legacy and parsed_int(index) is not None and job.role(role.removeprefix(f"{first}-"))
    )
    if of_operator or subdomain in (job.subdomain, job.name, first) or subdomain.startswith(f"{first}-r"):
        place = place_of(job, host)
        return place if type(place) is str else ""
    other = pod_of_another_jobset(job, host)
    return f"it is a pod of the JobSet `{other}`" if other else ""


def _renamed(meeting: Meeting) -> list[Edit]:
    """The edit that calls the first pod as the JobSet does, where a text has the name that an operator gave it."""
    job = meeting.container.role.job
    former = {f"{job.name}-{name}" for name in FIRST_PODS}
    written = value(job.tree, *meeting.path)
    if meeting.host not in former or not job.dns or type(written) is not str or written.count(meeting.host) != 1:
        return []
    document = job.bundle.document
    text = written.replace(meeting.host, meeting.container.role.address())
    path = next((path for path, leaf in leaves(document.written) if leaf.origin.at == meeting.at), None)
    return document.edits(path, text) if path is not None else []


def _address(meeting: Meeting) -> str:
    role, job = meeting.container.role, meeting.container.role.job
    if job.dns:
        return f"use the first pod of `{role.name}`: `{role.address()}`"
    if job.bundle.keeps_job:
        return "set `subdomain` in the pod template, and add a headless Service of that name"
    return "remove `network.enableDNSHostnames: false`"


def coordinator_is_local(meeting: Meeting) -> Findings:
    if meeting.host in LOCAL and meeting.container.role.several:
        container, role = meeting.container, meeting.container.role
        alone = keeps_to_itself(container)
        # Where no command says whether a launcher starts the processes, one may, whose variable the container has.
        passing = role.job.vocabulary.launchers if container.launch.launcher is NOTHING else ()
        pairs = [(one, *pair) for one in passing for pair in one.passes_on.items()]
        launcher = next((o.name for o, read, name in pairs if name == meeting.name and read in container.env), "")
        effect = "each pod trains alone" if alone else _EFFECT
        help_ = f"use `{role.address()}`" + (", unless each pod works independently" if alone else "")
        if launcher:
            effect += f", unless `{launcher}` starts them and sets `{meeting.name}` itself"
            help_ = f"remove it, or use `{role.address()}`"
        message = f"`{meeting.name}` is `{meeting.host}` in each of the {role.count} pods of `{role.name}`"
        level = WARNING if alone or launcher else ERROR
        yield IS_LOCAL.at(meeting.at, message, effect=effect, help=help_, level=level)


def rendezvous_host_unknown(meeting: Meeting) -> Findings:
    host, job = meeting.host, meeting.container.role.job
    other = pod_of_another_jobset(job, host) if meeting.place is None and job.is_name_known else ""
    if other:
        message = f"`{meeting.name}` is `{host}`, a pod of the JobSet `{other}`"
        effect = "unless that job runs and waits for these processes, they never meet"
        yield NO_SERVICE.at(meeting.at, message, effect=effect, help=_address(meeting))
    if "." in host or host in LOCAL or host.startswith(f"{job.name}-") or ":" in host:
        return
    backend = meeting.container.launch.value("rdzv_backend")
    backend = meeting.container.value("PET_RDZV_BACKEND") if backend is None else backend
    if type(backend) is str and backend.startswith("etcd"):
        return  # a store of its own, which several jobs may share
    services = {text(table(s, "metadata"), "name") for s in job.kinds.get("Service", ())}
    if host not in services and host != job.subdomain:
        message = f"`{meeting.name}` is `{host}`, but no Service of this job has that name"
        effect = "unless the cluster has a Service of that name, the processes never connect"
        yield NO_SERVICE.at(meeting.at, message, effect=effect, help=_address(meeting))


def bad_coordinator_port(meeting: Meeting) -> Findings:
    port = meeting.port
    number = parsed_int(port)
    backend = meeting.container.launch.value("rdzv_backend")
    if number == 0 and backend == "c10d" and meeting.host in LOCAL:
        return  # the one node of a rendezvous chooses a free port
    if port and "$" not in port and "{" not in port and (number is None or not 0 < number < 65536):
        help_ = f"use a free port, such as {meeting.container.role.job.vocabulary.ports[0]}"
        yield BAD_PORT.at(meeting.port_at, f"`{port}` is not a port", effect=_EFFECT, help=help_)


def coordinator_ports_differ(job: Job) -> Findings:
    first: dict[tuple[str, str], Meeting] = {}
    for meeting in meetings(job):
        if not meeting.port:
            continue
        other = first.setdefault((meeting.name, meeting.host), meeting)
        if other.port != meeting.port and parsed_int(other.port) and parsed_int(meeting.port):
            message = f"`{meeting.container.role.name}` uses rendezvous port {meeting.port}, `{other.container.role.name}` port {other.port}"
            also = [Label(other.port_at, f"port {other.port} here")]
            yield PORTS.at(meeting.port_at, message, also=also, effect=_EFFECT, help="use the same port for all")


def coordinators_differ(job: Job) -> Findings:
    passing = [(launcher, *pair) for launcher in job.vocabulary.launchers for pair in launcher.passes_on.items()]
    for meeting in meetings(job):
        for other in meetings(job):
            if other is meeting:
                break
            if meeting.container is not other.container or meeting.host == other.host:
                continue
            if meeting.container.role.several and not LOCAL.isdisjoint((meeting.host, other.host)):
                continue  # which of the two is wrong is known
            for launcher, read, set_ in passing:
                if {meeting.name, other.name} != {read, set_}:
                    continue
                reads = meeting if meeting.name == read else other
                help_ = f"remove one of them: `{launcher.name}` reads `{read}` and sets `{set_}` itself"
                if meeting.container.launch.launcher is PYTHON:  # which reads the one that a launcher would set
                    help_ = f"set `{set_}` to `{reads.host}`: plain python reads it, and `{launcher.name}` alone reads `{read}`"
                message = f"`{meeting.name}` is `{meeting.host}`, but `{other.name}` is `{other.host}`"
                yield HOSTS.at(meeting.at, message, also=[Label(other.at, "the other host")], help=help_)


def coordinator_starts_later(job: Job) -> Findings:
    if len(job.roles) < 2:
        return
    for meeting in meetings(job):
        place = meeting.place
        role = meeting.container.role
        if not isinstance(place, PodAddress) or place.role is role:
            continue
        if (wait := waits_for(place.role, role)) is None:
            continue
        ends = wait.status == "Complete"
        is_read = not meeting.name.startswith(_ELASTIC) or meeting.container.launch.by_launcher
        effect = "each waits for the other, and nothing trains"
        if not ends:
            effect = "the workers time out unless the coordinator starts early enough"
        elif not is_read:
            effect = f"where its program reads `{meeting.name}`, as torchrun does, {effect}"
        message = f"`{place.role.name}` starts after `{role.name}` {'has completed' if ends else 'is ready'}, but `{role.name}` uses it as its rendezvous"
        also = [Label(meeting.at, f"the rendezvous of `{role.name}`")]
        help_ = f"remove the variables of the trainers from `{role.name}`"
        if is_read or not ends:
            help_ = f"make `{role.name}` depend on `{place.role.name}` with status `Ready`"
        level = ERROR if ends and is_read else WARNING
        yield LATER.at(job.at(wait.path), message, also=also, effect=effect, help=help_, level=level)


def addresses_only_when_ready(job: Job) -> Findings:
    network = table(job.spec, "network")
    if "publishNotReadyAddresses" not in network or flag(network, "publishNotReadyAddresses"):
        return
    for meeting in meetings(job):
        if "readinessProbe" in meeting.container.tree and meeting.container.role.several:
            at = job.at(("spec", "network", "publishNotReadyAddresses"))
            message = f"the pods of `{meeting.container.role.name}` find each other only once they are ready"
            also = [Label(meeting.container.at("readinessProbe", key=True), "this probe decides when they are ready")]
            effect = "if the probe succeeds only after the rendezvous, the pods wait for each other forever"
            yield NOT_READY.at(at, message, also=also, effect=effect, help="remove `publishNotReadyAddresses: false`")
            return


def image_versions_differ(job: Job) -> Findings:
    if len(job.roles) < 2:
        return
    first: dict[tuple[str, frozenset[str], str], Container] = {}  # by host, kinds of accelerators and image
    met = [(meeting.container, meeting.host) for meeting in meetings(job)]
    if job.bundle.document.kind in _ONE_WORLD:
        met += [(container, f"{job.name}.{job.subdomain}") for container in job.main]
    for container, host in met:
        image = text(container.tree, "image")
        if not container.devices or not untagged(image) or host in LOCAL:
            continue
        other = first.setdefault((host, frozenset(container.devices), untagged(image)), container)
        theirs = text(other.tree, "image")
        if other.role is container.role or image == theirs:
            continue
        message = f"`{container.role.name}` runs `{image}`, but `{other.role.name}` runs `{theirs}`"
        also = [Label(other.at("image"), f"it trains with `{container.role.name}`")]
        effect = "two versions of the program train one model; they fail or hang where they differ"
        yield IMAGES.at(container.at("image"), message, also=also, effect=effect, help="use the same image for both")
        return


def standalone_on_several_nodes(container: Container) -> Findings:
    launch, role = container.launch, container.role
    if launch.launcher is not TORCHRUN or "standalone" not in launch.flags or not _several_nodes(container):
        return
    nodes = _nodes(launch)
    waits = nodes > 1
    if not waits and (not knows_peers(container) or "JOB_COMPLETION_INDEX" in container.text):
        return  # pods that are told nothing of each other may well have work of their own
    at = container.at_word("--standalone")
    message = f"`--standalone` isolates each of the {role.count} pods of `{role.name}`"
    also = [Label(role.spec_at("parallelism"), f"{role.count} pods here")]
    effect = "each pod trains the same model alone"
    if waits:
        effect = f"each pod waits for {nodes - 1} more on its own loopback address until the timeout"
    help_ = "remove `--standalone`" + ("" if _is_told(container) else f", and {_host_of(container)}")
    yield STANDALONE.at(at, message, also=also, effect=effect, help=help_, level=ERROR if waits else WARNING)


def launcher_without_hosts(container: Container) -> Findings:
    launch, role = container.launch, container.role
    if launch.launcher not in (DEEPSPEED, MPIRUN) or not role.several:
        return
    mounts = [text(mount, "mountPath") for mount in rows(container.tree, "volumeMounts")]
    names_hosts = (
        not _HOST_OPTIONS.isdisjoint(launch.flags)
        or any(word in container.text for word in _HOST_WORDS)
        or container.sets(*_HOST_VARIABLES)
        or any(mount.startswith(("/job", "/etc/mpi")) for mount in mounts)
    )
    if knows_peers(container) and not names_hosts:
        at = container.at_word(*launch.launcher.words)
        message = f"`{launch.name}` starts processes in its own pod alone: nothing names the other hosts"
        also = [Label(role.spec_at("parallelism"), f"{role.count} pods here")]
        effect = "each pod trains the same model alone"
        help_ = "use a launcher that reads the variables set here, or a runtime with `mlPolicy.mpi`, which writes the hostfile"
        yield STANDALONE.at(at, message, also=also, effect=effect, help=help_, level=WARNING)


def no_rendezvous(container: Container) -> Findings:
    launch = container.launch
    nodes = _nodes(launch) if launch.launcher is TORCHRUN and "standalone" not in launch.flags else 0
    if nodes < 2 or not _several_nodes(container) or _is_told(container) or broken(container.parsed.commands):
        return
    unread = "; it does not read `MASTER_ADDR`" if "MASTER_ADDR" in container.env else ""
    message = f"`torchrun` has no rendezvous endpoint for its {nodes} nodes{unread}"
    effect = "each pod waits on its own loopback address until the timeout, holding its accelerators"
    yield NO_RENDEZVOUS.at(container.at_word(*TORCHRUN.words), message, effect=effect, help=_host_of(container))


def coordinator_is_each_pod(container: Container) -> Findings:
    launch = container.launch
    if not _several_nodes(container) or not launch.by_launcher or keeps_to_itself(container):
        return
    told = [(f"--{option}", launch.flags[option]) for option in launch.launcher.addresses if option in launch.flags]
    told += [(name, f"$({name})") for name in launch.launcher.passes_on if name in container.env and not told]
    for name, written in told:
        own = next((word for word in _OWN_HOST if word in written), "")
        own = own or next((each for each in container.env if f"{each}" in written and _is_own(container, each)), "")
        if own:
            host = container.role.address() if container.role.job.dns else "HOST"
            message = (
                f"`{name}` is each pod's own address in the {container.role.count} pods of `{container.role.name}`"
            )
            path = container.env_path(name) if name in container.env else container.word_path(written)
            at = container.role.job.at(path) if name in container.env else container.at_word(written)
            yield EACH.at(at, message, effect=_EFFECT, help=f"use the first pod: `{host}`")
            return


def _is_own(container: Container, name: str) -> bool:
    """Whether a variable is the name or the address of the pod itself."""
    source = table(table(container.env[name], "valueFrom"), "fieldRef")
    return text(source, "fieldPath") in _OWN_FIELDS


def _several_nodes(container: Container) -> bool:
    """Whether the pods of the container's role are known to be more than one, and nobody else sets their variables."""
    return container.role.several and "envFrom" not in container.tree


def _nodes(launch: Launch) -> int:
    """The largest number of nodes that torchrun is told of; 0 where that is unknown, or where it is told of none."""
    option, variable = TORCHRUN.nodes
    nodes = launch.value(option) if option in launch.flags else launch.process.value(variable)
    return (parsed_int(nodes.rpartition(":")[2]) or 0) if type(nodes) is str else 0


def _is_told(container: Container) -> bool:
    told = {*container.env, *container.launch.exported, *container.role.job.withheld}
    return any(option in container.launch.flags for option in TORCHRUN.addresses) or any(
        name in told or f"{name}=" in container.script for name in _TOLD
    )


def _host_of(container: Container) -> str:
    host = container.role.address() if container.role.job.dns else "HOST"
    return f"pass `--rdzv_backend=c10d --rdzv_endpoint={host}:29500`"


CHECKS = (
    each(
        meetings,
        coordinator_names_no_pod, coordinator_is_local, rendezvous_host_unknown, bad_coordinator_port,
    ),
    each(lambda job: job.main, standalone_on_several_nodes, launcher_without_hosts, no_rendezvous, coordinator_is_each_pod),
    host_names_no_pod, coordinator_ports_differ, coordinators_differ, image_versions_differ, coordinator_starts_later,
    addresses_only_when_ready,
)  # fmt: skip
