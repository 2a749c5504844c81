"""JobSet's validating webhook for a new object (sigs.k8s.io/jobset pkg/webhooks, after 0.12)."""

from collections.abc import Iterator
from typing import Any

from trainc.apiserver.cel.operators import bare
from trainc.apiserver.fault import Fault, invalid, of_webhook, quoted
from trainc.apiserver.names import TOO_LONG_63, dns1035, label_value, prefixed_path, size, subdomain
from trainc.apiserver.profile import Profile
from trainc.apiserver.schema.node import SchemaNode
from trainc.apiserver.versions import COMPLETES_NAMES
from trainc.model.sourced import Sourced
from trainc.model.tree import Path, Tree, dotted

_MAX_INT32 = 2**31 - 1
_REASONS = frozenset(
    ["BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded", "PodFailurePolicy"]
)
_RESTARTS = frozenset({"RestartJob", "RestartJobAndIgnoreMaxRestarts"})
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_RULE_ENDS = _LETTERS | frozenset("0123456789_")
_RULE_CHARS = _RULE_ENDS | frozenset(",:")


def create_faults(tree: Tree, node: SchemaNode, profile: Profile) -> list[Fault]:
    """What the webhook has against a new JobSet that passed the schema."""
    spec = tree["spec"] if type(tree.get("spec")) is dict else {}
    jobs = spec.get("replicatedJobs", [])
    metadata = tree.get("metadata", {})
    name = of(metadata, "name", "")
    # Before 0.13 no name was made up for a JobSet that had none yet.
    has_name = profile.jobset_does(COMPLETES_NAMES) or name != of(metadata, "generateName", "")[:58] + "abcde"
    faults: list[Fault] = []
    if jobs and "dependsOn" in jobs[0]:
        text = "DependsOn can't be set for the first ReplicatedJob"
        faults.append(plain_fault(text, ("spec", "replicatedJobs", 0, "dependsOn")))
    if "managedBy" in spec:
        faults += _managed_by(of(spec, "managedBy"))
    if "subdomain" in spec.get("network", ()):
        faults += _subdomain(of(spec["network"], "subdomain"))
    for index, job in enumerate(jobs):
        faults += _job(name if has_name else "", index, job)
        if "dependsOn" in job:
            faults += _dependencies(index, job, jobs)
    targets = "targetReplicatedJobs" in spec.get("successPolicy", ())
    policy = "failurePolicy" in spec
    if targets or policy or "coordinator" in spec:
        names = {of(job, "name", ""): job for job in reversed(jobs)}
        if targets:
            faults += _targets(spec["successPolicy"]["targetReplicatedJobs"], names)
        if policy:
            faults += _failure_policy(spec["failurePolicy"], jobs, names, profile)
        if "coordinator" in spec:
            faults += _coordinator(spec, name, names)
    if "volumeClaimPolicies" in spec:
        from trainc.apiserver.jobset.claim_policies import claim_faults  # noqa: PLC0415 (few jobs make claims)

        faults += claim_faults(tree, node, profile)
    return faults


def _managed_by(manager: Any) -> Iterator[Fault]:
    path = ("spec", "managedBy")
    if manager == "":
        yield of_webhook("spec.managedBy: Required value", path, manager)
    elif manager is not None:
        for value, reason in prefixed_path(manager):
            yield field_fault(path, value, reason)
        if size(manager) > 63:
            yield of_webhook("spec.managedBy: Too long: may not be more than 63 bytes", path, manager)


def _subdomain(name: Any) -> Iterator[Fault]:
    short = ".spec.network.subdomain is too long, must be less than 63 characters"
    reasons = (
        (*subdomain(name), *(short if reason is TOO_LONG_63 else reason for reason in dns1035(name))) if name else ()
    )
    for reason in reasons:
        yield field_fault(("spec", "network", "subdomain"), name, reason)


def _job(jobset: str, index: int, job: Tree) -> Iterator[Fault]:
    """What is said of a replicatedJob; the name of the JobSet is empty where none is known."""
    at: Path = ("spec", "replicatedJobs", index)
    spec = job["template"]["spec"]
    name, replicas = of(job, "name", ""), count(job, "replicas", 1)
    if replicas * count(spec, "parallelism", 1) > _MAX_INT32:
        text = f"the product of replicas and parallelism must not exceed {_MAX_INT32} for replicatedJob '{name}'"
        yield plain_fault(text, (*at, "replicas"))
    group = of(job, "groupName", "")
    if group != "default":
        long = ".spec.replicatedJob[].groupName is too long, must be less than 63 characters"
        for reason in dns1035(group):
            yield field_fault((*at, "groupName"), group, long if reason is TOO_LONG_63 else reason)
    if not jobset:
        return
    pod = child = f"{jobset}-{name}-{replicas - 1}"
    if "completions" in spec and of(spec, "completionMode") == "Indexed":
        # A pod's name ends with its index and five random characters.
        pod = f"{child}-{count(spec, 'completions', 1) - 1}-abcde"
    # The longest names of child Jobs and, where their number is known, of pods have to be DNS-1035 labels.
    reasons: dict[str, None] = {}
    for kind, made in (("job", child), ("pod", pod)) if dns1035(pod) else ():
        long = f"JobSet name is too long, {kind} names generated for this JobSet will exceed 63 characters"
        wrong = dns1035(made) if kind == "job" or pod != child else ()
        reasons |= dict.fromkeys(long if reason is TOO_LONG_63 else reason for reason in wrong)
    for reason in reasons:
        yield field_fault((*at, "name"), child, reason)


def _dependencies(index: int, job: Tree, jobs: list[Tree]) -> Iterator[Fault]:
    name = of(job, "name", "")
    earlier = {of(other, "name", "") for other in jobs[: index + 1]}
    for number, item in enumerate(job.get("dependsOn", ())):
        if (other := of(item, "name", "")) not in earlier:
            at: Path = ("spec", "replicatedJobs", index, "dependsOn", number, "name")
            yield plain_fault(f"replicatedJob: {name} cannot depend on replicatedJob: {other}", at)


def _targets(targets: list[Tree], names: dict[str, Tree]) -> Iterator[Fault]:
    for index, target in enumerate(targets):
        if bare(target) not in names:
            text = f"invalid replicatedJob name '{bare(target)}' does not appear in .spec.ReplicatedJobs"
            yield plain_fault(text, ("spec", "successPolicy", "targetReplicatedJobs", index))


def _coordinator(spec: Tree, jobset: str, names: dict[str, Tree]) -> Iterator[Fault]:
    at: Path = ("spec", "coordinator")
    coordinator = spec["coordinator"]
    name = of(coordinator, "replicatedJob", "")
    index, pod = count(coordinator, "jobIndex", 0), count(coordinator, "podIndex", 0)
    # The webhook names the first reason only for which there is no such pod.
    job = names.get(name)
    inner = job["template"]["spec"] if job is not None else {}
    if job is None:
        yield plain_fault(f"coordinator replicatedJob {name} does not exist", (*at, "replicatedJob"))
    elif not 0 <= index < count(job, "replicas", index + 1):
        yield plain_fault(f"coordinator job index {index} is invalid for replicatedJob {name}", (*at, "jobIndex"))
    elif of(inner, "completionMode") != "Indexed" or "completions" not in inner:
        text = "job for coordinator pod must be indexed completion mode, and completions number must be set"
        yield plain_fault(text, (*at, "replicatedJob"))
    elif not 0 <= pod < count(inner, "completions", pod + 1):
        text = f"coordinator pod index {pod} is invalid for replicatedJob {name} job index {index}"
        yield plain_fault(text, (*at, "podIndex"))
    domain = of(spec.get("network", {}), "subdomain", "") or jobset
    address = f"{jobset}-{name}-{index}-{pod}.{domain}"
    if reasons := label_value(address):
        text = (
            f"spec will lead to invalid label value {quoted(address)} for coordinator label "
            '"jobset.sigs.k8s.io/coordinator" (long JobSet / ReplicatedJob / SubDomain name?): '
        )
        yield plain_fault(text + ", ".join(reasons), at)


def of(holder: Tree, name: str, default: Any = None) -> Any:
    """The bare value of a field."""
    value = holder.get(name)
    if value.__class__ is Sourced:
        return value.value
    return default if value is None else value


def count(holder: Tree, name: str, default: int) -> int:
    """A whole number, the default where it is absent or not known yet."""
    value = bare(holder.get(name))
    return value if value.__class__ is int else default


def plain_fault(message: str, path: Path) -> Fault:
    """An error that the webhook gives without a field; `path` is where it can be mended."""
    return of_webhook(f"<nil>: Internal error: {message}", path)


def field_fault(path: Path, value: Any, reason: str) -> Fault:
    """An `Invalid value` at a field."""
    return of_webhook(invalid(dotted(path), value, reason), path, value)


def _failure_policy(policy: Tree, jobs: list[Tree], names: dict[str, Tree], profile: Profile) -> Iterator[Fault]:
    """What the webhook has against the failure policy of a new JobSet; `names` are its replicatedJobs."""
    at: Path = ("spec", "failurePolicy")
    if of(policy, "restartStrategy") == "InPlaceRestart":
        if "InPlaceRestart" not in profile.gates:
            text = "InPlaceRestart restart strategy cannot be set when InPlaceRestart feature gate is disabled"
            yield plain_fault(text, (*at, "restartStrategy"))
        else:
            for index, job in enumerate(jobs):
                yield from _in_place(index, job)
    rules = policy.get("rules", [])
    gated = [index for index, rule in enumerate(rules) if of(rule, "action") in _RESTARTS]
    if gated and "RestartJob" not in profile.gates:
        text = (
            "RestartJob and RestartJobAndIgnoreMaxRestarts failure policy actions are not allowed "
            "when RestartJob feature gate is disabled"
        )
        yield plain_fault(text, (*at, "rules", gated[0], "action"))
        return
    if gated and any(count(job, "replicas", 0) > 1024 for job in jobs):
        text = (
            "JobSet cannot have a failure policy rule with RestartJob or RestartJobAndIgnoreMaxRestarts action "
            "and a replicated job with replicas > 1024"
        )
        yield plain_fault(text, (*at, "rules", gated[0], "action"))
    places: dict[str, list[int]] = {}
    for index, rule in enumerate(rules):
        places.setdefault(of(rule, "name", ""), []).append(index)
        yield from _rule(rule, names, (*at, "rules", index))
    for name, indexes in places.items():
        if len(indexes) > 1:
            text = f"rule names are not unique, rules with indices [{' '.join(map(str, indexes))}] all have the same name '{name}'"
            yield plain_fault(text, (*at, "rules", indexes[1], "name"))


def _in_place(index: int, job: Tree) -> Iterator[Fault]:
    spec = job["template"]["spec"]
    completions = of(spec, "completions")
    for field, is_wrong, wanted in (
        ("backoffLimit", of(spec, "backoffLimit") != _MAX_INT32, f"must be set to {_MAX_INT32} (MaxInt32)"),
        ("podReplacementPolicy", of(spec, "podReplacementPolicy") != "Failed", "must be set to Failed"),
        (
            "completions",
            completions is None or completions != of(spec, "parallelism"),
            "completions and parallelism must be set and equal to each other",
        ),
    ):
        if is_wrong:
            text = f"replicatedJob {of(job, 'name', '')}: {wanted} when in-place restart is enabled"
            at: Path = ("spec", "replicatedJobs", index, "template", "spec", field)
            yield field_fault(at, of(spec, field), text)


def _rule(rule: Tree, names: dict[str, Tree], at: Path) -> Iterator[Fault]:
    name = of(rule, "name", "")
    size = len(name.encode())
    if not 1 <= size <= 128:
        text = (
            f"invalid failure policy rule name of length {size}, the rule name must be at least 1 characters long "
            "and at most 128 characters long"
        )
        yield plain_fault(text, (*at, "name"))
    if not (name and name[0] in _LETTERS and name[-1] in _RULE_ENDS and _RULE_CHARS.issuperset(name)):
        text = (
            f"invalid failure policy rule name '{name}', a failure policy rule name must start with an alphabetic "
            "character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an "
            "alphanumeric character or '_'"
        )
        yield plain_fault(text, (*at, "name"))
    for field, what, known, wrong in (
        ("targetReplicatedJobs", "replicatedJob name", names, "does not appear in .spec.ReplicatedJobs"),
        ("onJobFailureReasons", "job failure reason", _REASONS, "is not a recognized job failure reason"),
    ):
        for index, item in enumerate(rule.get(field, ())):
            if bare(item) not in known:
                text = f"invalid {what} '{bare(item)}' in failure policy {wrong}"
                yield plain_fault(text, (*at, field, index))
