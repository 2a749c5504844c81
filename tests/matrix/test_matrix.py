"""One mistake of a pod, every kind: found with the same rule at the same field; the healthy twin is silent."""

from fnmatch import fnmatchcase
from itertools import groupby
from zlib import crc32

import pytest

from tests.matrix.derived import CASES, OF_A_ROLE, OF_THE_JOB, derived
from tests.matrix.excuses import BESIDE, SILENT, is_silent
from tests.matrix.kinds import KINDS, Kind
from tests.matrix.matrix import Mistake, problems
from tests.matrix.mistakes import mistakes
from tests.sampling import sampled

MISTAKES = [*mistakes(), *derived()]


def places(mistake: Mistake) -> list[Kind]:
    """Every kind: in one of its roles for the mistake of a rule's case, in all for those that were thought of.

    Where a rule has several of these, they share the roles, so that the rule meets each.
    """
    families = [list(roles) for _, roles in groupby(KINDS, lambda kind: kind.family)]
    if mistake.name.startswith("case-"):
        turn = crc32(mistake.name.encode())
        return [roles[turn % len(roles)] for roles in families]
    alike = [one.name for one in MISTAKES if one.rule == mistake.rule and not one.name.startswith("case-")]
    at = alike.index(mistake.name)
    return [
        role
        for roles in families
        for number, role in enumerate(roles)
        if (number - at) % min(len(alike), len(roles)) == 0
    ]


@pytest.mark.parametrize(
    "mistake",
    sampled(MISTAKES, [mistake.name for mistake in MISTAKES], quick=("case-path-not-mounted", "toleration-misspelt")),
)
def test_a_mistake_is_found_in_every_kind(mistake: Mistake) -> None:
    """With the rule that the JobSet gives it, at the field that belongs to the kind, and no other finding beside it.

    Its healthy twin, which is compiled for that, is silent.
    """
    first, *others = places(mistake)
    assert mistake.rule in {rule for _, rule, _ in mistake.found(KINDS[0])}
    assert [text for kind in others if mistake.is_possible_in(kind) for text in problems(mistake, kind)] == []
    assert [
        (kind.name, one)
        for kind in (first, *others)
        if mistake.is_possible_in(kind) and not is_silent(kind, mistake.names)
        for one in mistake.healthy_twin(kind)
        if one[1] == mistake.rule
    ] == []


def test_the_matrix_is_large() -> None:
    assert len(MISTAKES) >= 150
    assert len({kind.family for kind in KINDS}) >= 13


def test_each_row_of_the_tables_is_about_something() -> None:
    """A kind, and a mistake or a rule, that are there."""
    places = {name for kind in KINDS for name in (kind.name, kind.family)}
    names = {name for mistake in MISTAKES for name in (mistake.name, mistake.rule)}
    rows = [(kinds, whats, why) for kinds, whats, why in SILENT]
    rows += [(kinds, whats, why) for kinds, _, whats, why in BESIDE]
    assert [kinds for kinds, _, _ in rows if not places.issuperset(kinds)] == []
    assert [what for _, whats, _ in rows for what in whats if not any(fnmatchcase(name, what) for name in names)] == []
    assert all(why for _, _, why in rows)


def test_a_rule_of_a_pod_is_in_the_matrix_by_its_cases() -> None:
    """Those whose cases show more than a pod are named, with the reason."""
    cases = {path.name for path in CASES.iterdir()}
    assert OF_THE_JOB.keys() <= cases
    assert cases >= OF_A_ROLE
    assert len({mistake.rule for mistake in derived()}) >= 100
