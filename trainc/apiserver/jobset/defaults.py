"""JobSet's mutating webhook: the seven defaults of a new object (sigs.k8s.io/jobset pkg/webhooks, after 0.12)."""

from typing import Any

from trainc.apiserver.cel.operators import bare
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import Tree, get

KIND = "jobset.x-k8s.io/v1alpha2/JobSet"
BY = "JobSet webhook default"
_ORIGIN = Origin(None, BY)


def _leaf(value: Any) -> Sourced[Any]:
    return Sourced(value, _ORIGIN)


def with_defaults(tree: Tree) -> Tree:
    """The object as the webhook leaves it; the very same tree if the webhook has nothing to add."""
    given = tree.get("spec")
    spec = given if type(given) is dict else {}
    out = dict(spec)
    if "successPolicy" not in spec:
        out["successPolicy"] = {"operator": _leaf("All")}
    if "startupPolicy" not in spec:
        out["startupPolicy"] = {"startupPolicyOrder": _leaf("AnyOrder")}
    network = spec.get("network", {})
    missing = [name for name in ("enableDNSHostnames", "publishNotReadyAddresses") if name not in network]
    if missing:
        out["network"] = {**{name: _leaf(True) for name in missing}, **network}
    for name, change in (("replicatedJobs", _job), ("volumeClaimPolicies", _claim)):
        if name in spec:
            out[name] = _each(spec[name], change)
    if "failurePolicy" in spec and "rules" in spec["failurePolicy"]:
        rules = _each(spec["failurePolicy"]["rules"], _rule)
        if rules is not spec["failurePolicy"]["rules"]:
            out["failurePolicy"] = {**spec["failurePolicy"], "rules": rules}
    return tree if all(node is spec.get(name) for name, node in out.items()) else {**tree, "spec": out}


def with_claim_status(tree: Tree) -> Tree:
    """The object with the empty status that webhooks before 0.12 add to each claim template, without which an update fails."""
    policies = get(tree, "spec", "volumeClaimPolicies")
    if not policies:
        return tree
    done = [
        {**policy, "templates": [{**template, "status": {}} for template in policy.get("templates") or ()]}
        for policy in policies
    ]
    return {**tree, "spec": {**tree["spec"], "volumeClaimPolicies": done}}


def _each(items: Tree, change: Any) -> Tree:
    """The items after a change; the very same list where it changes none of them."""
    out = [change(index, item) for index, item in enumerate(items)]
    return items if all(new is old for new, old in zip(out, items, strict=True)) else out


def _job(_index: int, job: Tree) -> Tree:
    if type(job) is not dict:
        return _job(0, {})
    template = job.get("template", {})
    spec = template.get("spec", {})
    pods = spec.get("template", {})
    pod = pods.get("spec", {})
    restarts = "restartPolicy" in pod and bare(pod["restartPolicy"]) != ""
    if "completionMode" in spec and restarts:
        return job
    if not restarts:
        pod = {
            "restartPolicy": _leaf("OnFailure"),
            **{key: node for key, node in pod.items() if key != "restartPolicy"},
        }
        spec = {**spec, "template": {**pods, "spec": pod}}
    if "completionMode" not in spec:
        spec = {"completionMode": _leaf("Indexed"), **spec}
    return {**job, "template": {**template, "spec": spec}}


def _rule(index: int, rule: Tree) -> Tree:
    rule = rule if type(rule) is dict else {}
    if "name" in rule and bare(rule["name"]):
        return rule
    return {"name": _leaf(f"failurePolicyRule{index}"), **{key: node for key, node in rule.items() if key != "name"}}


def _claim(_index: int, policy: Tree) -> Tree:
    policy = policy if type(policy) is dict else {}
    return policy if "retentionPolicy" in policy else {"retentionPolicy": {"whenDeleted": _leaf("Delete")}, **policy}
