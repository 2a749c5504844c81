"""The plan of a Volcano Job: its tasks as replicatedJobs, its policies as those of a JobSet, its gang."""

from functools import partial

from trainc.kinds.shared.former_hosts import FormerHosts
from trainc.kinds.shared.job import FOR_THE_JOB, LegacyOptions, countable, is_open, job_metadata
from trainc.kinds.shared.job import is_countable as is_number_of_pods
from trainc.kinds.shared.layout import JobLayout, ReplicatedJobPlan, fits, plan_of_jobset, replicated_job, servable
from trainc.kinds.shared.pod_fields import COMPLETION, JOB, PodFields, annotation, label, with_present_fields
from trainc.kinds.shared.pods import prepare
from trainc.kinds.shared.restart import DEADLOCK
from trainc.kinds.volcanojob.arrangement import arrange, is_countable, success
from trainc.kinds.volcanojob.pods import check_claims, finish
from trainc.kinds.volcanojob.policies import TaskLifecycle, check_policies
from trainc.kinds.volcanojob.spec import FRAMEWORK, JobOfTasks, Task
from trainc.model.catalog import Entry
from trainc.model.finding import ERROR, NOTE, WARNING, Rule
from trainc.model.plan import Plan
from trainc.model.report import Report
from trainc.model.sourced import Origin, Sourced, is_written
from trainc.model.tree import Path, Tree, filled, get, given, leaves, plain, stamp, value
from trainc.schedulers.gang import UNKNOWN_SIZE
from trainc.text.placeholders import is_placeholder

ANY_OF_SEVERAL = Rule("depends-on-any", ERROR)
ESTIMATE = Rule("estimate-dropped", NOTE)
_BY = "Volcano Job"
UNCOMPILED = Rule("plugin-not-compiled", ERROR)
IGNORED = Rule("plugin-flags-ignored", WARNING)
KEY = Rule("private-key-in-flags", ERROR)
_HIGHEST_PORT = 65535


def plan(entry: Entry, options: LegacyOptions, report: Report) -> Plan | None:
    """The plan of a job that was admitted, None where nothing can be said of its pods."""
    job = JobOfTasks(entry.document, options, report)
    metadata = job_metadata(entry.document.tree)
    planned = partial(plan_of_jobset, entry, options, framework=FRAMEWORK, title=f"{_BY} {job.name.value}")
    counted, known = countable(job), _is_known(job)
    for task in job.tasks:
        prepare(job, task)
    if not (counted and known):
        # The plan of a job with a number that is not known, or is none that a Job can have: its templates alone.
        tasks = [task for task in job.tasks if is_number_of_pods(task) or is_placeholder(task.count.value)]
        template = {"metadata": metadata, "spec": {"replicatedJobs": [_replicated(job, task, None) for task in tasks]}}
        barred = report.compiles or not (is_open(job) or counted)
        return planned(template, companions=entry.companions, barred=barred) if tasks else None
    tasks, kept = arrange(job)
    lifecycle = TaskLifecycle(job)
    decided, is_counted = success(job, tasks)
    verdicts = (check_policies(job, lifecycle), check_plugins(job), _waits_for_all(job), is_counted)
    check_claims(job)
    if get(job.spec, "runningEstimate") is not None:
        estimate = plain(job.spec["runningEstimate"])
        message = f"`runningEstimate: {estimate}` is dropped: no controller reads it"
        job.say(ESTIMATE, ("spec", "runningEstimate"), message, help="remove it")
    former = FormerPodNames(job)
    replicated = former.replicated(_replicated(job, task, lifecycle) for task in tasks)
    shape = JobLayout(tuple(ReplicatedJobPlan(task.role, task, task.pods, counted=task.jobs) for task in tasks))
    companions = former.files(entry.companions, [task.template.get("spec") or {} for task in tasks])
    fitting = fits(job, shape) and servable(job, shape, replicated) and starts(job)
    spec: dict[str, Tree] = {"replicatedJobs": replicated}
    if (failure := lifecycle.failure_policy()) is not None:
        spec["failurePolicy"] = failure
    if (service := job.plugins.get("svc")) is not None:
        early = Sourced(service.is_on("publish-not-ready-addresses"), Origin(by="plugin svc"))
        spec["network"] = stamp({"enableDNSHostnames": True, "publishNotReadyAddresses": early}, "plugin svc")
    ttl = get(job.spec, "ttlSecondsAfterFinished")
    if type(ttl) is Sourced and ttl.value is not None:
        spec["ttlSecondsAfterFinished"] = ttl
    if decided is not None:
        spec["successPolicy"] = decided
    barred = not (kept and all(verdicts) and fitting) and not is_open(job)
    return planned({"metadata": metadata, "spec": spec}, companions=companions, gang=gang(job), barred=barred)


def _is_known(job: JobOfTasks) -> bool:
    """Whether every number that is computed with is one; what is filled in later is reported."""
    paths: list[Path] = [("spec", name) for name in ("minAvailable", "maxRetry", "minSuccess")]
    for task in job.tasks:
        parts = (("partitionPolicy", name) for name in ("totalPartitions", "partitionSize", "minPartitions"))
        paths += [(*task.path, *path) for path in (("minAvailable",), *parts)]
    unknown = [path for path in paths if is_placeholder(value(job.document.tree, *path))]
    for path in unknown:
        message = f"`{path[-1]}` is unknown"
        help_ = "write the number: the gang and the restarts are computed from it"
        job.report.add_or_skip(UNKNOWN_SIZE.at(job.document.span(path), message, help=help_))
    return not unknown


def _replicated(job: JobOfTasks, task: Task, lifecycle: TaskLifecycle | None) -> Tree:
    index, fields = stamp("Indexed", "one index per pod of a task"), lifecycle.child_fields(task) if lifecycle else {}
    template = with_present_fields(finish(job, task), _pod_fields(job, task))
    out = replicated_job(stamp(task.role, _BY), task.pods, index, fields, template, task.jobs)
    least, tasks = get(job.spec, "minSuccess"), [task for task in job.tasks if task.count.value]
    if type(least) is Sourced and least.value is not None and is_countable(tasks):
        success_of_pods = stamp({"rules": [{"succeededCount": least}]}, "minSuccess")
        out["template"]["spec"]["successPolicy"] = success_of_pods
    others = [name for name in task.waits if (other := job.task(name)) is not None and other.count.value]
    if others:
        out["dependsOn"] = stamp([{"name": name, "status": "Ready"} for name in others], "dependsOn")
    return out


def _pod_fields(job: JobOfTasks, task: Task) -> PodFields:
    """What Volcano's labels and annotations are on the pods of a task."""
    queue = given(filled(job.spec, "queue"), Sourced("default", Origin(by=_BY)))
    fields: dict[str, str | Sourced[str]] = {}
    for field in (label, annotation):
        fields[field("volcano.sh/queue-name")] = queue
        if task.jobs.value == 1 or task.pods.value == 1:
            fields[field("volcano.sh/task-index")] = COMPLETION if task.jobs.value == 1 else JOB
    return {**fields, label("volcano.sh/job-namespace"): "metadata.namespace"}


def _waits_for_all(job: JobOfTasks) -> bool:
    """Whether no task waits for any of several; one that does is reported."""
    out = True
    for task in job.tasks:
        if value(task.tree, "dependsOn", "iteration") == "any" and len(task.waits) > 1:
            message = f"`{task.role}` waits for any of {', '.join(task.waits)}: a JobSet waits for all of them"
            help_ = "write `iteration: all`, or name one task"
            job.say(ANY_OF_SEVERAL, (*task.path, "dependsOn", "iteration"), message, help=help_)
            out = False
    return out


def check_plugins(job: JobOfTasks) -> bool:
    """Whether every plugin can be compiled; what cannot, and flags that are not read, are reported."""
    for name, flags in job.plugins.items():
        if flags.stopped >= 0:
            path = ("spec", "plugins", name, flags.stopped)
            reason = flags.problem or "this is not a flag"
            message = f"the plugin `{name}` ignores all flags from here on: {reason}"
            job.say(IGNORED, path, message, effect="the defaults apply", help="write `--name=value`")
    ssh = job.plugins.get("ssh")
    if ssh is not None and not 0 < ssh.number("ssh-port") <= _HIGHEST_PORT:
        message = f"`--ssh-port={ssh.number('ssh-port')}` is not a port: 22 is used"
        job.say(IGNORED, ("spec", "plugins", "ssh"), message, key=True, help="write a port from 1 to 65535")
    if has_key := ssh is not None and bool(ssh.text("ssh-private-key")):
        words = leaves(get(job.spec, "plugins", "ssh"))
        at = next((leaf.origin.at for _, leaf in words if "ssh-private-key" in str(leaf.value)), None)
        message = "a private key is written in the flags of the plugin `ssh`"
        effect = "anyone with read access to the repository has the key"
        help_ = "put it in a Secret with the keys `id_rsa`, `id_rsa.pub` and `authorized_keys`, and rotate the key"
        job.say(KEY, at or job.document.span(("spec", "plugins", "ssh"), key=True), message, effect=effect, help=help_)
    if "hcclrank" in job.plugins:
        message = "the annotation `hccl/rankIndex` of the plugin `hcclrank` differs from pod to pod"
        effect = "all pods of a Job share one template, so no pod would know its rank"
        help_ = "let the program take its rank from JOB_COMPLETION_INDEX, and remove the plugin"
        job.say(UNCOMPILED, ("spec", "plugins", "hcclrank"), message, key=True, effect=effect, help=help_)
    return not (_has_endless_ray(job) or has_key or "hcclrank" in job.plugins)


def _has_endless_ray(job: JobOfTasks) -> bool:
    """Whether the job has a Ray cluster without a head, or one to which no other task submits the work."""
    if (ray := job.plugins.get("ray")) is None:
        return False
    head, worker = ray.text("head"), ray.text("worker")
    if job.task(head) is None:
        message = f"the job has no head task `{head}` for its Ray cluster"
        effect, help_ = "Volcano fails each pod that it creates", f"name a task `{head}`"
    elif any(task.count.value for task in job.tasks if task.role not in {head, worker}):
        return False
    else:
        message = "nothing submits work to this Ray cluster, and nothing ends it"
        help_ = "write a RayJob, or add a task that runs `ray job submit` and whose TaskCompleted does CompleteJob"
        effect = "`ray start --block` holds its accelerators until the job is deleted"
    job.say(UNCOMPILED, ("spec", "plugins", "ray"), message, key=True, effect=effect, help=help_)
    return True


def gang(job: JobOfTasks) -> Tree:
    """The job's wishes as a scheduling policy; `volcano` places it where the cluster names no other back end."""
    spec = job.spec
    queue = get(spec, "queue")
    policy: dict[str, Tree] = {
        "minAvailable": job.minimum,
        "minTaskMember": {task.role: task.minimum for task in job.tasks},
        "queue" if is_written(queue) else "defaultQueue": queue,
    }
    for section in ("annotations", "labels"):
        written = get(job.document.tree, "metadata", section) or {}
        policy[section] = {key: text for key, text in written.items() if not key.startswith(FOR_THE_JOB)}
    for field, name in (("priorityClassName", "priorityClass"), ("networkTopology", "networkTopology")):
        if get(spec, field) is not None:
            policy[name] = spec[field]
    groups = []
    for task in [task for task in job.tasks if task.jobs.value > 1 and "partitionPolicy" in task.tree]:
        parts = task.tree["partitionPolicy"]
        group = {"task": task.role, "subGroupSize": parts["partitionSize"]}
        more = {"minSubGroups": get(parts, "minPartitions"), "networkTopology": get(parts, "networkTopology")}
        groups.append({**group, **{field: node for field, node in more.items() if node is not None}})
    return {"volcano": {}, "older": {**policy, "subGroups": groups} if groups else policy}


def starts(job: JobOfTasks) -> bool:
    """Whether the gang can be complete before the tasks that wait for others are there; else it is reported."""
    if not job.options.gang and not job.options.is_free:
        return True
    full = {task.role for task in job.tasks if task.count.value}
    waiting = [task for task in job.tasks if task.count.value and not full.isdisjoint(task.waits)]
    there = sum(task.count.value for task in job.tasks if task not in waiting)
    least = job.minimum
    if not waiting or least.value <= there:
        return True
    task = waiting[0]
    message = f"the gang needs {least.value} pods, and only {there} exist before `{task.role}` starts"
    effect = "nothing starts: the gang waits for pods that wait for the gang"
    help_ = f"set `minAvailable: {there}`, or remove `dependsOn`"
    job.say(DEADLOCK, (*task.path, "dependsOn"), message, key=True, effect=effect, help=help_)
    return False


class FormerPodNames(FormerHosts):
    """`JOB-TASK-INDEX`, alone or below the Service `JOB`, and what these pods are called in the JobSet."""

    instead = "take the names from `VC_<TASK>_HOSTS` or from the files in /etc/volcano"

    def __init__(self, job: JobOfTasks) -> None:
        super().__init__(job.document.name, job.document, job.report, job.cluster_domain)
        every = {task.role: task.hosts(job.name.value) for task in job.tasks}
        self._present = {
            f"{self.base}-{role}-{index}": host for role, hosts in every.items() for index, host in enumerate(hosts)
        }
        self.families = {role: range(len(hosts)) for role, hosts in every.items() if hosts}

    def present(self, host: str) -> str:
        first, dot, rest = host.partition(".")
        if not (present := self._present.get(first, "")) or not dot:
            return present.partition(".")[0]
        subdomain, _, below = rest.partition(".")
        if subdomain != self.base or not self.is_domain(below):
            return ""
        return f"{present}.{below}" if below else present
