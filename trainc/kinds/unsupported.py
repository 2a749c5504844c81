"""Kinds of training jobs: what somebody plainly meant, and what other operators run and trainc does not compile."""

from collections.abc import Mapping
from typing import NamedTuple

from trainc.kinds.other_operators import ARMADA, INPUT_KINDS, JOB, LEADER_WORKER_SET, RUNS_TO_COMPLETION, is_training
from trainc.kinds.table import GROUPS, KINDS, MPI_OPERATOR, NAMES, REMOVED, V1
from trainc.model.tree import Tree, get
from trainc.text.object_keys import JOBSET_API, TRAINER_API
from trainc.text.spelling import nearest

# By kind, the API that has it today; by its lower case, the kind.
COMPILED: Mapping[str, str] = {
    "TrainJob": TRAINER_API,
    "TrainingRuntime": TRAINER_API,
    "ClusterTrainingRuntime": TRAINER_API,
    "JobSet": JOBSET_API,
    **dict.fromkeys(sorted(NAMES - {"TfJob"}), V1),
    "MPIJob": MPI_OPERATOR,
}
_SPELLED = {kind.lower(): kind for kind in COMPILED}
_GROUPS = ("trainer.kubeflow.org", "jobset.x-k8s.io", *sorted(GROUPS))
_SIMILAR = 0.8  # of the letters of a group or kind, for it to be a slip
_WRITE = "write a TrainJob or a JobSet"
_SCHEDULE = "let its operator run it, or commit a new run of the job from CI on a schedule"
_RAY = "write a JobSet: one role for the head, one for each group of workers, one for the driver"
_TUNING = "let its operator run it, and write the TrainJob of the best trial as a file of its own"
_KUBEDL = f"write it as `{V1}`, or as a TrainJob"
_JOBS, _SEVERAL = b"batch/v1", b"parallelism"  # a plain Job may be training where it has several pods
# By group and kind, the version of an operator's kind that is compiled.
_SERVED = {
    (api.partition("/")[0], kind): api for api, kind in INPUT_KINDS if (api, kind) not in {JOB, LEADER_WORKER_SET}
}
_WORDS = (*(name.encode() for name in _SPELLED), b"mxjob", b"optimizationjob")
# By group, the kinds of other operators by their lower case.
_OF_GROUPS: dict[str, dict[str, str]] = {}


class Foreign(NamedTuple):
    """A training kind of another operator: what a finding says of it, and what to do instead."""

    message: str
    help: str


# A row leaves this table when the kind is compiled. An empty kind stands for every kind of the group that ends in Job.
FOREIGN: Mapping[tuple[str, str], Foreign] = {
    ("batch.volcano.sh", "Job"): Foreign(
        "trainc compiles only `batch.volcano.sh/v1alpha1` of Volcano's Job", "write `batch.volcano.sh/v1alpha1`"
    ),
    ("batch.volcano.sh", "CronJob"): Foreign("a CronJob is a schedule, not a job", _SCHEDULE),
    ("training.volcano.sh", "HyperJob"): Foreign(
        "a HyperJob spreads Volcano Jobs over several clusters, and trainc does not compile it",
        "write each of its jobs as a Job of `batch.volcano.sh/v1alpha1`, in the folder of its cluster",
    ),
    ("flow.volcano.sh", "JobFlow"): Foreign("trainc does not compile JobFlows", _WRITE),
    ("ray.io", "RayJob"): Foreign("trainc compiles only `ray.io/v1` RayJobs", "write `ray.io/v1`"),
    ("ray.io", "RayCluster"): Foreign("a RayCluster has no program and never ends; a RayJob does", _RAY),
    ("ray.io", "RayService"): Foreign("a RayService serves and never ends", "let its operator run it"),
    ("ray.io", "RayCronJob"): Foreign("a RayCronJob is a schedule, not a job", _SCHEDULE),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): Foreign(
        "a LeaderWorkerSet serves: its pods restart when they end",
        f'if it is a batch job, {_WRITE}, or annotate it with `{RUNS_TO_COMPLETION}: "true"`',
    ),
    ("disaggregatedset.x-k8s.io", "DisaggregatedSet"): Foreign(
        "a DisaggregatedSet serves and never ends", "let its operator run it"
    ),
    ("workload.codeflare.dev", "AppWrapper"): Foreign(
        "trainc does not compile AppWrappers", "write each wrapped job as a separate document"
    ),
    ("elastic.pytorch.org", "ElasticJob"): Foreign("trainc does not compile ElasticJobs", _KUBEDL),
    ("training.kubedl.io", ""): Foreign("trainc does not compile KubeDL's jobs", _KUBEDL),
    ("kubedl.io", ""): Foreign("trainc does not compile KubeDL's jobs", _KUBEDL),
    ("xgboostjob.kubeflow.org", ""): Foreign(
        "the operator of this kind is discontinued; trainc does not compile it", _KUBEDL
    ),
    ("batch.paddlepaddle.org", ""): Foreign("trainc does not compile the Paddle operator's jobs", _KUBEDL),
    ("sagemaker.amazonaws.com", ""): Foreign("trainc does not compile HyperPod's jobs", _KUBEDL),
}
# Proposals and clients name two groups: trainer.kubeflow.org and optimizer.kubeflow.org.
_OPTIMIZATION = Foreign(
    "an OptimizationJob searches parameters with many TrainJobs; trainc does not compile it", _TUNING
)
_PLAIN_SCHEDULE = Foreign("a CronJob is a schedule, not a job", _SCHEDULE)
_FOREIGN_GROUPS = frozenset(group for group, _ in FOREIGN)
for _group, _kind in (*((api.partition("/")[0], kind) for api, kind in INPUT_KINDS if kind != ARMADA[1]), *FOREIGN):
    if _kind and _group != "batch":
        _OF_GROUPS.setdefault(_group, {})[_kind.lower()] = _kind


def foreign_kind(api: str, kind: str, tree: Tree) -> Foreign | None:
    """What is said of a training kind that another operator runs, None for everything else."""
    group = api.partition("/")[0]
    if kind == "CronJob" and group == "batch":
        return _PLAIN_SCHEDULE if is_training(get(tree, "spec", "jobTemplate")) else None
    if kind == "OptimizationJob" and group.endswith(".kubeflow.org"):
        return _OPTIMIZATION
    names = _OF_GROUPS.get(group, {})
    meant = names.get(nearest(kind.lower(), names, cutoff=_SIMILAR), "") if names else ""
    misspelt = meant if meant != kind else ""
    if misspelt:
        return Foreign(f"unknown kind `{kind}` in `{api}`", f"write `kind: {misspelt}`")
    if group in _FOREIGN_GROUPS:
        return FOREIGN.get((group, kind)) or (FOREIGN.get((group, "")) if kind.endswith("Job") else None)
    if (served := _SERVED.get((group, kind))) is not None and api != served:
        return Foreign(f"trainc does not compile the {kind} of `{api}`", f"write it as `{served}`")
    if group and "/" in api and kind in COMPILED and not _is_ours(group):
        return Foreign(f"trainc does not compile the {kind} of `{group}`", f"write it as `{COMPILED[kind]}`")
    return None


def near_miss(api: str, kind: str) -> tuple[str, str] | None:
    """The API and the kind that were meant by a pair that is nearly one of ours, None where it is one or is far off."""
    group = api.partition("/")[0]
    if group in _FOREIGN_GROUPS or (api, kind) in REMOVED or (api, kind) in KINDS:
        return None
    spelled = _SPELLED.get(kind.lower(), "")
    if not spelled and (group in _GROUPS or _has_our_word(group)):
        spelled = _SPELLED.get(nearest(kind.lower(), _SPELLED, cutoff=_SIMILAR), "")
    if not spelled or not (not group or "/" not in api or _is_ours(group)):
        return None
    own = COMPILED[spelled].partition("/")[0]
    if kind == spelled and (group == own or (kind in NAMES and group in GROUPS)):
        return None
    return (api if group == own else COMPILED[spelled]), spelled


def _is_ours(group: str) -> bool:
    """Whether a group is one of those that trainc compiles, or nearly one."""
    return group in _GROUPS or _has_our_word(group) or bool(nearest(group, _GROUPS, cutoff=_SIMILAR))


def _has_our_word(group: str) -> bool:
    return "kubeflow" in group or "jobset" in group


def may_name_training(data: bytes) -> bool:
    """Whether a text that names none of our groups may hold a training job all the same."""
    small = data.lower()
    if any(group.encode() in small for group in _FOREIGN_GROUPS) or (_JOBS in small and _SEVERAL in small):
        return True
    return any(_is_kind(small, word) for word in _WORDS)


def _is_kind(small: bytes, word: bytes) -> bool:
    """Whether a word stands behind `kind` on its line."""
    at = small.find(word)
    while at >= 0:
        if b"kind" in small[small.rfind(b"\n", 0, at) + 1 : at]:
            return True
        at = small.find(word, at + 1)
    return False
