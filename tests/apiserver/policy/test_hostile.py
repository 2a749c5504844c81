"""Policies of strangers: whatever they hold, the run ends soon, and says what it did not judge."""

from typing import Any

import pytest

from tests.apiserver.policy.judging import Judged, binding, policy, with_spec
from tests.effort import cpu, within
from trainc.apiserver.expressions import budget

LOOPS = "object.spec.l.all(a, object.spec.l.all(b, object.spec.l.all(c, a + b + c >= 0)))"
HOSTILE: dict[str, str] = {
    "loops in loops": LOOPS,
    "doubled texts": "['aaaaaaaaaaaaaaaa']" + ".map(x, x + x)" * 24 + "[0].size() == 1",
    "doubled lists": "[object.spec.l]" + ".map(x, x + x)" * 20 + "[0].size() == 1",
    "trees of lists": "[object.spec.l]" + ".map(x, [x, x])" * 22 + " == [object.spec.l]" + ".map(x, [x, x])" * 22,
    "a long list": "lists.range(1000000).map(a, a + 1).size() == 1",
    "a longer list": "lists.range(100000000).size() == 1",
    "nested brackets": "(" * 5000 + "true" + ")" * 5000,
    "selections": "object" + ".a" * 5000 + " == 1",
    "minus signs": "-" * 5000 + "1 == 1",
    "conditions": "true ? " * 3000 + "true" + " : true" * 3000,
    "260 ands": " && ".join(["object.kind == 'A'"] * 260),
    "a pattern that repeats": "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'.matches('^(a+)+$')",
    "a pattern that repeats, to be found": "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'.find('^(a+)+$') == ''",
    "a huge pattern": "object.kind.matches('(a{1000}){1000}')",
    "digits": "9" * 5000 + " > 1",
    "half a surrogate": "object.kind == '\\ud800'",
    "a wide number": "'%.999999999f'.format([1.5]) == ''",
    "a long quantity": "quantity('1" + "0" * 3000 + "').isGreaterThan(quantity('1'))",
}


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_every_expression_ends(text: str) -> None:
    def judge() -> None:
        judged = Judged(policy(text), binding(), of=with_spec(l=list(range(300))))
        assert judged.verdict in {"deny", "admit", "unjudged", "invalid"}

    within(5, lambda: cpu(judge))


def test_what_is_too_large_is_not_judged_and_the_next_policy_is() -> None:
    down, fine = policy(HOSTILE["doubled lists"], name="down"), policy("false", name="fine")
    judged = Judged(
        down, binding(of="down", name="a"), fine, binding(of="fine", name="b"), of=with_spec(l=list(range(300)))
    )
    assert any("`down`" in finding.message for finding in judged.findings("unjudged-policy"))
    assert any("`fine`" in finding.message for finding in judged.findings("policy-denied"))


@pytest.mark.slow
def test_a_run_spends_no_more_than_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MOST", 1_000_000)
    many: list[dict[str, Any]] = []
    for number in range(20):
        many += [policy(LOOPS, name=f"p{number}"), binding(of=f"p{number}", name=f"b{number}")]
    judged = Judged(*many, of=with_spec(l=list(range(300))))
    assert judged.verdict == "deny", "the first ones cost more than the server allows"
    assert any("take too much time" in finding.message for finding in judged.findings("unjudged-policy"))


@pytest.mark.parametrize(
    "spec",
    [None, [], "text", 3, {"matchConstraints": []}, {"validations": "x"}, {"validations": [None]}, {"variables": [[]]}],
)
def test_any_shape_is_a_finding(spec: object) -> None:
    odd = {**policy("true"), "spec": spec}
    assert Judged(odd, binding()).verdict == "invalid"
    assert Judged(policy("true"), {**binding(), "spec": spec}).verdict == "invalid"
