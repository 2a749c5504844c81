"""PyTorchJob: with a Master its success is the job's; without one all Workers count, or any if they are elastic."""

from trainc.kinds.shared.environment import NAMESPACE_REFERENCE, framework, rank, search_domains
from trainc.kinds.shared.job import LegacyJob, pruned
from trainc.kinds.shared.layout import ANY_DECIDES, JobLayout, ReplicatedJobPlan, master_worker
from trainc.kinds.shared.peers import aliased, has, host, peer, port, short, total
from trainc.kinds.table import PYTORCH
from trainc.model.finding import NOTE, WARNING, Rule
from trainc.model.patches import Contribution
from trainc.model.plan import Plan, Role
from trainc.model.sourced import Origin, Sourced, derive
from trainc.model.tree import Tree, filled, get, plain, value
from trainc.text.numbers import index_below, parsed_int

NO_SCALER = Rule("autoscaler-left-out", WARNING)
FIXED = Rule("elastic-size-fixed", NOTE, differs=("PyTorchJob",))
RENDEZVOUS = Rule("rendezvous-host-renamed", WARNING)
WAIT_DROPPED = Rule("init-wait-dropped", NOTE, differs=("PyTorchJob",))


def pytorch(job: LegacyJob) -> JobLayout:
    """The parts of a PyTorchJob and what torchrun is to be told."""
    master, worker = job.role("Master"), job.role("Worker")
    elastic = pruned(get(job.spec, "elasticPolicy"))
    settings: dict[str, Tree] = {}
    procs = get(job.spec, "nprocPerNode")
    if type(procs) is Sourced and procs.value is not None:
        settings["nprocPerNode"] = procs
    elif get(elastic, "nProcPerNode") is None:
        settings["nprocPerNode"] = Sourced("auto", Origin(by="PyTorchJob default"))
    if elastic is not None:
        assert worker is not None
        known = [node for node in (get(elastic, "minReplicas"), get(elastic, "maxReplicas")) if type(node) is Sourced]
        low = known[0] if known else worker.count
        high = known[-1] if known else worker.count
        settings["elasticPolicy"] = {**elastic, "minReplicas": low, "maxReplicas": high}
        settings["clusterDomain"] = Sourced(job.cluster_domain, Origin(by="project"))
    if master is not None:
        shape = master_worker(job, settings)
    else:
        assert worker is not None
        succeeds = ANY_DECIDES if elastic is not None else None
        part = ReplicatedJobPlan("worker", worker, worker.count, decides=elastic is not None, succeeds=succeeds)
        shape = JobLayout((part,), settings)
    if master is not None and worker is not None and worker.count.value:
        job.say(WAIT_DROPPED, worker.path, "workers start immediately: torch waits for the master", key=True)
    if (elastic := settings.get("elasticPolicy")) is not None and worker is not None:
        path = ("spec", "elasticPolicy")
        if elastic.pop("metrics", None):
            message = "`metrics` is omitted: no HorizontalPodAutoscaler can scale a JobSet"
            help_ = "remove it, and set `replicas` to the number of workers that you want"
            job.say(NO_SCALER, (*path, "metrics"), message, key=True, help=help_)
        high = elastic["maxReplicas"].value
        if type(high) is int and worker.count.value < high:
            message = f"the number of workers stays {worker.count.value}, though up to {high} are allowed"
            job.say(FIXED, (*path, "maxReplicas"), message, help=f"set `replicas: {high}` to start with all of them")
        host = value(elastic, "rdzvHost")
        replica = _replica(job, str(host)) if host and job.asks("compat-names") != "true" else None
        if replica is not None:
            message = f"`{host}` has another name in the JobSet: trainc rewrites the address"
            job.say(RENDEZVOUS, (*path, "rdzvHost"), message, help="remove it: the default is worker 0")
            rendezvous = elastic.pop("rdzvHost")
            elastic["rdzvRole"], elastic["rdzvIndex"] = (rendezvous.map(lambda _, part=part: part) for part in replica)
    return shape


def _replica(job: LegacyJob, host: str) -> tuple[str, int] | None:
    """The role and the number of the pod that the operator's Service of this name led to, None for any other host."""
    first, _, rest = host.partition(".")
    namespace = job.document.namespace
    if rest not in {"", namespace, f"{namespace}.svc", f"{namespace}.svc.{job.cluster_domain}"}:
        return None
    for replica in job.replicas:
        prefix, number = f"{job.document.name}-{replica.name}-", first.rpartition("-")[2]
        index = index_below(number, replica.count.value)
        if index is not None and first == prefix + number:
            return replica.name, index
    return None


def entries(plan: Plan, role: Role, _: Tree) -> dict[str, object]:
    """The variables of training operator v1.9.0, in its order."""
    own: dict[str, object] = {"PYTHONUNBUFFERED": "1"}
    procs = plan.settings.get("nprocPerNode")
    if has(plan, "master"):
        address = host(plan, "master", 0)
        number = port(peer(plan, "master", 0).role, PYTORCH)
        each = parsed_int(procs.value) if procs is not None else None  # the operator took 1 where it read no number
        pods = total(plan)
        own |= {
            "MASTER_PORT": number,
            "PET_MASTER_PORT": number,
            "MASTER_ADDR": address,
            "PET_MASTER_ADDR": address,
            "WORLD_SIZE": pods if each is None else derive("pods x processes", lambda n, _: n * each, pods, procs),
            "RANK": rank(role),
            "PET_NODE_RANK": rank(role),
        }
    if procs is not None:
        own["PET_NPROC_PER_NODE"] = procs
    if (elastic := plan.settings.get("elasticPolicy")) is None:
        own["PET_NNODES"] = total(plan)
    else:
        given = get(elastic, "rdzvPort")
        number = given if type(given) is Sourced else port(peer(plan, "worker", 0).role, PYTORCH)
        low, high = elastic["minReplicas"], elastic["maxReplicas"]
        own |= {
            "PET_RDZV_ENDPOINT": derive("rendezvous", lambda h, p: f"{h}:{p}", _rendezvous(plan, elastic), number),
            "PET_RDZV_BACKEND": elastic["rdzvBackend"] if value(elastic, "rdzvBackend") else "c10d",
            "PET_NNODES": derive("range of nodes", lambda a, b: f"{a}:{b}", low, high),
        }
        for name, field in (("MAX_RESTARTS", "maxRestarts"), ("NPROC_PER_NODE", "nProcPerNode"), ("RDZV_ID", "rdzvId")):
            if value(elastic, field) is not None:
                own[f"PET_{name}"] = elastic[field]
        if pairs := plain(get(elastic, "rdzvConf") or []):
            # Both are plain texts in Go, so one that is missing is empty.
            own["PET_RDZV_CONF"] = ",".join(f"{pair.get('key', '')}={pair.get('value', '')}" for pair in pairs)
        if value(elastic, "standalone") is True:
            own["PET_STANDALONE"] = ""
    return own


def _rendezvous(plan: Plan, elastic: Tree) -> Sourced[str]:
    written: Sourced[str] | None = filled(elastic, "rdzvHost")
    if written is not None:
        return written
    kind, index = value(elastic, "rdzvRole") or "worker", value(elastic, "rdzvIndex") or 0
    address = short(plan, peer(plan, kind, index))
    if plan.namespace is None and not aliased(plan):
        # torch also knows itself by its full name, in which the pod fills in the namespace it runs in.
        address += f".{plan.name.value}.{NAMESPACE_REFERENCE}.svc.{plan.settings['clusterDomain'].value}"
    return derive("rendezvous host", lambda _: address, plan.name)


def searches(plan: Plan) -> Contribution:
    """The job's own subdomain among the search domains: torch compares short host names with its own.

    Without a known namespace the rendezvous host is a full name, which needs none.
    """
    elastic = plan.settings.get("elasticPolicy")
    if elastic is None or value(elastic, "rdzvHost") or aliased(plan) or plan.namespace is None:
        return Contribution()
    return search_domains(plan, plan.settings["clusterDomain"].value)


FRAMEWORK = framework(PYTORCH.framework, entries, container=PYTORCH.container, more=searches)
