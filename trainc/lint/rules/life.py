"""Whether a job has pods, and how it fails, restarts and keeps its state."""

from trainc.lint.facts.job import Container, ExpandedRole, Findings, Job, each
from trainc.lint.facts.storage import keeps_state, mount_of, outlives
from trainc.lint.facts.values import flag, rows, table, text, texts
from trainc.lint.facts.world import collective
from trainc.model.finding import ERROR, NOTE, WARNING, Label, Rule
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree
from trainc.schedulers.gang import NO_PODS
from trainc.text.object_keys import TPU_RESOURCE

PARTIAL = Rule("partial-restarts", WARNING)
NO_POLICY = Rule("no-failure-policy", NOTE)
NO_CHECKPOINT = Rule("restarts-without-checkpoint", WARNING)
SHADOWED = Rule("failure-rule-shadowed", WARNING)
PATTERN = Rule("bad-failure-pattern", WARNING)
DISRUPTION = Rule("disruption-not-handled", WARNING)
GRACE = Rule("short-grace-period", NOTE)
LIVENESS = Rule("liveness-without-startup", WARNING)
NEGATIVE = Rule("negative-restarts", WARNING)
UNEQUAL = Rule("pods-not-all-at-once", ERROR)
ROLE = Rule("role-name-empty", ERROR)
MANAGED = Rule("job-managed-by-other", WARNING)
NEGATIVE_GRACE = Rule("negative-grace-period", WARNING)
IN_CONTAINER = Rule("checkpoints-in-container", WARNING)
MAINTENANCE = Rule("maintenance-half-handled", WARNING)

_FAILED_BY_RULE, _DISRUPTED = "PodFailurePolicy", "DisruptionTarget"
_NO_LIMIT = 2**31 - 1  # of failed pods
_SPOT = (
    "cloud.google.com/gke-spot", "cloud.google.com/gke-preemptible", "eks.amazonaws.com/capacityType",
    "kubernetes.azure.com/scalesetpriority", "karpenter.sh/capacity-type",
)  # fmt: skip
_OPTIONS = ("output_dir", "checkpoint_dir", "checkpoint_path", "ckpt_dir", "save_dir", "save", "snapshot_path")


def partial_restarts(role: ExpandedRole) -> Findings:
    has_limit = role.spec.get("backoffLimit") is not None
    if has_limit or not role.several or "podFailurePolicy" in role.spec or "backoffLimitPerIndex" in role.spec:
        return
    if collective(role) or TPU_RESOURCE in role.devices:
        message = f"the Jobs of `{role.name}` restart single pods up to 6 times while the others wait"
        effect = "a pod that restarts alone finds no rendezvous, and the group hangs until its timeout, up to 6 times"
        help_ = "set `backoffLimit: 0`, and use `failurePolicy.maxRestarts`, which restarts all pods together"
        yield PARTIAL.at(role.at("name"), message, effect=effect, help=help_)


def no_failure_policy(job: Job) -> Findings:
    if job.bundle.keeps_job:
        return  # a Job has a number of retries of its own
    if "failurePolicy" not in job.spec and any(role.several and role.devices for role in job.roles):
        if not (effect := _ending(job)):
            return  # its Jobs replace pods without end
        help_ = "set `failurePolicy: {maxRestarts: 3}` to restart all pods up to three times"
        if job.is_legacy:
            help_ = "use `trainc migrate` to get a TrainJob, whose runtime can restart all pods"
        yield NO_POLICY.at(job.at(("spec",), key=True), "one failed Job fails the whole job", effect=effect, help=help_)


def _ending(job: Job) -> str:
    """After how many failed pods a job ends that no policy restarts, "" where no number of them ends it."""
    limits = {role.name: role.retries for role in job.roles if role.count != 0}
    for role in job.roles:
        rules = rows(table(role.spec, "podFailurePolicy"), "rules")
        spares = any(text(rule, "action") == "Ignore" and _is_for_disruption(rule) for rule in rules)
        if role.count != 0 and role.retries == 0 and not spares:  # which would not count the pods of drained nodes
            return "a drained node ends the training"
    fewest = min((limit for limit in limits.values() if limit is not None), default=None)
    if fewest is None:
        return "the training ends when its Jobs have no retries left"
    if fewest >= _NO_LIMIT:
        return ""
    name = next(name for name, limit in limits.items() if limit == fewest)
    pods = "one pod" if fewest == 0 else f"{fewest + 1} pods"
    have = "has" if fewest == 0 else "have"
    return f"a drained pod is replaced; the training ends when {pods} of a Job of `{name}` {have} failed"


def _is_for_disruption(rule: Tree) -> bool:
    return any(text(condition, "type") == _DISRUPTED for condition in rows(rule, "onPodConditions"))


def restarts_without_checkpoint(job: Job) -> Findings:
    restarts = job.max_restarts
    if type(restarts) is not int or restarts < 1:
        return
    if not any(role.devices for role in job.roles) or any(keeps_state(role) for role in job.roles):
        return
    at = job.at(("spec", "failurePolicy", "maxRestarts"))
    message = f"the job may restart {restarts} times, but it writes checkpoints to no volume, PVC or bucket"
    effect = "training restarts from step 0"
    help_ = "mount a PVC, or write checkpoints to a bucket given in the arguments"
    yield NO_CHECKPOINT.at(at, message, effect=effect, help=help_, level=WARNING if restarts > 3 else NOTE)


def failure_rule_shadowed(job: Job) -> Findings:
    rules = rows(table(job.spec, "failurePolicy"), "rules")
    fields = ("onJobFailureReasons", "onJobFailureMessagePatterns", "targetReplicatedJobs")
    for index, rule in enumerate(rules):
        for earlier in range(index):
            pairs = [(set(texts(rules[earlier], field)), set(texts(rule, field))) for field in fields]
            if all(not wide or (narrow and narrow <= wide) for wide, narrow in pairs):
                at = job.at(("spec", "failurePolicy", "rules", index))
                message = f"rule {index + 1} (`{text(rule, 'action')}`) never matches: rule {earlier + 1} (`{text(rules[earlier], 'action')}`) matches first"
                also = [Label(job.at(("spec", "failurePolicy", "rules", earlier)), "this rule matches first")]
                effect = f"such failures always lead to `{text(rules[earlier], 'action')}`"
                help_ = "put the narrower rule first, or distinguish them by reason, message or role"
                yield SHADOWED.at(at, message, also=also, effect=effect, help=help_)
                break


def maintenance_half_handled(job: Job) -> Findings:
    policy = rows(table(job.spec, "failurePolicy"), "rules")
    reacting = [index for index, rule in enumerate(policy) if _FAILED_BY_RULE in texts(rule, "onJobFailureReasons")]
    rules = [(r, i, rule) for r in job.roles for i, rule in enumerate(rows(table(r.spec, "podFailurePolicy"), "rules"))]
    failing = [(role, index, rule) for role, index, rule in rules if text(rule, "action") == "FailJob"]
    disrupted = [(role, index) for role, index, rule in failing if _is_for_disruption(rule)]
    if disrupted and not reacting and "failurePolicy" in job.spec:
        role, index = disrupted[0]
        at = role.spec_at("podFailurePolicy", "rules", index, "action")
        message = (
            f"a lost node fails the Job of `{role.name}`, but the JobSet has no rule for the reason `{_FAILED_BY_RULE}`"
        )
        effect = "every maintenance event counts as a failure: it uses up a restart or fails the job at once"
        help_ = f"add a rule `RestartJobSetAndIgnoreMaxRestarts` for `{_FAILED_BY_RULE}` to `failurePolicy.rules`"
        yield MAINTENANCE.at(at, message, effect=effect, help=help_)
    if reacting and not failing:
        at = job.at(("spec", "failurePolicy", "rules", reacting[0], "onJobFailureReasons"))
        message = f"the JobSet has a rule for the reason `{_FAILED_BY_RULE}`, but no Job has a pod failure policy that fails it"
        effect = "no Job ever fails for that reason, so the rule never matches"
        help_ = f"add a `podFailurePolicy` with the action FailJob on `{_DISRUPTED}` to the Jobs, or remove the rule"
        yield MAINTENANCE.at(at, message, effect=effect, help=help_)


def bad_failure_pattern(job: Job) -> Findings:
    for index, rule in enumerate(rows(table(job.spec, "failurePolicy"), "rules")):
        for at, pattern in enumerate(texts(rule, "onJobFailureMessagePatterns")):
            from trainc.apiserver.schema import engine  # noqa: PLC0415 (few jobs have such patterns)

            trouble, is_refused = engine.pattern_trouble(pattern)
            if is_refused:
                reason = trouble.removeprefix("error parsing regexp: ")
                span = job.at(("spec", "failurePolicy", "rules", index, "onJobFailureMessagePatterns", at))
                effect, help_ = (
                    "JobSet logs the error, and the rule never matches",
                    "escape literal characters with a backslash",
                )
                yield PATTERN.at(span, f"`{pattern}` is not a regular expression: {reason}", effect=effect, help=help_)
            elif trouble:
                job.report.skip(trouble)


def disruption_not_handled(role: ExpandedRole) -> Findings:
    label = next((key for key in _SPOT if role.node_label(key).lower() in ("true", "spot")), "")
    if not label or "podFailurePolicy" in role.spec:
        return
    policy = rows(table(role.job.spec, "failurePolicy"), "rules")
    if any(text(rule, "action").endswith("IgnoreMaxRestarts") for rule in policy):
        return
    message = f"`{role.name}` runs on preemptible nodes, and each preemption counts as a failure"
    effect = "a few preemptions use up all restarts and fail the job"
    help_ = "add a pod failure policy on `DisruptionTarget`, and a rule `RestartJobSetAndIgnoreMaxRestarts` for `PodFailurePolicy`"
    yield DISRUPTION.at(role.job.at(role.node_labels[label][1]), message, effect=effect, help=help_)


def short_grace_period(role: ExpandedRole) -> Findings:
    saves = any("checkpoint" in container.text or "ckpt" in container.text for container in role.main)
    if role.devices and "terminationGracePeriodSeconds" not in role.pod and saves:
        message = f"the pods of `{role.name}` have 30 seconds to stop, but they write checkpoints"
        effect = "a checkpoint in progress may be lost when the node is drained"
        help_ = "set `terminationGracePeriodSeconds` to the time that a checkpoint takes"
        yield GRACE.at(role.pod_at(), message, effect=effect, help=help_)


def liveness_without_startup(container: Container) -> Findings:
    if "livenessProbe" not in container.tree or "startupProbe" in container.tree:
        return
    probe = table(container.tree, "livenessProbe")
    held = {key: leaf.value for key, leaf in probe.items() if type(leaf) is Sourced and type(leaf.value) is int}
    patience = held.get("initialDelaySeconds", 0) + held.get("periodSeconds", 10) * held.get("failureThreshold", 3)
    if container.devices and patience < 300:
        message = f"`{container.name}` is killed unless it responds within {patience} seconds of its start"
        effect = "a container that loads data or weights for longer is killed again and again"
        help_ = "add a `startupProbe` with a longer limit, or remove the probe: a failed training exits on its own"
        yield LIVENESS.at(container.at("livenessProbe", key=True), message, effect=effect, help=help_)


def negative_restarts(job: Job) -> Findings:
    restarts = job.max_restarts
    if type(restarts) is int and restarts < 0:
        message = f"`maxRestarts` is {restarts}"
        effect = "JobSet treats it as 0: the first failure fails the job"
        help_ = "set the number of restarts, or remove the field"
        yield NEGATIVE.at(job.at(("spec", "failurePolicy", "maxRestarts")), message, effect=effect, help=help_)


def role_name_empty(role: ExpandedRole) -> Findings:
    if not role.name:
        effect, help_ = "no field can refer to it", "name it, e.g. `worker`"
        yield ROLE.at(role.at(), "a role has no name", effect=effect, help=help_)


def no_pods(role: ExpandedRole) -> Findings:
    if 0 in (role.replicas, role.width, role.size):
        at = role.at("replicas")
        if role.replicas != 0:
            at = role.spec_at("parallelism" if role.width == 0 else "completions")
        effect = "nothing runs, and roles that wait for it never continue"
        yield NO_PODS.at(at, f"`{role.name}` has no pods", effect=effect, help="set at least 1, or remove the role")


def pods_not_all_at_once(role: ExpandedRole) -> Findings:
    width, size = role.width, role.size
    if type(width) is not int or type(size) is not int or not 0 < width < size or not role.indexed:
        return
    if collective(role):
        message = f"a Job of `{role.name}` has {size} pods but runs only {width} at once"
        also = [Label(role.spec_at("parallelism"), f"{width} at once")]
        effect = f"the first {width} wait for the other {size - width}, which start only after the first have ended"
        help_ = f"use `parallelism: {size}`"
        yield UNEQUAL.at(role.spec_at("completions"), message, also=also, effect=effect, help=help_)


def job_managed_by_other(role: ExpandedRole) -> Findings:
    if (manager := text(role.spec, "managedBy")) and manager != "kubernetes.io/job-controller":
        message = f"the Jobs of `{role.name}` are managed by `{manager}`"
        effect = "Kubernetes creates no pods for them; without that controller the job never starts"
        help_ = "set `spec.managedBy` of the whole JobSet instead"
        yield MANAGED.at(role.spec_at("managedBy"), message, effect=effect, help=help_)


def negative_grace_period(role: ExpandedRole) -> Findings:
    leaf = role.pod.get("terminationGracePeriodSeconds")
    if type(leaf) is Sourced and type(leaf.value) is int and leaf.value < 0:
        at = role.pod_at("terminationGracePeriodSeconds")
        effect = "Kubernetes treats it as one second: a checkpoint in progress is lost"
        help_ = "set the seconds that a checkpoint takes, such as 120"
        yield NEGATIVE_GRACE.at(at, f"the pods have {leaf.value} seconds to stop", effect=effect, help=help_)


def checkpoints_in_container(container: Container) -> Findings:
    given = container.options if container.devices else {}
    path = next((given[name] for name in _OPTIONS if given.get(name)), "")
    is_path = path.startswith(("/", "./", "../")) and not any(mark in path for mark in "${<")  # and no bucket
    if is_path and not _is_kept(container, path):
        writable = [mount for mount in rows(container.tree, "volumeMounts") if not flag(mount, "readOnly")]
        volumes = container.role.volumes
        lasting = [m for m in writable if (name := text(m, "name")) in volumes and outlives(volumes[name])]
        message = f"`{path}` is not on a volume"
        effect = "training restarts from step 0, and the result is lost when the pod is deleted"
        help_ = "mount a PVC, and write to a path below its `mountPath`"
        if lasting:
            help_ = f"write to a path below `{text(lasting[0], 'mountPath')}`, where a volume is mounted"
        yield IN_CONTAINER.at(container.at_word(path), message, effect=effect, help=help_)


def _is_kept(container: Container, path: str) -> bool:
    """Whether a volume holds the path, or may hold it: a relative one depends on the working directory."""
    if not path.startswith("/"):
        if any(simple.program == "cd" for simple in container.commands):
            return True
        path = text(container.tree, "workingDir")
    return bool(path and mount_of(container, path)[0])


CHECKS = (
    each(
        lambda job: job.roles,
        partial_restarts, disruption_not_handled, short_grace_period, role_name_empty, no_pods,
        pods_not_all_at_once, job_managed_by_other, negative_grace_period,
    ),
    each(lambda job: job.main, liveness_without_startup, checkpoints_in_container),
    no_failure_policy, restarts_without_checkpoint, failure_rule_shadowed, maintenance_half_handled,
    bad_failure_pattern, negative_restarts,
)  # fmt: skip
