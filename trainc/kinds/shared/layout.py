"""How the roles of an older job become replicatedJobs: the shapes, and the choice between them."""

from collections.abc import Iterable
from typing import NamedTuple

from trainc.kinds.shared.job import LegacyJob, LegacyOptions, Replica
from trainc.kinds.shared.pod_fields import reads
from trainc.kinds.table import MERGED_ROLE, PREFIX
from trainc.model.catalog import Entry
from trainc.model.cluster import Version
from trainc.model.document import Document
from trainc.model.finding import ERROR, NOTE, Rule
from trainc.model.plan import Plan, Role
from trainc.model.run import run_name
from trainc.model.sourced import Origin, Sourced, derive
from trainc.model.tree import Tree, get, plain

MERGED, PER_JOB = "merged", "per-job"
SUCCESS_POLICY: Version = (1, 31)  # Kubernetes in which a Job's own success policy is on by default

RANKS = Rule("rank-layout", NOTE, differs=("PyTorchJob", "TFJob", "XGBoostJob"))
UNKNOWN_LAYOUT = Rule("unknown-layout", ERROR)
# Labels of the operator whose values no field of a merged Job has.
_OF_ONE_REPLICA = tuple(PREFIX + name for name in ("replica-index", "replica-type", "job-role"))
FIRST_DECIDES = {"rules": [{"succeededIndexes": "0"}]}
ANY_DECIDES = {"rules": [{"succeededCount": 1}]}
MASTER_ROLE = {"training.kubeflow.org/job-role": "master"}
LONG_NAME = Rule("older-name-too-long", ERROR)
_LIMIT = 63
TOO_OLD = Rule("cluster-too-old", ERROR)
GLOBAL_INDEX: Version = (0, 6)
# A field of a child Job, the Kubernetes in which it is on by default, and what it does for an older job.
_FIELDS: tuple[tuple[str, Version, str], ...] = (
    ("successPolicy", SUCCESS_POLICY, "one pod decides for its Job"),
    ("backoffLimitPerIndex", (1, 29), "a pod may fail without its Job"),
    ("podFailurePolicy", (1, 26), "exit codes decide about another try"),
)
_DEPENDS_ON: Version = (0, 8)
_INDEX_LABEL: Version = (1, 28)


class ReplicatedJobPlan(NamedTuple):
    """One replicatedJob to be: child Jobs with `pods` pods each, looking like `replica`; one Job without `counted` Jobs."""

    name: str
    replica: Replica
    pods: Sourced[int]
    counted: Sourced[int] | None = None
    decides: bool = False  # its success is the job's
    succeeds: Tree = None  # the child Job's own rule of success
    waits: str = ""  # the part that must be ready before it starts
    labels: Tree = None
    tolerates: bool = False  # its pods may fail one by one
    first: int = 0  # what its first pod was numbered by the operator

    @property
    def jobs(self) -> Sourced[int]:
        return self.counted if self.counted is not None else one("one Job for all")

    @property
    def alone(self) -> bool:
        """Whether it is one pod, so that a label on the template is that pod's own."""
        return self.pods.value * self.jobs.value == 1


class JobLayout(NamedTuple):
    """The parts of a job in order, and what its framework has to know beyond them."""

    parts: tuple[ReplicatedJobPlan, ...]
    settings: Tree = None
    layout: str = ""


def one(by: str) -> Sourced[int]:
    """A count of one that code decided on."""
    return Sourced(1, Origin(by=by))


def master_worker(job: LegacyJob, settings: Tree) -> JobLayout:
    """Master and Worker: one Indexed Job whose index 0 is the master, or one Job for each worker."""
    master, worker = job.role("Master"), job.role("Worker")
    assert master is not None
    alone = ReplicatedJobPlan("master", master, one("the Master"), decides=True, labels=MASTER_ROLE)
    if worker is None or worker.count.value == 0:
        return JobLayout((alone,), settings)
    layout, reason = _choose(job, master, worker)
    job.say(RANKS, ("spec", job.kind.field), reason, key=True)
    if layout == MERGED:
        total = derive("Master + Worker", lambda m, w: m + w, master.count, worker.count)
        part = ReplicatedJobPlan(MERGED_ROLE, master, total, decides=True, succeeds=FIRST_DECIDES)
        return JobLayout((part,), settings, MERGED)
    workers = ReplicatedJobPlan("worker", worker, one("one Job per worker"), counted=worker.count)
    return JobLayout((alone, workers), settings, PER_JOB)


def _choose(job: LegacyJob, master: Replica, worker: Replica) -> tuple[str, str]:
    layout = job.asks("rank-layout")
    path = ("metadata", "annotations", "trainc.dev/rank-layout")
    if layout not in {"", MERGED, PER_JOB}:
        job.say(UNKNOWN_LAYOUT, path, f"`{layout}` is not a layout of ranks", help=f"one of {MERGED}, {PER_JOB}")
    difference = ""
    if master.restart.value != worker.restart.value:
        difference = f"the restart policies differ ({master.restart.value}, {worker.restart.value})"
    elif comparable(master.template) != comparable(worker.template):
        difference = "the pod templates differ"
    elif reads(master.template, *_OF_ONE_REPLICA):
        difference = "the pods read labels that differ between Master and Worker"
    if layout == MERGED and difference:
        message = f"Master and Worker cannot share one Job: {difference}"
        job.say(UNKNOWN_LAYOUT, path, message, help="make them equal, or remove the annotation")
    if layout == PER_JOB:
        return PER_JOB, "one Job for each worker, as asked: the rank is the Job's global index"
    if not difference and not layout and job.options.kubernetes is not None and job.options.kubernetes < SUCCESS_POLICY:
        difference = "no pod of a Job can decide for all in this Kubernetes"
    if difference:
        return PER_JOB, f"one Job for each worker, because {difference}: the rank is the Job's global index"
    return MERGED, "Master and Worker look alike: one Indexed Job `node`, in which the index is the rank"


def comparable(template: Tree) -> object:
    """A pod template as plain values without what the operator ignores in it."""
    tree = plain(template)
    if type(tree) is not dict:
        return tree
    spec = {key: node for key, node in (tree.get("spec") or {}).items() if key != "restartPolicy"}
    meta = tree.get("metadata") or {}
    return {"spec": spec, "labels": meta.get("labels") or {}, "annotations": meta.get("annotations") or {}}


def fits(job: LegacyJob, shape: JobLayout) -> bool:
    """Whether the names of all pods are short enough for a JobSet; a name that is too long is reported."""
    name = job.name.value
    last = [(part.name, max(part.jobs.value - 1, 0), max(part.pods.value - 1, 0)) for part in shape.parts]
    longest = max(len(f"-{name}-{job}-{pod}") + 6 for name, job, pod in last)
    if len(name) + longest <= _LIMIT:
        return True
    room, mark = _LIMIT - longest, 0
    for character in name:
        mark = (mark * 31 + ord(character)) % 16**5
    shortened = f"{name[: room - 6].rstrip('-')}-{mark:05x}"
    message = f"`{name}` has {len(name)} characters; its JobSet leaves room for {room}"
    help_ = f"rename it, for example to `{shortened}`: every host name in it changes, too"
    job.say(LONG_NAME, ("metadata", "name"), message, help=help_)
    return False


def servable(job: LegacyJob, shape: JobLayout, replicated: list[Tree]) -> bool:
    """Whether the cluster knows every field; what it does not know is reported."""
    there = {"Kubernetes": job.options.kubernetes, "JobSet": job.options.jobset}
    needs: list[tuple[str, str, Version]] = []
    for tree, part in zip(replicated, shape.parts, strict=True):
        spec = get(tree, "template", "spec")
        needs += [(what, "Kubernetes", least) for field, least, what in _FIELDS if field in spec]
        if part.waits:
            needs.append((f"`{part.name}` starts after `{part.waits}`", "JobSet", _DEPENDS_ON))
        if part.pods.value not in {0, 1} and (job.kind.framework == "mpijob" or job.asks("compat-names") == "true"):
            needs.append(("a label distinguishes the pods of one Job", "Kubernetes", _INDEX_LABEL))
        if shape.layout == PER_JOB and part.name == "worker":
            needs.append(("a worker's rank is its Job's number", "JobSet", GLOBAL_INDEX))
    fits_all = True
    for what, of, least in dict.fromkeys(needs):
        if (version := there[of]) is not None and version < least:
            wanted, found = (".".join(map(str, one)) for one in (least, version))
            message = f"{what}: this needs {of} {wanted}, the cluster has {found}"
            job.say(TOO_OLD, ("spec", job.kind.field), message, key=True, help=f"update {of}")
            fits_all = False
    return fits_all


def replicated_job(
    name: Sourced[str], pods: Sourced[int], index: Sourced[str], fields: Tree, template: Tree, jobs: Tree = None
) -> dict[str, Tree]:
    """A replicatedJob of so many indexed pods, in one Job unless there are several `jobs`; `index` is `Indexed`, and why."""
    spec = {"parallelism": pods, "completions": pods, "completionMode": index, **fields, "template": template}
    replicas = {} if jobs is None else {"replicas": jobs}
    return {"name": name, **replicas, "template": {"spec": spec}}


def plan_of_jobset(
    entry: Entry,
    options: LegacyOptions,
    template: Tree,
    *,
    framework: str,
    title: str,
    companions: tuple[Document, ...],
    namespace: Sourced[str] | None = None,
    policy: Tree = None,
    gang: Tree = None,
    pods: Iterable[Sourced[int]] | None = None,
    barred: bool = False,
) -> Plan:
    """The plan of a template, which `why` calls by `title`.

    `pods` holds the number of pods of each of its replicatedJobs, where that is not their parallelism. `namespace` is the
    one of a document that names none.
    """
    jobs = template["spec"]["replicatedJobs"]
    counts = [get(job, "template", "spec", "parallelism") for job in jobs] if pods is None else pods
    document = entry.document
    written = get(document.tree, "metadata", "namespace")
    plan = Plan(
        document=document,
        runtime=None,
        name=run_name(document.tree),
        namespace=written if type(written) is Sourced else namespace,
        framework=framework,
        policy=policy,
        gang=gang,
        template=template,
        roles=tuple(Role(index, job, count) for index, (job, count) in enumerate(zip(jobs, counts, strict=True))),
        steps=(("runtime", title, template, (), None),),
        companions=companions,
        beside=entry.beside,
        secrets=options.secrets,
    )
    plan.barred = barred
    return plan
