"""The page of each job kind of another operator: how its server admits a job, and what the job is planned as.

A page is two functions of modules of this room, by default those for Training Operator's kinds. What it plans goes the way of
every other job from there on: through a framework, named in the plan, to the JobSet and what stands beside it.
"""

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from trainc.apiserver.served import Server
from trainc.kinds.shared.job import LegacyOptions
from trainc.model.catalog import Entry
from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.plan import Plan
from trainc.model.report import Report

_ARMADA, _GROUPS = "trainc.kinds.armada", "trainc.kinds.leaderworkerset"
# By kind the module of `plan`, loaded with the first job of the kind; `admit` is in `admission` beside it, or in it.
_PLANS = {
    ("armadaproject.io/v1", "ArmadaJob"): _ARMADA,
    ("batch/v1", "Job"): "trainc.kinds.job",
    ("batch.volcano.sh/v1alpha1", "Job"): "trainc.kinds.volcanojob.plan",
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"): _GROUPS,
    ("flux-framework.org/v1alpha2", "MiniCluster"): "trainc.kinds.minicluster.plan",
    ("ray.io/v1", "RayJob"): "trainc.kinds.rayjob.plan",
}


class Page(NamedTuple):
    """How jobs of one kind are compiled.

    `admit` gives a job as its server and its operator take it, None with findings where they refuse it. `plan` gives
    the plan of one that was admitted; what will be different is reported. A plan that cannot be compiled is barred.
    """

    admit: Callable[[Document, Server, Cluster, Report], Document | None]
    plan: Callable[[Entry, LegacyOptions, Report], Plan | None]


def page_of(document: Document) -> Page:
    path = _PLANS.get((document.api_version, document.kind), "trainc.kinds.trainingoperator.plan")
    return Page(import_module(path.replace(".plan", ".admission")).admit, import_module(path).plan)


def split(document: Document) -> list[Document]:
    """A document for each job of one that holds several: each becomes a JobSet."""
    documents: list[Document] = import_module(_GROUPS if document.kind else _ARMADA).split(document)
    return documents
