"""What batch/v1 says about the child Jobs once the JobSet controller makes them (Kubernetes 1.36)."""

from __future__ import annotations

from trainc.model.finding import ERROR, WARNING, Label, Rule
from trainc.model.sourced import Sourced
from trainc.verify.refusal import JOB, refuse, unsupported
from trainc.verify.values import rows, substituted, table, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Path, Tree
    from trainc.verify.job import Job
    from trainc.verify.pods import Role

_WHY = "JobSet accepts the template as it is; the Job API refuses it, and only an event of the JobSet says so."

ALWAYS = Rule(
    "restart-policy-always", ERROR, "a Job's pods are to restart always", "A Job must be able to end. " + _WHY
)
NO_COMPLETIONS = Rule(
    "completions-missing",
    ERROR,
    "an indexed Job says how many pods run at once but not how many there are",
    "JobSet makes every Job indexed unless told otherwise, and an indexed Job needs `completions`. " + _WHY,
)
MODE = Rule("unknown-completion-mode", ERROR, "a completion mode that Kubernetes does not know", _WHY)
NEGATIVE = Rule("negative-job-setting", ERROR, "a count or a deadline of a Job is negative", _WHY)
SELECTOR = Rule("job-selector", ERROR, "a Job's selector is set by hand", "The Job controller makes it itself. " + _WHY)
PER_INDEX = Rule("per-index-limit-without-index", ERROR, "a limit per index without what it needs", _WHY)
OWN_SUCCESS = Rule(
    "bad-job-success-policy", ERROR, "a Job's success policy that is not for indexed Jobs, or is empty", _WHY
)
NEEDS_NEVER = Rule(
    "failure-policy-needs-never",
    ERROR,
    "a pod failure policy on pods that restart in place",
    "JobSet sets `restartPolicy: OnFailure` where it is absent, and the Job API takes a pod failure policy only with `Never`.",
)
RULES = Rule("bad-pod-failure-rule", ERROR, "a rule of the pod failure policy that the Job API refuses", _WHY)
NO_CONTAINER = Rule(
    "exit-code-container-unknown", ERROR, "a pod failure rule watches a container that is not there", _WHY
)
MANAGED = Rule(
    "job-managed-by-other",
    WARNING,
    "a child Job is handed to another controller",
    "With `managedBy` set to another controller Kubernetes itself makes no pods for the Job.",
)

_COUNTS = (
    "parallelism",
    "completions",
    "backoffLimit",
    "activeDeadlineSeconds",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)


def restart_policy_always(job: Job) -> None:
    for role in job.roles:
        if role.restart_policy == "Always":
            refuse(
                job,
                ALWAYS,
                (*role.pod_path, "restartPolicy"),
                'Required value: valid values: "OnFailure", "Never"',
                f"the pods of `{role.name}` restart always, so the Job never ends",
                by=JOB,
                help="use `Never`, and let JobSet's `failurePolicy.maxRestarts` restart all pods together",
            )


def completions_missing(job: Job) -> None:
    for role in job.roles:
        if role.indexed and "parallelism" in role.spec and "completions" not in role.spec:
            refuse(
                job,
                NO_COMPLETIONS,
                (*role.spec_path, "parallelism"),
                "Required value: when completion mode is Indexed",
                f"`{role.name}` has `parallelism` but no `completions`",
                by=JOB,
                shown=(*role.spec_path, "completions"),
                help=f"add `completions: {role.width}`"
                if type(role.width) is int
                else "add `completions` of the same value",
            )


def unknown_completion_mode(job: Job) -> None:
    for role in job.roles:
        mode = text(role.spec, "completionMode")
        if mode and mode not in ("Indexed", "NonIndexed") and not substituted(mode):
            path = (*role.spec_path, "completionMode")
            refuse(
                job,
                MODE,
                path,
                unsupported(mode, ("Indexed", "NonIndexed")),
                f"`{mode}` is no completion mode",
                by=JOB,
                help="use `Indexed`",
            )


def negative_job_setting(job: Job) -> None:
    for role in job.roles:
        for field in _COUNTS:
            leaf = role.spec.get(field)
            if leaf is not None and type(leaf) is Sourced and type(leaf.value) is int and leaf.value < 0:
                reason = f"Invalid value: {leaf.value}: must be greater than or equal to 0"
                least = 1 if field in ("parallelism", "completions") else 0
                path, hint = (*role.spec_path, field), f"write {least} or more"
                refuse(job, NEGATIVE, path, reason, f"`{field}` is {leaf.value}", by=JOB, help=hint)


def job_selector(job: Job) -> None:
    for role in job.roles:
        for field in ("selector", "manualSelector"):
            if field in role.spec:
                refuse(
                    job,
                    SELECTOR,
                    (*role.spec_path, field),
                    "Invalid value: `selector` not auto-generated",
                    f"`{field}` is set on the Job of `{role.name}`",
                    by=JOB,
                    key=True,
                    help="remove it",
                )


def per_index_limit_without_index(job: Job) -> None:
    for role in job.roles:
        spec = role.spec
        if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
            path = (*role.spec_path, "backoffLimitPerIndex")
            message = "`maxFailedIndexes` needs `backoffLimitPerIndex`"
            reason = "Required value: when maxFailedIndexes is specified"
            refuse(job, PER_INDEX, (*role.spec_path, "maxFailedIndexes"), reason, message, by=JOB, shown=path, key=True)
        for field in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if field in spec and not role.indexed:
                reason = "Invalid value: requires indexed completion mode"
                refuse(
                    job,
                    PER_INDEX,
                    (*role.spec_path, field),
                    reason,
                    f"`{field}` needs an indexed Job",
                    by=JOB,
                    key=True,
                )


def bad_job_success_policy(job: Job) -> None:
    for role in job.roles:
        if "successPolicy" not in role.spec:
            continue
        path = (*role.spec_path, "successPolicy")
        if not role.indexed:
            reason = "Invalid value: requires indexed completion mode"
            refuse(job, OWN_SUCCESS, path, reason, "a Job's success policy needs an indexed Job", by=JOB, key=True)
        if not rows(table(role.spec, "successPolicy"), "rules"):
            reason = "Required value: at least one rules must be specified when the successPolicy is specified"
            refuse(
                job,
                OWN_SUCCESS,
                path,
                reason,
                "a Job's success policy has no rules",
                by=JOB,
                key=True,
                shown=(*path, "rules"),
            )


def failure_policy_needs_never(job: Job) -> None:
    for role in job.roles:
        if "podFailurePolicy" in role.spec and role.restart_policy == "OnFailure":
            set_here = "restartPolicy" in role.pod
            policy = Label(job.at((*role.spec_path, "podFailurePolicy"), key=True), "this policy needs `Never`")
            refuse(
                job,
                NEEDS_NEVER,
                (*role.pod_path, "restartPolicy"),
                'Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified',
                "the pods restart on failure, so the pod failure policy cannot judge them"
                if set_here
                else "JobSet makes the pods restart on failure where nothing is said, and the pod failure policy needs `Never`",
                by=JOB,
                also=[policy],
                help="set `restartPolicy: Never` in the pod template",
            )


def bad_pod_failure_rule(job: Job) -> None:
    for role in job.roles:
        if "podFailurePolicy" not in role.spec:
            continue
        path = (*role.spec_path, "podFailurePolicy", "rules")
        for index, rule in enumerate(rows(table(role.spec, "podFailurePolicy"), "rules")):
            _failure_rule(job, role, (*path, index), rule)
        policy = text(role.spec, "podReplacementPolicy")
        if policy and policy != "Failed":
            at = (*role.spec_path, "podReplacementPolicy")
            message = f"`{policy}` does not go with a pod failure policy"
            refuse(job, RULES, at, unsupported(policy, ("Failed",)), message, by=JOB, help="use `Failed`")


def _failure_rule(job: Job, role: Role, path: Path, rule: Tree) -> None:
    codes, conditions = table(rule, "onExitCodes"), rows(rule, "onPodConditions")
    if codes and conditions:
        reason = 'Invalid value: "": specifying both OnExitCodes and OnPodConditions is not supported'
        refuse(
            job,
            RULES,
            path,
            reason,
            "a rule looks at exit codes and at conditions",
            by=JOB,
            help="make two rules of it",
        )
    elif not codes and not conditions:
        reason = 'Invalid value: "": specifying one of OnExitCodes and OnPodConditions is required'
        refuse(job, RULES, path, reason, "a rule looks at nothing", by=JOB)
    if text(rule, "action") == "FailIndex" and "backoffLimitPerIndex" not in role.spec:
        reason = 'Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set'
        refuse(job, RULES, (*path, "action"), reason, "`FailIndex` needs `backoffLimitPerIndex`", by=JOB)
    _exit_codes(job, (*path, "onExitCodes"), codes)


def _exit_codes(job: Job, path: Path, codes: Tree) -> None:
    values = [leaf.value for leaf in codes.get("values", ()) if type(leaf) is Sourced] if codes else [1]
    at = (*path, "values")
    if not values:
        refuse(
            job, RULES, at, "Invalid value: []: at least one value is required", "a rule lists no exit codes", by=JOB
        )
    numbers = [value for value in values if type(value) is int]
    if 0 in numbers and text(codes, "operator") == "In":
        fault = "Invalid value: 0: must not be 0 for the In operator"
        refuse(job, RULES, (*at, numbers.index(0)), fault, "exit code 0 is no failure", by=JOB)
    if len(set(numbers)) < len(numbers):
        refuse(job, RULES, at, "Duplicate value", "an exit code is listed twice", by=JOB)
    elif numbers != sorted(numbers):
        refuse(
            job,
            RULES,
            at,
            f"Invalid value: {numbers}: must be ordered",
            "the exit codes are not in order",
            by=JOB,
            help=f"write {sorted(numbers)}",
        )


def exit_code_container_unknown(job: Job) -> None:
    for role in job.roles:
        if "podFailurePolicy" not in role.spec:
            continue
        names = {container.name for container in role.containers}
        for index, rule in enumerate(rows(table(role.spec, "podFailurePolicy"), "rules")):
            name = text(table(rule, "onExitCodes"), "containerName")
            if name and name not in names:
                path = (*role.spec_path, "podFailurePolicy", "rules", index, "onExitCodes", "containerName")
                reason = (
                    f'Invalid value: "{name}": must be one of the container or initContainer names in the pod template'
                )
                known = ", ".join(f"`{n}`" for n in sorted(names))
                refuse(
                    job,
                    NO_CONTAINER,
                    path,
                    reason,
                    f"no container is called `{name}`",
                    by=JOB,
                    help=f"the containers are {known}",
                )


def job_managed_by_other(job: Job) -> None:
    for role in job.roles:
        manager = text(role.spec, "managedBy")
        if manager and manager != "kubernetes.io/job-controller":
            job.report.add(
                MANAGED.at(
                    job.at((*role.spec_path, "managedBy")),
                    f"the Jobs of `{role.name}` are left to `{manager}`",
                    effect="Kubernetes makes no pods for them; without that controller the job waits for ever",
                    help="hand over the whole JobSet instead: `spec.managedBy`",
                )
            )
