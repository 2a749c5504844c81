"""On a terminal `trainc new` asks for what is not said, and with options for nothing."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import yaml

from tests.compiling import ROOT


def talk(folder: Path, *argv: str, answers: str) -> str:
    """What trainc writes to a terminal that answers its questions."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "TERM": "dumb"}
    child = subprocess.Popen(
        [sys.executable, "-m", "trainc", *argv],
        cwd=folder,
        env=environment,
        stdin=follower,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    os.write(leader, answers.encode())
    heard = b""
    try:
        while chunk := os.read(leader, 1 << 16):
            heard += chunk
    except OSError:
        pass  # the other end is closed
    os.close(leader)
    assert child.wait(60) == 0, heard
    return heard.decode()


def test_a_terminal_is_asked(tmp_path: Path) -> None:
    heard = talk(tmp_path, "new", answers="bert\njax\n\n2\n4\nregistry.example.com/b:1\npython go.py\n\n")
    assert "Framework [torch]:" in heard
    job = yaml.safe_load((tmp_path / "jobs/bert.yaml").read_text("utf-8"))
    assert job["spec"]["runtimeRef"] == {"name": "jax-gpu"}
    assert job["spec"]["trainer"]["numNodes"] == 2
    assert job["spec"]["trainer"]["command"] == ["python", "go.py"]


def test_a_terminal_is_not_asked_where_options_say_it(tmp_path: Path) -> None:
    heard = talk(tmp_path, "new", "bert", "--gpus", "8", "--image", "a:1", answers="")
    assert ":]" not in heard
    assert "wrote jobs/bert.yaml" in heard
