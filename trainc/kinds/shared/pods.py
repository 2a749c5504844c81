"""The pod templates of older jobs as a Job takes them: ports filled in, labels of the operator, strays removed."""

from trainc.apiserver.normalise import normalise
from trainc.kinds.shared.job import LegacyJob, Replica
from trainc.kinds.shared.layout import ReplicatedJobPlan
from trainc.kinds.table import LISTED, MPI_OPERATOR, PREFIX
from trainc.model.finding import NOTE, WARNING, Rule
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree, get, stamp, value

POD_RESTART = Rule("template-restart-policy", WARNING)
HOSTNAME = Rule("hostname-ignored", WARNING)
PORT = Rule("port-renamed", WARNING)
STRAY = Rule("stray-template-field", NOTE)
_META = ("labels", "annotations", "finalizers")
_POLICIES = frozenset((None, "", "Always", "OnFailure", "Never"))


def prepare(job: LegacyJob, replica: Replica) -> None:
    """Fill in and clean the template of one role."""
    template = replica.template
    meta = get(template, "metadata") or {}
    spec = dict(get(template, "spec") or {})
    fields = [key for key in template if key not in {"metadata", "spec"}]
    fields += [f"metadata.{key}" for key in meta if key not in _META]
    if fields:
        message = f"the template of `{replica.name}` has {', '.join(f'`{key}`' for key in fields)}, which trainc drops"
        job.say(STRAY, (*replica.path, "template"), message, key=True, help="remove it")
    for name in ("hostname", "subdomain"):
        if name in spec:
            path = (*replica.path, "template", "spec", name)
            job.say(HOSTNAME, path, f"`{name}` has no effect: the JobSet names its hosts", help="remove it")
            del spec[name]
    inner = value(spec, "restartPolicy")
    if inner and replica.restart.value and inner != replica.restart.value:
        path = (*replica.path, "template", "spec", "restartPolicy")
        message = f"`restartPolicy: {inner}` in the template is overwritten by `{replica.restart.value}`"
        job.say(POD_RESTART, path, message, help="remove it")
    spec.pop("restartPolicy", None)
    # By the default a pod in the host's network asks the node's own DNS; the mpi-operator replaces what is written.
    asks_node = value(spec, "dnsPolicy") in {None, "", "ClusterFirst"} or job.kind.api == MPI_OPERATOR
    if value(spec, "hostNetwork") is True and asks_node:
        spec["dnsPolicy"] = stamp("ClusterFirstWithHostNet", "hostNetwork", spec["hostNetwork"])
    if job.kind.port_name:
        spec["containers"] = _ports(job, replica, spec)
    kept = {key: meta[key] for key in _META if meta.get(key)}
    replica.template = normalise({**({"metadata": kept} if kept else {}), "spec": spec}, "template")


def _ports(job: LegacyJob, replica: Replica, spec: Tree) -> list[Tree]:
    containers = list(spec.get("containers") or [])
    index = next((i for i, c in enumerate(containers) if value(c, "name") == job.kind.container), 0)
    main = containers[index]
    ports = list(main.get("ports") or [])
    if any(value(port, "name") == job.kind.port_name for port in ports):
        return containers
    number = replica.port if replica.port is not None else stamp(job.kind.port, f"{job.kind.kind} default")
    tcp = [value(port, "containerPort") if value(port, "protocol") in {None, "TCP"} else None for port in ports]
    same = tcp.index(number.value) if number.value in tcp else None
    if same is None:
        port = {"name": job.kind.port_name, "containerPort": number, "protocol": "TCP"}
        ports.append(stamp(port, f"{job.kind.kind} default"))
    else:
        port, wanted = ports[same], job.kind.port_name
        if name := value(port, "name"):
            message = f"port {value(port, 'containerPort')} is called `{name}`; the operator expects `{wanted}`"
        else:
            message = f"port {value(port, 'containerPort')} has no name; it gets the name `{wanted}`"
            ports[same] = {**port, "name": stamp(wanted, f"{job.kind.kind} default")}
        path = (*replica.path, "template", "spec", "containers", index, "ports", same)
        job.say(PORT, path, message, help=f"call it `{wanted}`")
    containers[index] = {**main, "ports": ports}
    return containers


def finish(job: LegacyJob, part: ReplicatedJobPlan, policy: Sourced[str] | None) -> Tree:
    """The template of one part: its role's, with the operator's labels and the pod's restart policy."""
    template = part.replica.template
    meta = template.get("metadata") or {}
    ending = {} if policy is None else {"restartPolicy": policy}
    labels = {
        **(meta.get("labels") or {}),
        **stamp({**_labels(job, part), **(part.labels or {})}, f"{job.kind.kind} labels"),
    }
    return {"metadata": {**meta, "labels": labels}, "spec": {**template["spec"], **ending}}


def _labels(job: LegacyJob, part: ReplicatedJobPlan) -> dict[str, object]:
    """The labels of the operator that are the same for all pods of a part; the index only of a pod that is alone."""
    if job.kind.field == LISTED:
        return {}
    own: dict[str, object] = {PREFIX + "operator-name": job.kind.operator, PREFIX + "job-name": job.name}
    if part.name != "node" and job.kind.api != MPI_OPERATOR:
        own[PREFIX + "replica-type"] = part.replica.name
    if part.alone and job.kind.kind != "MPIJob":
        own[PREFIX + "replica-index"] = str(part.first)
        # Operators called worker 0 the master, for want of one; those of XGBoostJob and PaddleJob never did.
        is_known = job.kind.kind in {"JAXJob", "PyTorchJob", "TFJob"} and part.replica.role == "Worker"
        if not part.first and is_known and not job.role("Chief") and not job.role("Master"):
            own[PREFIX + "job-role"] = "master"
    return own


def restart_policy(written: Tree, ending: Sourced[str]) -> Sourced[str]:
    """`ending`, unless something else is written than a policy: that stays, for the server to refuse it there."""
    return written if type(written) is Sourced and written.value not in _POLICIES else ending
