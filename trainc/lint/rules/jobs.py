"""What batch/v1 says about the child Jobs once the JobSet controller makes them (Kubernetes 1.36)."""

from __future__ import annotations

from trainc.lint.facts.values import text
from trainc.lint.refusal import Explanation, Words
from trainc.model.finding import ERROR, WARNING, Label, Rule
from trainc.model.tree import get, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Findings, Job
    from trainc.lint.refusal import ServerComplaint


ALWAYS = Rule("restart-policy-always", ERROR)
NO_COMPLETIONS = Rule("completions-missing", ERROR)
MODE = Rule("unknown-completion-mode", ERROR)
NEGATIVE = Rule("negative-job-setting", ERROR)
SELECTOR = Rule("job-selector", ERROR)
PER_INDEX = Rule("per-index-limit-without-index", ERROR)
OWN_SUCCESS = Rule("bad-job-success-policy", ERROR)
NEEDS_NEVER = Rule("failure-policy-needs-never", ERROR)
RULES = Rule("bad-pod-failure-rule", ERROR)
NO_CONTAINER = Rule("exit-code-container-unknown", ERROR)
MANAGED = Rule("job-managed-by-other", WARNING)

_COUNTS = (
    "parallelism",
    "completions",
    "backoffLimit",
    "activeDeadlineSeconds",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)


def _completions(refused: ServerComplaint) -> Words:
    role = refused.role
    if role is None or "parallelism" not in role.spec:
        return Words("an indexed Job has no `completions`", "add `completions`", key=True)
    width = role.width
    help_ = f"add `completions: {width}`" if type(width) is int else "add `completions` of the same value"
    return Words(f"`{role.name}` has `parallelism` but no `completions`", help_)


def _always(refused: ServerComplaint) -> Words:
    name = refused.role.name if refused.role is not None else ""
    return Words(
        f"the pods of `{name}` restart always, so the Job never ends",
        "use `Never`, and let JobSet's `failurePolicy.maxRestarts` restart all pods together",
    )


def _negative(refused: ServerComplaint) -> Words:
    least = 1 if refused.path[-1] in ("parallelism", "completions") else 0
    # Both counts come from one number of nodes, and are wrong together.
    group = ("count", refused.path[2]) if least else None
    return Words(f"`{refused.path[-1]}` is {refused.written}", f"write {least} or more", group=group)


def _selector(refused: ServerComplaint) -> Words:
    name = refused.role.name if refused.role is not None else ""
    field = refused.path[-1] if refused.path[-1] in ("selector", "manualSelector") else "selector"
    return Words(f"`{field}` is set on the Job of `{name}`", "remove it", key=True, group=(name, "selector"))


def _index_only(refused: ServerComplaint) -> Words:
    return Words(f"`{refused.path[-1]}` needs an indexed Job", key=True)


def _needs_never(refused: ServerComplaint) -> Words:
    role = refused.role
    also: tuple[Label, ...] = ()
    if role is not None:
        also = (Label(refused.job.at((*role.spec_path, "podFailurePolicy"), key=True), "this policy needs `Never`"),)
    message = (
        "the pods restart on failure, so the pod failure policy cannot judge them"
        if refused.has(refused.path)
        else "JobSet makes the pods restart on failure where nothing is said, and the pod failure policy needs `Never`"
    )
    return Words(message, "set `restartPolicy: Never` in the pod template", also=also)


def _order(refused: ServerComplaint) -> Words:
    values = plain(get(refused.job.tree, *refused.path))
    return Words("the exit codes are not in order", f"write {sorted(values)}")


def _container(refused: ServerComplaint) -> Words:
    names = {container.name for container in refused.role.containers} if refused.role is not None else set()
    known = ", ".join(f"`{name}`" for name in sorted(names))
    return Words(f"no container is called `{refused.fault.value}`", f"the containers are {known}")


def _replacement(refused: ServerComplaint) -> Words:
    if '"TerminatingOrFailed"' in refused.reason.partition("supported values")[2]:
        return Words(f"`{refused.fault.value}` is not a pod replacement policy", "use `Failed`")
    return Words(f"`{refused.fault.value}` does not go with a pod failure policy", "use `Failed`")


def _indexes(refused: ServerComplaint) -> Words:
    return Words(
        f"`{refused.fault.value}` does not list indexes of the Job",
        "write ascending indexes and ranges below `completions`, such as `0,2-4`",
    )


EXPLANATIONS = (
    Explanation(ALWAYS, "spec.restartPolicy", _always, 'valid values: "OnFailure", "Never"'),
    Explanation(NEEDS_NEVER, "spec.restartPolicy", _needs_never, "when podFailurePolicy is specified"),
    Explanation(NO_COMPLETIONS, ("spec.parallelism", "spec.completionMode"), _completions, "mode is Indexed"),
    Explanation(
        MODE, "spec.completionMode", lambda r: Words(f"`{r.fault.value}` is not a completion mode", "use `Indexed`")
    ),
    *(Explanation(NEGATIVE, f"template.spec.{field}", _negative, "or equal to 0") for field in _COUNTS),
    Explanation(SELECTOR, ("template.spec.selector", "template.spec.manualSelector"), _selector),
    Explanation(
        PER_INDEX,
        "spec.maxFailedIndexes",
        Words("`maxFailedIndexes` needs `backoffLimitPerIndex`", key=True),
        "when maxFailedIndexes is specified",
    ),
    Explanation(PER_INDEX, ("spec.backoffLimitPerIndex", "spec.maxFailedIndexes"), _index_only, "requires indexed"),
    Explanation(
        OWN_SUCCESS,
        "spec.successPolicy",
        Words("a Job's success policy needs an indexed Job", key=True),
        "requires indexed",
    ),
    Explanation(
        OWN_SUCCESS, "spec.successPolicy", Words("a Job's success policy has no rules", key=True), "at least one rules"
    ),
    Explanation(
        OWN_SUCCESS,
        "successPolicy.rules.#",
        Words("a rule of the Job's success policy names no indexes and no count", key=True),
        "at least one of",
    ),
    Explanation(OWN_SUCCESS, "rules.#.succeededIndexes", _indexes, "error parsing"),
    Explanation(
        OWN_SUCCESS,
        "rules.#.succeededCount",
        lambda r: Words(f"{r.written} pods cannot succeed here: {r.reason.rpartition(': ')[2]}"),
    ),
    Explanation(
        RULES,
        "podFailurePolicy.rules.#",
        Words("a rule looks at exit codes and at conditions", "make two rules of it"),
        "specifying both",
    ),
    Explanation(RULES, "podFailurePolicy.rules.#", Words("a rule looks at nothing"), "specifying one of"),
    Explanation(RULES, "rules.#.action", Words("`FailIndex` needs `backoffLimitPerIndex`"), "requires the backoff"),
    Explanation(
        RULES,
        "rules.#.action",
        lambda r: Words(f"`{r.fault.value or ''}` is not an action", "use `FailJob`, `FailIndex`, `Ignore` or `Count`"),
    ),
    Explanation(NO_CONTAINER, "onExitCodes.containerName", _container),
    Explanation(RULES, "onExitCodes.values", Words("a rule lists no exit codes"), "at least one value"),
    Explanation(RULES, "onExitCodes.values", _order, "must be ordered"),
    Explanation(RULES, "onExitCodes.values.#", Words("exit code 0 is not a failure"), "must not be 0"),
    Explanation(RULES, "onExitCodes.values.#", Words("an exit code is listed twice"), "Duplicate value"),
    Explanation(RULES, "spec.podReplacementPolicy", _replacement),
)


def job_managed_by_other(job: Job) -> Findings:
    for role in job.roles:
        manager = text(role.spec, "managedBy")
        if manager and manager != "kubernetes.io/job-controller":
            yield MANAGED.at(
                job.at((*role.spec_path, "managedBy")),
                f"the Jobs of `{role.name}` are left to `{manager}`",
                effect="Kubernetes makes no pods for them; without that controller the job waits for ever",
                help="hand over the whole JobSet instead: `spec.managedBy`",
            )


CHECKS = (job_managed_by_other,)
