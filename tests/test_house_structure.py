"""What a reader trips over: circles of imports, one name for two things, names in text, code twice, code for nobody."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.test_house_rules import PACKAGE, ROOT, nodes, room

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in PACKAGE}

# Modules that need one another, types included: halves of one thing, in two files because of its length.
CIRCLES = [
    {"cli.build", "cli.rendered", "cli.whole"},
    {"capacity.cluster", "capacity.flavors", "capacity.verdict"},
    {"capacity.fit", "capacity.rules"},
    {"model.directives", "model.tree"},
    {"model.patch", "model.plan"},
    {"policy.cel.interpreter", "policy.cel.two_variables"},
    {"resolve.components", "resolve.parameters"},
    {"resolve.locks", "resolve.template"},
    {"server.pods.complaints", "server.schema.features"},
    {"server.schema.node", "server.schema.table"},
    {"server.schema.piece", "server.schema.scalar", "server.schema.walker"},
    {"verify.containers", "verify.job", "verify.launch", "verify.pods", "verify.world"},
]

TABLES = {"__init__", "frameworks.__init__", "schedulers.__init__"}  # modules that are loaded by name
UNUSED = {"from_yaml", "pod_at", "all_checks", "FOUND", "IGNORE"}  # for users and tests; exit codes and words in full


@cache
def imported(module: str) -> frozenset[str]:
    """The modules of trainc that one imports, wherever in it and whatever for."""
    found: set[str] = set()
    for node in nodes(MODULES[module]):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            full = {f"{node.module}.{name.name}" for name in node.names}
            found |= full & MODULES.keys()
            found |= {node.module} if full - MODULES.keys() else set()
    return frozenset(found & MODULES.keys() - {module, "trainc"})


def reached(module: str) -> set[str]:
    found: set[str] = set()
    todo = [module]
    while todo:
        new = imported(todo.pop()) - found
        found |= new
        todo += new
    return found


def test_circles_of_imports_are_those_that_are_known() -> None:
    below = {module: reached(module) for module in MODULES}
    circles = {
        frozenset(other for other in below[module] if module in below[other])
        for module in MODULES
        if module in below[module]
    }
    assert {frozenset(name.removeprefix("trainc.") for name in circle) for circle in circles} == set(
        map(frozenset, CIRCLES)
    )


def test_facts_of_a_job_know_no_rule_and_rules_know_no_other() -> None:
    callers = {"table", "refused", "run_checks", "delivered", "__init__"}

    def faults(path: Path) -> Iterator[str]:
        own = path.parent.name if path.parent.name != "rules" else path.stem
        for name in imported(module_of(path)):
            if name.startswith("trainc.lint.rules.") and name.split(".")[3] != own:
                yield name

    facts = [path for path in PACKAGE if path.parent.name == "verify" and path.stem not in callers]
    rules = [path for path in PACKAGE if "rules" in path.parts and "verify" in path.parts]
    # The same mistake, seen in two places, is one rule.
    assert {module_of(path): found for path in [*facts, *rules] if (found := list(faults(path)))} == {
        "trainc.lint.rules.annotations": ["trainc.lint.rules.scheduling.queues"]
    }


def test_no_package_has_a_name_that_is_a_module_of_it() -> None:
    found = []
    for module, path in MODULES.items():
        if path.name != "__init__.py":
            continue
        inner = {name.rpartition(".")[2] for name in MODULES if name.rpartition(".")[0] == module}
        body = ast.parse(path.read_text("utf-8")).body
        own = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        for node in body:
            if isinstance(node, ast.ImportFrom):
                own |= {name.name for name in node.names if f"{node.module}.{name.name}" not in MODULES}
        found += [f"{module}.{name}" for name in inner & own]
    assert found == []


def test_no_two_classes_of_one_name() -> None:
    named: dict[str, list[str]] = defaultdict(list)
    for module, path in MODULES.items():
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                named[node.name].append(module)
    assert {name: modules for name, modules in named.items() if len(modules) > 1} == {}


def test_no_two_modules_of_one_name_in_a_room() -> None:
    named = Counter(" ".join((*module.split(".")[1:2], module.rpartition(".")[2])) for module in MODULES)
    assert [name for name, count in named.items() if count > 1] == []


def test_modules_are_named_in_text_in_tables_alone() -> None:
    def faults(path: Path) -> list[str]:
        return [
            node.value
            for node in nodes(path)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value
            if node.value != "trainc.yaml"  # the project file
            if node.value in MODULES or node.value.rpartition(".")[0] in MODULES.keys() - {"trainc"}
        ]

    allowed = {ROOT / "trainc" / f"{name.replace('.', '/')}.py" for name in TABLES}
    outside = {module_of(path): found for path in PACKAGE if path not in allowed and (found := faults(path))}
    # The groups of entry points of installed packages are called like rooms.
    assert outside == {"trainc.text.plugins": ["trainc.frameworks", "trainc.schedulers", "trainc.rules"]}


def test_no_function_stands_there_twice() -> None:
    bodies: dict[str, list[str]] = defaultdict(list)
    for module, path in MODULES.items():
        if not module.startswith("trainc.api."):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):  # a tree of its own: names change in it
                if isinstance(node, ast.FunctionDef) and (text := body_without_names(node)).count("\n") >= 5:
                    bodies[text].append(f"{module}.{node.name}")
    assert [names for names in bodies.values() if len(names) > 1] == []


def body_without_names(function: ast.FunctionDef) -> str:
    """What a function does, one line for each statement: its arguments and variables are numbered, and not named."""
    parts = list(ast.walk(function))
    own = {part.arg for part in parts if isinstance(part, ast.arg)}
    own |= {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    numbers: dict[str, str] = {}
    for part in parts:
        if isinstance(part, ast.arg):
            part.annotation = None
            part.arg = numbers.setdefault(part.arg, f"_{len(numbers)}")
        elif isinstance(part, ast.Name) and part.id in own:
            part.id = numbers.setdefault(part.id, f"_{len(numbers)}")
    body = [part for part in function.body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))]
    return "\n".join([ast.unparse(function.args), *map(ast.unparse, body)])


def test_everything_is_used_by_somebody() -> None:
    used = Counter(name for path in PACKAGE for name in mentioned(path))
    own = [path for path in PACKAGE if room(path) != "kubeflow"]  # its methods are called by Kubeflow's SDK
    unused = {name for path in own for name in defined(path) if not (used[name] or name.startswith("_repr_"))}
    assert unused == UNUSED  # what starts with `_repr_` is called by notebooks


def mentioned(path: Path) -> Iterator[str]:
    for node in nodes(path):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.arg
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 60:
            yield from re.findall(r"\b[A-Za-z_]\w*\b", node.value)  # annotations, and what is asked for by name


def defined(path: Path) -> Iterator[str]:
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("__"):
            yield node.name
        elif isinstance(node, ast.Module):
            for part in node.body:
                if isinstance(part, ast.Assign):
                    names = [name for target in part.targets for name in ast.walk(target)]
                    yield from (name.id for name in names if isinstance(name, ast.Name) and name.id[:2] != "__")


def test_a_name_says_what_a_thing_is() -> None:
    """A participle that stands alone says what was done, and not to what."""
    alone = {"found", "said", "laid", "begun", "told", "heard", "asked", "named"}
    named = {
        name
        for module in MODULES.values()
        for node in nodes(module)
        for name in (
            [node.id]
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            else [node.arg]
            if isinstance(node, ast.arg)
            else [node.name]
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
            else []
        )
    }
    assert named & alone == set()


def functions_of(file: Path) -> set[str]:
    return set(re.findall(r"^def (test_\w+)", file.read_text("utf-8"), re.MULTILINE)) if file.exists() else set()
