"""Which roles of a job run at the same time: one that waits until another is complete never meets it."""

from __future__ import annotations

from trainc.model.gang import ended_before, roles_of
from trainc.model.tree import get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from trainc.model.tree import Tree
else:
    from trainc.model.record import NamedTuple


class Stages(NamedTuple):
    """Names of roles by stage; `are_strict` where no role of one stage ever meets one of another."""

    names: list[frozenset[str]]
    are_strict: bool


def stages_of(jobset: Tree) -> Stages:
    """The stages of a JobSet, one where no role waits for the end of another."""
    roles = roles_of(get(jobset, "spec"))
    ended = {role.name.value: ended_before(role, roles) for role in roles}
    level = dict.fromkeys(ended, 0)
    for name, before in ended.items():  # a role waits for those before it alone, or JobSet refuses it
        level[name] = max((level[other] + 1 for other in before if other in level and other != name), default=0)
    names = [frozenset(name for name in level if level[name] == at) for at in range(max(level.values(), default=0) + 1)]
    pairs = ((one, other) for one in ended for other in ended if level[one] < level[other])
    return Stages(names, all(one in ended[other] for one, other in pairs))
