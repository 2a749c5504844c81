"""The page of each job kind of another operator: how its server admits a job, and what the job is planned as.

A page is a module of this room; `trainc.kinds.other_operators` says which documents have one. What it plans goes the way
of every other job from there on: through a framework, named in the plan, to the JobSet and what stands beside it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trainc.apiserver.of_cluster import Server
    from trainc.kinds.shared.job import LegacyOptions
    from trainc.model.catalog import Entry
    from trainc.model.cluster import Cluster
    from trainc.model.document import Document
    from trainc.model.plan import Plan
    from trainc.model.report import Report

    Admit = Callable[[Document, Server, Cluster, Report], Document | None]
    MakePlan = Callable[[Entry, LegacyOptions, Report], Plan | None]


class Page:
    """What one kind brings.

    `admit` gives a job as its server and its operator take it, None with findings where they refuse it. `plan` gives
    the plan of one that was admitted; what will be different is reported. A plan that cannot be compiled is barred.
    """

    __slots__ = ("admit", "plan")

    def __init__(self, admit: Admit, plan: MakePlan) -> None:
        self.admit = admit
        self.plan = plan


def page_of(document: Document) -> Page:
    """The page of a job whose kind has one; its modules are loaded with the first job of the kind."""
    return _PAGES[document.api_version, document.kind]()


def _indexed_job() -> Page:
    from trainc.kinds.job import plan as indexed_job  # noqa: PLC0415 (as above)

    return Page(indexed_job.admit, indexed_job.plan)


def split(document: Document) -> list[Document]:
    """A document for each job of one that holds several: each becomes a JobSet."""
    from trainc.kinds.armada import plan as armada_jobs  # noqa: PLC0415 (as above)
    from trainc.kinds.leaderworkerset import plan as leader_worker_set  # noqa: PLC0415 (as above)

    return leader_worker_set.split(document) if document.kind else armada_jobs.split(document)


def _armada_jobs() -> Page:
    from trainc.kinds.armada import plan as armada_jobs  # noqa: PLC0415 (as above)

    return Page(armada_jobs.admit, armada_jobs.plan)


def _leader_worker_set() -> Page:
    from trainc.kinds.leaderworkerset import plan as leader_worker_set  # noqa: PLC0415 (as above)

    return Page(leader_worker_set.admit, leader_worker_set.plan)


def _mini_cluster() -> Page:
    from trainc.kinds.minicluster import plan as mini_cluster  # noqa: PLC0415 (as above)

    return Page(mini_cluster.admit, mini_cluster.plan)


def _volcano_job() -> Page:
    from trainc.kinds.volcanojob import admission as job_webhook  # noqa: PLC0415 (as above)
    from trainc.kinds.volcanojob import plan as task_plan  # noqa: PLC0415 (as above)

    return Page(job_webhook.admit, task_plan.plan)


def _ray_job() -> Page:
    from trainc.kinds.rayjob import admission as ray_admission  # noqa: PLC0415 (as above)
    from trainc.kinds.rayjob import plan as ray_plan  # noqa: PLC0415 (as above)

    return Page(ray_admission.admit, ray_plan.plan)


_PAGES: Mapping[tuple[str, str], Callable[[], Page]] = {
    ("armadaproject.io/v1", "ArmadaJob"): _armada_jobs,
    ("batch/v1", "Job"): _indexed_job,
    ("batch.volcano.sh/v1alpha1", "Job"): _volcano_job,
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"): _leader_worker_set,
    ("flux-framework.org/v1alpha2", "MiniCluster"): _mini_cluster,
    ("ray.io/v1", "RayJob"): _ray_job,
}
