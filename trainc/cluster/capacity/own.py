"""What a cluster holds already for the very job that is asked about: its Workloads, its pods, their share of quotas."""

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from typing import NamedTuple

from trainc.apiserver.pods.complaints import items
from trainc.apiserver.pods.requests import pod_requests
from trainc.cluster.capacity.amounts import added, all_units, subtracted
from trainc.cluster.capacity.creation import Budget, Namespace, object_usage, pod_usage
from trainc.cluster.capacity.facts import ClusterFacts
from trainc.cluster.capacity.nodes import FINISHED, is_of_job
from trainc.cluster.capacity.pods import jobs_of, pods_of
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import Tree, get, value
from trainc.text.object_keys import JOB_NAME_LABELS, JOBSET_NAME

_KINDS = ("JobSet", "Job", "TrainJob")  # that own a Workload: what trainc renders, and what Trainer renders it for
_ORIGIN = Origin(None, "without the job itself")


class OwnObjects(NamedTuple):
    """The names of one job's Workloads and pods in a dump, each as `namespace/name`."""

    workloads: tuple[str, ...] = ()
    pods: tuple[str, ...] = ()


class RunningJobs:
    """The Workloads and pods of a dump by the job that they belong to."""

    def __init__(self, objects: Mapping[str, Mapping[str, Tree]]) -> None:
        self._workloads: dict[tuple[str, str], list[str]] = {}
        self._pods: dict[tuple[str, str], list[str]] = {}
        for key, tree in objects.get("Workload", {}).items():
            namespace, _, name = key.rpartition("/")
            for job in _owners(name, tree):
                self._workloads.setdefault((namespace, job), []).append(key)
        for key, tree in objects.get("Pod", {}).items():
            labels = get(tree, "metadata", "labels")
            names = (value(labels, label) for label in (JOBSET_NAME, *JOB_NAME_LABELS))
            if job := next(filter(None, names), ""):
                self._pods.setdefault((key.rpartition("/")[0], job), []).append(key)

    def of(self, jobset: Tree) -> OwnObjects:
        job = (value(jobset, "metadata", "namespace") or "default", value(jobset, "metadata", "name") or "")
        return OwnObjects(tuple(self._workloads.get(job, ())), tuple(self._pods.get(job, ())))


def _owners(name: str, workload: Tree) -> list[str]:
    """The jobs that own a Workload; an inventory keeps no owners, so there the name tells: `jobset-JOB-HASH`."""
    owners = items(get(workload, "metadata", "ownerReferences"))
    jobs = [value(owner, "name") for owner in owners if value(owner, "kind") in _KINDS]
    if not jobs:
        stem = name.rpartition("-")[0]
        prefixes = (f"{kind.lower()}-" for kind in _KINDS)
        jobs = [stem[len(prefix) :] for prefix in prefixes if stem.startswith(prefix)]
    return [job for job in jobs if type(job) is str]


def without(facts: ClusterFacts, own: Iterable[OwnObjects]) -> ClusterFacts:
    """The cluster as it would be without some of its jobs: their quota and their places are free."""
    listed = list(own)
    workloads = {key for part in listed for key in part.workloads}
    pods = {key: facts.objects["Pod"][key] for part in listed for key in part.pods}
    objects = {
        kind: dict(trees) for kind, trees in facts.objects.items() if kind in ("Workload", "Pod", "ResourceQuota")
    }
    for key in workloads:
        del objects["Workload"][key]
    for key in pods:
        del objects["Pod"][key]
    if quotas := objects.get("ResourceQuota"):
        for part in listed:
            _free_quotas(facts, part, quotas)
    nodes = dict(facts.nodes)
    for tree in pods.values():
        spec, name = get(tree, "spec"), value(tree, "spec", "nodeName") or ""
        if name in nodes and type(spec) is dict and value(tree, "status", "phase") not in FINISHED:
            requests, node = added(all_units(pod_requests(spec)), {"pods": 1}), nodes[name]
            if is_of_job(tree):
                nodes[name] = replace(node, jobs=subtracted(node.jobs, requests))
            else:
                nodes[name] = replace(node, system=subtracted(node.system, requests))
    return facts.changed({**facts.objects, **objects}, nodes)


def _free_quotas(facts: ClusterFacts, own: OwnObjects, quotas: dict[str, Tree]) -> None:
    """Take what one job uses from the ResourceQuotas of its namespace."""
    pods = [facts.objects["Pod"][key] for key in own.pods]
    namespace = Namespace(facts, next(iter((*own.pods, *own.workloads))).rpartition("/")[0])
    jobs = {value(pod, "metadata", "labels", label) for pod in pods for label in JOB_NAME_LABELS} - {None}
    counts = {"jobsets.jobset.x-k8s.io": 1, "jobs.batch": len(jobs), "services": 1}
    before = copy(quotas)
    for budget in namespace.budgets:
        if not budget.scopes:
            for kind, count in counts.items():
                budget.add(object_usage(kind), -count)
        for pod in pods:
            spec = get(pod, "spec")
            if value(pod, "status", "phase") not in FINISHED and namespace.is_counted(budget, spec):
                budget.add(pod_usage(*namespace.amounts_of(spec)), -1)
        key = f"{namespace.name}/{budget.name}"
        quotas[key] = _with_used(before[key], budget)


def _with_used(quota: Tree, budget: Budget) -> Tree:
    stated = get(quota, "status", "used")
    if type(stated) is not dict:
        return quota
    used = {name: Sourced(str(budget.used[name]), _ORIGIN) for name in stated if name in budget.used}
    return {**quota, "status": {**quota["status"], "used": used}}


def holds_quota(facts: ClusterFacts, own: OwnObjects, jobset: Tree) -> bool:
    """Whether the job's Workload has its quota, for as many pods as are asked about now."""
    wanted = {value(job, "name"): pods_of(job) for job in jobs_of(jobset)}
    for key in own.workloads:
        tree = facts.objects["Workload"][key]
        assigned = items(get(tree, "status", "admission", "podSetAssignments"))
        conditions = items(get(tree, "status", "conditions"))
        is_finished = any(value(one, "type") == "Finished" and value(one, "status") == "True" for one in conditions)
        if assigned and not is_finished and {value(one, "name"): value(one, "count") for one in assigned} == wanted:
            return True
    return False
