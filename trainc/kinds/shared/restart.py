"""Restart policies of older jobs as fields of a Job: the policy of the pod, its budget, and what counts against it."""

from trainc.kinds.shared.job import LegacyJob, Replica
from trainc.kinds.table import LISTED, MPI_OPERATOR
from trainc.model.finding import ERROR, NOTE, WARNING, Rule
from trainc.model.sourced import Origin, Sourced, derive
from trainc.model.tree import Tree, stamp, value

FOREVER = 2147483647  # the operators' unset limit: no limit
SSH_LAUNCHER_LIMIT = 6  # the mpi-operator leaves the launcher's limit to the Job's own default

UNKNOWN_POLICY = Rule("unknown-policy", ERROR)
ALWAYS = Rule("restart-always", ERROR)
UNLIMITED = Rule("unlimited-restarts", NOTE)
EXIT_ZERO = Rule("exit-code-zero", NOTE, differs=("JAXJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob"))
EVICTED = Rule("evicted-pod-replaced", NOTE, differs=("MPIJob", "XGBoostJob"))
HANGS = Rule("restart-instead-of-hang", NOTE, differs=("MPIJob",))
WITHOUT_EFFECT = Rule("field-without-effect", NOTE)
_POLICIES = ("Always", "OnFailure", "Never", "ExitCode")
_PERMANENT = list(range(1, 128))
_RETRYABLE = list(range(128, 256))
_DISRUPTED = {"type": "DisruptionTarget", "status": "True"}
DEADLOCK = Rule("gang-waits-for-itself", ERROR)
TOLERATED = Rule("failure-not-tolerated", WARNING, differs=("MPIJob",))


def restart(
    job: LegacyJob, replica: Replica, *, decides: bool, tolerates: bool = False
) -> tuple[Sourced[str] | None, Tree] | None:
    """The pod's restart policy and the Job fields for one role, None (reported) where a Job cannot do it.

    `decides` tells whether this role's success is the job's, `tolerates` whether its pods may fail one by one.
    """
    policy = replica.restart
    if policy.value not in _POLICIES:
        path = (*replica.path, "restartPolicy")
        message = f"`{policy.value}` is not a restart policy"
        job.say(UNKNOWN_POLICY, path, message, help=f"one of {', '.join(_POLICIES)}")
        return None
    if job.kind.field == LISTED:
        if policy.value == "Always" and not _always(job, replica, decides=decides):
            return None
        if policy.value != "Never":
            return _on_failure(policy), {"backoffLimit": stamp(FOREVER, "no backoffLimit", policy)}
        name = job.kind.container
        if decides:
            codes = [_rule("FailJob", name, _PERMANENT), _rule("Ignore", name, _RETRYABLE)]
            fields: Tree = {"backoffLimit": FOREVER, "podFailurePolicy": {"rules": codes}}
        else:
            fields = {"backoffLimitPerIndex": 6, "podFailurePolicy": {"rules": [_rule("FailIndex", name, _PERMANENT)]}}
        return policy, stamp({**fields, "podReplacementPolicy": "Failed"}, "replica that may not fail the job", policy)
    limit = job.policy("backoffLimit")
    if job.kind.api == MPI_OPERATOR:
        if replica.role == "Worker":
            return policy, {"backoffLimit": derive("a dead worker is replaced", lambda _: FOREVER, policy)}
        default = Sourced(SSH_LAUNCHER_LIMIT, Origin(by="Job default"))
        again = {"podReplacementPolicy": stamp("Failed", "mpi-operator")} if replica.role == "Launcher" else {}
        return policy, {"backoffLimit": limit if type(limit) is Sourced else default, **again}
    if policy.value == "ExitCode":
        return derive("ExitCode", lambda _: "Never", policy), _exit_code(job, replica)
    if policy.value == "Never" and tolerates:
        return policy, {"backoffLimitPerIndex": stamp(0, "Never", policy)}
    if policy.value == "Never":
        if type(limit) is Sourced and limit.value and job.kind.kind != "XGBoostJob":
            message = f"`backoffLimit` never applied to `{replica.name}`: its policy is Never"
            help_ = "use `OnFailure` or `ExitCode` to retry"
            job.say(WITHOUT_EFFECT, job.policy_span("backoffLimit"), message, help=help_)
        return policy, {"backoffLimit": stamp(0, "Never", policy)}
    if policy.value == "Always" and not _always(job, replica, decides=decides):
        return None
    if job.kind.kind == "XGBoostJob":
        job.say(EVICTED, replica.path, f"a `{replica.name}` lost to eviction or a dead node is replaced", key=True)
    if type(limit) is not Sourced or limit.value is None:
        message = f"no `backoffLimit`: a pod of `{replica.name}` restarts without limit"
        job.say(UNLIMITED, replica.path, message, key=True, help="set `runPolicy.backoffLimit` to limit it")
        limit = derive("no backoffLimit", lambda _: FOREVER, replica.restart)
    return _on_failure(policy), {"backoffLimit": limit}


def _on_failure(policy: Sourced[str]) -> Sourced[str]:
    return policy if policy.value == "OnFailure" else derive(policy.value, lambda _: "OnFailure", policy)


def _always(job: LegacyJob, replica: Replica, *, decides: bool) -> bool:
    path = (*replica.path, "restartPolicy")
    if decides:
        message = f"`Always` on `{replica.name}`, whose success completes the job: it would never complete"
        job.say(ALWAYS, path, message, help="use `OnFailure`")
        return False
    message = f"a `{replica.name}` that exits with 0 does not restart"
    job.say(ALWAYS, path, message, help="use `OnFailure`", level=WARNING)
    return True


def _exit_code(job: LegacyJob, replica: Replica) -> Tree:
    by = replica.restart
    limit = job.policy("backoffLimit")
    name = value(replica.main(job.kind.container), "name")
    never = type(limit) is Sourced and limit.value == 0
    codes = [_rule("FailJob", name, _PERMANENT)]
    if not never:
        codes += [_rule("Ignore", name, _RETRYABLE), {"action": "Ignore", "onPodConditions": [_DISRUPTED]}]
    if len(replica.containers) > 1:
        job.say(EXIT_ZERO, (*replica.path, "restartPolicy"), EXIT_ZERO.summary)
    if job.kind.kind == "MPIJob":
        message = f"a `{replica.name}` that fails with a retryable code restarts"
        job.say(HANGS, (*replica.path, "restartPolicy"), message)
    fields = {"podReplacementPolicy": "Failed", "podFailurePolicy": {"rules": codes}}
    return {"backoffLimit": limit if never else stamp(FOREVER, "ExitCode", by), **stamp(fields, "ExitCode", by)}


def _rule(action: str, container: str, codes: list[int]) -> Tree:
    return {"action": action, "onExitCodes": {"containerName": container, "operator": "In", "values": codes}}
