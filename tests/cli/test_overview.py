"""`trainc --help` shows every command once, in its group; what is deprecated works and says what to write instead."""

import re
from pathlib import Path

import pytest

from tests.compiling import ROOT, compile_in
from trainc.cli.commands import COMMANDS
from trainc.cli.options import DEPRECATED, GROUPS, WIDTH

JOB = ROOT / "tests/cases/torch/gpu-nodes/input"


def test_every_command_stands_in_one_group() -> None:
    listed = [name for names in GROUPS.values() for name in names]
    assert sorted([*listed, *DEPRECATED]) == sorted(COMMANDS)


def test_help_prints_the_groups(tmp_path: Path) -> None:
    run = compile_in(tmp_path, "--help")
    assert run.code == 0
    assert re.findall(r"^(\w+):$", run.out, re.MULTILINE) == list(GROUPS)


def test_the_overview_has_a_line_for_each_command(tmp_path: Path) -> None:
    lines = compile_in(tmp_path, "--help").out.splitlines()
    assert max(map(len, lines)) <= 75
    assert [line.split()[0] for line in lines if line.startswith("  ")] == [
        name for names in GROUPS.values() for name in names
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_80_columns(tmp_path: Path, name: str) -> None:
    lines = compile_in(tmp_path, name, "--help-all").out.splitlines()
    prose = lines[: lines.index("examples:")] if "examples:" in lines else lines
    is_command = "kubectl get "
    assert [line for line in prose if len(line) > WIDTH and is_command not in line] == []
    for option in COMMANDS[name].options:  # wrapping loses no word
        assert " ".join(option.help.split()) in " ".join(" ".join(prose).split())


def test_help_all_may_come_before_the_command(tmp_path: Path) -> None:
    assert compile_in(tmp_path, "--help-all").out == compile_in(tmp_path, "--help").out
    for words in (("--help-all", "build"), ("help", "build", "--help-all")):
        assert compile_in(tmp_path, *words).out == compile_in(tmp_path, "build", "--help-all").out


def test_help_of_a_command_leaves_rare_options_to_help_all(tmp_path: Path) -> None:
    short, full = (compile_in(tmp_path, "build", word).out for word in ("--help", "--help-all"))
    assert "--help-all" in short
    assert "--statistics" not in short
    assert "--statistics" in full
    assert "--notes" not in full


@pytest.mark.slow
def test_a_deprecated_option_works_and_names_what_replaces_it() -> None:
    before = compile_in(JOB, "validate", ".", "--min-level", "note")
    assert before.err.startswith("trainc: --min-level is deprecated and will be removed in 0.3; use -q for errors only")
    assert before.err.partition("\n")[2] == compile_in(JOB, "validate", ".", "-v").err
