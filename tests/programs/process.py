"""A program that answers a line of JSON for each line that it is asked."""

import json
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self


class DiedError(Exception):
    """A program ended while it was asked."""


class Process:
    """A running program; it ends with the block that started it."""

    def __init__(self, program: Path, *arguments: str) -> None:
        self._name = program.parent.name
        self._process = subprocess.Popen(
            [program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        """The process itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the program."""
        self._process.kill()
        self._process.communicate()

    def ask(self, question: Any) -> dict[str, Any]:
        """The answer to one question."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        except (OSError, ValueError) as error:
            self._process.kill()
            said = self._process.communicate()[1].strip().splitlines()
            raise DiedError(f"{self._name} ended: {said[-1] if said else 'it said nothing'}") from error
        return answer
