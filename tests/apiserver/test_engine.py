"""Rules and patterns of strangers: each is answered within its budget, or known not to be."""

import random
from contextlib import suppress
from typing import Any

import pytest
import yaml

from tests.effort import cpu, within
from tests.sampling import sampled
from trainc.apiserver.cel.rules import check, visible
from trainc.apiserver.definitions import read_definition
from trainc.apiserver.expressions.budget import begin_run
from trainc.apiserver.fault import NotJudgedError, Verdict
from trainc.apiserver.profile import Profile
from trainc.apiserver.schema import engine
from trainc.apiserver.schema.node import Table, load
from trainc.apiserver.schema.table import compile_table
from trainc.apiserver.verdict import verdict
from trainc.model.tree import stamp

DATA = {"a": 1, "s": "a" * 2000, "l": list(range(300)), "x": {"k": "v"}}
RULES = {
    "nested brackets": "(" * 5000 + "self.a" + ")" * 5000,
    "open brackets": "[" * 50_000,
    "260 ands": " && ".join(["self.a == 1"] * 260),
    "20000 ands": " && ".join(["self.a == 1"] * 20_000),
    "beyond doubles": "1e999 > 2.0",
    "5000 digits": "9" * 5000 + " > 1",
    "broken pattern": "self.s.matches('(')",
    "huge pattern": "self.s.matches('(a{1000}){1000}')",
    "half a selection": "self.",
    "list as a key": "self[[1]]",
    "in itself": "self in self",
    "map over a map": "self.x.map(a, a).size() > 1",
    "nothing": "",
    "loops in loops": "self.l.all(a, self.l.all(b, self.l.all(c, a + b + c >= 0)))",
    "doubled texts": "[self.s]" + ".map(x, x + x)" * 24 + "[0].size() == 1",
    "doubled lists": "[self.l]" + ".map(x, x + x)" * 24 + "[0].size() == 1",
    "trees of lists": "[self.l]" + ".map(x, [x, x])" * 22 + " == [self.l]" + ".map(x, [x, x])" * 22,
    "doubled in loops": "self.l.all(y, [self.s]" + ".map(x, x + x)" * 12 + "[0].size() > 1)",
    "minus signs": "-" * 5000 + "1 == 1",
    "conditions": "true ? " * 3000 + "true" + " : true" * 3000,
    "selections": "self" + ".a" * 5000 + " == 1",
    "half a surrogate": "self.s == '\\ud800'",
    "a NUL": "self.s == '\0'",
    "any message": "google.protobuf.Any{type_url: 'x'} == 1",
}


@pytest.mark.parametrize("name", sampled(RULES, quick=("nothing",)))
def test_no_rule_overruns_its_budget(name: str) -> None:
    def ask() -> None:
        begin_run()
        with suppress(NotJudgedError):
            engine.judge(RULES[name], DATA, None)
        assert engine.judge("self.a == 1", DATA, None).value is True, "the next rule is judged"

    within(3, lambda: cpu(ask))


@pytest.mark.slow
def test_many_rules_that_cost_much_end_the_asking() -> None:
    def ask() -> None:
        begin_run()
        for number in range(100):
            with suppress(NotJudgedError):
                engine.judge(f"{RULES['loops in loops']} && {number} == 0", DATA, None)
        with pytest.raises(NotJudgedError, match="too much time in this run"):
            engine.judge("self.a == 1", DATA, None)
        begin_run()
        assert engine.judge("self.a == 1", DATA, None).value is True

    within(20, lambda: cpu(ask))


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [(r"^(a*)*b$", "a" * 100_000, False), (r"^a$", "a\n", False), (r"\z", "a", True), ("[[:alpha:]]", "1", False)],
)
def test_patterns_take_linear_time(pattern: str, text: str, fits: bool) -> None:
    assert engine.matches(pattern, text) is fits


def test_a_pattern_that_takes_too_long_is_not_judged() -> None:
    with pytest.raises(NotJudgedError, match="too much time"):
        engine.matches("(a|b)*a" + "(a|b)" * 900 + "c", "".join(random.Random(1).choices("ab", k=20_000)))  # noqa: S311


def served(spec: dict[str, Any]) -> Table:
    schema = {"type": "object", "properties": {"spec": {"type": "object", **spec}}}
    version = {"name": "v1", "served": True, "schema": {"openAPIV3Schema": schema}}
    tree = {"spec": {"group": "example.org", "names": {"kind": "Thing"}, "versions": [version]}}
    found = read_definition(tree)
    assert not found.faults, found.faults
    return Table(compile_table(found.schemas, whole=found.whole), load())


def judged(spec: dict[str, Any], text: str) -> Verdict:
    thing = {"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": yaml.safe_load(text)}
    return verdict(stamp(thing, "test"), served(spec), Profile(), strict=False)


ANY: dict[str, Any] = {"x-kubernetes-preserve-unknown-fields": True}


@pytest.mark.parametrize(
    ("properties", "rule", "text", "fits"),
    [
        ({"n": {"type": "number"}}, "self.n / 2.0 == 0.5", "{n: 1}", True),
        ({"n": {"type": "integer"}}, "self.n / 2 == 0", "{n: 1}", True),
        ({"a-b": {"type": "string"}}, "self.a__dash__b == 'x'", "{a-b: x}", True),
        ({"namespace": {"type": "string"}}, "self.__namespace__ == 'x'", "{namespace: y}", False),
        ({"a": {"type": "string"}}, "!has(self.b)", "{a: x, b: y}", True),
        (
            {"m": {"type": "object", "additionalProperties": {"type": "string"}}},
            "'a-b' in self.m",
            "{m: {a-b: x}}",
            True,
        ),
        ({"n": {"type": "integer"}}, "self.n < 3", "{n: 9223372036854775807}", False),
        (
            {"t": {"type": "string", "format": "date-time"}},
            "self.t.getFullYear() == 2026",
            "{t: '2026-01-01T00:00:00Z'}",
            True,
        ),
        ({"t": {"type": "string", "format": "date"}}, "self.t.getMonth() == 1", "{t: '2026-01-01'}", False),
        ({"d": {"type": "string", "format": "duration"}}, "self.d > duration('1h')", "{d: 90m}", True),
        ({"b": {"type": "string", "format": "byte"}}, "self.b == b'abc'", "{b: YWJj}", True),
    ],
)
def test_a_rule_sees_what_the_schema_declares(properties: dict[str, Any], rule: str, text: str, fits: bool) -> None:
    spec = {"properties": properties, "x-kubernetes-validations": [{"rule": rule, "message": "m"}]}
    found = judged({**spec, **ANY}, text)
    assert not found.unchecked, found.unchecked[0].message
    assert found.accepted is fits


@pytest.mark.parametrize(
    ("properties", "rule", "text", "why"),
    [
        ({"t": {"type": "string", "format": "duration"}}, "self.t > duration('1h')", "{t: 2 weeks}", "as a `duration`"),
        ({"a": {"type": "string"}}, "quantity(self.a) == 1", "{a: x}", "no matching overload"),
    ],
)
def test_what_the_engine_would_take_for_something_else_is_not_judged(
    properties: dict[str, Any], rule: str, text: str, why: str
) -> None:
    found = judged({"properties": properties, "x-kubernetes-validations": [{"rule": rule}]}, text)
    assert found.accepted
    assert [why in fault.message for fault in found.unchecked] == [True]


def test_an_error_of_a_rule_reads_as_the_servers() -> None:
    spec = {"properties": {"a": {"type": "object", "additionalProperties": {"type": "string"}}}}
    found = judged({**spec, "x-kubernetes-validations": [{"rule": "self.a.b == ''", "message": "m"}]}, "{a: {}}")
    assert found.messages == ['spec: Invalid value: "object": no such key: b evaluating rule: m']


def test_lists_whose_order_does_not_count_are_not_compared() -> None:
    listed = {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}
    root = served({"properties": {"l": listed}}).at("example.org/v1/Thing", ("spec",))
    with pytest.raises(NotJudgedError, match="order does not count"):
        visible(root, stamp({"l": ["a", "b"]}, "test"), "self.l == oldSelf.l")


def test_a_built_in_rule_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "judge", lambda *_, **__: pytest.fail("asked"))
    spec = {"properties": {"a": {"type": "integer", "x-kubernetes-validations": [{"rule": "self >= 1"}]}}}
    root = served(spec).at("example.org/v1/Thing", ("spec", "a"))
    assert check([(root, ("a",), stamp(0, "test"))], [])
