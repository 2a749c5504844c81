"""One input of the fuzzer: a folder, its Git history, a command line, an environment; and its form as a small file."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "corpus"
_GIT = ("git", "-c", "user.name=fuzz", "-c", "user.email=fuzz@example.com", "-c", "commit.gpgsign=false")


@dataclass
class Input:
    """What one run gets: `files` are paths and contents, `history` earlier states of the folder, one commit each."""

    argv: tuple[str, ...]
    files: dict[str, bytes]
    env: dict[str, str] = field(default_factory=dict)
    stdin: bytes = b""
    history: tuple[dict[str, bytes], ...] = ()

    @property
    def size(self) -> int:
        """Bytes of everything that the run can read."""
        states = (self.files, *self.history)
        return len(self.stdin) + sum(len(data) for state in states for data in state.values())

    def write(self, folder: Path) -> None:
        """Make `folder` hold this input and nothing else."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for index, state in enumerate(self.history):
            _fill(folder, state)
            if index == 0:
                _git(folder, "init", "--quiet", "--initial-branch=main")
            _git(folder, "add", "--all")
            _git(folder, "commit", "--quiet", "--allow-empty", "--message", f"state {index}")
            for path in state:
                os.unlink(os.path.join(folder, path))
        _fill(folder, self.files)

    def text(self) -> str:
        """The input as JSON, contents line by line; bytes that are not UTF-8 are lone surrogates."""
        content: dict[str, Any] = {"argv": self.argv, "files": _lines(self.files)}
        if self.env:
            content["env"] = self.env
        if self.stdin:
            content["stdin"] = _text(self.stdin).splitlines(keepends=True)
        if self.history:
            content["history"] = [_lines(state) for state in self.history]
        return json.dumps(content, indent=1) + "\n"


def _fill(folder: Path, state: dict[str, bytes]) -> None:
    for path, data in state.items():
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as stream:
            stream.write(data)


def _git(folder: Path, *argv: str) -> None:
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(folder.parent)}
    subprocess.run([*_GIT, *argv], cwd=folder, env=environment, check=True, capture_output=True)


def _lines(state: dict[str, bytes]) -> dict[str, list[str]]:
    return {path: _text(data).splitlines(keepends=True) for path, data in state.items()}


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def parsed(text: str) -> Input:
    """The input that a text of the corpus describes; lone surrogates that are not a byte become `?`."""
    content = json.loads(text)
    return Input(
        tuple(content["argv"]),
        _state(content["files"]),
        content.get("env", {}),
        _bytes(content.get("stdin", ())),
        tuple(_state(state) for state in content.get("history", ())),
    )


def _state(state: dict[str, list[str]]) -> dict[str, bytes]:
    return {path: _bytes(lines) for path, lines in state.items()}


def _bytes(lines: list[str] | tuple[()]) -> bytes:
    return "".join(lines).encode("utf-8", "surrogateescape")


@cache
def corpus() -> dict[str, Input]:
    """Every input that once broke trainc, by name."""
    return {path.stem: parsed(path.read_text("utf-8")) for path in sorted(CORPUS.glob("*.json"))}
