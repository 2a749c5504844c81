"""The rules as `trainc explain rules` shows them: complete, and each with the example of its own case."""

import contextlib
import io
import json
import tomllib

import pytest

import trainc
from tests.compiling import ROOT
from tests.sampling import sampled
from tests.test_tables import rules as declared
from trainc.cli import main
from trainc.lint.catalogue import categories, entries, examples, rules
from trainc.lint.catalogue.generate import cases, facts, render

RULES = rules()


def said(*words: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(list(words)) == 0
    return out.getvalue()


def test_the_examples_are_those_of_the_cases() -> None:
    current = (ROOT / "trainc/lint/catalogue/examples.json").read_text("utf-8")
    assert current == render(ROOT), "run `python -m trainc.lint.catalogue.generate`"
    assert (ROOT / "trainc/model/rules.json").read_text("utf-8") == facts(), (
        "run `python -m trainc.lint.catalogue.generate`"
    )


def test_the_list_names_every_rule_once() -> None:
    listed = [line.split()[0] for line in said("explain", "rules").splitlines() if line.startswith("  ")]
    assert sorted(listed) == sorted(declared())


def test_every_rule_has_one_category_and_every_name_of_the_catalogue_a_rule() -> None:
    names = [rule.name for rule in RULES]
    assert sorted(name for category in categories().values() for name in category.rules) == names
    with (ROOT / "trainc/lint/catalogue/catalogue.toml").open("rb") as stream:
        catalogue = tomllib.load(stream)
    assert {name for group in catalogue["similar"] for name in group} - {*names} == set()
    assert not {*categories()} & {*names}


def test_every_rule_has_the_words_of_its_page_in_one_place() -> None:
    assert [rule.name for rule in RULES if not rule.summary] == []


def test_the_rules_that_fix_edits_have_findings_with_an_edit() -> None:
    for name in [name for name, entry in entries().items() if entry.get("fix")]:
        found = trainc.validate(cases(ROOT)[name] / "input")
        assert any(finding.fix for finding in found if finding.rule.name == name), name


def test_a_category_lists_its_rules() -> None:
    assert [line.split()[0] for line in said("explain", "storage").splitlines()[1:]] == list(
        categories()["storage"].rules
    )


def test_the_former_command_still_answers_and_says_so() -> None:
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        assert said("rules", "reserved-env") == said("explain", "reserved-env")
    assert "use `trainc explain reserved-env`" in err.getvalue()


@pytest.mark.parametrize(
    "rule", sampled(RULES, [rule.name for rule in RULES], quick=("missing-runtime", "not-a-number"))
)
def test_a_rule_is_explained(rule: object) -> None:
    name = getattr(rule, "name", "")
    text = said("explain", name)
    assert text.startswith(f"{name} (")
    if name in examples():
        assert f"[{name}]" in text


def test_machines_read_the_list_too() -> None:
    assert {entry["name"] for entry in json.loads(said("explain", "rules", "--report", "json"))} == {
        rule.name for rule in RULES
    }


def test_a_misspelt_rule_is_answered_with_the_nearest() -> None:
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        assert main(["explain", "reserved-envs"]) == 2
    assert "did you mean `reserved-env`?" in err.getvalue()
