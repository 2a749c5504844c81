"""One mistake of a pod, every kind: found with the same rule at the same field; the healthy twin is silent."""

from __future__ import annotations

import pytest

from tests.matrix.derived import derived
from tests.matrix.excuses import is_silent
from tests.matrix.kinds import KINDS
from tests.matrix.matrix import Mistake, problems
from tests.matrix.mistakes import mistakes
from tests.sampling import sampled

MISTAKES = [*mistakes(), *derived()]


@pytest.mark.parametrize("mistake", sampled(MISTAKES, [mistake.name for mistake in MISTAKES], every=25))
def test_a_mistake_is_found_in_every_kind(mistake: Mistake) -> None:
    """With the rule that the JobSet gives it, at the field that belongs to the kind, and no other finding beside it."""
    assert mistake.rule in {rule for _, rule, _ in mistake.found(KINDS[0])}
    assert [text for kind in KINDS[1:] if mistake.is_possible_in(kind) for text in problems(mistake, kind)] == []


@pytest.mark.parametrize("mistake", sampled(MISTAKES, [mistake.name for mistake in MISTAKES], every=25))
def test_a_healthy_twin_is_silent_in_every_kind(mistake: Mistake) -> None:
    told = [
        (kind.name, one)
        for kind in KINDS
        if mistake.is_possible_in(kind) and not is_silent(kind, mistake)
        for one in mistake.healthy_twin(kind)
        if one[1] == mistake.rule
    ]
    assert told == []


def test_the_matrix_is_large() -> None:
    assert len(MISTAKES) >= 150
    assert len({kind.family for kind in KINDS}) >= 13
