"""The JobSet and its headless Service, with every default that the JobSet webhook would write."""

from __future__ import annotations

from trainc.model.plan import TRAINER
from trainc.model.shared import constant
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.model.plan import Plan, Role
    from trainc.model.shared import Shared
    from trainc.model.tree import Tree

_STEPS = (TRAINER, "dataset-initializer", "model-initializer")


def _default(content: object) -> Sourced[object]:
    return Sourced(content, Origin(by="JobSet webhook default"))


_ALL, _ANY_ORDER, _TRUE = _default("All"), _default("AnyOrder"), _default(True)
INDEXED, ON_FAILURE, _DELETE = _default("Indexed"), _default("OnFailure"), _default("Delete")
_ONE = Sourced(1, Origin(by="Trainer runs one Job for each step"))
_API_VERSION = Sourced("jobset.x-k8s.io/v1alpha2", Origin(by="lowering"))
_KIND = Sourced("JobSet", Origin(by="lowering"))
_V1, _SERVICE = Sourced("v1", Origin(by="lowering")), Sourced("Service", Origin(by="lowering"))
_NONE = Sourced("None", Origin(by="headless Service of the JobSet controller"))

# What every JobSet shares that says nothing of its own.
_SUCCESS = constant({"operator": _ALL})
_STARTUP = constant({"startupPolicyOrder": _ANY_ORDER})
_NETWORK = constant({"enableDNSHostnames": _TRUE, "publishNotReadyAddresses": _TRUE})


def single(role: Role, plan: Plan) -> Sourced[int] | None:
    """One replica for a role that is a step of the job and has another number of them, else None.

    The Trainer runs one Job for a step; a runtime of trainc's own kind may ask for several, one for each slice.
    """
    free = plan.runtime is not None and plan.runtime.composed
    if free or role.ancestor not in _STEPS:
        return None
    written = role.tree.get("replicas")
    return None if type(written) is Sourced and written.value == 1 else _ONE


def jobset(plan: Plan, metadata: Tree) -> Tree:
    """The complete JobSet of a plan whose template is framed."""
    spec = plan.template["spec"]
    if "replicatedJobs" in spec:
        spec = {**spec, "replicatedJobs": [_job_defaults(job) for job in spec["replicatedJobs"]]}
    return {"apiVersion": _API_VERSION, "kind": _KIND, "metadata": metadata, "spec": spec}


def waiting(plan: Plan, spec: Tree) -> Tree:
    """A JobSet spec with the job's wish to wait.

    A queue owns the field: only a wish is written, never the permission to run.
    """
    suspend = spec.get("suspend")
    if suspend is not None:
        spec = {key: node for key, node in spec.items() if key != "suspend"}
    if plan.runtime is not None:
        suspend = plan.job["spec"].get("suspend")
    return {**spec, "suspend": suspend} if suspend is not None and suspend.value is True else spec


def framed(spec: Tree, shared: Shared | None) -> Tree:
    """A copy of a JobSet spec with all defaults of the JobSet webhook but those of its Jobs, made once where it is shared."""
    if shared is not None and id(spec) in shared.kept:
        return dict(shared.once(spec, _framed))
    return _framed(spec, shared)


def _framed(spec: Tree, shared: Shared | None = None) -> Tree:
    """All that the webhook would write beside the Jobs, so that it changes nothing (JobSet 0.12)."""
    out = dict(spec)
    if "successPolicy" not in out:
        out["successPolicy"] = _SUCCESS
    if "startupPolicy" not in out:
        out["startupPolicy"] = _STARTUP
    network = out.get("network")
    out["network"] = _once(_network, network, shared) if network else _NETWORK
    if "failurePolicy" in out and get(out["failurePolicy"], "rules"):
        out["failurePolicy"] = _once(_failure_policy, out["failurePolicy"], shared)
    if "volumeClaimPolicies" in out:
        out["volumeClaimPolicies"] = _once(_claim_policies, out["volumeClaimPolicies"], shared)
    return out


def _once(make: Callable[[Tree], Tree], node: Tree, shared: Shared | None) -> Tree:
    return make(node) if shared is None else shared.once(node, make)


def _network(network: Tree) -> Tree:
    return {**_NETWORK, **network}


def _failure_policy(policy: Tree) -> Tree:
    named = [{"name": _default(f"failurePolicyRule{i}"), **rule} for i, rule in enumerate(policy["rules"])]
    return {**policy, "rules": named}


def _claim_policies(policies: list[Tree]) -> list[Tree]:
    kept = {"retentionPolicy": {"whenDeleted": _DELETE}}
    return [{**kept, **policy} for policy in policies]


def _job_defaults(job: Tree) -> Tree:
    template = job.get("template") or {}
    spec = template.get("spec") or {}
    pods = spec.get("template") or {}
    pod = pods.get("spec") or {}
    if next(iter(spec), "") == "completionMode" and next(iter(pod), "") == "restartPolicy":
        return job  # a draft has them before all else
    spec = {"completionMode": INDEXED, **spec, "template": {**pods, "spec": {"restartPolicy": ON_FAILURE, **pod}}}
    return {**job, "template": {**template, "spec": spec}}


def service(plan: Plan, spec: Tree, there: Tree) -> Tree | None:
    """The twin of the Service that the JobSet controller makes, None where DNS names are switched off.

    `there` is what the metadata of all of the job's objects says of their namespace.
    """
    network = spec["network"]
    if network["enableDNSHostnames"].value is False:
        return None
    return {
        "apiVersion": _V1,
        "kind": _SERVICE,
        "metadata": {"name": network.get("subdomain", plan.name), **there},
        "spec": {
            "clusterIP": _NONE,
            "publishNotReadyAddresses": network["publishNotReadyAddresses"],
            "selector": {"jobset.sigs.k8s.io/jobset-name": plan.name},
        },
    }
