"""The run policy of older jobs, as far as a JobSet and its Jobs can keep it; what they cannot keep is said."""

from trainc.kinds.shared.job import FOR_THE_JOB, LegacyJob, mapping, pruned
from trainc.kinds.shared.restart import UNKNOWN_POLICY, WITHOUT_EFFECT
from trainc.kinds.table import EVERY_KIND, LISTED, MPI_OPERATOR
from trainc.model.finding import NOTE, WARNING, Rule
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import Tree, filled, get, given, value
from trainc.schedulers.gang import UNKNOWN_SIZE
from trainc.text.object_keys import MULTIKUEUE

OWN_MANAGERS = ("kubeflow.org/training-operator", "kubeflow.org/mpi-operator")
CLEAN_POLICIES = ("None", "Running", "All")

CLEAN_UP = Rule("clean-up-differs", NOTE, differs=EVERY_KIND)
BUDGET = Rule("backoff-per-job", WARNING)
DEADLINE = Rule("deadline-per-job", NOTE, differs=EVERY_KIND)
DEADLINE_ZERO = Rule("deadline-zero", WARNING)
TTL = Rule("ttl-under-gitops", WARNING)
MANAGER = Rule("managed-by-dropped", NOTE, differs=EVERY_KIND)
_LATER = "children that still run when the job has its result get SIGTERM"
_MPI = Origin(by="MPIJob default")
PART_OF_GANG = Rule("part-of-gang-counted", WARNING)
UNUSED = Rule("scheduling-policy-unused", WARNING)


def jobset_fields(job: LegacyJob) -> Tree:
    """What the run policy sets on the JobSet itself."""
    out: dict[str, Tree] = {}
    suspend = job.policy("suspend")
    if type(suspend) is Sourced and suspend.value is True:
        out["suspend"] = suspend
    manager = job.policy("managedBy")
    if type(manager) is Sourced and manager.value in OWN_MANAGERS:
        message = f"`{manager.value}` is no longer involved: `managedBy` is dropped"
        job.say(MANAGER, job.policy_span("managedBy"), message)
    elif type(manager) is Sourced and job.kind.kind == "JAXJob" and manager.value not in {"", MULTIKUEUE}:
        message = f"`managedBy: {manager.value}` had no effect: the JAXJob controller ignored it"
        job.say(WITHOUT_EFFECT, job.policy_span("managedBy"), message, help="remove it")
    elif type(manager) is Sourced and manager.value:
        out["managedBy"] = manager
    ttl = job.policy("ttlSecondsAfterFinished")
    if type(ttl) is Sourced and ttl.value is not None:
        span = job.policy_span("ttlSecondsAfterFinished")
        again = "after its TTL, the job is deleted, applied again from Git, and runs again"
        if job.asks("keep-ttl") == "true":
            job.say(TTL, span, again, help="remove the annotation `trainc.dev/keep-ttl`")
            out["ttlSecondsAfterFinished"] = ttl
        else:
            help_ = 'annotate the job with `trainc.dev/keep-ttl: "true"` to keep it; otherwise, remove it'
            job.say(TTL, span, f"`ttlSecondsAfterFinished` is omitted: {again}", help=help_)
    _clean_up(job)
    return out


def scopes(job: LegacyJob, children: int) -> None:
    """Say what it means that limits apply to each of several child Jobs."""
    span = job.policy_span("activeDeadlineSeconds")
    deadline = value(job.spec, "runPolicy", "activeDeadlineSeconds")
    if deadline == 0:
        job.say(DEADLINE_ZERO, span, DEADLINE_ZERO.summary, help="set a longer deadline")
    elif deadline is not None and children > 1 and job.kind.api != MPI_OPERATOR:
        job.say(DEADLINE, span, f"each of {children} child Jobs has {deadline} s from its own start")
    limit = value(job.spec, "runPolicy", "backoffLimit")
    counted = any(replica.restart.value in {"OnFailure", "Always"} for replica in job.replicas)
    if limit is not None and children > 1 and counted and job.kind.api != MPI_OPERATOR:
        message = f"each of {children} child Jobs may restart {limit} times: the operator counted all roles together"
        job.say(BUDGET, job.policy_span("backoffLimit"), message, help="lower it if the sum matters")


def _clean_up(job: LegacyJob) -> None:
    if job.kind.field == LISTED:
        span = job.document.span(("spec", job.kind.field), key=True)
        message = "pods that still run end when the job succeeds; upstream kept them until the job was deleted"
        job.say(CLEAN_UP, span, message)
        return
    policy = job.policy("cleanPodPolicy")
    is_set = type(policy) is Sourced and policy.value is not None
    chosen = policy.value if is_set else job.kind.clean
    span = job.policy_span("cleanPodPolicy") if is_set else job.document.span(("spec", job.kind.field), key=True)
    if chosen not in CLEAN_POLICIES:
        message = f"`{chosen}` is not a clean-up policy; the operator treated it as All"
        job.say(UNKNOWN_POLICY, span, message, help=f"one of {', '.join(CLEAN_POLICIES)}")
    elif chosen == "All":
        message = "finished pods remain until the JobSet is deleted; `All` removed them"
        job.say(CLEAN_UP, span, message, level=WARNING, help="delete the JobSet when its logs are no longer needed")
    elif chosen == "None":
        message = "pods that still run end when the job finishes; `None` kept them running"
        job.say(CLEAN_UP, span, message, level=WARNING if is_set else NOTE, effect=_LATER)


def gang(job: LegacyJob) -> Tree:
    """The job's scheduling policy under the name of whoever places gangs, None without one."""
    policy = job.policy("schedulingPolicy")
    if not (chosen := job.options.gang):
        if policy:
            message = "no gang scheduler is set: `schedulingPolicy` has no effect"
            help_ = "choose a gang scheduler for jobs of other operators in trainc.yaml"
            job.say(UNUSED, job.policy_span("schedulingPolicy"), message, help=help_)
        return None
    # Say where the size of the gang, or what it asks for, rests on something that is not known here.
    least = value(policy, "minAvailable")
    span = job.policy_span("schedulingPolicy")
    if least is not None and type(least) is not int:
        help_ = "write the number: what the gang needs is computed from it"
        job.say(UNKNOWN_SIZE, span, "the size of the gang is unknown", help=help_)
    # Requests are summed up by those of its schedulers that look at them, if nobody says them.
    sums = chosen in {"volcano", "coscheduling"} and get(policy, "minResources") is None
    if type(least) is int and 0 < least < job.pods and sums:
        classes = {value(replica.template, "spec", "priorityClassName") for replica in job.replicas}
        if len(classes) > 1 or (len(job.replicas) > 1 and job.kind.api != MPI_OPERATOR):
            message = f"`minResources` counts {least} of {job.pods} pods in the order of the roles"
            help_ = "set `minResources`, or set `minAvailable` to the number of all pods"
            job.say(PART_OF_GANG, span, message, help=help_)
    defaults: dict[str, Tree] = {}
    copied = mapping(get(job.document.tree, "metadata", "annotations"))
    if job.kind.api == MPI_OPERATOR:  # v0.8.2 of which fills these in, the launcher's class first, and copies nothing
        defaults["operatorTimeout"] = Sourced(0, _MPI)
        first = given(*(filled(replica.template, "spec", "priorityClassName") for replica in reversed(job.replicas)))
        defaults |= {} if first is None else {"priorityClass": first}
        copied = {}
    # The training operator copied them to the PodGroup; some are for whoever applies the job.
    copied = {key: text for key, text in copied.items() if not key.startswith(FOR_THE_JOB)}
    own = {"scheduler": Sourced(chosen, Origin(by="project")), "annotations": copied}
    written = {name: node for name, node in (pruned(policy) or {}).items() if value(policy, name) != ""}
    return {"older": {**defaults, **written, **own}}
