"""Policies of strangers: whatever they hold, the run ends soon, and says what it did not judge."""

from pathlib import Path
from typing import Any

import pytest

from tests.apiserver.policy.judging import Judged, binding, policy, with_spec
from tests.compiling import ROOT
from tests.effort import cpu, within
from trainc.apiserver.policy.definitions import PolicyEngine

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
# The process that judges, with a tenth of its time for a question.
HASTY = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from trainc.apiserver.policy.cel import process
process.SECONDS /= 10
process.main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_every_expression_ends(text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hasty = tmp_path / "hasty.py"
    hasty.write_text(HASTY, "utf-8")
    monkeypatch.setattr(PolicyEngine, "program", str(hasty))
    monkeypatch.setattr(PolicyEngine, "slow", 0.2)

    def judge() -> None:
        judged = Judged(policy(text), binding(), of=with_spec(l=list(range(300))))
        assert judged.verdict in {"deny", "admit", "unknown", "invalid"}

    within(5, lambda: cpu(judge))


def test_what_brings_the_process_down_is_not_judged_and_the_next_policy_is() -> None:
    down, fine = policy(HOSTILE["doubled lists"], name="down"), policy("false", name="fine")
    judged = Judged(down, binding(of="down", name="a"), fine, binding(of="fine", name="b"))
    assert any("`fine`" in finding.message for finding in judged.findings("policy-denied"))


@pytest.mark.slow
def test_a_run_asks_no_longer_than_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PolicyEngine, "slow", 0.5)
    many: list[dict[str, Any]] = []
    for number in range(20):
        many += [policy(LOOPS, name=f"p{number}"), binding(of=f"p{number}", name=f"b{number}")]
    judged = Judged(*many, of=with_spec(l=list(range(300))))
    assert any("admission policies take too much time" in reason for reason in judged.report.unknown)


@pytest.mark.slow
def test_a_large_object_is_not_judged() -> None:
    judged = Judged(policy("true"), binding(), of=with_spec(text="a" * 4_100_000))
    assert judged.verdict == "unknown"


@pytest.mark.parametrize(
    "spec",
    [None, [], "text", 3, {"matchConstraints": []}, {"validations": "x"}, {"validations": [None]}, {"variables": [[]]}],
)
def test_any_shape_is_a_finding(spec: object) -> None:
    odd = {**policy("true"), "spec": spec}
    assert Judged(odd, binding()).verdict == "invalid"
    assert Judged(policy("true"), {**binding(), "spec": spec}).verdict == "invalid"
