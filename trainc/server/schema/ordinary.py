"""Ordinary objects that keep a CEL rule, told without evaluating it."""

from __future__ import annotations

from trainc.model.sourced import Sourced
from trainc.server.names import dns1035

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.model.tree import Tree


def _short_name(tree: Tree) -> bool:
    """An object whose name is a DNS-1035 label of at most 63 characters."""
    metadata = tree.get("metadata") if tree.__class__ is dict else None
    leaf = metadata.get("name") if metadata.__class__ is dict else None
    return leaf.__class__ is Sourced and leaf.value.__class__ is str and not dns1035(leaf.value)


def _any_order(spec: Tree) -> bool:
    """A JobSet that starts all of its jobs at once."""
    policy = spec.get("startupPolicy") if spec.__class__ is dict else None
    leaf = policy.get("startupPolicyOrder") if policy.__class__ is dict else None
    return leaf.__class__ is Sourced and leaf.value == "AnyOrder"


# By the rule's text, as in patterns: True is certain, False says that the rule itself has to look.
ORDINARY: dict[str, Callable[[Tree], bool]] = {
    "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')": _short_name,
    "size(self.metadata.name) <= 63": _short_name,
    "!(has(self.startupPolicy) && self.startupPolicy.startupPolicyOrder == 'InOrder' && "
    "self.replicatedJobs.exists(x, has(x.dependsOn)))": _any_order,
}
