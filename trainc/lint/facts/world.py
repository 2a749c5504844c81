"""Who meets whom: the address that each container is told to find its peers at, and what stands behind it."""

from typing import NamedTuple

from trainc.lint.facts.job import Container, ExpandedRole, Job, once
from trainc.lint.facts.launch import names_in
from trainc.lint.facts.values import Unknown, Value, substituted, table, text, texts
from trainc.model.run import run_of
from trainc.model.sourced import Span
from trainc.model.tree import Path
from trainc.text.numbers import parsed_int

LOCAL = frozenset(("localhost", "127.0.0.1", "::1", "0.0.0.0"))  # noqa: S104 (an address somebody wrote, not one we bind)
# What operators called the pod of rank 0, behind the name of their job.
FIRST_PODS = ("master-0", "worker-0", "chief-0", "launcher", "launcher-0")


class PodAddress(NamedTuple):
    """A pod that an address names: its role, its Job and its index."""

    role: ExpandedRole
    replica: int
    pod: int


class Meeting(NamedTuple):
    """One container's address for its peers: the variable or flag that says it, its host, its port where it is known.

    `place` is the pod that the host names, a sentence about why there is none, or None for hosts outside the job.
    """

    container: Container
    name: str
    host: str
    port: str
    port_name: str
    place: PodAddress | str | None

    @property
    def path(self) -> Path:
        """Where the address stands in the JobSet."""
        return _path(self.container, self.name)

    @property
    def at(self) -> Span:
        """Where the address is written."""
        return self.container.role.job.at(self.path)

    @property
    def port_at(self) -> Span:
        """Where the port is written."""
        return self.container.role.job.at(_path(self.container, self.port_name))


def _path(container: Container, name: str) -> Path:
    if name.startswith("--"):
        return container.word_path(name[2:], name[2:].replace("_", "-"))
    return (*container.env_path(name), "value")


@once
def meetings(job: Job) -> list[Meeting]:
    """Every address that the containers of a job are given, those unknown here left out and counted."""
    points: list[Meeting] = []
    addresses, options = job.vocabulary.addresses, job.vocabulary.options
    for container in job.main:
        for name in container.env:
            if name in addresses and name not in container.replaced and not _assigned(container, name):
                value = container.value(name)
                if type(value) is str:
                    _add(points, container, name, value, addresses[name])
                elif type(value) is Unknown:
                    job.report.skip(f"the address in `{name}` is unknown")
        for flag, port in options.items() if container.launch.flags else ():
            address, written = container.launch.value(flag), container.launch.flags.get(flag, "")
            if type(address) is not str:
                if type(address) is Unknown and all(name in container.env for name in names_in(written)):
                    job.report.skip(f"the address in `--{flag}` is unknown")
            elif "$" not in written or not any(point.name in written for point in points):
                _add(points, container, f"--{flag}", address, f"--{port}" if port else "")
    return points


def _assigned(container: Container, name: str) -> bool:
    """Whether the script sets the variable itself, so that what stands in env does not count."""
    return bool(container.script) and f"{name}=" in container.script


def _add(points: list[Meeting], container: Container, name: str, value: str, port_name: str) -> None:
    bare = value.partition("://")[2] or value if ":" in value else value
    host, colon, port = bare.rpartition(":") if bare.count(":") == 1 else (bare, "", "")
    if colon:
        port_name = name
    elif port_name:
        given = container.launch.value(port_name[2:]) if port_name.startswith("--") else container.value(port_name)
        port = given if type(given) is str else ""
    if host and "." not in host and searched(container.role):
        host = f"{host}.{container.role.job.subdomain}"
    if host and "$" not in host and "{" not in host and "<" not in host:
        job, host = container.role.job, host.rstrip("/")
        place = place_of(job, host) if job.is_name_known else None
        points.append(Meeting(container, name, host, port, port_name, place))


def searched(role: ExpandedRole) -> bool:
    """Whether a bare host name of the job resolves in the pods of a role: its subdomain is a search domain there."""
    domains = texts(table(role.pod, "dnsConfig"), "searches")
    return any(name.startswith(f"{role.job.subdomain}.") for name in domains)


def place_of(job: Job, host: str) -> PodAddress | str | None:
    """The pod that an address names; a sentence about why there is none; None for hosts outside this job."""
    first, _, rest = host.partition(".")
    place = _place(job, first, rest)
    if isinstance(place, PodAddress):
        return _of_another_namespace(job, rest.partition(".")[2]) or place
    if place is None and job.is_legacy and first.removeprefix(f"{job.name}-") in FIRST_PODS:
        return _of_another_namespace(job, rest) or None
    return place


def _of_another_namespace(job: Job, rest: str) -> str:
    """Why `NAMESPACE[.svc[.DOMAIN]]` behind the name of a pod or Service does not lead to the job's, "" where it may."""
    namespace, _, domain = rest.partition(".")
    is_full = domain.partition(".")[0] == "svc"
    own = "" if substituted(job.namespace) or "$" in job.namespace else job.namespace
    if namespace == "svc" and not is_full and own != "svc":
        return "the namespace is missing before `svc`"
    if not own or namespace in ("", own) or (domain and not is_full):
        return ""
    return f"it is in namespace `{namespace}`, but the job is in `{own}`"


def _place(job: Job, first: str, rest: str) -> PodAddress | str | None:
    domain = rest.partition(".")[0]
    if job.bundle.keeps_job:
        return _place_of_job(job, first, rest)
    if not first.startswith(f"{job.name}-"):
        unlike = f"no pod of this job is named `{first}`" if domain == job.subdomain and rest else None
        return _of_another_run(job, first) or unlike
    job_name, _, index = first.rpartition("-")
    job_name, _, replica = job_name.rpartition("-")
    role = job.role(job_name.removeprefix(f"{job.name}-")) if job_name.startswith(f"{job.name}-") else None
    i, j = parsed_int(replica), parsed_int(index)
    if role is None or i is None or j is None:
        return _of_another_run(job, first) or _unlike(job, first, rest)
    if type(role.replicas) is int and i >= role.replicas:
        return f"`{role.name}` has {role.replicas} Job{'s' if role.replicas != 1 else ''}, so Job {i} does not exist"
    if type(role.size) is int and role.size < 1:
        return None
    if type(role.size) is int and j >= role.size:
        return f"a Job of `{role.name}` has {role.size} pod{'s' if role.size != 1 else ''}, so pod {j} does not exist"
    if not rest:
        return f"a pod's DNS name is `{first}.{job.subdomain}`, not its bare host name"
    if domain != job.subdomain and (job.dns or text(role.pod, "subdomain") != domain):
        return f"the subdomain of these pods is `{job.subdomain}`"
    if not job.dns and text(role.pod, "subdomain") != domain:
        return "`enableDNSHostnames: false` gives the pods no DNS names"
    return PodAddress(role, i, j)


def _place_of_job(job: Job, first: str, rest: str) -> PodAddress | str | None:
    """The same in a plain Job, whose pods are called after it and their index."""
    job_name, _, index = first.rpartition("-")
    role, number = job.roles[0], parsed_int(index)
    if job_name != job.name or number is None:
        unlike = _unlike(job, first, rest) if first.startswith(f"{job.name}-") else None
        return _of_another_run(job, first) or unlike
    if not role.indexed:
        return "the pods of a Job without `completionMode: Indexed` have random names"
    if type(role.size) is int and number >= role.size:
        return f"the Job has {role.size} pod{'s' if role.size != 1 else ''}, so pod {number} does not exist"
    if not job.dns:
        return "the pod template has no `subdomain`, so its pods have no DNS names"
    if not rest:
        return f"a pod's DNS name is `{first}.{job.subdomain}`, not its bare host name"
    if rest.partition(".")[0] != job.subdomain:
        return f"the subdomain of these pods is `{job.subdomain}`"
    return PodAddress(role, 0, number)


def name_of_first_run(job: Job) -> str:
    """What the objects of the job's first run are called; the job's own name where this is that run."""
    run = run_of(job.bundle.document.tree)
    return job.name.removesuffix(f"-r{run}") if run > 1 else job.name


def _of_another_run(job: Job, first: str) -> str:
    """Why a pod of another run of the job is none of this one, "" for every other host."""
    base, run = name_of_first_run(job), run_of(job.bundle.document.tree)
    pod = first.removeprefix(f"{base}-")
    if pod == first:
        return ""
    other, dash, rest = pod.partition("-")
    number = parsed_int(other[1:]) if dash and other[:1] == "r" else None
    number, pod = (1, pod) if number is None or number < 2 else (number, rest)
    role, *indices = ["", pod] if job.bundle.keeps_job else pod.rsplit("-", 2)
    is_pod = bool(indices) and None not in map(parsed_int, indices) and (job.bundle.keeps_job or job.role(role))
    return f"it is a pod of run {number}, and this is run {run}" if is_pod and number != run else ""


def pod_of_another_jobset(job: Job, host: str) -> str:
    """The JobSet whose pod a host is by the form of its name, `JOBSET-ROLE-0-0.JOBSET`; "" for any other host."""
    first, _, rest = host.partition(".")
    other = rest.partition(".")[0]
    pod = first.removeprefix(f"{other}-") if other and other not in (job.name, job.subdomain) else first
    role, *indices = pod.rsplit("-", 2)
    return other if pod != first and role and len(indices) == 2 and None not in map(parsed_int, indices) else ""


def _unlike(job: Job, first: str, rest: str) -> str | None:
    if not rest and any(text(s.get("metadata", {}), "name") == first for s in job.kinds.get("Service", ())):
        return None
    if first.startswith(f"{job.name}-") and any(type(role.size) is not int for role in job.roles):
        return None  # a name of the operator, rewritten once the number of pods is known
    roles = ", ".join(f"`{role.name}`" for role in job.roles)
    if not rest or rest.partition(".")[0] in (job.subdomain, job.name):
        return f"no pod of this job is named `{first}` (its roles are {roles})"
    return None


def ranks(container: Container) -> list[tuple[str, Value]]:
    """The variables that give a container's process its rank, as they are set in env."""
    rank_names = container.role.job.vocabulary.ranks
    if rank_names.isdisjoint(container.env):
        return []
    return [
        (name, value)
        for name in container.env
        if name in rank_names and not _assigned(container, name) and (value := container.value(name)) is not None
    ]


def keeps_to_itself(container: Container) -> bool:
    """Whether the processes of each pod are told to meet among themselves alone, as pods with work of their own do.

    They are few enough for one pod, or torchrun is told of one node, and the address is none or the pod's own.
    """
    job = container.role.job
    if any(meeting.host not in LOCAL for meeting in meetings(job) if meeting.container is container):
        return False
    option, variable = container.launch.launcher.nodes
    if variable:
        nodes = container.launch.value(option)
        return (nodes if nodes is not None else container.value(variable)) in {"1", "1:1"}
    sizes = [parsed_int(container.value(name)) for name in job.vocabulary.sizes if name in container.env]
    own = max([1, *(n for n in container.devices.values() if type(n) is int)])
    return bool(sizes) and all(size is not None and size <= own for size in sizes)


def knows_peers(container: Container) -> bool:
    """Whether a container is told a rank, or an address of others."""
    vocabulary = container.role.job.vocabulary
    return not (vocabulary.ranks | vocabulary.addresses.keys()).isdisjoint(container.env)


def collective(role: ExpandedRole) -> bool:
    """Whether the pods of a role visibly work as one: they are told ranks, an address, or run a launcher."""
    for container in role.main:
        is_launched = container.launch.by_launcher and "standalone" not in container.launch.flags
        if (is_launched or knows_peers(container)) and not keeps_to_itself(container):
            return True
    return False
