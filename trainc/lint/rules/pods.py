"""What pods are given that no pod can use: volumes, slices of accelerators, containers that wait for their own pod, retries."""

from trainc.lint.facts.job import INIT, Container, ExpandedRole, Findings, each
from trainc.lint.facts.values import rows, substituted, table, text
from trainc.model.finding import ERROR, WARNING, Label, Rule

NFS = Rule("nfs-server-with-path", ERROR)
WAITS = Rule("init-container-waits-for-itself", ERROR)
MIG = Rule("mig-slices-cannot-communicate", WARNING)
EXCLUSIVE = Rule("exclusive-topology-with-retries", WARNING)

# Programs that ask a port, which only a container that runs can answer; a name resolves before.
_ASKING = ("nc ", "curl ", "wget ", "/dev/tcp/", "redis-cli ", "telnet ")
_BY_INDEX = ("JOB_COMPLETION_INDEX", "HOSTNAME", "hostname", "POD_NAME", "RANK")
_TOPOLOGY = "alpha.jobset.sigs.k8s.io/exclusive-topology"
_MIG = "nvidia.com/mig-"


def nfs_server_with_path(role: ExpandedRole) -> Findings:
    for index, volume in enumerate(rows(role.pod, "volumes")):
        server = text(table(volume, "nfs"), "server")
        host = server.partition(":/")[0].partition("/")[0]
        if host and host != server and not substituted(server):
            message = f"`{server}` is not a host: `server` takes no path"
            effect = "the kubelet cannot mount it, and the pods stay in ContainerCreating"
            help_ = f"write `server: {host}`, and the exported directory in `path`"
            yield NFS.at(role.pod_at("volumes", index, "nfs", "server"), message, effect=effect, help=help_)


def init_container_waits_for_itself(container: Container) -> Findings:
    role = container.role
    line = container.text
    if container.kind is not INIT or not role.job.is_name_known or any(name in line for name in _BY_INDEX):
        return
    address = next((name for name in (role.address(), role.host()) if name in line), "")
    if address and any(program in line for program in _ASKING):
        message = f"`{container.name}` waits for `{address}`, which is a pod of its own role"
        also = [Label(main.at("name"), "starts when all init containers have ended") for main in role.main[:1]]
        effect = "in that pod the container it waits for never starts, and all pods wait forever"
        help_ = "remove it: the launcher waits for its peers itself"
        yield WAITS.at(container.at_word(address), message, also=also, effect=effect, help=help_)


def mig_slices_cannot_communicate(container: Container) -> Findings:
    for resource, count in container.devices.items():
        if not resource.startswith(_MIG) or type(count) is not int or not container.launch.by_launcher:
            continue
        if count > 1:
            message = f"NCCL does not connect the {count} slices of this pod: `{resource}` is a part of a GPU"
            effect = "the processes fail when they build their first communicator, or share one slice"
            help_ = "request whole GPUs, or train with one process in one slice"
            yield MIG.at(container.amount_at(resource, key=True), message, effect=effect, help=help_)


def exclusive_topology_with_retries(role: ExpandedRole) -> Findings:
    held = [table(role.job.metadata, "annotations"), table(role.job_metadata, "annotations"), role.annotations]
    if not any(_TOPOLOGY in annotations for annotations in held) or role.retries == 0 or role.retries is None:
        return
    if not role.several:
        return
    is_written = "backoffLimit" in role.spec
    message = f"a Job of `{role.name}` replaces {role.retries} failed pods, but its pods share one exclusive domain"
    effect = "beside the replacement of a leader JobSet sees two leaders, and admits no other pod of that Job"
    help_ = "set `backoffLimit: 0`, and let `failurePolicy.maxRestarts` restart all"
    at = role.spec_at("backoffLimit") if is_written else role.at("name")
    yield EXCLUSIVE.at(at, message, effect=effect, help=help_)


CHECKS = (
    each(lambda job: job.roles, nfs_server_with_path, exclusive_topology_with_retries),
    each(lambda job: job.containers, init_container_waits_for_itself),
    each(lambda job: job.main, mig_slices_cannot_communicate),
)  # fmt: skip
