"""The built-in CEL rules decide as a real CEL engine does."""

import re
from functools import cache
from typing import Any

import pytest
from cel_expr_python import cel as engine
from hypothesis import given, settings
from hypothesis import strategies as st

from trainc.apiserver.cel import operators as celrun
from trainc.apiserver.cel.builtin import RULES
from trainc.apiserver.cel.operators import CelError
from trainc.apiserver.schema.builtin_table import TABLE
from trainc.model.tree import stamp

names = st.sampled_from(["a", "b", "c", "d", "list", "map", "name", "metadata", "namespace", "templates", "dependsOn"])
scalars = st.one_of(
    st.integers(-3, 70),
    st.booleans(),
    st.sampled_from([0.5, 1.0, 2.5]),
    st.sampled_from(["", "x", "xy", "k1", "node", "InOrder", "s3://a/b", "a" * 64, "a-b\n"]),
)


@cache
def environment() -> Any:
    return engine.NewEnv(variables={"self": engine.Type.DYN, "oldSelf": engine.Type.DYN})


def judged(rule: str, new: Any, old: Any) -> Any:
    """True, False or "error", as the engine sees it."""
    result = environment().compile(rule).eval(data={"self": new, "oldSelf": old})
    value = result.value()
    return value if result.type() == engine.Type.BOOL else "error"


def written(rule: str, new: Any, old: Any) -> Any:
    """The same, as the table has it."""
    try:
        value = RULES[rule](celrun.bare(stamp(new, "test")), celrun.bare(stamp(old, "test")))
    except CelError:
        return "error"
    return value if type(value) is bool else "error"


def inputs(rule: str) -> st.SearchStrategy[Any]:
    """Values that a rule has something to say about: its own names and literals, in all nestings."""
    known = st.sampled_from(sorted({*re.findall(r"\.(\w+)", rule), "name", "a"}))
    texts = re.findall(r"'([^'^]*)'", rule) or ["x"]
    leaves = st.one_of(scalars, st.sampled_from(texts))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(st.one_of(known, names), inner, max_size=4)
        ),
        max_leaves=12,
    )


@pytest.mark.slow
@pytest.mark.parametrize("rule", sorted(RULES))
def test_built_in_rules(rule: str) -> None:
    @settings(max_examples=80, deadline=None)
    @given(new=inputs(rule), old=inputs(rule))
    def agree(new: Any, old: Any) -> None:
        assert written(rule, new, old) == judged(rule, new, old)
        assert written(rule, new, new) == judged(rule, new, new)

    agree()


def test_every_built_in_rule_is_in_the_table() -> None:
    rules = {rule["rule"] for node in TABLE["nodes"] for rule in node.get("x-kubernetes-validations", ())}
    assert rules == set(RULES)


@pytest.mark.parametrize(
    ("item", "holder", "held"),
    [
        ("k", {"k": 1}, True),
        ("v", {"k": "v"}, False),
        (1, {"1": 1}, False),
        (True, {"True": 1}, False),
        ("k", {}, False),
        (1.0, [1], True),
        (True, [1], False),
        ("1", [1], False),
        ([1], [[1], 2], True),
    ],
)
def test_what_holds_an_item(item: object, holder: object, held: bool) -> None:
    assert celrun.within(item, holder) is held


def test_texts_hold_no_items() -> None:
    for item, holder in (("a", "abc"), (1, 1), ("a", None)):
        with pytest.raises(CelError, match="no such overload"):
            celrun.within(item, holder)
