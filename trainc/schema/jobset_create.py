"""JobSet's validating webhook for a new object (sigs.k8s.io/jobset pkg/webhooks, after 0.12)."""

from __future__ import annotations

from trainc.model.sourced import Sourced
from trainc.schema.celrun import bare
from trainc.schema.fault import Fault, dotted, invalid, of_webhook
from trainc.schema.jobset_claims import claim_faults
from trainc.schema.names import TOO_LONG_63, dns1035, label_value, prefixed_path, subdomain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainc.model.tree import Path, Tree
    from trainc.schema.node import Node
    from trainc.schema.profile import Profile

_MAX_INT32 = 2**31 - 1
_REASONS = frozenset(
    ["BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded", "PodFailurePolicy"]
)
_RESTARTS = frozenset({"RestartJob", "RestartJobAndIgnoreMaxRestarts"})
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_RULE_ENDS = _LETTERS | frozenset("0123456789_")
_RULE_CHARS = _RULE_ENDS | frozenset(",:")


def create_faults(tree: Tree, node: Node, profile: Profile) -> list[Fault]:
    """What the webhook has against a new JobSet that passed the schema."""
    spec = tree["spec"] if type(tree.get("spec")) is dict else {}
    jobs = spec.get("replicatedJobs", [])
    names = {of(job, "name", ""): job for job in reversed(jobs)}
    metadata = tree.get("metadata", {})
    name = of(metadata, "name", "")
    generated = name == of(metadata, "generateName", "")[:58] + "abcde"
    named = profile.jobset >= (0, 13) or not generated
    faults = [*_first_job(jobs), *_managed_by(spec), *_subdomain(spec)]
    for index, job in enumerate(jobs):
        faults += _job(name, index, job, named=named)
        if "dependsOn" in job:
            faults += _dependencies(index, job, jobs)
    if "successPolicy" in spec:
        faults += _targets(spec, names)
    if "failurePolicy" in spec:
        faults += _failure_policy(spec["failurePolicy"], jobs, names, profile)
    if "coordinator" in spec:
        faults += _coordinator(spec, name, names)
    if "volumeClaimPolicies" in spec:
        faults += claim_faults(tree, node, profile)
    return faults


def of(holder: Tree, name: str, default: Any = None) -> Any:
    """The bare value of a field."""
    value = holder.get(name)
    if value.__class__ is Sourced:
        return value.value
    return default if value is None else value


def plain_fault(message: str, path: Path) -> Fault:
    """An error that the webhook gives without a field; `path` is where it can be mended."""
    return of_webhook(f"<nil>: Internal error: {message}", path)


def field_fault(path: Path, value: Any, reason: str, at: Path = ()) -> Fault:
    """An `Invalid value` at a field."""
    return of_webhook(invalid(dotted(path), value, reason), at or path, value)


def _first_job(jobs: list[Tree]) -> list[Fault]:
    if jobs and "dependsOn" in jobs[0]:
        return [
            plain_fault(
                "DependsOn can't be set for the first ReplicatedJob", ("spec", "replicatedJobs", 0, "dependsOn")
            )
        ]
    return []


def _managed_by(spec: Tree) -> list[Fault]:
    manager = of(spec, "managedBy")
    path = ("spec", "managedBy")
    if manager is None:
        return []
    if not manager:
        return [of_webhook("spec.managedBy: Required value", path, manager)]
    faults = [field_fault(path, value, reason) for value, reason in prefixed_path(manager)]
    if len(manager) > 63:
        faults.append(of_webhook("spec.managedBy: Too long: may not be more than 63 bytes", path, manager))
    return faults


def _subdomain(spec: Tree) -> list[Fault]:
    name = of(spec.get("network", {}), "subdomain")
    path = ("spec", "network", "subdomain")
    if name is None:
        return []
    short = ".spec.network.subdomain is too long, must be less than 63 characters"
    return [
        *(field_fault(path, name, reason) for reason in subdomain(name)),
        *(field_fault(path, name, short if reason is TOO_LONG_63 else reason) for reason in dns1035(name)),
    ]


def _job(jobset: str, index: int, job: Tree, *, named: bool) -> list[Fault]:
    at: Path = ("spec", "replicatedJobs", index)
    spec = job["template"]["spec"]
    name, replicas = of(job, "name", ""), of(job, "replicas", 0)
    parallelism = of(spec, "parallelism", 1)
    faults: list[Fault] = []
    if abs(replicas * parallelism) > _MAX_INT32:
        text = f"the product of replicas and parallelism must not exceed {_MAX_INT32} for replicatedJob '{name}'"
        faults.append(plain_fault(text, (*at, "replicas")))
    group = of(job, "groupName", "")
    if group != "default":
        long = ".spec.replicatedJob[].groupName is too long, must be less than 63 characters"
        for reason in dns1035(group):
            faults.append(field_fault((*at, "groupName"), group, long if reason is TOO_LONG_63 else reason))
    return [*faults, *_child_names(f"{jobset}-{name}-{replicas - 1}", spec, (*at, "name"))] if named else faults


def _child_names(job: str, spec: Tree, path: Path) -> list[Fault]:
    """The longest names of child Jobs and, where their number is known, of pods have to be DNS-1035 labels."""
    reasons = [
        "JobSet name is too long, job names generated for this JobSet will exceed 63 characters"
        if reason is TOO_LONG_63
        else reason
        for reason in dns1035(job)
    ]
    if of(spec, "completionMode") == "Indexed" and "completions" in spec:
        # A pod's name ends with its index and five random characters.
        pod = f"{job}-{of(spec, 'completions') - 1}-abcde"
        reasons += [
            "JobSet name is too long, pod names generated for this JobSet will exceed 63 characters"
            if reason is TOO_LONG_63
            else reason
            for reason in dns1035(pod)
        ]
    return [field_fault(path, job, reason) for reason in dict.fromkeys(reasons)]


def _dependencies(index: int, job: Tree, jobs: list[Tree]) -> list[Fault]:
    name = of(job, "name", "")
    earlier = {of(other, "name", "") for other in jobs[: index + 1]}
    return [
        plain_fault(
            f"replicatedJob: {name} cannot depend on replicatedJob: {of(item, 'name', '')}",
            ("spec", "replicatedJobs", index, "dependsOn", number, "name"),
        )
        for number, item in enumerate(job.get("dependsOn", ()))
        if of(item, "name", "") not in earlier
    ]


def _targets(spec: Tree, names: dict[str, Tree]) -> list[Fault]:
    targets = spec.get("successPolicy", {}).get("targetReplicatedJobs", ())
    return [
        plain_fault(
            f"invalid replicatedJob name '{bare(target)}' does not appear in .spec.ReplicatedJobs",
            ("spec", "successPolicy", "targetReplicatedJobs", index),
        )
        for index, target in enumerate(targets)
        if bare(target) not in names
    ]


def _failure_policy(policy: Tree, jobs: list[Tree], names: dict[str, Tree], profile: Profile) -> list[Fault]:
    at: Path = ("spec", "failurePolicy")
    faults = _restart_strategy(of(policy, "restartStrategy"), jobs, profile)
    rules = policy.get("rules", [])
    gated = [index for index, rule in enumerate(rules) if of(rule, "action") in _RESTARTS]
    if gated and "RestartJob" not in profile.gates:
        text = (
            "RestartJob and RestartJobAndIgnoreMaxRestarts failure policy actions are not allowed "
            "when RestartJob feature gate is disabled"
        )
        return [*faults, plain_fault(text, (*at, "rules", gated[0], "action"))]
    if gated and any(of(job, "replicas", 0) > 1024 for job in jobs):
        text = (
            "JobSet cannot have a failure policy rule with RestartJob or RestartJobAndIgnoreMaxRestarts action "
            "and a replicated job with replicas > 1024"
        )
        faults.append(plain_fault(text, (*at, "rules", gated[0], "action")))
    for index, rule in enumerate(rules):
        faults += _rule(rule, names, (*at, "rules", index))
    return [*faults, *_rule_names(rules)]


def _restart_strategy(strategy: Any, jobs: list[Tree], profile: Profile) -> list[Fault]:
    if strategy != "InPlaceRestart":
        return []
    if "InPlaceRestart" not in profile.gates:
        text = "InPlaceRestart restart strategy cannot be set when InPlaceRestart feature gate is disabled"
        return [plain_fault(text, ("spec", "failurePolicy", "restartStrategy"))]
    return [fault for index, job in enumerate(jobs) for fault in _in_place(index, job)]


def _in_place(index: int, job: Tree) -> list[Fault]:
    spec = job["template"]["spec"]
    at: Path = ("spec", "replicatedJobs", index, "template", "spec")
    name = of(job, "name", "")
    limit, replacement = of(spec, "backoffLimit"), of(spec, "podReplacementPolicy")
    completions, parallelism = of(spec, "completions"), of(spec, "parallelism")
    when = "when in-place restart is enabled"
    faults: list[Fault] = []
    if limit != _MAX_INT32:
        text = f"replicatedJob {name}: must be set to {_MAX_INT32} (MaxInt32) {when}"
        faults.append(field_fault((*at, "backoffLimit"), limit, text))
    if replacement != "Failed":
        text = f"replicatedJob {name}: must be set to Failed {when}"
        faults.append(field_fault((*at, "podReplacementPolicy"), replacement, text))
    if completions is None or completions != parallelism:
        text = f"replicatedJob {name}: completions and parallelism must be set and equal to each other {when}"
        faults.append(field_fault((*at, "completions"), completions, text))
    return faults


def _rule(rule: Tree, names: dict[str, Tree], at: Path) -> list[Fault]:
    name = of(rule, "name", "")
    faults: list[Fault] = []
    size = len(name.encode())
    if not 1 <= size <= 128:
        text = (
            f"invalid failure policy rule name of length {size}, the rule name must be at least 1 characters long "
            "and at most 128 characters long"
        )
        faults.append(plain_fault(text, (*at, "name")))
    if not (name and name[0] in _LETTERS and name[-1] in _RULE_ENDS and _RULE_CHARS.issuperset(name)):
        text = (
            f"invalid failure policy rule name '{name}', a failure policy rule name must start with an alphabetic "
            "character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an "
            "alphanumeric character or '_'"
        )
        faults.append(plain_fault(text, (*at, "name")))
    for index, target in enumerate(rule.get("targetReplicatedJobs", ())):
        if bare(target) not in names:
            text = (
                f"invalid replicatedJob name '{bare(target)}' in failure policy does not appear in .spec.ReplicatedJobs"
            )
            faults.append(plain_fault(text, (*at, "targetReplicatedJobs", index)))
    for index, reason in enumerate(rule.get("onJobFailureReasons", ())):
        if bare(reason) not in _REASONS:
            text = (
                f"invalid job failure reason '{bare(reason)}' in failure policy is not a recognized job failure reason"
            )
            faults.append(plain_fault(text, (*at, "onJobFailureReasons", index)))
    return faults


def _rule_names(rules: list[Tree]) -> list[Fault]:
    places: dict[str, list[int]] = {}
    for index, rule in enumerate(rules):
        places.setdefault(of(rule, "name", ""), []).append(index)
    return [
        plain_fault(
            f"rule names are not unique, rules with indices [{' '.join(map(str, found))}] all have the same name '{name}'",
            ("spec", "failurePolicy", "rules", found[1], "name"),
        )
        for name, found in places.items()
        if len(found) > 1
    ]


def _coordinator(spec: Tree, jobset: str, names: dict[str, Tree]) -> list[Fault]:
    coordinator = spec["coordinator"]
    at: Path = ("spec", "coordinator")
    name = of(coordinator, "replicatedJob", "")
    index, pod = of(coordinator, "jobIndex", 0), of(coordinator, "podIndex", 0)
    job = names.get(name)
    if job is None:
        return [plain_fault(f"coordinator replicatedJob {name} does not exist", (*at, "replicatedJob"))]
    inner = job["template"]["spec"]
    if not 0 <= index < of(job, "replicas", 0):
        return [plain_fault(f"coordinator job index {index} is invalid for replicatedJob {name}", (*at, "jobIndex"))]
    if of(inner, "completionMode") != "Indexed" or "completions" not in inner:
        text = "job for coordinator pod must be indexed completion mode, and completions number must be set"
        return [plain_fault(text, (*at, "replicatedJob"))]
    if not 0 <= pod < of(inner, "completions"):
        text = f"coordinator pod index {pod} is invalid for replicatedJob {name} job index {index}"
        return [plain_fault(text, (*at, "podIndex"))]
    domain = of(spec.get("network", {}), "subdomain", "") or jobset
    address = f"{jobset}-{name}-{index}-{pod}.{domain}"
    return [
        plain_fault(
            f'spec will lead to invalid label value "{address}" for coordinator label '
            f'"jobset.sigs.k8s.io/coordinator" (long JobSet / ReplicatedJob / SubDomain name?): {reason}',
            at,
        )
        for reason in label_value(address)
    ]
