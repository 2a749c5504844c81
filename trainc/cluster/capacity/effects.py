"""What an edit does to the answers of all jobs of a cluster, those beside the edited ones as well."""

from __future__ import annotations

from trainc.cluster.capacity.facts import ClusterFacts
from trainc.cluster.capacity.fit import FITS, UNKNOWN, Fit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NamedTuple

    from trainc.cluster.capacity.fit import FitAnswer
    from trainc.model.tree import Tree

    Key = tuple[str, str, str]  # cluster, namespace, name
    Jobs = Mapping[Key, Tree]
    Objects = Mapping[str, Mapping[str, Tree]]
else:
    from trainc.text.record import NamedTuple


class Effect(NamedTuple):
    """The answer for one job before and after an edit, `old` empty for a job that is new; and why it is what it is."""

    key: Key
    old: str
    new: str
    reason: str


def effects(objects: Objects, before: Jobs, after: Jobs) -> list[Effect]:
    """The jobs of one cluster whose answer is another one after an edit, with all jobs at once.

    Nothing where an amount of the dump is not one: it decides nothing then.
    """
    if ClusterFacts(objects).malformed:
        return []
    old, new = _answers(objects, before), _answers(objects, after)
    changes = []
    for key, answer in sorted(new.items()):
        was = old[key].status if key in old else ""
        if UNKNOWN not in {was, answer.status} and answer.status != (was or FITS):
            changes.append(Effect(key, was, answer.status, answer.reason))
    return changes


def _answers(objects: Objects, jobs: Jobs) -> dict[Key, FitAnswer]:
    """The answers for all jobs at once, by priority, then by name; each holds what it gets."""
    alone = Fit(ClusterFacts(objects), names_nodes=False)
    fit = Fit(ClusterFacts(objects), alone=alone, names_nodes=False)
    answers = {}
    for key in sorted(jobs, key=lambda key: (-alone.priority(jobs[key]), key)):
        answers[key] = fit.answer(jobs[key])
        fit.reserve(answers[key])
    return answers
