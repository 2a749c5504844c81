"""One table per kind of thing: what a table names must be there whole, and nothing may stand outside it."""

from __future__ import annotations

import ast
import re

import pytest

from tests.test_house_rules import PACKAGE, ROOT, calls

FINDINGS = "".join(path.read_text("utf-8") for path in ROOT.glob("tests/cases/**/expected/findings.txt"))
README = (ROOT / "README.md").read_text("utf-8")
# Rules that no case shows yet; a rule that gains its case leaves the list.
UNSHOWN: frozenset[str] = frozenset()


def rules() -> list[str]:
    """The name of every rule that the package declares."""
    found = [call for path in PACKAGE for called, call in calls(path) if called.split(".")[-1] == "Rule"]
    return [str(call.args[0].value) for call in found if call.args and isinstance(call.args[0], ast.Constant)]


def frameworks() -> list[str]:
    """The modules that declare a framework."""
    declaring = (path for path in PACKAGE if "frameworks" in path.parts and "older" not in path.parts and "FRAMEWORK = " in path.read_text("utf-8"))
    return [path.stem for path in declaring]


def test_a_rule_has_one_name_and_one_declaration() -> None:
    names = rules()
    assert sorted(set(names)) == sorted(names)
    assert [name for name in names if not re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", name)] == []


@pytest.mark.parametrize("rule", rules())
def test_every_rule_is_shown_by_a_case(rule: str) -> None:
    assert (f"[{rule}]" in FINDINGS) is (rule not in UNSHOWN)


def test_the_list_of_unshown_rules_holds_rules() -> None:
    assert set(rules()) >= UNSHOWN


@pytest.mark.parametrize("name", frameworks())
def test_a_framework_is_there_whole(name: str) -> None:
    """Its module, its line in the table, a runtime that people can start from, cases, and a row in the README."""
    table = (ROOT / "trainc/frameworks/__init__.py").read_text("utf-8")
    runtimes = [path.read_text("utf-8") for path in ROOT.glob("runtimes/*.yaml")]
    assert f'"{name}"' in table
    assert any(f"{name}:" in text for text in runtimes) or (name == "plain" and runtimes)
    assert list(ROOT.glob(f"tests/cases/{name}/*/input"))
    assert f"| {name} |" in README
