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
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PACKAGE = sorted(ROOT.glob("trainc/**/*.py"))
TESTS = sorted(ROOT.glob("tests/**/*.py"))
SOURCES = [*PACKAGE, *TESTS, *sorted(ROOT.glob("benchmarks/*.py"))]

LEAVES = {"model", "yaml", "schema"}
CONTRIBUTORS = {"frameworks", "schedulers"}
STAGES = {"load", "admit", "resolve", "lower", "verify", "emit"}
MAY_IMPORT = {
    "model": set(),
    "yaml": {"model"},
    "schema": {"model", "yaml"},
    "frameworks": {"model"},
    "schedulers": {"model"},
    "project": LEAVES,
    "api": LEAVES,
    "report": {"model", "why", "compare"},
    "why": LEAVES,
    "compare": {*LEAVES, "project", "pipeline", "verify", "load"},
    "capacity": LEAVES,
    "rehearse": {*LEAVES, "verify"},
    "migrate": {*LEAVES, "pipeline", "frameworks"},
    "fix": {"model", "migrate"},
    **{key: {*LEAVES, *CONTRIBUTORS, "project"} for key in STAGES},
    "pipeline": {*LEAVES, *STAGES, "project"},
}
SPEAKERS = ("cli", "schema/engine_process.py")  # the last is a program of its own
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
    "jsonschema": ("schema/definition_shape.py",),
    "subprocess": ("compare", "rehearse", "schema/engine.py"),
    "ruamel": ("migrate",),
    "logging": (),
}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def room(path: Path) -> str:
    return path.relative_to(ROOT / "trainc").parts[0].removesuffix(".py")


def inside(path: Path, places: tuple[str, ...]) -> bool:
    inner = path.relative_to(ROOT / "trainc").as_posix()
    return any(inner == place or inner.startswith(f"{place}/") or inner == f"{place}.py" for place in places)


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, f"{path}: relative imports hide which room is entered"
            yield from (f"{node.module}.{name.name}" for name in node.names)


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
            yield f"{path.name}:{node.name}", node.end_lineno - node.lineno + 1


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def names(path: Path) -> Iterator[str]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Attribute | ast.Name):
            yield ast.unparse(node)


def shown(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


@pytest.mark.parametrize("path", PACKAGE, ids=shown(PACKAGE))
def test_rooms_import_only_what_lies_below_them(path: Path) -> None:
    here = room(path)
    entered = {name.split(".")[1] for name in imports(path) if name.startswith("trainc.") and name[7] != "_"}
    allowed = MAY_IMPORT.get(here)
    assert allowed is None or entered - {here} <= allowed


@pytest.mark.parametrize("path", PACKAGE, ids=shown(PACKAGE))
def test_strangers_stay_where_they_are_needed(path: Path) -> None:
    strangers = {name.split(".")[0] for name in imports(path)} & OUTSIDERS.keys()
    assert [name for name in strangers if not inside(path, OUTSIDERS[name])] == []


@pytest.mark.parametrize("path", SOURCES, ids=shown(SOURCES))
def test_ceilings(path: Path) -> None:
    lines = path.read_text("utf-8").count("\n")
    assert lines <= 300
    assert [name for name, length in functions(path) if length > 40] == []
    assert path.stem not in {"utils", "util", "helpers", "common", "misc"}


def test_the_usual_function_is_short() -> None:
    assert median(length for path in PACKAGE for _, length in functions(path)) < 12


@pytest.mark.parametrize("path", PACKAGE, ids=shown(PACKAGE))
def test_only_the_command_line_speaks(path: Path) -> None:
    if not inside(path, SPEAKERS) and path.name != "__main__.py":
        assert {"print", "input"}.isdisjoint(called for called, _ in calls(path))
        assert {"sys.exit", "SystemExit", "os._exit", "sys.stdout", "sys.stderr"}.isdisjoint(names(path))


@pytest.mark.parametrize("path", PACKAGE, ids=shown(PACKAGE))
def test_text_leaves_through_one_door(path: Path) -> None:
    """Lines for people are escaped by `cli/output.py`; JSON of reports is written by `report/dumps.py`."""
    if not inside(path, ("cli/output.py", "schema/engine_process.py")):  # the latter speaks to trainc alone
        written = {"print", "sys.stdout.write", "sys.stderr.write", "sys.stdout.writelines", "sys.stderr.writelines"}
        assert written.isdisjoint(called for called, _ in calls(path))
    if inside(path, ("cli", "report")) and not inside(path, ("report/dumps.py",)):
        assert [name for name in imports(path) if name in {"json.dumps", "json.dump"}] == []


@pytest.mark.parametrize("path", PACKAGE, ids=shown(PACKAGE))
def test_only_the_command_line_and_the_spool_write_files(path: Path) -> None:
    if not inside(path, WRITERS):
        assert [ast.unparse(call) for called, call in calls(path) if writes(called, call)] == []


def writes(called: str, call: ast.Call) -> bool:
    if called in {"open", "io.open"}:
        mode = call.args[1] if len(call.args) > 1 else next((k.value for k in call.keywords if k.arg == "mode"), None)
        return mode is not None and not (isinstance(mode, ast.Constant) and mode.value in {"r", "rb"})
    return called.startswith(("tempfile.", "shutil.")) or called in {
        f"os.{verb}" for verb in ("replace", "rename", "remove", "unlink", "mkdir", "makedirs", "write", "chmod")
    }


OTHERS = [path for path in SOURCES if path != Path(__file__)]


@pytest.mark.parametrize("path", OTHERS, ids=shown(OTHERS))
def test_prose_stands_alone(path: Path) -> None:
    text = path.read_text("utf-8")
    assert re.findall(r"\b(?:TODO|FIXME|XXX|HACK)\b|\b[Ii]ssue #?\d+", text) == []
    assert [name for name in re.findall(r"\b[\w-]+\.md\b", text) if not any(ROOT.rglob(name))] == []
    assert "shared/conformance" not in text
