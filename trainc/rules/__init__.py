"""Every rule that trainc knows, and for each the smallest input that fails it and the smallest that passes."""

from __future__ import annotations

import json
import os
from importlib import import_module
from typing import NamedTuple

import trainc
from trainc.model.finding import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOMS = (
    "yaml",
    "load",
    "project",
    "admit",
    "resolve",
    "legacy",
    "server",
    "lower",
    "frameworks",
    "schedulers",
    "verify",
    "capacity",
    "compare",
    "cli",
    "model",
)
EXAMPLES = os.path.join(os.path.dirname(__file__), "examples.json")


class Example(NamedTuple):
    """The texts of a rule's own case, and what trainc says about the failing one; empty where there is none."""

    fails: str
    says: str
    passes: str


def rules() -> list[Rule]:
    """All rules, by name."""
    by_name = {
        rule.name: rule for module in _modules() for rule in vars(import_module(module)).values() if _is_rule(rule)
    }
    return [by_name[name] for name in sorted(by_name)]


def _is_rule(thing: object) -> bool:
    return isinstance(thing, Rule)


def _modules() -> Iterator[str]:
    here = os.path.dirname(os.path.abspath(trainc.__file__))
    for room in ROOMS:
        for folder, _, names in sorted(os.walk(os.path.join(here, room))):
            inner = os.path.relpath(folder, os.path.dirname(here)).replace(os.sep, ".")
            for name in sorted(names):
                if name.endswith(".py"):
                    yield inner if name == "__init__.py" else f"{inner}.{name[:-3]}"


def examples() -> Mapping[str, Example]:
    """By rule, the example taken from its case."""
    with open(EXAMPLES, encoding="utf-8") as stream:
        return {name: Example(*texts) for name, texts in json.load(stream).items()}
