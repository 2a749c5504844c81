"""The plan of a RayJob: a head, a replicatedJob for each group of workers, and the driver whose success is the job's."""

from __future__ import annotations

from trainc.kinds.pod_ending import restart_policy
from trainc.kinds.rayjob.differences import check_fields
from trainc.kinds.rayjob.spec import DRIVER, FRAMEWORK, MODE, TIER, RayGroup, RayJobAsRead, driver_template
from trainc.kinds.shared.counted import countable, is_open
from trainc.kinds.shared.former_hosts import FormerHosts, is_domain
from trainc.kinds.shared.job_metadata import job_metadata
from trainc.kinds.shared.job_names import fits
from trainc.kinds.shared.layout import JobLayout, ReplicatedJobPlan
from trainc.kinds.shared.pod_hosts import pod_of, with_pod
from trainc.kinds.shared.pods import prepare
from trainc.kinds.shared.restart import FOREVER
from trainc.kinds.shared.versions import servable
from trainc.kinds.shared.whole_jobset import plan_of_jobset
from trainc.model.run import run_name
from trainc.model.sourced import Origin, Sourced, derive
from trainc.model.tree import get, stamp, value
from trainc.schedulers.gang import SUBMITTER_LABEL
from trainc.text.numbers import parsed_int
from trainc.text.object_keys import MULTIKUEUE
from trainc.text.placeholders import is_placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.kinds.shared.job import LegacyOptions
    from trainc.model.catalog import Entry
    from trainc.model.document import Document
    from trainc.model.plan import Plan
    from trainc.model.report import Report
    from trainc.model.tree import Path, Tree

_BY = "RayJob"
_SUBMITS_AGAIN = 2
_DRAWN = frozenset("bcdfghjklmnpqrstvwxz2456789")  # of which Kubernetes makes up names (util/rand)
_QUEUE, _PRIORITY = "volcano.sh/queue-name", "ray.io/priority-class-name"


def plan(entry: Entry, options: LegacyOptions, report: Report) -> Plan | None:
    """The plan of a job that was admitted, None where nothing can be said of its pods."""
    hosts = HeadHosts(entry.document, report, options.cluster_domain)
    job = RayJobAsRead(hosts.in_program(), options, report)
    kept = check_fields(job)
    if get(job.spec, "rayClusterSpec") is None:
        return None
    counted = countable(job)
    for group in job.groups:
        prepare(job, group)
    groups = [g for g in job.groups if g.count.value and (type(g.count.value) is int or is_placeholder(g.count.value))]
    driver = _driver(job)
    replicated = [
        with_pod(tree, hosts.pod(pod)) if hosts.occur_in(pod := pod_of(tree)) else tree
        for tree in (*(_replicated(job, group) for group in groups), _driver_job(job, driver))
    ]
    parts = [ReplicatedJobPlan(group.role, group, group.count) for group in (*groups, driver)]
    shape = JobLayout(tuple(parts))
    kept = kept and counted and fits(job, shape) and servable(job, shape, replicated)
    template = {
        "metadata": job_metadata(job.document.tree),
        "spec": {**_jobset_fields(job), "replicatedJobs": replicated},
    }
    placing = _gang(job) if counted else None
    pods = [part.pods for part in parts]
    companions = hosts.files(entry.companions, [pod_of(tree) for tree in replicated])
    out = plan_of_jobset(job, entry, template, pods, gang=placing, framework=FRAMEWORK, kind=_BY, companions=companions)
    out.barred = not kept and not (is_open(job) and not report.compiles)
    return out


class HeadHosts(FormerHosts):
    """`JOB-xxxxx-head-svc`, as KubeRay calls the head's Service after a cluster whose name it makes up for each run."""

    families: Mapping[str, range | None] = {}

    def __init__(self, document: Document, report: Report, domain: str) -> None:
        super().__init__(document.name, document, report)
        self._domain = domain

    def present(self, host: str) -> str:
        """What the head's Service is called in the JobSet, "" for every other host."""
        first, _, rest = host.partition(".")
        cluster = first[len(self.base) + 1 :].removeprefix("raycluster-").removesuffix("-head-svc")
        is_head = first.endswith("-head-svc") and len(cluster) == 5 and _DRAWN.issuperset(cluster)
        if not is_head or not is_domain(rest, self.document.namespace or "", self._domain):
            return ""
        return f"{run_name(self.document.tree).value}-head-svc{rest and '.'}{rest}"

    def in_program(self) -> Document:
        """The job with present names in what the driver submits."""
        spec = get(self.document.tree, "spec")
        texts = {field: spec[field] for field in ("entrypoint", "runtimeEnvYAML") if field in spec}
        if not self.occur_in(texts):
            return self.document
        present = {field: self.leaf(text, {}) for field, text in texts.items()}
        return self.document.admitted({**self.document.tree, "spec": {**spec, **present}})


def _replicated(job: RayJobAsRead, group: RayGroup) -> Tree:
    """A Job of the head, which fails with it, or of a group of workers, which replaces those that are lost."""
    restart = group.restart
    if group.is_head:
        policy = restart.map(lambda _: "Never")
    else:
        policy = restart if restart.value == "Never" else derive("a pod of a Job ends", lambda _: "OnFailure", restart)
    meta = dict(get(group.template, "metadata") or {})
    labels = {**(meta.get("labels") or {}), **(get(group.tree, "labels") or {}), **_labels(job, group)}
    limit = 0 if group.is_head else FOREVER
    pod = {**(get(group.template, "spec") or {}), "restartPolicy": restart_policy(restart, policy)}
    spec = {
        **_counts(group.count),
        "backoffLimit": stamp(
            limit, "a head is not replaced" if group.is_head else "a lost worker is replaced", restart
        ),
        "template": {"metadata": {**meta, "labels": labels}, "spec": pod},
    }
    return {"name": stamp(group.role, _BY), "template": {"spec": spec}}


def _counts(pods: Sourced[int]) -> Tree:
    mode = stamp("Indexed", "one index for each pod")
    return {"parallelism": pods, "completions": pods, "completionMode": mode}


def _labels(job: RayJobAsRead, group: RayGroup) -> Tree:
    kind = "head" if group.is_head else "worker"
    own = {
        "ray.io/cluster": job.name,
        "ray.io/group": group.group,
        "ray.io/identifier": derive("identifier of KubeRay", lambda name: f"{name}-{kind}"[:63], job.name),
        "ray.io/is-ray-node": "yes",
        "ray.io/node-type": kind,
    }
    return stamp(own, _BY)


def _driver(job: RayJobAsRead) -> RayGroup:
    path: Path = ("spec", "submitterPodTemplate") if get(job.spec, "submitterPodTemplate") else ("spec",)
    tree = {"template": driver_template(job)}
    driver = RayGroup(DRIVER, DRIVER, path[:1] if len(path) == 1 else path, tree, Sourced(1, Origin(by="one driver")))
    prepare(job, driver)
    return driver


def _driver_job(job: RayJobAsRead, driver: RayGroup) -> Tree:
    again = get(job.spec, "submitterConfig", "backoffLimit")
    limit = again if type(again) is Sourced and again.value is not None else stamp(_SUBMITS_AGAIN, "KubeRay default")
    restart = driver.restart
    policy = restart.map(lambda text: "OnFailure" if text == "Always" else text)
    meta = dict(get(driver.template, "metadata") or {})
    labels = {**(meta.get("labels") or {}), **stamp({SUBMITTER_LABEL: _BY}, _BY)}
    spec = {**_counts(driver.count), "backoffLimit": limit}
    deadline = get(job.spec, "activeDeadlineSeconds")
    if type(deadline) is Sourced and deadline.value is not None:
        spec["activeDeadlineSeconds"] = deadline
    pod = {**(get(driver.template, "spec") or {}), "restartPolicy": policy}
    spec["template"] = {"metadata": {**meta, "labels": labels}, "spec": pod}
    return {"name": stamp(DRIVER, _BY), "template": {"spec": spec}}


def _jobset_fields(job: RayJobAsRead) -> dict[str, Tree]:
    spec = job.spec
    success = {"operator": "All", "targetReplicatedJobs": [DRIVER]}
    out: dict[str, Tree] = {"successPolicy": stamp(success, "the driver decides")}
    retries = get(spec, "backoffLimit")
    if type(retries) is Sourced and retries.value:
        policy: Tree = {"maxRestarts": retries, "restartStrategy": "BlockingRecreate"}
        if get(spec, "activeDeadlineSeconds") is not None:
            reasons = {"onJobFailureReasons": ["DeadlineExceeded"], "targetReplicatedJobs": [DRIVER]}
            policy["rules"] = [{"action": "FailJobSet", **reasons}]
        out["failurePolicy"] = stamp(policy, "a new cluster for each retry")
    for field in ("suspend", "ttlSecondsAfterFinished"):
        leaf = get(spec, field)
        if type(leaf) is Sourced and leaf.value:
            out[field] = leaf
    if value(spec, "shutdownAfterJobFinishes") is True and value(spec, "ttlSecondsAfterFinished") == 0:
        out.pop("ttlSecondsAfterFinished", None)
    manager = get(spec, "managedBy")
    if type(manager) is Sourced and manager.value == MULTIKUEUE:
        out["managedBy"] = manager
    return out


def _gang(job: RayJobAsRead) -> Tree:
    """The gang of head and workers as KubeRay counts it; its resources hold a place for the driver too."""
    labels = get(job.document.tree, "metadata", "labels") or {}
    counts = [group.count for group in job.groups]
    policy: dict[str, Tree] = {
        "minAvailable": derive("head + workers", lambda *numbers: sum(numbers), *counts),
        "reserved": [DRIVER],
    }
    for label, name in ((_QUEUE, "queue"), (_PRIORITY, "priorityClass")):
        if label in labels:
            policy[name] = labels[label]
    if MODE in labels:
        tier = labels.get(TIER)
        policy["networkTopology"] = {
            "mode": labels[MODE],
            **({} if tier is None else {"highestTierAllowed": tier.map(parsed_int)}),
        }
    uses_volcano = _QUEUE in labels or MODE in labels
    return {**({"volcano": {}} if uses_volcano else {}), "older": policy}
