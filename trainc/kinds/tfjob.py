"""TFJob: the Chief's success is the job's, without one worker 0's, or all Workers' when the job says so."""

from trainc.kinds.shared.environment import INDEX_REFERENCE, framework
from trainc.kinds.shared.job import LegacyJob, ListedReplica, Replica, key_of, listed, spelled
from trainc.kinds.shared.layout import FIRST_DECIDES, JobLayout, ReplicatedJobPlan
from trainc.kinds.shared.peers import Peer, address, peers, port, total
from trainc.kinds.shared.refusals import Validator, containers
from trainc.kinds.shared.restart import TOLERATED, WITHOUT_EFFECT
from trainc.kinds.table import TF
from trainc.model.finding import ERROR, NOTE, WARNING, Rule
from trainc.model.patch import Patch
from trainc.model.patches import Contribution
from trainc.model.plan import Plan, Role
from trainc.model.sourced import Origin, Sourced, derive
from trainc.model.tree import Tree, filled, get, plain, value
from trainc.text.placeholders import is_placeholder

_SCRIPT = "grpc_tensorflow_server.py"
_SERVER = """\
import argparse

import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--cluster_spec", required=True)
parser.add_argument("--job_name", required=True)
parser.add_argument("--task_id", type=int, required=True)
options = parser.parse_args()

cluster = {}
for job in options.cluster_spec.split(","):
    name, _, hosts = job.partition("|")
    cluster[name] = hosts.split(";")

server = tf.train.Server(tf.train.ClusterSpec(cluster), job_name=options.job_name, task_index=options.task_id)
server.join()
"""
NO_DECIDER = Rule("nothing-decides-success", ERROR)
RESIZED = Rule("workers-not-resizable", WARNING)
RUNTIME_ID = Rule("runtime-id-derived", NOTE, differs=("TFJob", "TfJob"))
BOARD = Rule("tensorboard-left-out", WARNING)
ACCELERATOR = Rule("operator-accelerators", WARNING)
SIDECAR = Rule("sidecar-holds-job", WARNING)
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
PREFIX = "invalid job spec: "


def more(plan: Plan) -> Contribution:
    """The script and the command of default parameter servers, nothing for jobs that bring their own."""
    if (role := plan.role("ps")) is None or value(plan.settings, "defaultPs") is not True:
        return Contribution()
    name = derive("default PS", lambda r: f"cm-ps-{r}", plan.settings["runtimeId"])
    cluster: dict[str, list[str]] = {}
    for p in peers(plan):
        cluster.setdefault(p.type, []).append(f"{address(plan, p)}:{port(p.role, TF).value}")
    jobs = ",".join(f"{kind}|{';'.join(cluster[kind])}" for kind in sorted(cluster))
    spec = derive("cluster of the job", lambda _: jobs, plan.name)
    task = "$(JOB_COMPLETION_INDEX)" if role.count.value > 1 else "0"
    command = ["python", f"/ps-server/{_SCRIPT}", "--cluster_spec", spec, "--job_name", "ps", "--task_id", task]
    patch = Patch(
        role.index,
        TF.container,
        sets={"command": command},
        mounts=({"name": "ps-config-volume", "mountPath": "/ps-server"},),
        volumes=({"name": "ps-config-volume", "configMap": {"name": name}},),
    )
    scripts = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {_SCRIPT: _SERVER}}
    return Contribution([patch], objects=[scripts])


def tensorflow(job: LegacyJob) -> JobLayout | None:
    """The parts of a TFJob, in the order chief, ps, worker, evaluator."""
    present = [replica for replica in job.replicas if replica.count.value]
    chief = next((r for r in present if r.role in {"Chief", "Master"}), None)
    worker = next((r for r in present if r.role == "Worker"), None)
    decider = chief or worker
    if decider is None:
        message = "the job has neither Chief, Master nor Worker: it would never succeed"
        job.say(NO_DECIDER, ("spec", job.kind.field), message, key=True, help="add a Chief or a Worker")
        return None
    dynamic = value(job.spec, "enableDynamicWorker") is True
    if dynamic and worker:
        path = ("spec", "enableDynamicWorker")
        job.say(RESIZED, path, f"the number of workers stays {worker.count.value}: a JobSet cannot be resized")
        if chief is not None and worker.restart.value == "Never":
            message = "a failed worker fails the job when all workers have ended, unless the chief has completed"
            job.say(TOLERATED, worker.path, message, key=True, help="use `OnFailure` for the workers")
    parts = [_part(job, replica, decider, tolerates=dynamic and replica is worker) for replica in present]
    empty = sorted(replica.name for replica in job.replicas if not replica.count.value)
    return JobLayout(tuple(parts), {"dynamic": dynamic, "empty": empty, "clusterDomain": job.asks("cluster-domain")})


def _part(job: LegacyJob, replica: Replica, decider: Replica, *, tolerates: bool) -> ReplicatedJobPlan:
    decides = replica is decider
    policy = value(job.spec, "successPolicy") or ""
    if decides and policy not in {"", "AllWorkers"}:
        message = f"`{policy}` is not a success policy: it means the default"
        job.say(WITHOUT_EFFECT, ("spec", "successPolicy"), message, help="`AllWorkers`, or remove it")
    first = decides and replica.role == "Worker" and policy != "AllWorkers"
    return ReplicatedJobPlan(
        replica.name,
        replica,
        replica.count,
        decides=decides,
        succeeds=FIRST_DECIDES if first else None,
        labels={"training.kubeflow.org/job-role": "master"} if decides and replica.role != "Worker" else None,
        tolerates=tolerates,
    )


def listed_tensorflow(job: LegacyJob) -> JobLayout | None:
    """The parts of a job with a list of replica specs: master, ps, worker."""
    chief = get(spelled(job.spec, "terminationPolicy"), "chief")
    decider = value(chief, "replicaName") or "MASTER"
    index = value(chief, "replicaIndex") or 0
    replica = job.role(decider)
    if replica is not None and type(index) is int and not 0 <= index < replica.count.value:
        message = f"the chief is {decider} {index}, but there are {replica.count.value} of them, counted from 0"
        job.say(NO_DECIDER, ("spec", "terminationPolicy"), message, help="name an existing replica")
        return None
    runtime = _runtime_id(job)
    for replica in job.replicas:
        for at, container in enumerate(replica.containers):
            for kind in ("limits", "requests"):
                amounts = get(container, "resources", kind)
                for name in amounts if type(amounts) is dict else ():
                    if name.startswith("alpha.kubernetes.io/"):
                        path = (*replica.path, "template", "spec", "containers", at, "resources", kind, name)
                        message = f"`{name}` was a resource of the operator's configuration"
                        job.say(ACCELERATOR, path, message, key=True, help="request `nvidia.com/gpu`")
    if key := key_of(job.spec, "tensorboard"):
        help_ = "run TensorBoard as a Deployment"
        job.say(BOARD, ("spec", key), "`tensorboard` is omitted", key=True, help=help_)
    parts = [_listed_part(job, replica, decider, index, runtime) for replica in job.replicas]
    bare = [entry.role.lower() for entry in listed(job.document.tree) if entry.template is None]
    settings = {"always": True, "short": True, "runtimeId": runtime, "defaultPs": "ps" in bare, "empty": []}
    return JobLayout(tuple(parts), settings)


def _listed_part(
    job: LegacyJob, replica: Replica, decider: str, index: int, runtime: Sourced[str]
) -> ReplicatedJobPlan:
    decides = replica.role == decider
    if decides and len(replica.containers) > 1:
        help_ = "make the others init containers with `restartPolicy: Always`"
        job.say(SIDECAR, replica.path, f"the job ends when all containers of {replica.role} have ended", help=help_)
    if not decides and replica.restart.value == "Never":
        message = f"a {replica.role} that failed permanently fails the job, unless the chief has completed"
        job.say(TOLERATED, replica.path, message, help="use `restartPolicy: OnFailure` in its template")
    first = {"rules": [{"succeededIndexes": str(index)}]} if decides and replica.role != "MASTER" else None
    group = job.kind.api.partition("/")[0]
    labels: dict[str, object] = {group: "", "job_type": replica.role, "runtime_id": runtime}
    if replica.count.value == 1:
        labels["task_index"] = "0"
    if group == "kubeflow.org":
        labels["tf_job_name"] = job.name
    return ReplicatedJobPlan(replica.name, replica, replica.count, decides=decides, succeeds=first, labels=labels)


def _runtime_id(job: LegacyJob) -> Sourced[str]:
    written: Sourced[object] | None = filled(spelled(job.spec, "runtimeId"))
    if written is not None:
        return written.map(str)
    number = 0
    for character in f"{job.document.namespace}/{job.name.value}":
        number = (number * 131 + ord(character)) % 36**4
    identifier = "".join([_DIGITS[number // 36**place % 36] for place in (3, 2, 1, 0)])
    message = f"the runtime identifier is `{identifier}`"
    job.say(RUNTIME_ID, ("spec",), message, key=True, help=f"set `RuntimeId: {identifier}` to keep it")
    return Sourced(identifier, Origin(None, "RuntimeId", (job.name.origin,)))


def refuse_listed(r: Validator) -> None:
    """Report everything that fails the set-up of such a job."""
    entries = listed(r.document.tree)
    for entry in entries:
        _entry(r, entry)
    seen: set[str] = set()
    for entry in entries:
        if entry.role in seen:
            text = f"{PREFIX}more than one entry of type {entry.role}"
            r.say(entry.path, text, f"two entries are of type {entry.role}", help="join them into one entry")
        seen.add(entry.role)
    chief = get(spelled(r.spec, "terminationPolicy"), "chief")
    name = value(chief, "replicaName") or "MASTER"
    if chief is not None and (value(chief, "replicaName") is None or value(chief, "replicaIndex") is None):
        message = "the chief needs `replicaName` and `replicaIndex`"
        r.say(("spec", "terminationPolicy"), f"{PREFIX}invalid termination policy", message)
    elif all(entry.role != name for entry in entries):
        r.say(("spec",), f"{PREFIX}Missing ReplicaSpec for chief: {name}", f"no entry is of the chief's type, {name}")
    board = spelled(r.spec, "tensorboard")
    if board is not None and not value(spelled(board, "logDir")):
        text = f"{PREFIX}tbReplicaSpec.LogDir must be specified"
        r.say(("spec", "tensorboard"), text, "`tensorboard` has no `logDir`")


def _entry(r: Validator, entry: ListedReplica) -> None:
    role = entry.role
    if role not in r.kind.roles:
        text = f"tfReplicaSpec.TfReplicaType is {role} but must be one of [MASTER PS WORKER]"
        r.say(entry.path, text, f"`{role}` is not a replica type", help="one of MASTER, PS, WORKER")
        return
    for name, leaf in (("replicas", entry.count), ("tfPort", entry.port)):
        content: object = leaf.value
        if type(content) is not int and not is_placeholder(content):
            message = f"{PREFIX}{name} must be a 32-bit integer"
            r.say((*entry.path, name), message, f"`{name}` of {role} is not a number", help="write a whole number")
    if entry.template is None:
        if role != "PS":
            r.say(entry.path, f"Replica type {role} is missing a template", f"the {role} entry has no template")
        return
    if all(value(c, "name") != r.kind.container for c in containers(entry.tree)):
        text = f"Replica type {role} is missing a container named {r.kind.container}"
        r.say((*entry.path, "template"), text, f"no container of {role} is called `{r.kind.container}`")
    if role == "MASTER" and entry.count.value != 1 and not is_placeholder(entry.count.value):
        message = f"{entry.count.value} masters are requested"
        r.say((*entry.path, "replicas"), "The MASTER must have Replicas = 1", message)


def _main(role: Role) -> list[Tree]:
    return [one for one in role.containers if value(one, "name") == TF.container]


def entries(plan: Plan, role: Role, _: Tree) -> dict[str, object]:
    """TF_CONFIG as training operator v1.9.0 writes it; none for a job of one process."""
    if total(plan).value == 1 and value(plan.settings, "always") is not True:
        return {}
    name, index = role.name.value, INDEX_REFERENCE if role.count.value > 1 else "0"
    own = endpoint(plan, Peer(name, index, role, 0, index))  # its index is filled in when the pod starts
    empty: list[str] = plain(plan.settings.get("empty") or [])  # roles of no pods, which are empty lists to Go
    task = f'"task":{{"type":"{name}","index":{index}}}'
    if value(plan.settings, "dynamic") is True:
        worker, servers = "{}", "[]"
        if name == "worker":
            worker = f'{{"{index}":"{own}"}}'
            endpoints = [endpoint(plan, p) for p in peers(plan, "ps")]
            servers = _list(endpoints) if endpoints or "ps" in empty else "null"
        elif name == "ps":
            servers = _list([own])
        text = f'{{"cluster":{{"worker":{worker},"ps":{servers}}},{task}}}'
    else:
        cluster: dict[str, list[str]] = {kind: [] for kind in empty}
        for p in peers(plan):
            cluster.setdefault(p.type, []).append(endpoint(plan, p))
        listed = ",".join(f'"{kind}":{_list(cluster[kind])}' for kind in sorted(cluster))
        text = f'{{"cluster":{{{listed}}},{task},"environment":"cloud"}}'
    return {"TF_CONFIG": derive("cluster of the job", lambda *_: text, plan.name, *(r.count for r in plan.roles))}


def _list(hosts: list[str]) -> str:
    return "[" + ",".join(f'"{name}"' for name in hosts) + "]"


def endpoint(plan: Plan, p: Peer) -> str:
    name = address(plan, p)
    if value(plan.settings, "short") is not True and plan.namespace is not None:
        domain = value(plan.settings, "clusterDomain")
        name += f".{plan.namespace.value}.svc" + (f".{domain}" if domain else "")
    return f"{name}:{port(p.role, TF).value}"


FRAMEWORK = framework(TF.framework, entries, _main, container=TF.container, more=more)
