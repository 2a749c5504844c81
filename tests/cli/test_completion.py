"""Shells complete what a command line could go on with; bash itself is asked, zsh and fish where they are installed."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.compiling import ROOT, compile_in
from tests.effort import PATIENCE
from tests.pseudo_terminal import has_terminals
from trainc.cli.commands import COMMANDS
from trainc.model.rule_selection import rule_categories, rule_facts

PLATFORM = ROOT / "examples/platform"


def words(folder: Path, *typed: str) -> list[str]:
    return compile_in(folder, "completion", "words", "--", *typed).out.splitlines()


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        (["val"], ["validate"]),
        (["build", "--sta"], ["--staged", "--statistics"]),
        (["build", "--fail-on", ""], ["error", "skipped", "warning"]),
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
        (["explain", "reserved-e"], ["reserved-env"]),
        (["validate", "--select", "reserved-e"], ["reserved-env"]),
        (["validate", "--ignore=reserved-e"], ["--ignore=reserved-env"]),
        (["schemas", "show", "TrainJ"], ["TrainJob", "TrainJobPatch"]),
        (["explain", "TrainJ"], ["TrainJob.", "TrainJobPatch."]),
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
    assert words(PLATFORM, "rules", "") == sorted([*rule_facts(), *rule_categories()])


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


@pytest.mark.slow
def test_bash_offers_the_candidates() -> None:
    assert bash("trainc build --cluster e", PLATFORM) == ["eu"]
    assert bash("trainc explain TrainJob.spec.runtimeR", PLATFORM) == ["TrainJob.spec.runtimeRef."]


def program(folder: Path) -> dict[str, str]:
    """An environment with a trainc that completes as ours does, and writes down every other command."""
    path = folder / "bin/trainc"
    path.parent.mkdir()
    path.write_text(
        f'#!/bin/sh\n[ "$1" = completion ] || {{ echo "$*" > {folder}/typed; exit; }}\n'
        f'exec {sys.executable} -m trainc "$@"\n'
    )
    path.chmod(0o755)
    own = {"PYTHONPATH": str(ROOT), "HOME": str(folder), "PATH": f"{path.parent}:{os.environ['PATH']}"}
    return {**os.environ, **own, "TERM": "dumb"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("trainc build --cluster e", ["eu"]),
        ("trainc explain TrainJob.spec.runtimeR", ["TrainJob.spec.runtimeRef."]),
        ("trainc rules reserved-e", ["reserved-env"]),
        ("trainc build runtimes/tor", ["runtimes/torch-base.yaml", "runtimes/torch-gpu.yaml"]),
    ],
)
def test_fish_offers_the_candidates(line: str, found: list[str], tmp_path: Path) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    script = compile_in(tmp_path, "completion", "fish").out
    words = ["fish", "--no-config", "-c", f"{script}\ncomplete -C '{line}'"]
    done = subprocess.run(words, check=True, cwd=PLATFORM, env=program(tmp_path), capture_output=True, text=True)
    assert [row.partition("\t")[0] for row in done.stdout.splitlines()] == found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("trainc build --cluster e", "build --cluster eu"),
        ("trainc rules reserved-e", "rules reserved-env"),
        ("trainc explain TrainJob.spec.runtimeR", "explain TrainJob.spec.runtimeRef."),
    ],
)
def test_zsh_completes_what_is_typed(typed: str, completed: str, tmp_path: Path) -> None:
    """A zsh in a terminal of its own, in which somebody types, and presses the tab key and Enter."""
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    if not has_terminals():
        pytest.skip("the machine gives out no pseudo-terminals")
    folder = tmp_path / "functions"
    folder.mkdir()
    (folder / "_trainc").write_text(compile_in(tmp_path, "completion", "zsh").out)
    begin = f"fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -D; cd {PLATFORM}; echo > {tmp_path}/ready\n"
    ours, theirs = pty.openpty()
    shell = subprocess.Popen(
        ["zsh", "-f", "-i"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=program(tmp_path),
        start_new_session=True,
    )
    os.close(theirs)
    try:
        os.write(ours, begin.encode())
        awaited(tmp_path / "ready", ours)
        os.write(ours, f"{typed}\t\n".encode())
        assert awaited(tmp_path / "typed", ours).strip() == completed
    finally:
        shell.kill()
        shell.wait()
        os.close(ours)


def awaited(path: Path, terminal: int) -> str:
    """The text of a file once it is there; what the terminal shows meanwhile is read, so that nobody waits for it."""
    shown = b""
    deadline = time.monotonic() + PATIENCE
    while not (path.exists() and path.stat().st_size):
        assert time.monotonic() < deadline, shown.decode("utf-8", "replace")
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 1 << 16)
    return path.read_text("utf-8")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_one_of_its_shell(shell: str, tmp_path: Path) -> None:
    script = compile_in(tmp_path, "completion", shell).out
    assert "trainc completion words --" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed here: its syntax is checked where it is")
    done = subprocess.run([shell, "-n"], check=False, input=script, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_other_shells_are_told(tmp_path: Path) -> None:
    assert {path.suffix for path in (ROOT / "trainc/cli/shells").iterdir()} == {".bash", ".zsh", ".fish"}
    run = compile_in(tmp_path, "completion", "bahs")
    assert run.code == 2
    assert "did you mean `bash`?" in run.err
