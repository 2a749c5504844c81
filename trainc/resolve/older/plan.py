"""Older job kinds as plans: from here on nobody knows that a job was old."""

from __future__ import annotations

from trainc.model.finding import ERROR, NOTE, Rule
from trainc.model.older import ASK, LISTED, MPI_OPERATOR, kind_of
from trainc.model.plan import Plan, Role
from trainc.model.sourced import Sourced
from trainc.model.tree import get, stamp
from trainc.resolve.older import runpolicy
from trainc.resolve.older.counted import countable
from trainc.resolve.older.job import Options, read
from trainc.resolve.older.pods import finish, prepare
from trainc.resolve.older.restart import restart
from trainc.resolve.older.shapes import SHAPES
from trainc.resolve.older.versions import servable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.model.document import Document
    from trainc.model.report import Report
    from trainc.model.tree import Tree
    from trainc.resolve.older.job import Job
    from trainc.resolve.older.layout import Part, Shape

LONG_NAME = Rule(
    "older-name-too-long",
    ERROR,
    "the job's name was short enough for its operator and is too long for a JobSet",
    "A JobSet's pods carry two indices and a random suffix in their names, which must fit into 63 characters.",
)
STATIC = Rule(
    "label-per-pod",
    NOTE,
    "a label that differed from pod to pod is left out",
    "All pods of one Job share one template, so a label cannot carry an index; the completion index label does.",
)
_LIMIT = 63


def older(
    document: Document,
    report: Report,
    options: Options | None = None,
    *,
    companions: tuple[Document, ...] = (),
    beside: tuple[Document, ...] = (),
    secrets: Mapping[str, Sourced[str]] | None = None,
) -> Plan | None:
    """The plan of a legal older job, None where it cannot be compiled; what will be different is reported."""
    kind = kind_of(document.api_version, document.kind)
    assert kind is not None
    job = read(document, kind, options or Options(), report)
    if not countable(job):
        return None
    for replica in job.replicas:
        prepare(job, replica)
    shape = SHAPES[kind.api if kind.api == MPI_OPERATOR else LISTED if kind.field == LISTED else kind.kind](job)
    if shape is None or not _fits(job, shape):
        return None
    return _plan(job, shape, companions, beside, secrets or {})


def _plan(
    job: Job,
    shape: Shape,
    companions: tuple[Document, ...],
    beside: tuple[Document, ...],
    secrets: Mapping[str, Sourced[str]],
) -> Plan | None:
    everyone = not any(part.decides for part in shape.parts)
    built = [_replicated(job, part, decides=part.decides or everyone) for part in shape.parts]
    replicated = [tree for tree in built if tree is not None]
    if len(replicated) < len(built) or not servable(job, shape, replicated):
        return None
    runpolicy.scopes(job, sum(part.jobs.value for part in shape.parts))
    if not all(part.alone for part in shape.parts):
        span = job.span(("spec", job.kind.field), key=True)
        job.say(
            STATIC.at(span, "the label with the index of each replica is left out: pods of one Job share a template")
        )
    template = _template(job, shape, replicated)
    roles = tuple(
        Role(index, tree, part.pods)
        for index, (tree, part) in enumerate(zip(template["spec"]["replicatedJobs"], shape.parts, strict=True))
    )
    namespace = get(job.document.tree, "metadata", "namespace")
    settings = stamp(shape.settings, job.kind.kind)
    return Plan(
        document=job.document,
        runtime=None,
        name=job.name,
        namespace=namespace if type(namespace) is Sourced else None,
        framework=job.kind.framework,
        policy={job.kind.framework: settings},
        gang=runpolicy.gang(job),
        template=template,
        roles=roles,
        steps=(("runtime", f"{job.kind.kind} {job.name.value}", template, (), None),),
        companions=companions,
        beside=beside,
        secrets=secrets,
    )


def _template(job: Job, shape: Shape, replicated: list[Tree]) -> Tree:
    spec: dict[str, Tree] = {}
    deciding = [part.name for part in shape.parts if part.decides]
    if deciding:
        success = {"operator": "All", "targetReplicatedJobs": deciding}
        spec["successPolicy"] = stamp(success, f"{job.kind.kind} success")
    spec.update(runpolicy.jobset_fields(job))
    spec["replicatedJobs"] = replicated
    return {"metadata": _metadata(job, shape), "spec": spec}


def _metadata(job: Job, shape: Shape) -> Tree:
    meta = get(job.document.tree, "metadata") or {}
    annotations = {
        key: node
        for key, node in (meta.get("annotations") or {}).items()
        if not key.startswith(ASK) and key != "kubectl.kubernetes.io/last-applied-configuration"
    }
    if shape.layout:
        annotations[ASK + "rank-layout"] = stamp(shape.layout, "layout of ranks")
    return {"labels": dict(meta.get("labels") or {}), "annotations": annotations}


def _replicated(job: Job, part: Part, *, decides: bool) -> Tree | None:
    mapped = restart(job, part.replica, decides=decides, tolerates=part.tolerates)
    if mapped is None:
        return None
    policy, budget = mapped
    spec = {
        "parallelism": part.pods,
        "completions": part.pods,
        "completionMode": stamp("Indexed", "one index per replica"),
        **budget,
        **runpolicy.job_fields(job, part.replica.role),
        **({"successPolicy": stamp(part.succeeds, f"{job.kind.kind} success")} if part.succeeds else {}),
        "template": finish(job, part, policy),
    }
    by = f"{job.kind.kind} roles"
    out = {"name": stamp(part.name, by), "replicas": part.jobs, "template": {"spec": spec}}
    if part.waits:
        out["dependsOn"] = stamp([{"name": part.waits, "status": "Ready"}], by)
    return out


def _fits(job: Job, shape: Shape) -> bool:
    name = job.name.value
    longest = max(_suffix(part) for part in shape.parts)
    if len(name) + longest <= _LIMIT:
        return True
    room = _LIMIT - longest
    message = f"`{name}` has {len(name)} characters; its JobSet leaves room for {room}"
    help_ = f"call it `{_shortened(name, room)}`: every host name in it changes with the job's"
    job.say(LONG_NAME.at(job.span(("metadata", "name")), message, help=help_))
    return False


def _suffix(part: Part) -> int:
    return (
        1 + len(part.name) + 1 + len(str(max(part.jobs.value - 1, 0))) + 1 + len(str(max(part.pods.value - 1, 0))) + 6
    )


def _shortened(name: str, room: int) -> str:
    mark = 0
    for character in name:
        mark = (mark * 31 + ord(character)) % 16**5
    return f"{name[: room - 6].rstrip('-')}-{mark:05x}"
