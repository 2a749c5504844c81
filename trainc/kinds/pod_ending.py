"""The restart policy of pods that end, in the place of that with which an operator kept them."""

from __future__ import annotations

from trainc.model.sourced import Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree

_POLICIES = frozenset((None, "", "Always", "OnFailure", "Never"))


def restart_policy(written: Tree, ending: Sourced[str]) -> Sourced[str]:
    """`ending`, unless something else is written than a policy: that stays, for the server to refuse it there."""
    if type(written) is Sourced and written.value not in _POLICIES:
        return written
    return ending
