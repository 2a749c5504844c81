"""The JobSet and its headless Service, with every default that the JobSet webhook would write."""

from __future__ import annotations

from trainc.model.plan import ANCESTOR_LABEL, TRAINER
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import get, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.plan import Plan
    from trainc.model.tree import Tree

_STEPS = (TRAINER, "dataset-initializer", "model-initializer")


def _default(content: object) -> Sourced[object]:
    return Sourced(content, Origin(by="JobSet webhook default"))


_ALL, _ANY_ORDER, _TRUE = _default("All"), _default("AnyOrder"), _default(True)
_INDEXED, _ON_FAILURE, _DELETE = _default("Indexed"), _default("OnFailure"), _default("Delete")
_ONE = Sourced(1, Origin(by="Trainer runs one Job for each step"))
_API_VERSION = Sourced("jobset.x-k8s.io/v1alpha2", Origin(by="lowering"))
_KIND = Sourced("JobSet", Origin(by="lowering"))
_V1, _SERVICE = Sourced("v1", Origin(by="lowering")), Sourced("Service", Origin(by="lowering"))
_NONE = Sourced("None", Origin(by="headless Service of the JobSet controller"))


def counted(tree: Tree, count: Sourced[int], *, single: bool = True) -> Tree:
    """A replicatedJob with its number of pods, and unless `single` is off with one replica where it is a step."""
    template = tree.get("template") or {}
    spec = {**(template.get("spec") or {}), "completions": count, "parallelism": count}
    out = {**tree, "template": {**template, "spec": spec}}
    if single and value(template, "metadata", "labels", ANCESTOR_LABEL) in _STEPS and value(tree, "replicas") != 1:
        out["replicas"] = _ONE
    return out


def jobset(plan: Plan, spec: Tree, metadata: Tree) -> Tree:
    """The complete JobSet of a plan."""
    out = dict(spec)
    own = out.pop("suspend", None)
    suspend = get(plan.job, "spec", "suspend") if plan.runtime is not None else own
    if suspend is not None and suspend.value is True:
        # A queue owns the field: only a wish to wait is written, never the permission to run.
        out["suspend"] = suspend
    return {
        "apiVersion": _API_VERSION,
        "kind": _KIND,
        "metadata": identity(plan, metadata),
        "spec": defaulted(out),
    }


def identity(plan: Plan, metadata: Tree | None = None) -> Tree:
    """Name and namespace of one of the job's objects, and what else its metadata holds."""
    out = {"name": plan.name}
    if plan.namespace is not None:
        out["namespace"] = plan.namespace
    return {**out, **(metadata or {})}


def defaulted(spec: Tree) -> Tree:
    """A JobSet spec with the defaults of the JobSet webhook written out, so that it changes nothing (JobSet 0.12)."""
    out = dict(spec)
    out.setdefault("successPolicy", {"operator": _ALL})
    out.setdefault("startupPolicy", {"startupPolicyOrder": _ANY_ORDER})
    out["network"] = {"enableDNSHostnames": _TRUE, "publishNotReadyAddresses": _TRUE, **(out.get("network") or {})}
    if rules := get(out, "failurePolicy", "rules"):
        named = [{"name": _default(f"failurePolicyRule{i}"), **rule} for i, rule in enumerate(rules)]
        out["failurePolicy"] = {**out["failurePolicy"], "rules": named}
    if "volumeClaimPolicies" in out:
        kept = {"retentionPolicy": {"whenDeleted": _DELETE}}
        out["volumeClaimPolicies"] = [{**kept, **policy} for policy in out["volumeClaimPolicies"]]
    if "replicatedJobs" in out:
        out["replicatedJobs"] = [_job_defaults(job) for job in out["replicatedJobs"]]
    return out


def _job_defaults(job: Tree) -> Tree:
    template = job.get("template") or {}
    spec = {"completionMode": _INDEXED, **(template.get("spec") or {})}
    pod_template = spec.get("template") or {}
    spec["template"] = {**pod_template, "spec": {"restartPolicy": _ON_FAILURE, **(pod_template.get("spec") or {})}}
    return {**job, "template": {**template, "spec": spec}}


def service(plan: Plan, spec: Tree) -> Tree | None:
    """The twin of the Service that the JobSet controller makes, None where DNS names are switched off."""
    network = spec["network"]
    if network["enableDNSHostnames"].value is False:
        return None
    name = network.get("subdomain", plan.name)
    metadata = {**identity(plan), "name": name}
    return {
        "apiVersion": _V1,
        "kind": _SERVICE,
        "metadata": metadata,
        "spec": {
            "clusterIP": _NONE,
            "publishNotReadyAddresses": network["publishNotReadyAddresses"],
            "selector": {"jobset.sigs.k8s.io/jobset-name": plan.name},
        },
    }
