"""Shells complete what a command line could go on with; bash itself is asked, zsh and fish where they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.compiling import ROOT, compile_in
from trainc.cli.commands import COMMANDS
from trainc.cli.completion import SHELLS
from trainc.model.rule_names import rule_names

if TYPE_CHECKING:
    from pathlib import Path

PLATFORM = ROOT / "examples/platform"


def words(folder: Path, *typed: str) -> list[str]:
    return compile_in(folder, "completion", "words", "--", *typed).out.splitlines()


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        (["val"], ["validate"]),
        (["build", "--sta"], ["--staged", "--statistics"]),
        (["build", "--fail-on", ""], ["error", "warning"]),
        (["build", "--report=js"], ["--report=json"]),
        (["build", "--report", "=", "js"], ["json"]),
        (["build", "--cluster", ""], ["eu", "us"]),
        (["build", "jobs/"], []),
        (["init", "--cluster", ""], []),
        (["new", "b", "--on", "eks-p6"], ["eks-p6-b200", "eks-p6-b300"]),
        (["new", "b", "--framework", "t"], ["tensorflow", "torch", "torchtune"]),
        (["new", "b", "--scheduler", "k"], ["kueue"]),
        (["new", "b", "--runtime", "ll"], ["llm"]),
        (["new", "b", "--", "tor"], []),
        (["runtimes", "sh"], ["show"]),
        (["runtimes", "copy", "shm", "sp"], ["spot"]),
        (["runtimes", "flatten", "perc"], ["perception"]),
        (["run", "chat-7"], ["chat-7b"]),
        (["rules", "reserved-e"], ["reserved-env"]),
        (["schemas", "show", "TrainJ"], ["TrainJob"]),
        (["explain", "TrainJ"], ["TrainJob."]),
        (["explain", "TrainJob.spec.trainer.n"], ["TrainJob.spec.trainer.numNodes", "TrainJob.spec.trainer.numProcPerNode"]),
        (["explain", "trainc.dev/ra"], ["trainc.dev/rank-layout"]),
        (["explain", "TrainJob.spc."], []),
        (["completion", "f"], ["fish"]),
        (["help", "diag"], ["diagnose"]),
        (["no-such", ""], []),
    ],
)  # fmt: skip
def test_candidates(typed: list[str], found: list[str]) -> None:
    assert words(PLATFORM, *typed) == found


def test_every_command_and_rule_is_a_candidate() -> None:
    assert set(COMMANDS) <= set(words(PLATFORM, ""))
    assert words(PLATFORM, "rules", "") == sorted(rule_names())


def bash(line: str, folder: Path) -> list[str]:
    """What bash offers for a command line whose last word is to be completed."""
    script = compile_in(folder, "completion", "bash").out
    ask = f"""
trainc() {{ "{sys.executable}" -m trainc "$@"; }}
compopt() {{ :; }}
COMP_LINE={line!r}; COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_trainc
printf '%s\\n' "${{COMPREPLY[@]}}"
complete -p trainc
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-euc", script + ask], check=True, cwd=folder, env=environment, capture_output=True, text=True
    )
    *offered, registered = done.stdout.splitlines()
    assert registered == "complete -o default -F _trainc trainc"
    return offered


def test_bash_offers_the_candidates() -> None:
    assert bash("trainc build --cluster e", PLATFORM) == ["eu"]
    assert bash("trainc explain TrainJob.spec.runtimeR", PLATFORM) == ["TrainJob.spec.runtimeRef."]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_one_of_its_shell(shell: str, tmp_path: Path) -> None:
    script = compile_in(tmp_path, "completion", shell).out
    assert "trainc completion words --" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed here: its syntax is checked where it is")
    done = subprocess.run([shell, "-n"], check=False, input=script, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_other_shells_are_told(tmp_path: Path) -> None:
    assert set(SHELLS) == {"bash", "zsh", "fish"}
    run = compile_in(tmp_path, "completion", "bahs")
    assert run.code == 2
    assert "did you mean `bash`?" in run.err
