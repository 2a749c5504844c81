"""The plan of a Volcano Job: its tasks as replicatedJobs, its policies as those of a JobSet, its gang."""

from __future__ import annotations

from trainc.kinds.shared.counted import countable, is_open
from trainc.kinds.shared.counted import is_countable as is_number_of_pods
from trainc.kinds.shared.job_metadata import job_metadata
from trainc.kinds.shared.job_names import fits
from trainc.kinds.shared.layout import JobLayout, ReplicatedJobPlan
from trainc.kinds.shared.pod_hosts import with_pod
from trainc.kinds.shared.pods import prepare
from trainc.kinds.shared.versions import servable
from trainc.kinds.shared.whole_jobset import plan_of_jobset
from trainc.kinds.volcanojob.arrangement import arrange, is_countable, success
from trainc.kinds.volcanojob.former_pod_names import FormerPodNames
from trainc.kinds.volcanojob.gang import gang, starts
from trainc.kinds.volcanojob.lifecycle import TaskLifecycle
from trainc.kinds.volcanojob.plugin_differences import check_plugins
from trainc.kinds.volcanojob.pods import check_claims, finish
from trainc.kinds.volcanojob.policy_differences import check_policies
from trainc.kinds.volcanojob.spec import FRAMEWORK, JobOfTasks
from trainc.model.finding import ERROR, NOTE, Rule
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import get, plain, stamp, value
from trainc.schedulers.gang import UNKNOWN_SIZE
from trainc.text.placeholders import is_placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.kinds.shared.job import LegacyOptions
    from trainc.kinds.volcanojob.spec import Task
    from trainc.model.catalog import Entry
    from trainc.model.plan import Plan
    from trainc.model.report import Report
    from trainc.model.tree import Path, Tree

ANY_OF_SEVERAL = Rule(
    "depends-on-any",
    ERROR,
    "a task waits for any one of several tasks",
    "A replicatedJob of a JobSet waits for all of its dependencies.",
)
ESTIMATE = Rule(
    "estimate-dropped",
    NOTE,
    "the expected running time of a Volcano Job is dropped",
    "Volcano keeps it as a hint; neither JobSet nor PodGroup has a field for it.",
)
_BY = "Volcano Job"


def plan(entry: Entry, options: LegacyOptions, report: Report) -> Plan | None:
    """The plan of a job that was admitted, None where nothing can be said of its pods."""
    job = JobOfTasks(entry.document, options, report)
    counted, known = countable(job), _is_known(job)
    for task in job.tasks:
        prepare(job, task)
    if not (counted and known):
        return _uncounted(job, entry, is_free=not report.compiles and (is_open(job) or counted))
    tasks, kept = arrange(job)
    lifecycle = TaskLifecycle(job)
    decided, is_counted = success(job, tasks)
    verdicts = (check_policies(job, lifecycle), check_plugins(job), _waits_for_all(job), is_counted)
    _say_notes(job)
    former = FormerPodNames(job)
    replicated = [_with_present_names(former, _replicated(job, task, lifecycle)) for task in tasks]
    shape = JobLayout(tuple(ReplicatedJobPlan(task.role, task, task.pods, jobs=task.jobs) for task in tasks))
    companions = former.files(entry.companions, [task.template.get("spec") or {} for task in tasks])
    fitting = fits(job, shape) and servable(job, shape, replicated) and starts(job)
    spec: dict[str, Tree] = {"replicatedJobs": replicated, **_jobset_fields(job, lifecycle)}
    if decided is not None:
        spec["successPolicy"] = decided
    template = {"metadata": job_metadata(job.document.tree), "spec": spec}
    pods = [task.pods for task in tasks]
    out = plan_of_jobset(
        job, entry, template, pods, gang=gang(job), framework=FRAMEWORK, kind=_BY, companions=companions
    )
    out.barred = not (kept and all(verdicts) and fitting) and not is_open(job)
    return out


def _is_known(job: JobOfTasks) -> bool:
    """Whether every number that is computed with is one; what is filled in later is reported."""
    paths: list[Path] = [("spec", name) for name in ("minAvailable", "maxRetry", "minSuccess")]
    for task in job.tasks:
        parts = (("partitionPolicy", name) for name in ("totalPartitions", "partitionSize", "minPartitions"))
        paths += [(*task.path, *path) for path in (("minAvailable",), *parts)]
    unknown = [path for path in paths if is_placeholder(value(job.document.tree, *path))]
    for path in unknown:
        message = f"`{path[-1]}` is not known here"
        help_ = "write the number: the gang and the restarts are computed from it"
        job.report.add_or_skip(UNKNOWN_SIZE.at(job.span(path), message, help=help_))
    return not unknown


def _uncounted(job: JobOfTasks, entry: Entry, *, is_free: bool) -> Plan | None:
    """The plan of a job with a number that is not known, or is none that a Job can have: its templates alone.

    `is_free` says that nothing but the number is in the way.
    """
    tasks = [task for task in job.tasks if is_number_of_pods(task) or is_placeholder(task.count.value)]
    if not tasks:
        return None
    spec = {"replicatedJobs": [_replicated(job, task, None) for task in tasks]}
    template = {"metadata": job_metadata(job.document.tree), "spec": spec}
    pods = [task.pods for task in tasks]
    out = plan_of_jobset(job, entry, template, pods, gang=None, framework=FRAMEWORK, kind=_BY)
    out.barred = not is_free
    return out


def _replicated(job: JobOfTasks, task: Task, lifecycle: TaskLifecycle | None) -> Tree:
    spec = {
        "parallelism": task.pods,
        "completions": task.pods,
        "completionMode": stamp("Indexed", "one index per pod of a task"),
        **(lifecycle.child_fields(task) if lifecycle is not None else {}),
        "template": finish(job, task),
    }
    least = get(job.spec, "minSuccess")
    if (
        type(least) is Sourced
        and least.value is not None
        and is_countable([task for task in job.tasks if task.count.value])
    ):
        spec["successPolicy"] = stamp({"rules": [{"succeededCount": least}]}, "minSuccess")
    out: Tree = {"name": stamp(task.role, _BY), "replicas": task.jobs, "template": {"spec": spec}}
    others = [name for name in task.waits if (other := job.task(name)) is not None and other.count.value]
    if others:
        out["dependsOn"] = stamp([{"name": name, "status": "Ready"} for name in others], "dependsOn")
    return out


def _with_present_names(former: FormerPodNames, replicated: Tree) -> Tree:
    pod = replicated["template"]["spec"]["template"]["spec"]
    return with_pod(replicated, former.pod(pod) if former.occur_in(pod) else pod)


def _jobset_fields(job: JobOfTasks, lifecycle: TaskLifecycle) -> dict[str, Tree]:
    out: dict[str, Tree] = {}
    failure = lifecycle.failure_policy()
    if failure is not None:
        out["failurePolicy"] = failure
    service = job.plugins.get("svc")
    if service is not None:
        early = Sourced(service.is_on("publish-not-ready-addresses"), Origin(by="plugin svc"))
        out["network"] = stamp({"enableDNSHostnames": True, "publishNotReadyAddresses": early}, "plugin svc")
    ttl = get(job.spec, "ttlSecondsAfterFinished")
    if type(ttl) is Sourced and ttl.value is not None:
        out["ttlSecondsAfterFinished"] = ttl
    return out


def _waits_for_all(job: JobOfTasks) -> bool:
    """Whether no task waits for any of several; one that does is reported."""
    out = True
    for task in job.tasks:
        if value(task.tree, "dependsOn", "iteration") == "any" and len(task.waits) > 1:
            at = job.span((*task.path, "dependsOn", "iteration"))
            message = f"`{task.role}` waits for any of {', '.join(task.waits)}: a JobSet waits for all of them"
            job.say(ANY_OF_SEVERAL.at(at, message, help="write `iteration: all`, or name one task"))
            out = False
    return out


def _say_notes(job: JobOfTasks) -> None:
    check_claims(job)
    if get(job.spec, "runningEstimate") is not None:
        at = job.span(("spec", "runningEstimate"))
        estimate = plain(job.spec["runningEstimate"])
        job.say(ESTIMATE.at(at, f"`runningEstimate: {estimate}` is left out: nobody reads it", help="remove it"))
