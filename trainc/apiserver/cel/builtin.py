"""The CEL rules of the built-in schemas, each with what decides like it: the tests hold both against a real CEL engine."""

from collections.abc import Callable
from typing import Any

from trainc.apiserver.cel.operators import both, compare, either, every, field, has, matches, same, size, some, within

_FRAMEWORKS = ("torch", "mpi", "jax", "xgboost", "flux")

RULES: dict[str, Callable[[Any, Any], Any]] = {
    "!(has(self.startupPolicy) && self.startupPolicy.startupPolicyOrder == 'InOrder' && self.replicatedJobs.exists(x, has(x.dependsOn)))": lambda new, _: (
        not both(
            lambda: (
                has(new, "startupPolicy") and same(field(field(new, "startupPolicy"), "startupPolicyOrder"), "InOrder")
            ),
            lambda: some(field(new, "replicatedJobs"), lambda job: has(job, "dependsOn")),
        )
    ),
    "!self.exists(c, c == 'node')": lambda new, _: not some(new, lambda name: same(name, "node")),
    "[has(self.torch), has(self.mpi), has(self.jax), has(self.xgboost),has(self.flux)].filter(x, x).size() <= 1": lambda new, _: (
        sum([has(new, name) for name in _FRAMEWORKS]) <= 1
    ),
    "has(self.lastUpdatedTime)": lambda new, _: has(new, "lastUpdatedTime"),
    "self == '' || self.matches('^[A-Za-z][A-Za-z0-9+.-]*://.+$')": lambda new, _: either(
        lambda: same(new, ""), lambda: matches(new, "^[A-Za-z][A-Za-z0-9+.-]*://.+$")
    ),
    "self == oldSelf": same,
    "self >= 1": lambda new, _: compare(new, 1) >= 0,
    "self in ['ray.io/kuberay-operator', 'kueue.x-k8s.io/multikueue']": lambda new, _: within(
        new, ["ray.io/kuberay-operator", "kueue.x-k8s.io/multikueue"]
    ),
    "self in ['trainer.kubeflow.org/trainjob-controller', 'kueue.x-k8s.io/multikueue']": lambda new, _: within(
        new, ["trainer.kubeflow.org/trainjob-controller", "kueue.x-k8s.io/multikueue"]
    ),
    "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')": lambda new, _: matches(
        field(field(new, "metadata"), "name"), "^[a-z]([-a-z0-9]*[a-z0-9])?$"
    ),
    "self.templates.all(t, !has(t.metadata.namespace) || size(t.metadata.namespace) == 0)": lambda new, _: every(
        field(new, "templates"),
        lambda one: either(
            lambda: not has(field(one, "metadata"), "namespace"),
            lambda: size(field(field(one, "metadata"), "namespace")) == 0,
        ),
    ),
    "size(self.metadata.name) <= 63": lambda new, _: size(field(field(new, "metadata"), "name")) <= 63,
}
