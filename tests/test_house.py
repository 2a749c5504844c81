"""Promises that no linter checks: text leaves trainc through one module, and few places write files."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.compiling import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

PACKAGE = sorted(ROOT.glob("trainc/**/*.py"))
WRITERS = (
    "cli",
    "compiler/emit/spool",
    "authoring/rehearse.py",  # this one and those of Git write to temporary files and folders
    "changes/git/scratch.py",
    "changes/git/repository.py",
)
FILES = ("cli/findings.py", "report/page/data.py")  # JSON in files, escaped for what reads them
# Programs of their own, which speak to trainc alone.
PROGRAMS = ("apiserver/schema/engine_process.py", "apiserver/policy/cel/process.py")
SYSTEM = {f"os.{verb}" for verb in ("replace", "rename", "remove", "unlink", "mkdir", "makedirs", "write", "chmod")}


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text("utf-8"))))


def inside(path: Path, *places: str) -> bool:
    inner = path.relative_to(ROOT / "trainc").as_posix()
    return any(inner == place or inner.startswith(f"{place}/") for place in places)


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


def test_text_leaves_through_one_module() -> None:
    """Lines for people are escaped by `cli/output.py`; JSON of reports is written by `report/dumps.py`."""
    written = {"print", "sys.stdout.write", "sys.stderr.write", "sys.stdout.writelines", "sys.stderr.writelines"}
    places = [path for path in PACKAGE if written & {called for called, _ in calls(path)}]
    assert [path for path in places if not inside(path, "cli/output.py", *PROGRAMS)] == []
    dumping = [path for path in PACKAGE if {"json.dumps", "json.dump"} & {called for called, _ in calls(path)}]
    reports = [path for path in dumping if inside(path, "cli", "report") and not inside(path, *FILES)]
    assert [path for path in reports if not inside(path, "report/dumps.py")] == []


def test_few_places_write_files() -> None:
    writing = [path for path in PACKAGE if any(writes(called, call) for called, call in calls(path))]
    assert [path for path in writing if not inside(path, *WRITERS)] == []


def writes(called: str, call: ast.Call) -> bool:
    if called in {"open", "io.open"}:
        mode = call.args[1] if len(call.args) > 1 else next((k.value for k in call.keywords if k.arg == "mode"), None)
        return mode is not None and not (isinstance(mode, ast.Constant) and mode.value in {"r", "rb"})
    return called.startswith(("tempfile.", "shutil.")) or called in SYSTEM
