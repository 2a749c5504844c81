"""Promises that no linter checks: text leaves trainc through one module, few places write files, what is found is read."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from tests.compiling import ROOT

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
    assert [path for path in places if not inside(path, "cli/output.py")] == []
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


def is_lazy(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a call of a function does nothing yet: a generator, or what gives an iterator on."""
    returned = ast.unparse(function.returns) if function.returns is not None else ""
    if returned.startswith(("Iterator[", "Generator[")) or returned == "Findings":
        return True
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            todo.extend(ast.iter_child_nodes(node))
    return False


@cache
def lazy_names() -> frozenset[str]:
    """The names that only functions have whose calls do nothing yet; a context manager does its own when it is entered."""
    kinds: dict[str, set[bool]] = {}
    for path in PACKAGE:
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef):
                kinds.setdefault(node.name, set()).add(is_lazy(node))
    return frozenset(name for name, lazy in kinds.items() if lazy == {True})


def unread(tree: Iterable[ast.AST]) -> Iterator[ast.Call]:
    """The calls of such functions whose findings or values nothing reads."""
    for node in tree:
        values: list[ast.expr] = []
        if isinstance(node, ast.Expr):
            values = [node.value]
        elif isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
            values = [node.test]  # an iterator is true, whatever it gives
        elif isinstance(node, ast.BoolOp):
            values = node.values
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            values = [node.operand]
        for value in values:
            if isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] in lazy_names():
                yield value


def test_what_a_generator_finds_is_read() -> None:
    """A check that yields findings and is called as if it reported them says nothing, and no type checker objects."""
    assert len(lazy_names()) > 200
    found = [f"{path.relative_to(ROOT)}:{call.lineno}" for path in PACKAGE for call in unread(nodes(path))]
    assert not found, found


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("NAME(job)", 1),
        ("if NAME(job):\n    pass", 1),
        ("a = not module.NAME(job)", 1),
        ("a = NAME(job) or []", 1),
        ("yield from NAME(job)", 0),
        ("for one in NAME(job):\n    pass", 0),
        ("found.extend(NAME(job))", 0),
        ("if any(NAME(job)):\n    pass", 0),
    ],
)
def test_a_generator_that_is_not_read_is_found(text: str, number: int) -> None:
    """`NAME` stands for one of the checks that yield."""
    check = "output_on_read_only_mount"
    body = text.replace("NAME", check).replace("\n", "\n    ")
    assert check in lazy_names()
    assert len(list(unread(ast.walk(ast.parse(f"def caller(job):\n    {body}\n"))))) == number


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py")))
def test_a_benchmark_can_be_started(name: str) -> None:
    """Nothing else in the suite imports them."""
    import_module(f"benchmarks.{name}")
