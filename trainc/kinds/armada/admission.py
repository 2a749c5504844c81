"""What Armada refuses of the jobs of a submit file (0.22.7), and what a gang lacks in it."""

from __future__ import annotations

from trainc.model.sourced import Sourced
from trainc.model.tree import first_leaf, get, plain, value
from trainc.text.numbers import parsed_int

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.model.document import Document
    from trainc.model.tree import Tree

    Complaint = tuple[Tree, str]  # a leaf near it, and the words

PREFIX = "armadaproject.io/"
GANG, CARDINALITY = f"{PREFIX}gangId", f"{PREFIX}gangCardinality"
UNIFORMITY, FAIL_FAST = f"{PREFIX}gangNodeUniformityLabel", f"{PREFIX}failFast"


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
    if not _is_text(spec.get("queue")) or not value(spec, "queue"):
        out.append((first_leaf(spec.get("queue")), "queue is a required field"))
    if not _is_text(spec.get("jobSetId")) or not value(spec, "jobSetId"):
        out.append((first_leaf(spec.get("jobSetId")), "job set id is a required field"))
    if not jobs:
        out.append((None, "there is no job here: `jobs` is a list of mappings"))
    out += [(first_leaf(leaf), f"unknown field `{name}`") for name, leaf in spec.items() if name not in _FIELDS]
    for job in jobs:
        out += [*_job(job)]
    return [*out, *_gang(jobs)] if jobs and not out else out


_FIELDS = ("queue", "jobSetId", "jobs")
_JOB_FIELDS = frozenset(
    (
        "annotations",
        "clientId",
        "ingress",
        "labels",
        "namespace",
        "podSpec",
        "podSpecs",
        "priority",
        "requiredNodeLabels",
        "scheduler",
        "services",
    )
)


def _job(job: Tree) -> Iterator[Complaint]:
    for name, node in job.items():
        if name not in _JOB_FIELDS:
            yield first_leaf(node), f"unknown field `{name}`"
        elif name in {"annotations", "labels"} and not _is_text_map(node):
            yield first_leaf(node), f"`{name}` is not a mapping of texts"
        elif name == "namespace" and not _is_text(node):
            yield first_leaf(node), "`namespace` is not a text"
    gang, size = annotation(job, GANG), annotation(job, CARDINALITY)
    if gang is not None and not gang.value:
        yield gang, "gang id is empty"
    if gang is not None and size is None:
        yield gang, f"gang cardinality annotation {CARDINALITY} is missing"
    if gang is not None and size is not None:
        count = parsed_int(str(size.value))
        if count is None:
            yield size, f"gang cardinality `{size.value}` is not a number"
        elif count < 1:
            yield size, f"gang cardinality is non-positive {count}"
    fast = annotation(job, FAIL_FAST)
    if fast is not None and is_gang(job) and fast.value != "true":
        yield fast, f"gang jobs may not set fail fast flag {FAIL_FAST} to anything but true"
    yield from _pods(job)


def _is_text_map(node: Tree) -> bool:
    return type(node) is dict and all(map(_is_text, node.values()))


def _is_text(node: Tree) -> bool:
    return type(node) is Sourced and type(node.value) is str


def _pods(job: Tree) -> Iterator[Complaint]:
    pods = job.get("podSpecs")
    listed = [pod for pod in pods if type(pod) is dict] if type(pods) is list else []
    one = job.get("podSpec")
    every = [*listed, *([one] if type(one) is dict else [])]
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
            if type(container) is dict:
                yield from _resources(container)
            else:
                yield first_leaf(container), "a container is not a mapping"


def _resources(container: Tree) -> Iterator[Complaint]:
    name = value(container, "name")
    requests, limits = (get(container, "resources", section) for section in ("requests", "limits"))
    if type(requests) is not dict and type(limits) is not dict:
        yield get(container, "name"), f"container {name} has no resources specified"
    elif plain(requests) != plain(limits):
        yield get(container, "name"), f"container {name} defines different resources for requests and limits"


def _gang(jobs: list[Tree]) -> Iterator[Complaint]:
    """What is uneven among the jobs of one gang, and whether all of them are there."""
    first = jobs[0]
    if not is_gang(first):
        return
    gang = annotation(first, GANG)
    assert gang is not None
    for what, place in _ALIKE:
        wanted = _said(first, place)
        for job in jobs[1:]:
            if _said(job, place) != wanted:
                text = f"inconsistent {what} in gang {gang.value}: expected {wanted} but got {_said(job, place)}"
                yield annotation(job, GANG), text
                return
    spaces = {value(job, "namespace") for job in jobs}
    if len(spaces) > 1:
        yield gang, f"the jobs of gang {gang.value} are in several namespaces; a JobSet is in one"
    count = parsed_int(str(_said(first, CARDINALITY)))
    if count is not None and count != len(jobs):
        yield gang, f"gang {gang.value} has {count} jobs, and {len(jobs)} of them are in this file: nothing would start"


_ALIKE = (
    ("gang cardinality", CARDINALITY),
    ("gang node uniformity label", UNIFORMITY),
    ("PriorityClassName", "priorityClassName"),
)


def _said(job: Tree, place: str) -> object:
    """What a job says of its gang: an annotation, or the priority class of its pod."""
    if place.startswith(PREFIX):
        leaf = annotation(job, place)
        return "" if leaf is None else leaf.value
    return value(pod_of(job), place) or ""


def pod_of(job: Tree) -> Tree:
    """The pod spec of a job, which may stand in a list of one; empty where it has none."""
    pods = job.get("podSpecs")
    listed = pods[0] if type(pods) is list and pods else None
    pod = job["podSpec"] if type(job.get("podSpec")) is dict else listed
    return pod if type(pod) is dict else {}
