"""Armada's submit file: a JobSet for each gang of jobs, and one for each job without a gang."""

from collections.abc import Iterator

from trainc.apiserver.normalise import normalise
from trainc.apiserver.served import Server
from trainc.apiserver.workloads import judge_workload
from trainc.kinds.shared.job import LegacyOptions, items, mapping
from trainc.kinds.shared.layout import plan_of_jobset, replicated_job
from trainc.model.catalog import Entry
from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.finding import ERROR, NOTE, WARNING, Refusal, Rule
from trainc.model.patch import Patch
from trainc.model.patches import Contribution, Framework, variable
from trainc.model.plan import Plan
from trainc.model.report import Report
from trainc.model.run import run_name
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree, first_leaf, get, given, plain, stamp, value
from trainc.text.numbers import parsed_int
from trainc.text.object_keys import JOBSET_NAME

Complaint = tuple[Tree, str]  # a leaf near it, and the words

REFUSED = Rule("armada-refused", ERROR, verdict=True)
UNKNOWN = Rule("armada-variable-unknown", WARNING)
LEFT_OUT = Rule("armada-field-left-out", NOTE)
API, KIND = "armadaproject.io/v1", "ArmadaJob"
_BY = "Armada's submit file"
_LABEL = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
PREFIX = "armadaproject.io/"
GANG, CARDINALITY = f"{PREFIX}gangId", f"{PREFIX}gangCardinality"
UNIFORMITY, FAIL_FAST = f"{PREFIX}gangNodeUniformityLabel", f"{PREFIX}failFast"
_FIELDS = ("queue", "jobSetId", "jobs")
_JOB_FIELDS = frozenset((
    "annotations", "clientId", "ingress", "labels", "namespace", "podSpec", "podSpecs", "priority", "requiredNodeLabels",
    "scheduler", "services",
))  # fmt: skip
_ALIKE = (
    ("gang cardinality", CARDINALITY),
    ("gang node uniformity label", UNIFORMITY),
    ("PriorityClassName", "priorityClassName"),
)


def split(document: Document) -> list[Document]:
    """A document for each gang of a file and for each job without one, in the order of their first jobs."""
    groups: dict[str, list[Tree]] = {}
    for index, job in enumerate(items(document.tree.get("jobs"))):
        if type(job) is not dict:
            groups[f"job {index}"] = []
            continue
        gang = annotation(job, GANG)
        groups.setdefault(f"gang {gang.value}" if gang is not None and is_gang(job) else f"job {index}", []).append(job)
    names, leaf = stamp({"apiVersion": API, "kind": KIND}, _BY), document.tree.get("jobSetId")
    of_file = {field: node for field, node in document.tree.items() if field != "jobs"}
    documents = []
    for key, jobs in (groups or {"": []}).items():
        kind, _, number = key.partition(" ")
        text = str(value(leaf) or "armada") + (f"-{number}" if len(groups) > 1 or kind == "gang" else "")
        name = "".join(letter if letter in _LABEL else "-" for letter in text.lower()).strip("-") or "armada"
        label = stamp(name, _BY, leaf) if type(leaf) is Sourced else stamp(name, _BY)
        namespace = next((job["namespace"] for job in jobs if type(job.get("namespace")) is Sourced), None)
        metadata = {"name": label, **({} if namespace is None else {"namespace": namespace})}
        documents.append(document.part({**names, "metadata": metadata, "spec": {**of_file, "jobs": jobs}}))
    return documents


def admit(document: Document, server: Server, cluster: Cluster, report: Report) -> Document | None:
    """The jobs as Armada takes them, None with findings where it refuses them."""
    problems = complaints(document)
    for leaf, text in problems:
        at = leaf.origin.at if type(leaf) is Sourced else None
        report.add(REFUSED.at(at or document.span(("spec", "jobSetId")), text, refusal=Refusal("armada", text)))
    if problems:
        return None
    names, pods = stamp({"apiVersion": "v1", "kind": "Pod"}, _BY), []
    for job in document.tree["spec"]["jobs"]:
        written = {field: job[field] for field in ("labels", "annotations") if field in job}
        metadata = {"name": document.tree["metadata"]["name"], **written}
        pods.append(document.part({**names, "metadata": metadata, "spec": pod_of(job)}))
    refused = [pod for pod in pods if not judge_workload(pod, server, cluster, report)]
    return None if refused else document


def plan(entry: Entry, options: LegacyOptions, report: Report) -> Plan:
    """The plan of a gang, or of one job: a role for each distinct pod, or one Indexed Job where an index tells them apart."""
    document = entry.document
    jobs = document.tree["spec"]["jobs"]
    name = run_name(document.tree)
    gang = is_gang(jobs[0])
    _say(document, jobs, report)
    roles = [_role(role, pod, count, jobs[0], name) for role, pod, count in _pods(jobs)]
    template = {"metadata": {"labels": {}, "annotations": {}}, "spec": {"replicatedJobs": roles}}
    wishes = {"minAvailable": len(jobs), "queue": document.tree["spec"]["queue"]}
    return plan_of_jobset(
        entry,
        options,
        template,
        framework="armada",
        title=f"Armada jobs {document.name}",
        companions=entry.companions,
        namespace=options.namespace,
        policy={"armada": {"gang": stamp(gang, _BY)}},
        gang={"older": stamp(wishes, _BY)} if gang else {"none": {}},
    )


def _pods(jobs: list[Tree]) -> list[tuple[str, Tree, int]]:
    """A name, a pod and a number for each role to be."""
    pods = [pod_of(job) for job in jobs]
    alike: list[list[Tree]] = []
    for pod in pods:
        same = next((others for others in alike if plain(others[0]) == plain(pod)), None)
        if same is None:
            alike.append([pod])
        else:
            same.append(pod)
    if len(alike) == 1:
        return [("node", pods[0], len(pods))]
    if (indexed := _indexed(pods)) is not None:
        return [("node", indexed, len(pods))]
    return [(f"job-{index}", same[0], len(same)) for index, same in enumerate(alike)]


def _indexed(pods: list[Tree]) -> Tree | None:
    """The pod of all, where one variable alone differs and counts them from 0; that is the index then."""
    first = pods[0]
    for place, container in enumerate(items(first.get("containers"))):
        for position, entry in enumerate(items(get(container, "env"))):
            values = [value(pod, "containers", place, "env", position, "value") for pod in pods]
            if values != [str(index) for index in range(len(pods))]:
                continue
            blank = [plain(_with_variable(pod, place, position, {"name": entry["name"]})) for pod in pods]
            if all(other == blank[0] for other in blank):
                field = {"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}
                index = stamp({"valueFrom": {"fieldRef": field}}, "index of the job", entry["value"])
                return _with_variable(first, place, position, {"name": entry["name"], **index})
    return None


def _with_variable(pod: Tree, place: int, position: int, entry: Tree) -> Tree:
    containers = [*items(pod.get("containers"))]
    if place >= len(containers) or position >= len(items(get(containers[place], "env"))):
        return pod
    env = list(containers[place]["env"])
    env[position] = entry
    containers[place] = {**containers[place], "env": env}
    return {**pod, "containers": containers}


def _role(role: str, pod: Tree, count: int, job: Tree, name: Sourced[str]) -> Tree:
    own = {key: node for key, node in pod.items() if key not in {"restartPolicy", "hostname", "subdomain"}}
    own["restartPolicy"] = stamp("Never", "Armada never restarts a pod")
    if (uniform := annotation(job, UNIFORMITY)) is not None and is_gang(job):
        own["affinity"] = _near(given(own.get("affinity"), {}), uniform, name)
    annotations = {key: node for key, node in given(job.get("annotations"), {}).items() if not key.startswith(PREFIX)}
    metadata = {field: node for field, node in (("labels", job.get("labels")), ("annotations", annotations)) if node}
    template = normalise({**({"metadata": metadata} if metadata else {}), "spec": own}, "template")
    budget, pods = {"backoffLimit": stamp(0, "Armada never restarts a pod")}, stamp(count, "jobs of the gang")
    return replicated_job(stamp(role, _BY), pods, stamp("Indexed", _BY), budget, template, stamp(1, _BY))


def _near(affinity: Tree, label: Tree, name: Sourced[str]) -> Tree:
    """An affinity with all pods of the gang on nodes of one value of a label."""
    field = "requiredDuringSchedulingIgnoredDuringExecution"
    wanted = {"labelSelector": {"matchLabels": {JOBSET_NAME: name}}, "topologyKey": label}
    pods = mapping(get(affinity, "podAffinity"))
    return {**mapping(affinity), "podAffinity": {**pods, field: [*items(pods.get(field)), wanted]}}


def _say(document: Document, jobs: list[Tree], report: Report) -> None:
    place, there = document.span(("spec", "jobs")), document.span(("spec", "jobSetId"))
    for job in jobs:
        policy = pod_of(job).get("restartPolicy")
        if type(policy) is Sourced and policy.value != "Never":
            message = f"`restartPolicy: {policy.value}` is `Never`: Armada never restarts a pod"
            report.add(LEFT_OUT.at(policy.origin.at or place, message, help="remove it"))
        for field in ("services", "ingress"):
            if field in job:
                message = f"`{field}` is omitted: trainc exposes no ports"
                report.add(LEFT_OUT.at(there, message, level=WARNING))
        if value(job, "priority") not in {None, 0, "0"}:
            leaf = job["priority"]
            message = f"`priority: {leaf.value}` is omitted: it orders jobs in Armada's queue"
            report.add(LEFT_OUT.at(leaf.origin.at or place, message, help="set `priorityClassName` in the pod"))
    effect = "a program that reads it finds nothing"
    report.add(UNKNOWN.at(there, "`ARMADA_JOB_ID` is not set: Armada generates it for each job", effect=effect))
    if annotation(jobs[0], UNIFORMITY) is not None and is_gang(jobs[0]):
        message = "`ARMADA_GANG_NODE_UNIFORMITY_LABEL_VALUE` is not set: the scheduler chooses it"
        report.add(UNKNOWN.at(there, message, effect=effect))


def annotation(job: Tree, name: str) -> Sourced[str] | None:
    """An annotation of a job, None where it has none."""
    leaf = get(job, "annotations", name)
    return leaf if type(leaf) is Sourced else None


def is_gang(job: Tree) -> bool:
    """Whether a job belongs to a gang: a cardinality of 1 is none."""
    gang, size = annotation(job, GANG), annotation(job, CARDINALITY)
    return gang is not None and (size is None or str(size.value).strip() != "1")


def complaints(document: Document) -> list[Complaint]:
    """Everything that keeps a gang, or a job without one, from being submitted."""
    spec = document.tree["spec"]
    jobs: list[Tree] = spec["jobs"]
    out: list[Complaint] = []
    for field, words in (("queue", "queue"), ("jobSetId", "job set id")):
        if not _is_text(spec.get(field)) or not value(spec, field):
            out.append((first_leaf(spec.get(field)), f"{words} is a required field"))
    if not jobs:
        out.append((None, "no jobs: `jobs` must be a list of mappings"))
    out += [(first_leaf(leaf), f"unknown field `{name}`") for name, leaf in spec.items() if name not in _FIELDS]
    for job in jobs:
        out += [*_job(job)]
    return [*out, *_gang(jobs)] if jobs and not out else out


def _job(job: Tree) -> Iterator[Complaint]:
    for name, node in job.items():
        if name not in _JOB_FIELDS:
            yield first_leaf(node), f"unknown field `{name}`"
        elif name in {"annotations", "labels"} and not (type(node) is dict and all(map(_is_text, node.values()))):
            yield first_leaf(node), f"`{name}` is not a mapping of strings"
        elif name == "namespace" and not _is_text(node):
            yield first_leaf(node), "`namespace` is not a string"
    gang, size = annotation(job, GANG), annotation(job, CARDINALITY)
    if gang is not None and not gang.value:
        yield gang, "gang id is empty"
    if gang is not None and size is None:
        yield gang, f"gang cardinality annotation {CARDINALITY} is missing"
    if gang is not None and size is not None:
        if (count := parsed_int(str(size.value))) is None:
            yield size, f"gang cardinality `{size.value}` is not a number"
        elif count < 1:
            yield size, f"gang cardinality is non-positive {count}"
    if (fast := annotation(job, FAIL_FAST)) is not None and is_gang(job) and fast.value != "true":
        yield fast, f"gang jobs may not set fail fast flag {FAIL_FAST} to anything but true"
    every = [pod for pod in (*items(job.get("podSpecs")), job.get("podSpec")) if type(pod) is dict]
    if len(every) > 1:
        yield None, "Jobs with multiple pods are not supported"
    if not every:
        yield None, "Job must contain one and only one PodSpec"
    for pod in every[:1]:
        containers = pod.get("containers")
        if type(containers) is not list or not containers:
            yield None, "pod spec has no containers"
            continue
        for container in containers:
            name = get(container, "name")
            requests, limits = (get(container, "resources", section) for section in ("requests", "limits"))
            if type(container) is not dict:
                yield first_leaf(container), "a container is not a mapping"
            elif type(requests) is not dict and type(limits) is not dict:
                yield name, f"container {value(name)} has no resources specified"
            elif plain(requests) != plain(limits):
                yield name, f"container {value(name)} defines different resources for requests and limits"


def _is_text(node: Tree) -> bool:
    return type(node) is Sourced and type(node.value) is str


def _gang(jobs: list[Tree]) -> Iterator[Complaint]:
    """What is uneven among the jobs of one gang, and whether all of them are there."""
    first = jobs[0]
    if not is_gang(first):
        return
    gang = annotation(first, GANG)
    assert gang is not None
    for what, place in _ALIKE:
        wanted = _gang_setting(first, place)
        for job in jobs[1:]:
            if (own := _gang_setting(job, place)) != wanted:
                text = f"inconsistent {what} in gang {gang.value}: expected {wanted} but got {own}"
                yield annotation(job, GANG), text
                return
    spaces = {value(job, "namespace") for job in jobs}
    if len(spaces) > 1:
        yield gang, f"the jobs of gang {gang.value} are in several namespaces; a JobSet is in one"
    count = parsed_int(str(_gang_setting(first, CARDINALITY)))
    if count is not None and count != len(jobs):
        yield gang, f"gang {gang.value} has {count} jobs, and {len(jobs)} of them are in this file: none would start"


def _gang_setting(job: Tree, place: str) -> object:
    """What a job says of its gang: an annotation, or the priority class of its pod."""
    if place.startswith(PREFIX):
        leaf = annotation(job, place)
        return "" if leaf is None else leaf.value
    return value(pod_of(job), place) or ""


def pod_of(job: Tree) -> Tree:
    """The pod spec of a job, which may stand in a list of one; empty where it has none."""
    listed = items(job.get("podSpecs"))
    return mapping(job.get("podSpec")) or mapping(listed[0] if listed else None)


def lower(plan: Plan) -> Contribution:
    """The variables of Armada that are known before a job is submitted, in every container."""
    spec = plan.job["spec"]
    own: dict[str, object] = {"ARMADA_QUEUE": spec["queue"], "ARMADA_JOB_SET_ID": spec["jobSetId"]}
    if value(plan.settings, "gang") is True:
        names = {
            "ARMADA_GANG_ID": GANG,
            "ARMADA_GANG_CARDINALITY": CARDINALITY,
            "ARMADA_GANG_NODE_UNIFORMITY_LABEL_NAME": UNIFORMITY,
        }
        leaves = {name: annotation(spec["jobs"][0], key) for name, key in names.items()}
        own.update({name: leaf for name, leaf in leaves.items() if leaf is not None})
    patches = []
    for role in plan.roles:
        for container in (one for one in (*role.init_containers, *role.containers) if type(one) is dict):
            users = container.get("env") or []
            taken = {value(entry, "name") for entry in users}
            more = [variable(name, content) for name, content in own.items() if name not in taken]
            patches.append(Patch(role.index, value(container, "name"), sets={"env": [*users, *more]}))
    return Contribution(patches)


FRAMEWORK = Framework("armada", lower)
