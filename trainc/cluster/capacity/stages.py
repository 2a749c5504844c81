"""Which roles of a job run at the same time: one that waits until another is complete never meets it."""

from __future__ import annotations

from trainc.model.tree import get
from trainc.schedulers.gang import ended_before, roles_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from trainc.model.tree import Tree
else:
    from trainc.text.record import NamedTuple


class Stages(NamedTuple):
    """Names of roles by stage; `are_strict` where no role of one stage ever meets one of another."""

    names: list[frozenset[str]]
    are_strict: bool


def stages_of(jobset: Tree) -> Stages:
    """The stages of a JobSet, one where no role waits for the end of another."""
    bits, ended = ended_before(roles_of(get(jobset, "spec")))
    stages: list[list[str]] = [[]]
    masks = [0]  # the bits of the roles of each stage
    for name, before in ended.items():
        at = next((index + 1 for index in reversed(range(len(masks))) if masks[index] & before), 0)
        if at == len(stages):
            stages.append([])
            masks.append(0)
        stages[at].append(name)
        masks[at] |= bits[name]
    are_strict, earlier = True, 0
    for stage, mask in zip(stages, masks, strict=True):
        are_strict = are_strict and not any(earlier & ~ended[name] for name in stage)
        earlier |= mask
    return Stages([frozenset(stage) for stage in stages], are_strict)
