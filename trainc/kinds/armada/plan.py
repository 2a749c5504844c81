"""Armada's submit file: a JobSet for each gang of jobs, and one for each job without a gang."""

from __future__ import annotations

from trainc.apiserver.normalise import normalise
from trainc.apiserver.workloads import judge_workload
from trainc.kinds.armada.admission import GANG, PREFIX, UNIFORMITY, annotation, complaints, is_gang, pod_of
from trainc.model.finding import ERROR, NOTE, WARNING, Refusal, Rule
from trainc.model.plan import Plan, Role
from trainc.model.run import run_name
from trainc.model.sourced import Origin, Sourced, derive
from trainc.model.tree import get, given, plain, stamp, value
from trainc.text.object_keys import JOBSET_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.apiserver.of_cluster import Server
    from trainc.kinds.shared.job import LegacyOptions
    from trainc.model.catalog import Entry
    from trainc.model.cluster import Cluster
    from trainc.model.document import Document
    from trainc.model.report import Report
    from trainc.model.tree import Tree

REFUSED = Rule(
    "armada-refused",
    ERROR,
    "Armada rejects a submit file, or a gang in it is incomplete",
    "The server checks all jobs of a request together, and a gang starts only when all of its jobs are there.",
    verdict=True,
)
UNKNOWN = Rule(
    "armada-variable-unknown",
    WARNING,
    "a variable gets its value from Armada at run time",
    "Armada generates an identifier for each job, and chooses the value of a gang's label when it places the gang.",
)
LEFT_OUT = Rule(
    "armada-field-left-out",
    NOTE,
    "a setting of an Armada job has no JobSet equivalent",
    "Armada has its own restart policy, job order and Services.",
)
API, KIND = "armadaproject.io/v1", "ArmadaJob"
_BY = "Armada's submit file"
_LABEL = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


def split(document: Document) -> list[Document]:
    """A document for each gang of a file and for each job without one, in the order of their first jobs."""
    jobs = document.tree.get("jobs")
    groups: dict[str, list[Tree]] = {}
    for index, job in enumerate(jobs if type(jobs) is list else ()):
        if type(job) is not dict:
            groups[f"job {index}"] = []
            continue
        gang = annotation(job, GANG)
        groups.setdefault(f"gang {gang.value}" if gang is not None and is_gang(job) else f"job {index}", []).append(job)
    several = len(groups) > 1
    return [_document(document, key, own, several=several) for key, own in groups.items()] or [
        _document(document, "", [], several=False)
    ]


def _document(document: Document, key: str, jobs: list[Tree], *, several: bool) -> Document:
    tree = document.tree
    kind, _, number = key.partition(" ")
    text = str(value(tree, "jobSetId") or "armada") + (f"-{number}" if several or kind == "gang" else "")
    metadata: dict[str, Tree] = {"name": _label(text, tree)}
    namespace = next((job["namespace"] for job in jobs if type(job.get("namespace")) is Sourced), None)
    if namespace is not None:
        metadata["namespace"] = namespace
    names = stamp({"apiVersion": API, "kind": KIND}, _BY)
    spec = {field: node for field, node in tree.items() if field != "jobs"}
    return document.part({**names, "metadata": metadata, "spec": {**spec, "jobs": jobs}})


def _label(text: str, tree: Tree) -> Sourced[str]:
    """A text as the name of an object: what no such name may hold becomes a dash."""
    letters = "".join(letter if letter in _LABEL else "-" for letter in text.lower())
    name, leaf = letters.strip("-") or "armada", tree.get("jobSetId")
    return derive(_BY, lambda _: name, leaf) if type(leaf) is Sourced else Sourced(name, Origin(by=_BY))


def admit(document: Document, server: Server, cluster: Cluster, report: Report) -> Document | None:
    """The jobs as Armada takes them, None with findings where it refuses them."""
    problems = complaints(document)
    for leaf, text in problems:
        at = leaf.origin.at if type(leaf) is Sourced else None
        report.add(REFUSED.at(at or document.span(("spec", "jobSetId")), text, refusal=Refusal("armada", text)))
    if problems:
        return None
    pods = [_pod(document, job) for job in document.tree["spec"]["jobs"]]
    refused = [pod for pod in pods if not judge_workload(pod, server, cluster, report)]
    return None if refused else document


def _pod(document: Document, job: Tree) -> Document:
    """The pod of a job as a server gets it."""
    metadata = {field: job[field] for field in ("labels", "annotations") if field in job}
    names = stamp({"apiVersion": "v1", "kind": "Pod"}, _BY)
    name = document.tree["metadata"]["name"]
    return document.part({**names, "metadata": {"name": name, **metadata}, "spec": pod_of(job)})


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
    return Plan(
        document=document,
        runtime=None,
        name=name,
        namespace=given(get(document.tree, "metadata", "namespace"), options.namespace),
        framework="armada",
        policy={"armada": {"gang": stamp(gang, _BY)}},
        gang={"older": stamp(wishes, _BY)} if gang else {"none": {}},
        template=template,
        roles=tuple(
            Role(index, role, get(role, "template", "spec", "parallelism")) for index, role in enumerate(roles)
        ),
        steps=(("runtime", f"Armada jobs {document.name}", template, (), None),),
        companions=entry.companions,
        beside=entry.beside,
        secrets=options.secrets,
    )


def _pods(jobs: list[Tree]) -> list[tuple[str, Tree, int]]:
    """A name, a pod and a number for each role to be."""
    pods = [pod_of(job) for job in jobs]
    forms: list[tuple[Tree, int]] = []
    for pod in pods:
        same = next((place for place, (other, _) in enumerate(forms) if plain(other) == plain(pod)), None)
        if same is None:
            forms.append((pod, 1))
        else:
            forms[same] = (forms[same][0], forms[same][1] + 1)
    if len(forms) == 1:
        return [("node", forms[0][0], forms[0][1])]
    indexed = _indexed(pods)
    if indexed is not None:
        return [("node", indexed, len(pods))]
    return [(f"job-{index}", pod, count) for index, (pod, count) in enumerate(forms)]


def _indexed(pods: list[Tree]) -> Tree | None:
    """The pod of all, where one variable alone differs and counts them from 0; that is the index then."""
    first = pods[0]
    for place, container in enumerate(_items(first.get("containers"))):
        for position, entry in enumerate(_items(get(container, "env"))):
            values = [value(pod, "containers", place, "env", position, "value") for pod in pods]
            if values != [str(index) for index in range(len(pods))]:
                continue
            blank = [plain(_with_variable(pod, place, position, {"name": entry["name"]})) for pod in pods]
            if all(other == blank[0] for other in blank):
                field = {"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}
                index = stamp({"valueFrom": {"fieldRef": field}}, "index of the job", entry["value"])
                return _with_variable(first, place, position, {"name": entry["name"], **index})
    return None


def _items(node: Tree) -> Sequence[Tree]:
    """The items of a list; none of what is null or no list."""
    return node if type(node) is list else ()


def _with_variable(pod: Tree, place: int, position: int, entry: Tree) -> Tree:
    containers = [*_items(pod.get("containers"))]
    if place >= len(containers) or position >= len(_items(get(containers[place], "env"))):
        return pod
    env = list(containers[place]["env"])
    env[position] = entry
    containers[place] = {**containers[place], "env": env}
    return {**pod, "containers": containers}


def _role(role: str, pod: Tree, count: int, job: Tree, name: Sourced[str]) -> Tree:
    own = {key: node for key, node in pod.items() if key not in {"restartPolicy", "hostname", "subdomain"}}
    own["restartPolicy"] = stamp("Never", "Armada never restarts a pod")
    uniform = annotation(job, UNIFORMITY)
    if uniform is not None and is_gang(job):
        own["affinity"] = _near(given(own.get("affinity"), {}), uniform, name)
    annotations = {key: node for key, node in given(job.get("annotations"), {}).items() if not key.startswith(PREFIX)}
    metadata = {field: node for field, node in (("labels", job.get("labels")), ("annotations", annotations)) if node}
    number = stamp(count, "jobs of the gang")
    spec = {
        "parallelism": number,
        "completions": number,
        "completionMode": stamp("Indexed", _BY),
        "backoffLimit": stamp(0, "Armada never restarts a pod"),
        "template": normalise({**({"metadata": metadata} if metadata else {}), "spec": own}, "template"),
    }
    return {"name": stamp(role, _BY), "replicas": stamp(1, _BY), "template": {"spec": spec}}


def _near(affinity: Tree, label: Tree, name: Sourced[str]) -> Tree:
    """An affinity with all pods of the gang on nodes of one value of a label."""
    wanted = {"labelSelector": {"matchLabels": {JOBSET_NAME: name}}, "topologyKey": label}
    given_pods = affinity.get("podAffinity") if type(affinity) is dict else None
    pods = given_pods if type(given_pods) is dict else {}
    required = [*_items(pods.get("requiredDuringSchedulingIgnoredDuringExecution")), wanted]
    return {
        **(affinity if type(affinity) is dict else {}),
        "podAffinity": {**pods, "requiredDuringSchedulingIgnoredDuringExecution": required},
    }


def _say(document: Document, jobs: list[Tree], report: Report) -> None:
    place = document.span(("spec", "jobs"))
    for job in jobs:
        policy = pod_of(job).get("restartPolicy")
        if type(policy) is Sourced and policy.value != "Never":
            message = f"`restartPolicy: {policy.value}` is `Never`: Armada starts no pod again"
            report.add(LEFT_OUT.at(policy.origin.at or place, message, help="remove it"))
        for field in ("services", "ingress"):
            if field in job:
                message = f"`{field}` is left out: nothing is exposed"
                report.add(LEFT_OUT.at(document.span(("spec", "jobSetId")), message, level=WARNING))
        if value(job, "priority") not in {None, 0, "0"}:
            leaf = job["priority"]
            message = f"`priority: {leaf.value}` is left out: it orders Armada's own queue"
            report.add(LEFT_OUT.at(leaf.origin.at or place, message, help="set `priorityClassName` in the pod"))
    message = "`ARMADA_JOB_ID` is not set: Armada made it up for each job"
    report.add(UNKNOWN.at(document.span(("spec", "jobSetId")), message, effect="a program that reads it finds nothing"))
    label = annotation(jobs[0], UNIFORMITY)
    if label is not None and is_gang(jobs[0]):
        message = "`ARMADA_GANG_NODE_UNIFORMITY_LABEL_VALUE` is not set: the scheduler chooses it"
        report.add(
            UNKNOWN.at(document.span(("spec", "jobSetId")), message, effect="a program that reads it finds nothing")
        )
