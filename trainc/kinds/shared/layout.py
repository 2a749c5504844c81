"""How the roles of an older job become replicatedJobs: the shapes, and the choice between them."""

from __future__ import annotations

from trainc.kinds.table import MERGED_ROLE
from trainc.model.finding import ERROR, NOTE, Rule
from trainc.model.sourced import Origin, Sourced, derive
from trainc.model.tree import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.kinds.shared.job import LegacyJob, Replica
    from trainc.model.cluster import Version
    from trainc.model.tree import Tree

MERGED, PER_JOB = "merged", "per-job"
SUCCESS_POLICY: Version = (1, 31)  # Kubernetes in which a Job's own success policy is on by default

RANKS = Rule(
    "rank-layout",
    NOTE,
    "the layout of the JobSet decides how pods get their ranks",
    "Kubernetes cannot offset an index, so a worker's rank of index + 1 comes from the layout of the JobSet.",
    differs=("PyTorchJob", "TFJob", "XGBoostJob"),
)
UNKNOWN_LAYOUT = Rule(
    "unknown-layout",
    ERROR,
    "the requested layout of ranks is unknown or impossible",
)


class ReplicatedJobPlan:
    """One replicatedJob to be: `jobs` child Jobs with `pods` pods each, looking like `replica`."""

    __slots__ = ("decides", "first", "jobs", "labels", "name", "pods", "replica", "succeeds", "tolerates", "waits")

    def __init__(
        self,
        name: str,
        replica: Replica,
        pods: Sourced[int],
        *,
        jobs: Sourced[int] | None = None,
        decides: bool = False,
        succeeds: Tree = None,
        waits: str = "",
        labels: Tree = None,
        tolerates: bool = False,
        first: int = 0,
    ) -> None:
        self.name = name
        self.replica = replica
        self.pods = pods
        self.jobs = jobs if jobs is not None else one("one Job for all")
        self.decides = decides  # its success is the job's
        self.succeeds = succeeds  # the child Job's own rule of success
        self.waits = waits  # the part that must be ready before it starts
        self.labels = labels or {}
        self.tolerates = tolerates  # its pods may fail one by one
        self.first = first  # what its first pod was numbered by the operator

    @property
    def alone(self) -> bool:
        """Whether it is one pod, so that a label on the template is that pod's own."""
        return self.pods.value * self.jobs.value == 1


class JobLayout:
    """The parts of a job in order, and what its framework has to know beyond them."""

    __slots__ = ("layout", "parts", "settings")

    def __init__(self, parts: tuple[ReplicatedJobPlan, ...], settings: Tree = None, layout: str = "") -> None:
        self.parts = parts
        self.settings = settings or {}
        self.layout = layout


def one(by: str) -> Sourced[int]:
    """A count of one that code decided on."""
    return Sourced(1, Origin(by=by))


FIRST_DECIDES = {"rules": [{"succeededIndexes": "0"}]}
ANY_DECIDES = {"rules": [{"succeededCount": 1}]}


def master_worker(job: LegacyJob, settings: Tree) -> JobLayout:
    """Master and Worker: one Indexed Job whose index 0 is the master, or one Job for each worker."""
    master, worker = job.role("Master"), job.role("Worker")
    assert master is not None
    if worker is None or worker.count.value == 0:
        return JobLayout(
            (ReplicatedJobPlan("master", master, one("the Master"), decides=True, labels=MASTER_ROLE),), settings
        )
    layout, reason = _choose(job, master, worker)
    job.say(RANKS.at(job.span(("spec", job.kind.field), key=True), reason))
    if layout == MERGED:
        total = derive("Master + Worker", lambda m, w: m + w, master.count, worker.count)
        part = ReplicatedJobPlan(MERGED_ROLE, master, total, decides=True, succeeds=FIRST_DECIDES)
        return JobLayout((part,), settings, MERGED)
    parts = (
        ReplicatedJobPlan("master", master, one("the Master"), decides=True, labels=MASTER_ROLE),
        ReplicatedJobPlan("worker", worker, one("one Job per worker"), jobs=worker.count),
    )
    return JobLayout(parts, settings, PER_JOB)


MASTER_ROLE = {"training.kubeflow.org/job-role": "master"}


def _choose(job: LegacyJob, master: Replica, worker: Replica) -> tuple[str, str]:
    layout = job.asks("rank-layout")
    span = job.span(("metadata", "annotations", "trainc.dev/rank-layout"))
    if layout not in {"", MERGED, PER_JOB}:
        help_ = f"one of {MERGED}, {PER_JOB}"
        job.say(UNKNOWN_LAYOUT.at(span, f"`{layout}` is not a layout of ranks", help=help_))
    difference = _difference(master, worker)
    if layout == MERGED and difference:
        message = f"Master and Worker cannot share one Job: {difference}"
        job.say(UNKNOWN_LAYOUT.at(span, message, help="make them equal, or leave the annotation out"))
    if layout == PER_JOB:
        return PER_JOB, "one Job for each worker, as asked: the rank is the Job's global index"
    if not difference and not layout and job.options.kubernetes is not None and job.options.kubernetes < SUCCESS_POLICY:
        difference = "no pod of a Job can decide for all in this Kubernetes"
    if difference:
        return PER_JOB, f"one Job for each worker, because {difference}: the rank is the Job's global index"
    return MERGED, "Master and Worker look alike: one Indexed Job `node`, in which the index is the rank"


def _difference(master: Replica, worker: Replica) -> str:
    if master.restart.value != worker.restart.value:
        return f"the restart policies differ ({master.restart.value}, {worker.restart.value})"
    if comparable(master.template) != comparable(worker.template):
        return "the pod templates differ"
    return ""


def comparable(template: Tree) -> object:
    """A pod template as plain values without what the operator ignores in it."""
    tree = plain(template)
    if type(tree) is not dict:
        return tree
    spec = {key: node for key, node in (tree.get("spec") or {}).items() if key != "restartPolicy"}
    meta = tree.get("metadata") or {}
    return {"spec": spec, "labels": meta.get("labels") or {}, "annotations": meta.get("annotations") or {}}
