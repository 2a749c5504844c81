"""The shape of the house: who may import whom, how long things may be, who may speak and write."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
PACKAGE = sorted(ROOT.glob("trainc/**/*.py"))
TESTS = sorted(ROOT.glob("tests/**/*.py"))
SOURCES = [*PACKAGE, *TESTS, *sorted(ROOT.glob("benchmarks/*.py"))]

LEAVES = {"model", "yaml", "server"}
CONTRIBUTORS = {"frameworks", "schedulers"}
INPUTS = {"legacy"}  # kinds of input beside the TrainJob
STAGES = {"load", "admit", "resolve", "lower", "verify", "emit"}
MAY_IMPORT = {
    "model": set(),
    "yaml": {"model"},
    "server": {"model", "yaml"},
    "frameworks": {"model"},
    "legacy": {"model", "server", "frameworks"},
    "schedulers": {"model"},
    "project": LEAVES,
    "policy": LEAVES,
    "api": LEAVES,
    "report": {"model", "why", "compare"},
    "why": LEAVES,
    "page": {*LEAVES, "why", "capacity", "usage"},
    "compare": {*LEAVES, "project", "pipeline", "verify", "load", "emit"},
    "capacity": LEAVES,
    "diagnose": LEAVES,
    "rehearse": {*LEAVES, "verify"},
    "migrate": {*LEAVES, *INPUTS, "pipeline", "frameworks", "verify"},
    "fix": {"model", "migrate"},
    "krm": {*LEAVES, "emit"},
    "incremental": {"model", "load", "compare", "emit"},
    **{key: {*LEAVES, *CONTRIBUTORS, "project"} for key in STAGES},
    "verify": {*LEAVES, *CONTRIBUTORS, "project", "capacity"},
    "resolve": {*LEAVES, *CONTRIBUTORS, *INPUTS, "project"},
    "admit": {*LEAVES, *CONTRIBUTORS, *INPUTS, "project", "policy"},
    "forms": {*LEAVES, "frameworks", "emit", "verify"},
    "pipeline": {*LEAVES, *STAGES, "project", "policy", "forms"},
}
PROGRAMS = ("server/schema/engine_process.py", "apiserver/policy/cel/process.py")  # which speak to trainc alone
SPEAKERS = ("cli", *PROGRAMS)
WRITERS = (
    "cli",
    "emit/spool",
    "rehearse",
    "compare/scratch.py",
    "compare/git_process.py",
)  # the last three in temporary files and folders
OUTSIDERS = {  # a package -> the only places that may import it
    "pydantic": ("api",),
    "pydantic_core": ("api", "model/sourced.py"),
    "jsonschema": ("server/schema/definition_shape.py",),
    "subprocess": ("compare", "rehearse", "server/schema/engine.py"),
    "ruamel": ("migrate",),
    "logging": (),
    "pygls": ("lsp",),
    "lsprotocol": ("lsp",),
}


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text("utf-8"))))


def room(path: Path) -> str:
    return path.relative_to(ROOT / "trainc").parts[0].removesuffix(".py")


def inside(path: Path, places: tuple[str, ...]) -> bool:
    inner = path.relative_to(ROOT / "trainc").as_posix()
    return any(inner == place or inner.startswith(f"{place}/") or inner == f"{place}.py" for place in places)


@cache
def imports(path: Path) -> tuple[str, ...]:
    found: list[str] = []
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, f"{path}: relative imports hide which room is entered"
            found += [f"{node.module}.{name.name}" for name in node.names]
    return tuple(found)


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
            yield node.name, node.end_lineno - node.lineno + 1


def dotted(node: ast.expr) -> str:
    """`a.b.c` for a name or a chain of attributes, empty for every other expression."""
    if isinstance(node, ast.Name):
        return node.id
    parent = dotted(node.value) if isinstance(node, ast.Attribute) else ""
    return f"{parent}.{node.attr}" if parent and isinstance(node, ast.Attribute) else ""


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    for node in nodes(path):
        if isinstance(node, ast.Call):
            yield dotted(node.func), node


def names(path: Path) -> set[str]:
    return {dotted(node) for node in nodes(path) if isinstance(node, ast.Attribute | ast.Name)}


def astray(paths: Iterable[Path], faults: Callable[[Path], Iterable[object]]) -> dict[str, list[object]]:
    """The files that break a rule, each with what in it does."""
    found = {str(path.relative_to(ROOT)): list(faults(path)) for path in paths}
    return {path: held for path, held in found.items() if held}


def test_rooms_import_only_what_lies_below_them() -> None:
    def faults(path: Path) -> Iterable[str]:
        entered = {name.split(".")[1] for name in imports(path) if name.startswith("trainc.") and name[7] != "_"}
        allowed = MAY_IMPORT.get(room(path))
        return sorted(entered - {room(path)} - allowed) if allowed is not None else ()

    assert astray(PACKAGE, faults) == {}


def test_strangers_stay_where_they_are_needed() -> None:
    def faults(path: Path) -> Iterable[str]:
        strangers = {name.split(".")[0] for name in imports(path)} & OUTSIDERS.keys()
        return sorted(name for name in strangers if not inside(path, OUTSIDERS[name]))

    assert astray(PACKAGE, faults) == {}


def test_ceilings() -> None:
    def faults(path: Path) -> Iterable[object]:
        lines = path.read_text("utf-8").count("\n")
        if lines > 600:
            yield lines
        yield from (function for function in functions(path) if function[1] > 60)
        if path.stem in {"utils", "util", "helpers", "common", "misc"}:
            yield path.stem

    assert astray(SOURCES, faults) == {}
    assert median(length for path in PACKAGE for _, length in functions(path)) < 12


def test_only_the_command_line_speaks() -> None:
    speech = {"print", "input", "sys.exit", "SystemExit", "os._exit", "sys.stdout", "sys.stderr"}

    def faults(path: Path) -> Iterable[str]:
        return sorted(speech & names(path)) if not inside(path, SPEAKERS) and path.name != "__main__.py" else ()

    assert astray(PACKAGE, faults) == {}


def test_text_leaves_through_one_door() -> None:
    """Lines for people are escaped by `cli/output.py`; JSON of reports is written by `report/dumps.py`."""
    written = {"print", "sys.stdout.write", "sys.stderr.write", "sys.stdout.writelines", "sys.stderr.writelines"}

    def faults(path: Path) -> Iterable[str]:
        if not inside(path, ("cli/output.py", *PROGRAMS)):
            yield from sorted(written & {called for called, _ in calls(path)})
        if inside(path, ("cli", "report")) and not inside(path, ("report/dumps.py",)):
            yield from (name for name in imports(path) if name in {"json.dumps", "json.dump"})

    assert astray(PACKAGE, faults) == {}


def test_only_the_command_line_and_the_spool_write_files() -> None:
    def faults(path: Path) -> Iterable[str]:
        if not inside(path, WRITERS):
            yield from (ast.unparse(call) for called, call in calls(path) if writes(called, call))

    assert astray(PACKAGE, faults) == {}


def writes(called: str, call: ast.Call) -> bool:
    if called in {"open", "io.open"}:
        mode = call.args[1] if len(call.args) > 1 else next((k.value for k in call.keywords if k.arg == "mode"), None)
        return mode is not None and not (isinstance(mode, ast.Constant) and mode.value in {"r", "rb"})
    return called.startswith(("tempfile.", "shutil.")) or called in {
        f"os.{verb}" for verb in ("replace", "rename", "remove", "unlink", "mkdir", "makedirs", "write", "chmod")
    }


def test_prose_stands_alone() -> None:
    pages = {path.name for top in ("docs", "tests", "examples", "benchmarks") for path in ROOT.glob(f"{top}/**/*.md")}
    pages |= {path.name for path in ROOT.glob("*.md")}

    def faults(path: Path) -> Iterable[str]:
        text = path.read_text("utf-8")
        yield from re.findall(r"\b(?:TODO|FIXME|XXX|HACK)\b|\b[Ii]ssue #?\d+|shared/conformance", text)
        yield from (name for name in re.findall(r"\b[\w-]+\.md\b", text) if name not in pages)

    assert astray([path for path in SOURCES if path != Path(__file__)], faults) == {}
