"""JobSet's validating webhook on failurePolicy."""

from __future__ import annotations

from trainc.apiserver.cel.operators import bare
from trainc.apiserver.webhook import count, field_fault, of, plain_fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainc.apiserver.fault import Fault
    from trainc.apiserver.profile import Profile
    from trainc.model.tree import Path, Tree

_MAX_INT32 = 2**31 - 1
_REASONS = frozenset(
    ["BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded", "PodFailurePolicy"]
)
_RESTARTS = frozenset({"RestartJob", "RestartJobAndIgnoreMaxRestarts"})
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_RULE_ENDS = _LETTERS | frozenset("0123456789_")
_RULE_CHARS = _RULE_ENDS | frozenset(",:")


def policy_faults(spec: Tree, jobs: list[Tree], names: dict[str, Tree], profile: Profile) -> list[Fault]:
    """What the webhook has against the failure policy of a new JobSet; `names` are its replicatedJobs."""
    policy = spec["failurePolicy"]
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
    if gated and any(count(job, "replicas", 0) > 1024 for job in jobs):
        text = (
            "JobSet cannot have a failure policy rule with RestartJob or RestartJobAndIgnoreMaxRestarts action "
            "and a replicated job with replicas > 1024"
        )
        faults.append(plain_fault(text, (*at, "rules", gated[0], "action")))
    for index, rule in enumerate(rules):
        faults += _rule(rule, names, (*at, "rules", index))
    return [*faults, *_rule_names(rules)] if len(rules) > 1 else faults


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
            f"rule names are not unique, rules with indices [{' '.join(map(str, indexes))}] all have the same name '{name}'",
            ("spec", "failurePolicy", "rules", indexes[1], "name"),
        )
        for name, indexes in places.items()
        if len(indexes) > 1
    ]
