"""What passes for ordinary keeps the rule, and what does not is left to the rule."""

from __future__ import annotations

from typing import Any

import pytest

from trainc.model.tree import stamp
from trainc.server.cel.builtin import RULES
from trainc.server.schema.ordinary import ORDINARY

NAME = "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')"
SIZE = "size(self.metadata.name) <= 63"
ORDER = next(rule for rule in ORDINARY if "startupPolicy" in rule)


def test_every_rule_is_one_of_the_built_in_ones() -> None:
    assert ORDINARY.keys() <= RULES.keys()


@pytest.mark.parametrize(
    ("rule", "tree", "ordinary", "kept"),
    [
        (NAME, {"metadata": {"name": "bert"}}, True, True),
        (NAME, {"metadata": {"name": "a" * 64}}, False, True),
        (NAME, {"metadata": {"name": "0bert"}}, False, False),
        (NAME, {"metadata": {"name": "bert\n"}}, False, False),
        (NAME, {"metadata": {"name": "be.rt"}}, False, False),
        (SIZE, {"metadata": {"name": "a" * 63}}, True, True),
        (SIZE, {"metadata": {"name": "a" * 64}}, False, False),
        (SIZE, {"metadata": {"name": "be.rt"}}, False, True),
        (
            ORDER,
            {"startupPolicy": {"startupPolicyOrder": "AnyOrder"}, "replicatedJobs": [{"dependsOn": []}]},
            True,
            True,
        ),
        (
            ORDER,
            {"startupPolicy": {"startupPolicyOrder": "InOrder"}, "replicatedJobs": [{"dependsOn": []}]},
            False,
            False,
        ),
        (ORDER, {"startupPolicy": {"startupPolicyOrder": "InOrder"}, "replicatedJobs": [{}]}, False, True),
        (ORDER, {}, False, True),
    ],
)
def test_ordinary_objects_keep_the_rule(rule: str, tree: Any, *, ordinary: bool, kept: bool) -> None:
    given = stamp(tree, "test")
    assert ORDINARY[rule](given) is ordinary
    assert RULES[rule](given, None) is kept


@pytest.mark.parametrize("rule", ORDINARY)
@pytest.mark.parametrize(
    "tree", [{}, {"metadata": 1}, {"metadata": {}}, {"metadata": {"name": 1}}, {"startupPolicy": {}}, [], 1]
)
def test_odd_objects_are_not_ordinary(rule: str, tree: Any) -> None:
    assert not ORDINARY[rule](stamp(tree, "test"))
