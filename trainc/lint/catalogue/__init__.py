"""Every rule that trainc knows, by category, and for each the smallest input that fails it and the smallest that passes."""

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import trainc
from trainc.model.finding import ERROR, Rule
from trainc.model.rule_selection import rule_facts

ROOMS = (
    "yaml", "compiler", "kinds", "apiserver", "frameworks", "schedulers", "lint", "cluster", "changes/compare",
    "changes/git", "cli", "model",
)  # fmt: skip
PACKAGES = "packages"
WITHOUT_RULES = ("models", "generator", "generate.py")  # they need packages that no run does
_PROGRAMS = ("mpirun", "torchrun", "trainc", "trainc.yaml")  # names with which a summary may begin
EXAMPLES = os.path.join(os.path.dirname(__file__), "examples.json")


class Category(NamedTuple):
    """Rules about one subject: a heading, a sentence, and their names."""

    title: str
    about: str
    rules: tuple[str, ...]


def entries() -> dict[str, dict[str, Any]]:
    """By rule, what is known of it beside its declaration: category, summary, why."""
    return _load("rules.toml")


@cache
def _load(name: str) -> dict[str, Any]:
    with open(os.path.join(os.path.dirname(__file__), name), "rb") as stream:
        return tomllib.load(stream)


def categories() -> dict[str, Category]:
    """All categories by the word that selects them, in the order in which they are listed."""
    members: dict[str, list[str]] = {}
    for name, entry in sorted(entries().items()):
        members.setdefault(entry["category"], []).append(name)
    parts = _load("catalogue.toml")["categories"]
    return {word: Category(part["title"], part["about"], tuple(members[word])) for word, part in parts.items()}


def category_of(rule: Rule) -> str:
    """The word that selects a rule's category; `PACKAGES` for a rule of an installed package."""
    facts = rule_facts().get(rule.name)
    return facts.category if facts else PACKAGES


def summary_of(rule: Rule) -> str:
    """The summary as a sentence; a program keeps its lower-case name."""
    text = rule.summary
    is_program = text.split(maxsplit=1)[0] in _PROGRAMS
    return f"{text if is_program else text[:1].upper() + text[1:]}."


def facts_of(rule: Rule) -> dict[str, str]:
    """What a rule's page says beside its reason: category, first version, fix, suppression, similar rules."""
    catalogue, entry = _load("catalogue.toml"), entries().get(rule.name, {})  # none of an installed package
    similar = sorted({name for group in catalogue["similar"] if rule.name in group for name in group} - {rule.name})
    suppress = "no: the API server rejects it" if rule.verdict else "no: the text cannot be read"
    if not rule.verdict and not rule.unreadable:
        limit = "; a job that cannot be compiled stays an error" if rule.level == ERROR else ""
        suppress = f"`# trainc: allow[{rule.name}] reason`, or a level under `rules:` in trainc.yaml{limit}"
    facts = {
        "category": category_of(rule),
        "since": entry.get("since", catalogue["first"]),
        "fix": "`trainc fix` edits the file" if entry.get("fix") else "by hand",
        "suppress": suppress,
    }
    return {**facts, "see also": ", ".join(similar)} if similar else facts


class Example(NamedTuple):
    """The texts of a rule's own case, and what trainc says about the failing one; empty where there is none."""

    fails: str
    says: str
    passes: str


@cache
def rules() -> tuple[Rule, ...]:
    """All rules, by name."""
    things = [thing for module in _modules() for thing in vars(import_module(module)).values()]
    by_name = {thing.name: thing for thing in things if isinstance(thing, Rule)}
    return tuple(by_name[name] for name in sorted(by_name))


def _modules() -> Iterator[str]:
    here = os.path.dirname(os.path.abspath(trainc.__file__))
    for room in ROOMS:
        for folder, _, names in sorted(os.walk(os.path.join(here, room))):
            if os.path.basename(folder) in WITHOUT_RULES:
                continue
            inner = os.path.relpath(folder, os.path.dirname(here)).replace(os.sep, ".")
            for name in sorted(names):
                if name.endswith(".py") and name not in WITHOUT_RULES:
                    yield inner if name == "__init__.py" else f"{inner}.{name[:-3]}"


@cache
def examples() -> Mapping[str, Example]:
    """By rule, the example taken from its case."""
    with open(EXAMPLES, encoding="utf-8") as stream:
        return {name: Example(*texts) for name, texts in json.load(stream).items()}
