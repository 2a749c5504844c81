"""Generated from the CEL rules of the built-in schemas by `trainc schemas generate`; do not edit."""

from __future__ import annotations

# fmt: off
from trainc.apiserver.cel.operators import (
    both,
    chosen,
    compare,
    either,
    every,
    field,
    has,
    matches,
    negated,
    same,
    size,
    some,
    within,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def _rule_0(self: Any, old: Any) -> Any:  # noqa: ARG001
    return negated(both(lambda: (has(self, "startupPolicy") and (same(field(field(self, "startupPolicy"), "startupPolicyOrder"), "InOrder"))), lambda: some(field(self, "replicatedJobs"), lambda v_x: has(v_x, "dependsOn"))))


def _rule_1(self: Any, old: Any) -> Any:  # noqa: ARG001
    return negated(some(self, lambda v_c: (same(v_c, "node"))))


def _rule_2(self: Any, old: Any) -> Any:  # noqa: ARG001
    return compare(size(chosen([has(self, "torch"), has(self, "mpi"), has(self, "jax"), has(self, "xgboost"), has(self, "flux")], lambda v_x: v_x)), 1) <= 0


def _rule_3(self: Any, old: Any) -> Any:  # noqa: ARG001
    return has(self, "lastUpdatedTime")


def _rule_4(self: Any, old: Any) -> Any:  # noqa: ARG001
    return either(lambda: (same(self, "")), lambda: matches(self, "^[A-Za-z][A-Za-z0-9+.-]*://.+$"))


def _rule_5(self: Any, old: Any) -> Any:
    return same(self, old)


def _rule_6(self: Any, old: Any) -> Any:  # noqa: ARG001
    return compare(self, 1) >= 0


def _rule_7(self: Any, old: Any) -> Any:  # noqa: ARG001
    return within(self, ["ray.io/kuberay-operator", "kueue.x-k8s.io/multikueue"])


def _rule_8(self: Any, old: Any) -> Any:  # noqa: ARG001
    return within(self, ["trainer.kubeflow.org/trainjob-controller", "kueue.x-k8s.io/multikueue"])


def _rule_9(self: Any, old: Any) -> Any:  # noqa: ARG001
    return matches(field(field(self, "metadata"), "name"), "^[a-z]([-a-z0-9]*[a-z0-9])?$")


def _rule_10(self: Any, old: Any) -> Any:  # noqa: ARG001
    return every(field(self, "templates"), lambda v_t: either(lambda: negated(has(field(v_t, "metadata"), "namespace")), lambda: (same(size(field(field(v_t, "metadata"), "namespace")), 0))))


def _rule_11(self: Any, old: Any) -> Any:  # noqa: ARG001
    return compare(size(field(field(self, "metadata"), "name")), 63) <= 0


RULES: dict[str, Callable[[Any, Any], Any]] = {
    "!(has(self.startupPolicy) && self.startupPolicy.startupPolicyOrder == 'InOrder' && self.replicatedJobs.exists(x, has(x.dependsOn)))": _rule_0,
    "!self.exists(c, c == 'node')": _rule_1,
    "[has(self.torch), has(self.mpi), has(self.jax), has(self.xgboost),has(self.flux)].filter(x, x).size() <= 1": _rule_2,
    "has(self.lastUpdatedTime)": _rule_3,
    "self == '' || self.matches('^[A-Za-z][A-Za-z0-9+.-]*://.+$')": _rule_4,
    "self == oldSelf": _rule_5,
    "self >= 1": _rule_6,
    "self in ['ray.io/kuberay-operator', 'kueue.x-k8s.io/multikueue']": _rule_7,
    "self in ['trainer.kubeflow.org/trainjob-controller', 'kueue.x-k8s.io/multikueue']": _rule_8,
    "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')": _rule_9,
    "self.templates.all(t, !has(t.metadata.namespace) || size(t.metadata.namespace) == 0)": _rule_10,
    "size(self.metadata.name) <= 63": _rule_11,
}
