"""What the lane does itself, without asking a program."""

from pathlib import Path
from typing import Any

import pytest

from tests.programs import __main__, modules
from tests.programs.differences import Difference, compared, first_difference, pattern, smallest_like
from tests.programs.draw import Drawer
from tests.programs.fixed_point import stored_otherwise
from tests.programs.process import DiedError, Process
from tests.programs.trainer_compiled import schemas
from tests.programs.trainer_inputs import trainjob_with_runtime

SCHEMAS = Path(__file__).parents[2] / "schemas"


def test_each_version_is_pinned() -> None:
    """A version of the table has its modules and their sums in the repository."""
    for program in modules.programs():
        assert f"{program.module} v{program.version}" in program.pins.read_text("utf-8"), program.id
        assert program.pins.with_suffix(".sum").stat().st_size > 1000, program.id


def test_without_go_one_line_says_what_was_not_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sys.argv", ["programs", "ask"])
    assert __main__.main() == 0
    assert capsys.readouterr().out == "the programs that trainc repeats were not asked: Go is not installed\n"


def test_a_program_that_is_not_in_the_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(__main__, "has_go", lambda: True)
    monkeypatch.setattr("sys.argv", ["programs", "ask", "trainer-1.0.0"])
    assert __main__.main() == 2
    said = capsys.readouterr().out
    assert said.startswith("no program is called `trainer-1.0.0`; there are ")
    assert said.count("\n") == 1


def test_a_folder_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cache that is a file, or a disk that is full, is one line."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRAINC_PROGRAMS", str(tmp_path / "file"))
    monkeypatch.setattr(__main__, "has_go", lambda: True)
    monkeypatch.setattr(modules, "has_go", lambda: True)
    monkeypatch.setattr(modules, "_go", lambda *_: "")
    monkeypatch.setattr("sys.argv", ["programs", "ask", "trainer-2.3.0", "--seed", "1"])
    assert __main__.main() == 2
    said = capsys.readouterr().out
    assert said.startswith("trainer-2.3.0 is not built: ")
    assert said.count("\n") == 1


def test_the_same_seed_draws_the_same() -> None:
    known = schemas(SCHEMAS / "crds")
    assert trainjob_with_runtime(7, known) == trainjob_with_runtime(7, known)
    assert trainjob_with_runtime(7, known) != trainjob_with_runtime(8, known)


def test_each_framework_and_kind_of_runtime_is_drawn() -> None:
    known = schemas(SCHEMAS / "crds")
    drawn = [trainjob_with_runtime(seed, known) for seed in range(200)]
    policies = {policy for runtime, _ in drawn for policy in (runtime["spec"].get("mlPolicy") or {})}
    assert policies >= {"torch", "mpi", "jax", "xgboost", "flux", "numNodes"}
    assert {runtime["kind"] for runtime, _ in drawn} == {"ClusterTrainingRuntime", "TrainingRuntime"}
    assert any("runtimePatches" in job["spec"] for _, job in drawn)


def test_a_value_of_each_type_is_drawn() -> None:
    draw = Drawer(1)
    assert isinstance(draw.value({"type": "integer"}), int)
    assert isinstance(draw.value({"type": "array", "items": {"type": "string"}}), list)
    assert draw.value({"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}, depth=9) in (
        {"a": True},
        {"a": False},
        {},
    )


def test_an_input_is_made_as_small_as_it_goes() -> None:
    documents: list[dict[str, Any]] = [{"kind": "A", "spec": {"a": [{"x": 1, "y": 2}, {"x": 3}]}}, {"kind": "B"}]
    assert smallest_like(documents, lambda tried: "'y'" in str(tried)) == [{"kind": "A", "spec": {"a": [{"y": 2}]}}]


def test_differences_are_counted_by_kind() -> None:
    def differs(documents: list[dict[str, Any]]) -> Difference | None:
        return Difference("large", "1", "2") if any(document.get("n", 0) > 2 for document in documents) else None

    outcome = compared("row", iter([[{"n": n, "other": 1}] for n in range(5)]), differs)
    assert (outcome.asked, outcome.differing) == (5, 2)
    assert outcome.differences["large"] == (Difference("large", "1", "2"), [{"n": 3}], 2)


def test_messages_that_differ_in_values_are_one_kind() -> None:
    assert pattern('spec.a[0]: Invalid value: "x": must be y') == pattern('spec.a[12]: Invalid value: "z": must be y')


def test_the_first_place_that_differs() -> None:
    assert first_difference({"a": [{"b": 1}]}, {"a": [{"b": 2}]}) == (".a[].b", 1, 2)
    assert first_difference({"a": [1]}, {"a": [1]}) is None


def test_what_a_server_stores_otherwise() -> None:
    """Fields that the server adds are its own; a list of another length and another spelling are not what was written."""
    assert stored_otherwise({"a": [{"b": "1"}]}, {"a": [{"b": "1", "c": 2}], "d": 3}, "spec") is None
    assert stored_otherwise({"cpu": 1}, {"cpu": "1"}, "spec") == ("spec.cpu", 1, "1")
    assert stored_otherwise({"a": [1]}, {"a": [1, 2]}, "spec") == ("spec.a", [1], [1, 2])
    assert stored_otherwise({"status": {}}, {}, "spec") == ("spec.status", {}, None)


def test_a_program_that_dies_is_one_line(tmp_path: Path) -> None:
    program = tmp_path / "program-1" / "program"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho no room >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(DiedError, match=r"^program-1 ended: no room$"), Process(program) as process:
        process.ask({})
