"""The rules as `trainc rules` shows them: complete, and each with the example of its own case."""

from __future__ import annotations

import contextlib
import io
import json

import pytest

from tests.compiling import ROOT
from tests.sampling import sampled
from tests.test_tables import rules as declared
from trainc.cli import main
from trainc.rules import examples, rules
from trainc.rules.generate import names, render

RULES = rules()


def said(*words: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(list(words)) == 0
    return out.getvalue()


def test_the_examples_are_those_of_the_cases() -> None:
    current = (ROOT / "trainc/rules/examples.json").read_text("utf-8")
    assert current == render(ROOT), "run `python -m trainc.rules.generate`"
    assert (ROOT / "trainc/model/rules.json").read_text("utf-8") == names(), "run `python -m trainc.rules.generate`"


def test_the_list_names_every_rule_once() -> None:
    listed = [line.split()[0] for line in said("rules").splitlines()]
    assert listed == sorted(declared())


@pytest.mark.parametrize(
    "rule", sampled(RULES, [rule.name for rule in RULES], quick=("missing-runtime", "not-a-number"))
)
def test_a_rule_is_explained(rule: object) -> None:
    name = getattr(rule, "name", "")
    text = said("rules", name)
    assert text.startswith(f"{name} (")
    if name in examples():
        assert f"[{name}]" in text


def test_machines_read_the_list_too() -> None:
    assert {entry["name"] for entry in json.loads(said("rules", "--report", "json"))} == {rule.name for rule in RULES}


def test_a_misspelt_rule_is_answered_with_the_nearest() -> None:
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        assert main(["rules", "reserved-envs"]) == 2
    assert "did you mean `reserved-env`?" in err.getvalue()
