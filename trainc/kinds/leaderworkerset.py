"""A LeaderWorkerSet that runs to completion: a JobSet for each group, whose pods know their leader and their index."""

from collections.abc import Iterator

from trainc.apiserver.admission import admit_object
from trainc.apiserver.normalise import normalise
from trainc.apiserver.served import Server
from trainc.kinds.other_operators import GROUP_INDEX
from trainc.kinds.shared.environment import GLOBAL_INDEX, JOB_INDEX
from trainc.kinds.shared.former_hosts import FormerHosts, pod_of
from trainc.kinds.shared.job import MOST, LegacyOptions, job_metadata, pruned
from trainc.kinds.shared.layout import plan_of_jobset, replicated_job
from trainc.kinds.shared.pod_fields import COMPLETION, GLOBAL, PodFields, annotation, label, with_present_fields
from trainc.kinds.shared.pods import restart_policy
from trainc.kinds.shared.restart import FOREVER
from trainc.model.catalog import Entry
from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.finding import ERROR, WARNING, Refusal, Rule
from trainc.model.patch import Patch
from trainc.model.patches import COMPLETION_INDEX, Contribution, Framework, variable
from trainc.model.plan import Plan, Role
from trainc.model.report import Report
from trainc.model.run import run_name
from trainc.model.sourced import Origin, Sourced, derive
from trainc.model.tree import Path, Tree, get, given, stamp, value
from trainc.text.numbers import index_below
from trainc.text.object_keys import EXCLUSIVE, TPU_RESOURCE

REFUSED = Rule("leaderworkerset-refused", ERROR, verdict=True)
ENDS = Rule("leaderworkerset-restarts", WARNING)
_PREFIX = "leaderworkerset.sigs.k8s.io/"
_EXCLUSIVE = (f"{_PREFIX}exclusive-topology", f"{_PREFIX}subgroup-exclusive-topology")  # a subgroup is a whole group
_MOST_GROUPS = 1_000
LEADER, WORKER, ALL = "leader", "worker", "node"
_POD_NAME = {"valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
_TPU_PORT = 8476


def split(document: Document) -> list[Document]:
    """A document for each group of a set; itself where there is one, or nobody can tell."""
    count = value(document.tree, "spec", "replicas")
    if type(count) is not int or not 1 < count <= _MOST_GROUPS or not document.name:
        return [document]
    metadata = document.tree["metadata"]
    name = metadata["name"]
    out = []
    for group in range(count):
        own = derive("name of a group", lambda text, group=group: f"{text}-{group}", name)
        annotations = {**metadata["annotations"], GROUP_INDEX: stamp(str(group), "group")}
        of_group = {**metadata, "name": own, "annotations": annotations}
        out.append(document.instead({**document.tree, "metadata": of_group}))
    return out


def admit(document: Document, server: Server, _: Cluster, report: Report) -> Document | None:
    """The set as the API server stores it, None with findings where it or the set's webhook refuses it."""
    if (stored := admit_object(document, server, report)) is None:
        return None
    complaints = [*_complaints(stored)]
    for path, message, text in complaints:
        report.add(REFUSED.at(stored.span(path), message, refusal=Refusal("webhook", text) if text else None))
    return None if complaints else stored.admitted(pruned(stored.tree))


def _complaints(document: Document) -> Iterator[tuple[Path, str, str]]:
    spec = get(document.tree, "spec")
    template = get(spec, "leaderWorkerTemplate") or {}
    inner: Path = ("spec", "leaderWorkerTemplate")
    if type(spec) is not dict or "workerTemplate" not in template:
        message = "the LeaderWorkerSet has no `workerTemplate`"
        yield ("spec",), message, "spec.leaderWorkerTemplate.workerTemplate: Required value"
        return
    groups = value(spec, "replicas")
    if type(groups) is str:
        yield ("spec", "replicas"), "`replicas` is a placeholder, but each group becomes a JobSet", ""
    elif groups is not None and groups < 1:
        yield ("spec", "replicas"), "a LeaderWorkerSet without groups runs nothing", ""
    elif groups is not None and groups > _MOST_GROUPS:
        message = f"each group becomes a JobSet, and trainc writes at most {_MOST_GROUPS} for a set"
        yield ("spec", "replicas"), message, ""
    for field in ("leaderTemplate", "workerTemplate"):
        if field in template and type(get(template, field, "spec")) is not dict:
            yield (*inner, field), f"`{field}` has no `spec`, so its pods have no containers", ""
    size = value(template, "size") if type(value(template, "size")) is int else 1
    if type(value(template, "size")) is str:
        yield (*inner, "size"), "`size` is a placeholder, but the hosts of a group are computed from it", ""
    if size < 1:
        text = _invalid("size", size, "size must be equal or greater than 1")
        yield (*inner, "size"), "`size` must be equal or greater than 1", text
    if size > MOST:
        yield (*inner, "size"), f"a group has {size} pods, a Job has at most {MOST}", ""
    yield from _sub_group_complaints(document, template, size)
    key = next((key for key in _EXCLUSIVE if value(document.tree, "metadata", "annotations", key)), "")
    if key and _is_split(document, size):
        message = f"`{key}` gives each group its own domain, but this group becomes several Jobs, and JobSet gives each Job its own domain"
        yield ("metadata", "annotations", key), message, ""
    for field in ("volumeClaimTemplates", "resourceClaimTemplates"):
        if template.get(field):
            yield (*inner, field), f"`{field}` creates PVCs or resource claims for the pods of a set; a Job cannot", ""
    for field in ("leaderTemplate", "workerTemplate"):
        containers = get(template, field, "spec", "containers") or []
        if sum(map(_asks_for_tpus, containers)) > 1:
            yield (*inner, field), "several containers of a pod request TPUs: trainc cannot compute their addresses", ""


def _sub_group_complaints(document: Document, template: Tree, size: int) -> Iterator[tuple[Path, str, str]]:
    path: Path = ("spec", "leaderWorkerTemplate", "subGroupPolicy")
    if (part := value(template, "subGroupPolicy", "subGroupSize")) is None:
        if value(document.tree, "metadata", "annotations", f"{_PREFIX}subgroup-exclusive-topology"):
            text = "cannot have subgroup-exclusive-topology without subGroupSize set"
            yield ("metadata", "annotations"), text, _invalid("subGroupPolicy.subGroupSize", None, text)
        return
    if type(part) is str:
        yield (*path, "subGroupSize"), "`subGroupSize` is a placeholder, but the groups are computed from it", ""
        return
    text = ""
    if part < 1:
        text = "subGroupSize must be equal or greater than 1"
    elif part > size:
        text = "subGroupSize cannot be larger than size"
    elif value(template, "subGroupPolicy", "subGroupPolicyType") == "LeaderExcluded":
        text = "" if (size - 1) % part == 0 else "size-1 must be divisible by subGroupSize when using LeaderExcluded"
    elif size % part and (size - 1) % part:
        text = "size or size - 1 must be divisible by subGroupSize"
    if text:
        yield (*path, "subGroupSize"), text, _invalid("subGroupPolicy.subGroupSize", part, text)
    elif part != size:
        yield path, "`subGroupPolicy` numbers groups within a group, which no label of a JobSet does", ""


def _invalid(field: str, bad: object, detail: str) -> str:
    return f"spec.leaderWorkerTemplate.{field}: Invalid value: {bad}: {detail}"


def plan(entry: Entry, options: LegacyOptions, report: Report) -> Plan:
    """The plan of one group: one Job of equal pods, or a leader and a Job for each worker, whose number is its index."""
    document = entry.document
    template = document.tree["spec"]["leaderWorkerTemplate"]
    size = given(template.get("size"), Sourced(1, Origin(by="LeaderWorkerSet default")))
    ready = value(document.tree, "spec", "startupPolicy") == "LeaderReady"
    individual = value(template, "restartPolicy") in {"None", "Default"}
    path = ("spec", "leaderWorkerTemplate", "restartPolicy")
    rest = "a failed pod restarts, and a pod ends with its program" if individual else "a failure ends the job"
    message = f"a LeaderWorkerSet restarts its pods forever; here {rest}"
    report.add(ENDS.at(document.span(path), message, effect="nothing serves after the programs end"))
    is_split = _is_split(document, size.value)
    hosts = SetHosts(document, report, size, options.cluster_domain)
    # The roles of a group: `node` alone, or `leader` and `worker`.
    worker, one = template["workerTemplate"], Sourced(1, Origin(by="the leader"))
    leader = given(template.get("leaderTemplate"), worker)
    if is_split:
        workers = derive("size - 1", lambda count: count - 1, size)
        parts = [(LEADER, leader, one, one), (WORKER, worker, workers, one)]
    else:
        parts = [(ALL, leader if size.value == 1 else worker, one, size)]
    roles = [_role(*part, hosts, individual=individual) for part in parts]
    if ready and is_split:
        roles[1]["dependsOn"] = stamp([{"name": LEADER, "status": "Ready"}], "LeaderReady")
    metadata = job_metadata(document.tree)
    annotations = {key: node for key, node in metadata["annotations"].items() if not key.startswith(_PREFIX)}
    exclusive = next((metadata["annotations"][key] for key in _EXCLUSIVE if key in metadata["annotations"]), None)
    if exclusive is not None:  # a domain for each group is one for each Job: a group of several is refused
        annotations[EXCLUSIVE] = exclusive
    return plan_of_jobset(
        entry,
        options,
        {"metadata": {**metadata, "annotations": annotations}, "spec": {"replicatedJobs": roles}},
        framework="leaderworkerset",
        title=f"LeaderWorkerSet {document.name}",
        companions=hosts.files(entry.companions, [pod_of(role) for role in roles]),
        namespace=options.namespace,
        policy={"leaderworkerset": {"size": size}},
        gang={"older": stamp({"minAvailable": 1, "wholeResources": True}, "LeaderReady")} if ready else None,
    )


def _is_split(document: Document, size: int) -> bool:
    """Whether a group becomes a leader and a Job for each worker, and not one Job of equal pods."""
    spec = document.tree["spec"]
    has_leader = "leaderTemplate" in spec["leaderWorkerTemplate"] or value(spec, "startupPolicy") == "LeaderReady"
    return size > 1 and has_leader


class SetHosts(FormerHosts):
    """`SET-GROUP[-INDEX].SUBDOMAIN`, as the set's StatefulSets call the pods of all groups, and what they are called now."""

    def __init__(self, document: Document, report: Report, size: Sourced[int], domain: str) -> None:
        super().__init__(_set_name(document), document, report, domain)
        self.count = size
        self._size = size.value
        self._run = str(run_name(document.tree).value).removeprefix(document.name)
        self._has_groups = value(document.tree, "metadata", "annotations", GROUP_INDEX) is not None
        self._groups = value(document.tree, "spec", "replicas") if self._has_groups else 1
        self._is_shared = value(document.tree, "spec", "networkConfig", "subdomainPolicy") != "UniquePerReplica"
        self.service = self.base if self._is_shared else ""
        workers = range(1, self._size)
        self.families = {"": range(self._groups)}  # the leaders of all groups, and the workers of each
        if workers:
            self.families |= {str(group): workers for group in range(self._groups)}

    def present(self, host: str) -> str:
        first, _, rest = host.partition(".")
        group, _, index = first[len(self.base) + 1 :].partition("-")
        subdomain, _, below = rest.partition(".")
        expected = self.base if self._is_shared else f"{self.base}-{group}"
        number = index_below(index or "0", self._size)
        if index_below(group, self._groups) is None or number is None or index == "0" or subdomain != expected:
            return ""
        if not self.is_domain(below):
            return ""
        jobset = f"{self.base}-{group}{self._run}" if self._has_groups else f"{self.base}{self._run}"
        if not _is_split(self.document, self._size):
            pod = f"{ALL}-0-{number}"
        else:
            pod = f"{WORKER}-{number - 1}-0" if number else f"{LEADER}-0-0"
        return f"{jobset}-{pod}.{jobset}{below and '.'}{below}"


def _role(
    name: str, template: Tree, jobs: Sourced[int], pods: Sourced[int], hosts: SetHosts, *, individual: bool
) -> dict[str, Tree]:
    by, document = "LeaderWorkerSet as a batch job", hosts.document
    pod = {key: node for key, node in template["spec"].items() if key not in {"hostname", "subdomain", "restartPolicy"}}
    ending = Sourced("OnFailure" if individual else "Never", Origin(by=by))
    pod["restartPolicy"] = restart_policy(template["spec"].get("restartPolicy"), ending)
    metadata = dict(template.get("metadata") or {})
    group = value(document.tree, "metadata", "annotations", GROUP_INDEX)
    labels = {f"{_PREFIX}name": _set_name(document), f"{_PREFIX}group-index": str(group or "0")}
    metadata["labels"] = {**(metadata.get("labels") or {}), **stamp(labels, by)}
    budget = {"backoffLimit": stamp(FOREVER if individual else 0, by)}
    made = normalise({"metadata": metadata, "spec": hosts.pod(pod)}, "template")
    first: Sourced[str] = Sourced("0", Origin(by=by))
    index: str | Sourced[str] = first
    if name != LEADER:
        index = COMPLETION if name == ALL else GLOBAL
    fields: PodFields = {
        label(f"{_PREFIX}worker-index"): index,
        annotation(f"{_PREFIX}size"): derive("size of the group", str, hosts.count),
    }
    made = with_present_fields(made, fields)
    return replicated_job(stamp(name, by), pods, stamp("Indexed", by), budget, made, jobs)


def _set_name(document: Document) -> str:
    name, group = document.name, value(document.tree, "metadata", "annotations", GROUP_INDEX)
    return name.removesuffix(f"-{group}") if group is not None else name


def lower(plan: Plan) -> Contribution:
    """The set's own variables at the head of every container, the user's of the same name dropped; TPU variables behind."""
    patches = []
    leader = _host(plan, plan.roles[0], 0, 0)
    if plan.namespace is not None:
        leader = f"{leader}.{plan.namespace.value}"
    for role in plan.roles:
        own = {
            "LWS_LEADER_ADDRESS": derive("address of the leader", lambda _: leader, plan.name),
            "LWS_GROUP_SIZE": plan.settings["size"],
            "LWS_WORKER_INDEX": _index(role),
        }
        for container in (*role.init_containers, *role.containers):
            users = [entry for entry in container.get("env") or [] if value(entry, "name") not in own]
            env = [*(variable(name, content) for name, content in own.items()), *users]
            if _asks_for_tpus(container) and container in role.containers:
                env += _tpu_variables(plan, role, users)
            patches.append(Patch(role.index, value(container, "name"), sets={"env": env}))
    return Contribution(patches)


def _index(role: Role) -> object:
    """The index of a pod in its group: the leader is 0, a worker the number of its Job, which comes after the leader's."""
    return {ALL: COMPLETION_INDEX, LEADER: "0", WORKER: GLOBAL_INDEX}[role.name.value]


def _host(plan: Plan, role: Role, number: int, index: int) -> str:
    job = plan.name.value
    return f"{job}-{role.name.value}-{number}-{index}.{job}"


def _asks_for_tpus(container: Tree) -> bool:
    amounts = [value(container, "resources", section, TPU_RESOURCE) for section in ("limits", "requests")]
    return any(amount not in {None, 0, "0"} for amount in amounts)


def _tpu_variables(plan: Plan, role: Role, users: list[Tree]) -> list[Tree]:
    """The hosts of the slice and the number of this one, counted among the pods that have TPUs; none where people say it."""
    if {"TPU_WORKER_HOSTNAMES", "TPU_WORKER_ID"} & {value(entry, "name") for entry in users}:
        return []
    pods = [(r, number, i) for r in plan.roles for number in range(r.replicas.value) for i in range(r.count.value)]
    hosts = [_host(plan, *pod) for pod in pods if any(map(_asks_for_tpus, pod[0].containers))]
    number = _index(role) if any(map(_asks_for_tpus, plan.roles[0].containers)) else JOB_INDEX
    own = {
        "TPU_WORKER_HOSTNAMES": ",".join(hosts),
        "TPU_WORKER_ID": number,
        "TPU_NAME": _POD_NAME,
        "TPU_PROCESS_ADDRESSES": ",".join(f"{host}:{_TPU_PORT}" for host in hosts),
        "TPU_PROCESS_PORT": str(_TPU_PORT),
    }
    return [variable(name, content) for name, content in own.items()]


FRAMEWORK = Framework("leaderworkerset", lower)
