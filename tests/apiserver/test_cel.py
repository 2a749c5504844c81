"""Translated CEL rules decide as a real CEL engine does."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
from cel_expr_python import cel as engine
from hypothesis import given, settings
from hypothesis import strategies as st

from trainc.apiserver.cel import operators as celrun
from trainc.apiserver.cel.builtin import RULES
from trainc.apiserver.cel.generator import UntranslatableError, translate
from trainc.apiserver.cel.operators import CelError
from trainc.model.tree import stamp

# Rules as other CRDs write them, for every operator and function that the translator takes.
SAMPLES = (
    "self.a + self.b == 3",
    "self.a - 1 < self.b",
    "-self.a <= -1",
    "-self.c == 1 || self.a == 1",
    "self.a > 0.5 && self.b >= 2",
    "self.a == 1.0",
    "self.a != self.b || self.a in [1, 2, 3]",
    "self.c in ['x', \"y\"] ? self.a > 0 : self.b > 0",
    "!(self.c.startsWith('x') || self.c.endsWith('y'))",
    "self.c.contains('xy') && size(self.c) < 4",
    "self.c.matches(r'^[a-z]\\d*$')",
    "self.list.exists_one(i, i == 1)",
    "self.list.map(i, i + 1).exists(j, j == 2)",
    "self.list.filter(i, i > 1).size() == 1",
    "self.list.all(i, i >= 0) && self.list[0] == 1",
    "self.map.all(k, k.startsWith('k')) && 'k1' in self.map",
    "self.map['k1'] == 'v'",
    "has(self.map.k1) && has(self.list)",
    "self.list == [1, 2]",
    "self.list + [3] == [1, 2, 3]",
    "self.c + 'z' == 'xz'",
    "self.a == oldSelf.a",
    "!has(oldSelf.c) || self.c == oldSelf.c",
    "double(self.a) < 1.5",
    "true && !false",
    "self.nothing == null",
    "self.c < 'm'",
    "self.a == 1 || self.missing == 2",
    "self.missing == 2 && self.a == 1",
)
REFUSED = {
    "quantity(self.a).isGreaterThan(quantity('1Gi'))": "the function `quantity`",
    "self.url.isURL()": "the function `isURL`",
    "self.a * 2 == 4": "`*` where",
    "request.user == 'x'": "the name `request`",
    "self.list.sum() > 3": "the function `sum`",
    "self.list.all(i, v, v > i)": "the name `v`",
    "has(self)": "has() of something that is not a field",
    "{'a': 1} == self": "`{`",
    "self.c.matches('\\d')": "the escape `\\d`",
    "self.a ==": "`the end`",
    "self.a # 1": "`#`",
}

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


def translated(rule: str, new: Any, old: Any) -> Any:
    found = RULES.get(rule) or eval(f"lambda self, old: {translate(rule)}", dict(vars(celrun)))  # noqa: S307 (what the generator writes into a module)
    try:
        value = found(celrun.bare(stamp(new, "test")), celrun.bare(stamp(old, "test")))
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
        assert translated(rule, new, old) == judged(rule, new, old)
        assert translated(rule, new, new) == judged(rule, new, new)

    agree()


shaped = st.fixed_dictionaries(
    {},
    optional={
        "a": st.integers(-1, 3),
        "b": st.integers(-1, 3),
        "c": st.sampled_from(["", "x", "y", "xy", "x1", "z"]),
        "list": st.lists(st.integers(-1, 3), max_size=3),
        "map": st.dictionaries(st.sampled_from(["k1", "k2", "o"]), st.sampled_from(["v", "w"]), max_size=3),
        "nothing": st.none(),
    },
)


@pytest.mark.slow
@pytest.mark.parametrize("rule", SAMPLES)
def test_rules_of_other_crds(rule: str) -> None:
    @settings(max_examples=40, deadline=None)
    @given(new=shaped, old=shaped)
    def agree(new: Any, old: Any) -> None:
        assert translated(rule, new, old) == judged(rule, new, old)

    agree()


@pytest.mark.parametrize(("rule", "why"), REFUSED.items())
def test_what_is_not_known_is_refused(rule: str, why: str) -> None:
    with pytest.raises(UntranslatableError, match=re.escape(why)):
        translate(rule)


def test_escaped_property_names() -> None:
    assert translate("self.x__dash__y.__namespace__") == 'field(field(self, "x-y"), "namespace")'


def test_only_numbers_have_a_negative() -> None:
    assert (celrun.minus(1), celrun.minus(-1.5)) == (-1, 1.5)
    for value in (True, "1", None, [1]):
        with pytest.raises(CelError, match="no such overload"):
            celrun.minus(value)


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


def test_texts_hold_no_items_and_numbers_no_parts() -> None:
    for item, holder in (("a", "abc"), (1, 1), ("a", None)):
        with pytest.raises(CelError, match="no such overload"):
            celrun.within(item, holder)
    for value, part in (("abc", 1), (1, "a"), (None, None), (["a"], "a")):
        with pytest.raises(CelError, match="no such overload"):
            celrun.text_test(value, "contains", part)
    tests = {name: celrun.text_test("abc", name, "ab") for name in ("startsWith", "endsWith", "contains")}
    assert tests == {"startsWith": True, "endsWith": False, "contains": True}
